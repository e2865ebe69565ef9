"""
Whole commands on what strangers wrote: answers, tool results, names, recordings, run folders, baselines. Nothing of it
reaches a terminal as anything but text.
"""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli.main import main
from harness.reports.runs import list_runs, runs_folder
from harness.testing.project import FILES, Ran, ScratchProject

PAYLOAD = (
    "\x1b[2J\x1b]0;title\x07\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x1b]52;c;aGFja2Vk\x07\x9b31m\x9d0;t\x9c"
    "\x1bP+q\x1b\\\u202egnp.exe\u2066x\u2069\rover\x08\x08\x7f\u2028line\u2029para\x85next\u200f\ufeff\x0b\x0c"
    "\U000e0041\U000e0042 北京 👨‍👩‍👧 e" + "\u0301" * 40
)
"""Clears, titles, links, the clipboard, 8-bit controls, device strings, direction, overprinting, other ends of a line, hidden text."""


def escaped(text: str) -> str:
    """*text* in quotes for YAML and Python source, with everything but plain ASCII as escapes."""
    plain = (
        char if char.isascii() and char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}" for char in text
    )
    return f'"{"".join(plain)}"'


ESCAPED = escaped(PAYLOAD)
STEERING = frozenset("\u061c\u200e\u200f\ufeff\u2028\u2029") | {
    chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x2070))
}


def hostile_project(folder: Path) -> ScratchProject:
    """A project in which every text that a stranger can write is hostile; its one case is recorded."""
    project = ScratchProject(folder, FILES)
    project.write(
        "goldensets/scripts/smoke/example/weather.yaml",
        f"""
        format: 1
        steps:
          - expect: {{last_role: user}}
            reply: {{tool_calls: [{{name: get_weather, args: {{city: {ESCAPED}}}}}]}}
          - expect: {{tool_result: {{name: get_weather, contains: "7"}}}}
            reply: {{text: {ESCAPED}}}
        """,
    )
    project.write(
        "goldensets/smoke.yaml",
        f"""
        format: 1
        about: {ESCAPED}
        world: yard
        cases:
          - id: weather
            question: {ESCAPED}
            lang: en
            class: simple
            notes: {ESCAPED}
            facts: {{all: [7, {ESCAPED}, {escaped("not there " + PAYLOAD)}]}}
            tools: {{required: [get_weather]}}
            contracts: [mine]
        """,
    )
    project.replace("goldensets/worlds/yard/world.yaml", "about: A yard", f"about: {ESCAPED}")
    project.replace("goldensets/worlds/yard/tools.py", '"city": city,', f'"city": city, "text": {ESCAPED},')
    project.replace("agents/example/agent.py", '"""Asks the model once, with one tool."""', ESCAPED)
    project.replace(
        "agents/example/agent.py",
        "DEFAULT_MODEL =",
        f"OPTIONS = {{'mood': {ESCAPED}}}\nFLAGS = {{'mood': {ESCAPED}}}\nDEFAULT_MODEL =",
    )
    project.replace("pyproject.toml", "[tool.harness]", '[tool.harness]\ncontract_modules = ["own.py"]')
    project.write(
        "own.py",
        f'''
        """Own contracts."""

        from harness.contracts.base import broken, contract


        @contract("mine", kind="S")
        def mine(view):
            {ESCAPED}
            yield broken(view.events[0], {ESCAPED})
        ''',
    )
    return project


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That project, with two runs of it: the second after its answer has changed."""
    project = hostile_project(tmp_path_factory.mktemp("hostile"))
    ran = project.harness("record", "--model", "scripted")
    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    assert_harmless(ran)
    project.harness("run")
    project.harness("run")
    return project.folder


@pytest.fixture
def project(recorded: Path, tmp_path: Path) -> ScratchProject:
    """A copy of it."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def assert_harmless(ran: Ran) -> None:
    """Nothing that was printed steers a terminal, on either stream; in what people read nothing is hidden or piled up."""
    for text in (ran.stdout, ran.stderr):
        bad = {char for char in text if char in STEERING or unicodedata.category(char) in {"Cc", "Cs"}} - {"\n", "\t"}

        assert set() == bad
        if not text.startswith(("{", "[")):
            assert not re.search("[\U000e0020-\U000e007f]", text)
            assert "\u0301" * 9 not in text


COMMANDS = [
    ["run"],
    ["run", "--json"],
    ["gate", "--json"],
    ["diff", "-2", "-1"],
    ["diff", "-2", "-1", "--format", "markdown"],
    ["diff", "-2", "-1", "--json"],
    ["compare"],
    ["compare", "--json"],
    ["report", "--format", "markdown"],
    ["report", "--format", "junit"],
    ["report", "--format", "sarif"],
    ["report", "--format", "github"],
    ["report", "--format", "json"],
    ["report", "--format", "otlp"],
    ["report", "--json"],
    ["history"],
    ["history", "--runs"],
    ["history", "--format", "markdown"],
    ["history", "--json"],
    ["list", "agents"],
    ["list", "sets"],
    ["list", "contracts"],
    ["list", "models"],
    ["list", "agents", "--json"],
    ["explain", "example"],
    ["explain", "mine"],
    ["explain", "example", "--json"],
    ["doctor"],
    ["cassettes", "check"],
    ["cassettes", "show", "cassettes/example/scripted/smoke/weather.0.yaml"],
    ["cassettes", "show", "cassettes/example/scripted/smoke/weather.0.yaml", "--json"],
    ["cassettes", "why", "cassettes/example/scripted/smoke/weather.0.yaml"],
    ["cassettes", "export", "cassettes/example/scripted/smoke/weather.0.yaml", "--json"],
    ["cassettes", "scrub", "cassettes/example/scripted/smoke/weather.0.yaml"],
    ["record", "--dry-run", "--mode", "all"],
    ["record", "--mode", "verify", "--model", "scripted"],
]
"""Commands that print; `-1` and `-2` stand for the newest run and the one before."""


@pytest.fixture
def harness(project, monkeypatch, capsys) -> Callable[..., Ran]:
    """Run a command in this process, in the project, on a terminal of so many columns."""
    monkeypatch.chdir(project.folder)
    monkeypatch.delenv("HARNESS_HISTORY", raising=False)

    def run(*words: str, width: int = 120) -> Ran:
        monkeypatch.setenv("COLUMNS", str(width))
        runs = list_runs(runs_folder(project.path("reports")))
        code = main([runs[int(word)] if word in {"-1", "-2"} else word for word in words])
        return Ran(code, *capsys.readouterr())

    return run


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("width", [120, 20])
def test_no_command_lets_a_stranger_steer_the_terminal(harness, words, width):
    """Wide and narrow, as text and as a document."""
    ran = harness(*words, width=width)

    assert "defect of tapegate" not in ran.stderr
    assert ran.stdout + ran.stderr
    assert_harmless(ran)
    if {"--json", "json", "sarif", "otlp"} & set(words):
        assert ran.document


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["run"], "facts: the answer does not say"),
        (["run"], "  mine:\n    \\x1b[2J"),
        (["diff", "-2", "-1"], "1 trial compared: 1 the same"),
        (["list", "sets"], "\\x1b[2J"),
        (["explain", "example"], "\\x1b]52;c;"),
        (["cassettes", "show", "cassettes/example/scripted/smoke/weather.0.yaml"], "answered  \\x1b[2J"),
    ],
)
def test_what_a_stranger_wrote_is_there_to_read(harness, words, shown):
    """Made harmless is not left out: it is evidence."""
    assert shown in harness(*words).stdout


def test_a_stored_run_from_elsewhere_is_harmless(project, harness):
    """Every text in a run folder may be edited: names, reasons, codes, places, versions."""
    name = list_runs(runs_folder(project.path("reports")))[-1]
    folder = runs_folder(project.path("reports")) / name
    for path, lines in ((folder / "results.jsonl", True), (folder / "run.json", False)):
        content = path.read_text()
        told = [json.loads(line) for line in content.split("\n") if line] if lines else [json.loads(content)]
        path.write_text("\n".join(json.dumps(soiled(one)) for one in told) + "\n")
    for words in (["report"], ["report", "--json"], ["report", "--format", "github"], ["report", "--format", "junit"],
                  ["history"], ["history", "--runs"], ["history", "--no-store", "--format", "markdown"], ["history", "--json"],
                  ["gate", name, "--stored"], ["accept", "--reason", "x"], ["compare", name], ["diff", "-2", name],
                  ["run", "--resume", name]):  # fmt: skip
        for width in (120, 20):
            ran = harness(*words, width=width)

            assert "defect of tapegate" not in ran.stderr, words
            assert_harmless(ran)


def soiled(value: Any, key: str = "") -> Any:
    """*value* with the payload behind every text that may be any text."""
    if isinstance(value, dict):
        return {name: soiled(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [soiled(one, key) for one in value]
    fixed = {"provenance", "embedding_provenance", "verdict", "state", "run"}
    return value + PAYLOAD if isinstance(value, str) and key not in fixed else value


@pytest.mark.parametrize(
    "words",
    [
        [PAYLOAD],
        ["run", PAYLOAD],
        ["run", "--" + PAYLOAD],
        ["run", "--agent", PAYLOAD],
        ["run", "--case", PAYLOAD],
        ["run", "--option", PAYLOAD],
        ["run", "--resume", PAYLOAD],
        ["run", "--ask", PAYLOAD, "--model", PAYLOAD],
        ["explain", PAYLOAD],
        ["list", PAYLOAD],
        ["report", PAYLOAD],
        ["report", "--out", "new/" + PAYLOAD],
        ["diff", PAYLOAD, PAYLOAD],
        ["gate", "--baseline", PAYLOAD],
        ["history", "--store", PAYLOAD],
        ["history", "--store", "x://" + PAYLOAD],
        ["history", "--no-store", "--format", "markdown", "--out", "new/" + PAYLOAD],
        ["cassettes", "show", PAYLOAD],
        ["cassettes", "why", PAYLOAD],
        ["cassettes", "scrub", PAYLOAD],
    ],
)
def test_what_is_typed_is_repeated_as_text(harness, words):
    """A name that was pasted from a stranger's page, in errors and in what was written where."""
    for more in ([], ["--json"]):
        ran = harness(*words, *more)

        assert "defect of tapegate" not in ran.stderr
        assert ran.stdout + ran.stderr
        assert_harmless(ran)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("agents/example/agent.py", "messages = [", f"raise ValueError({ESCAPED})\n        messages = ["),
        ("agents/example/agent.py", "def build(ctx):", f"raise ValueError({ESCAPED})\ndef build(ctx):"),
        ("own.py", "yield broken", f"raise ValueError({ESCAPED})\n    yield broken"),
        ("own.py", "from harness", f"raise ValueError({ESCAPED})\nfrom harness"),
        ("goldensets/worlds/yard/tools.py", 'return {"city"', f'raise ValueError({ESCAPED})\n        return {{"city"'),
        ("goldensets/worlds/yard/tools.py", "return [get_weather]", f"raise ValueError({ESCAPED})"),
        ("agents/example/prompts.py", 'SYSTEM = "', f'SYSTEM = {ESCAPED} "'),
        ("goldensets/smoke.yaml", "class: simple", f"class: {ESCAPED}"),
        ("goldensets/smoke.yaml", "class: simple", f"{ESCAPED}: simple"),
        ("goldensets/smoke.yaml", "contracts: [mine]", f"contracts: [{ESCAPED}]"),
        ("goldensets/smoke.yaml", "id: weather", f"id: {ESCAPED}"),
        ("pyproject.toml", 'set = "smoke"', f"set = {ESCAPED}"),
        ("pyproject.toml", 'set = "smoke"', f"{ESCAPED} = 3"),
        ("cassettes/example/scripted/smoke/weather.0.yaml", "version: 1", "version: \u202e1\u2028"),
    ],
)  # fmt: skip
def test_errors_in_strangers_files_are_told_as_text(project, harness, file, old, new):
    """What an agent, a contract or a tool raises, and what a file holds in a wrong place."""
    project.replace(file, old, new)
    for words in (["run"], ["run", "--json"], ["doctor"], ["list", "sets"], ["cassettes", "check"], ["gate"]):
        ran = harness(*words)

        assert "defect of tapegate" not in ran.stderr, words
        assert_harmless(ran)
