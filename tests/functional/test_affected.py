"""`harness run --affected`: it runs what a change can reach, leaves out the rest, and never misses a trial."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.testing.project import AGENT, FILES, TOOLS, ScratchProject

Trials = dict[tuple[str, str], Any]

PYPROJECT = """
    [tool.harness]
    contract_modules = ["rules/own.py"]

    [[tool.harness.matrix]]
    set = "smoke"
    agents = ["example", "heir"]

    [[tool.harness.matrix]]
    set = "other"
    agents = ["example"]
    """
HEIR = """
    from pathlib import Path

    from harness.modules import load_module

    BUILDS_ON = ("example",)


    def build(ctx):
        path = Path(__file__).parents[1] / "example" / "agent.py"
        return load_module(path, kind="agent", code="bad-agent", package=True).build(ctx)
    """
OWN = '''
    from pathlib import Path

    from harness.contracts import broken, contract, triggered


    @contract("polite")
    def polite(view):
        """The answer holds none of the words that we do not say."""
        yield triggered()
        for word in Path(__file__).with_name("words.txt").read_text().split():
            if word in view.answer:
                yield broken(view.finals, f"it says {word}")
    '''
SMOKE = """
    format: 1
    about: Two questions
    world: yard
    policies:
      - when: {class: simple}
        contracts: [CX1]
    cases:
      - id: weather
        question: How warm is it in Berlin?
        class: simple
        trials: 2
        facts: {all: [7]}
        tools: {required: [get_weather]}
      - id: picture
        content: [{text: What is it?}, {image: images/dot.png}]
        class: complex
        facts: {all: [7]}
    """
OTHER = """
    format: 1
    about: One question elsewhere
    world: harbour
    cases:
      - id: harbour
        question: How warm is it in Berlin?
        class: simple
        facts: {all: [7]}
    """
WEATHER = FILES["goldensets/scripts/smoke/example/weather.yaml"]
WORLD = FILES["goldensets/worlds/yard/world.yaml"]
PROJECT = {
    **{name: content for name, content in FILES.items() if name.startswith("agents/")},
    "pyproject.toml": PYPROJECT,
    "agents/example/agent.py": AGENT.replace(
        "return Example(ctx)", "from parts import loop\n\n    assert loop.STEPS\n    return Example(ctx)"
    ).replace('"""Asks the model once, with one tool."""', 'import sys\nfrom pathlib import Path\n\nsys.path.append(str(Path(__file__).parents[2] / "lib"))'),
    "lib/parts/__init__.py": "",
    "lib/parts/loop.py": "STEPS = 4\n",
    "agents/heir/agent.py": HEIR,
    "goldensets/smoke.yaml": SMOKE,
    "goldensets/other.yaml": OTHER,
    "goldensets/worlds/yard/world.yaml": WORLD,
    "goldensets/worlds/yard/tools.py": TOOLS.replace('"temperature_c": 7', '"temperature_c": degrees()').replace(
        "def build(world):", 'def degrees():\n    from pathlib import Path\n\n    return int(Path(__file__).with_name("degrees.txt").read_text())\n\n\ndef build(world):'
    ),
    "goldensets/worlds/yard/degrees.txt": "7\n",
    "goldensets/worlds/harbour/world.yaml": WORLD.replace("A yard", "A harbour"),
    "goldensets/worlds/harbour/tools.py": TOOLS,
    "rules/own.py": OWN,
    "rules/words.txt": "damn\nhell\n",
    "README.md": "# Nobody reads this\n",
    **{
        f"goldensets/scripts/{name}.yaml": WEATHER
        for name in ("smoke/example/weather", "smoke/heir/weather", "smoke/example/picture", "smoke/heir/picture", "other/example/harbour")
    },
}  # fmt: skip
"""Two designs of which one builds on the other, two sets, two worlds, own contracts, an image: 7 trials."""
EVERY = {
    ("example", "smoke/weather.0"), ("example", "smoke/weather.1"), ("example", "smoke/picture.0"),
    ("heir", "smoke/weather.0"), ("heir", "smoke/weather.1"), ("heir", "smoke/picture.0"), ("example", "other/harbour.0"),
}  # fmt: skip
OF_SMOKE = {trial for trial in EVERY if trial[1].startswith("smoke")}
OF_EXAMPLE = {trial for trial in EVERY if trial[0] == "example"}
OF_HEIR = EVERY - OF_EXAMPLE


class Seen(NamedTuple):
    """How a run ended: its exit code, and of each trial all that is not a time."""

    exit_code: int
    trials: Trials


def seen(project: ScratchProject, *words: str) -> Seen:
    """Run *words*, and read verdicts and traces."""
    ran = project.harness("run", *words, "--json")
    document = json.loads(ran.stdout)
    if "results" not in document:
        return Seen(ran.exit_code, {})
    folder = project.path("reports/runs") / document["run"]
    traces = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("traces/*")}
    trials = {}
    for verdict in document["results"]:
        name = "~".join(verdict[key] for key in ("agent", "model", "set", "case"))
        findings = [(f["contract"], f["state"], f["because"]) for f in verdict["findings"]]
        trace = traces.get(f"{name}.{verdict['trial']}.jsonl", "")
        key = (verdict["agent"], f"{verdict['set']}/{verdict['case']}.{verdict['trial']}")
        trials[key] = (verdict["verdict"], verdict["code"], findings, verdict["answer"], trace)
    return Seen(ran.exit_code, trials)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, recorded and accepted."""
    project = ScratchProject(tmp_path_factory.mktemp("accepted"), PROJECT)
    project.path("goldensets/images").mkdir()
    project.path("goldensets/images/dot.png").write_bytes(b"\x89PNG dot")
    for words in (("record", "--model", "scripted"), ("run",), ("accept", "--reason", "first")):
        ran = project.harness(*words)

        assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return project.folder


@pytest.fixture(scope="module")
def as_accepted(accepted: Path) -> Trials:
    """What every trial came to."""
    trials = seen(ScratchProject(accepted, {})).trials

    assert EVERY == trials.keys()
    return trials


@pytest.fixture
def project(accepted: Path, tmp_path: Path) -> ScratchProject:
    """A copy of that project."""
    shutil.copytree(accepted, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def appended(name: str) -> Callable[[ScratchProject], object]:
    """Add a comment to the file *name*."""

    def change(project: ScratchProject) -> None:
        with project.path(name).open("a", encoding="utf-8") as file:
            file.write("\n# more\n")

    return change


def replaced(name: str, old: str, new: str) -> Callable[[ScratchProject], object]:
    """Change a text of the file *name*."""
    return lambda project: project.replace(name, old, new)


def test_nothing_changed_is_said_and_is_no_failure(project: ScratchProject) -> None:
    """No trial is run, one line says how many follow from the same files, and CI may go on."""
    ran = project.harness("run", "--affected")

    assert (
        0,
        "UNCHANGED  7 trials follow from the same files as when accepted\n\nhint: `harness gate` replays them all\n",
    ) == (ran.exit_code, ran.stdout)


def test_the_document_is_that_of_a_run(project: ScratchProject) -> None:
    """`--json` gives a run: partial, with what it left out and why in its manifest."""
    replaced("goldensets/other.yaml", "[7]", "[8]")(project)
    document = project.harness("run", "--affected", "--json").document

    assert [("example", "harbour", "broken")] == [(v["agent"], v["case"], v["verdict"]) for v in document["results"]]
    assert (1, True, {"left_out": 6, "known": 0, "causes": {"golden": 1}}) == (
        document["exit_code"], document["partial"], document["manifest"]["affected"],
    )  # fmt: skip


def test_people_read_what_ran_and_why(project: ScratchProject) -> None:
    """The scope stands first: how many, by what changed, and what was left out."""
    appended("agents/heir/agent.py")(project)
    replaced("goldensets/other.yaml", "How warm", "How cold")(project)
    ran = project.harness("run", "--affected")

    assert [
        "AFFECTED  4 of 7 trials, by what changed since they were accepted: code 3, golden 1",
        "  left out: 3 trials follow from the same files as when accepted",
    ] == ran.stdout.splitlines()[:2]
    assert 3 == ran.exit_code


@pytest.mark.parametrize("empty", [True, False])
def test_the_gate_takes_no_part_of_a_run_for_the_whole(project: ScratchProject, empty: bool) -> None:
    """A run of affected trials is refused by the gate, also where it has none at all."""
    if not empty:
        appended("agents/heir/agent.py")(project)
    run = project.harness("run", "--affected", "--json").document["run"]
    ran = project.harness("gate", run, "--json")

    assert (3, {"skipped"}) == (ran.exit_code, {c["change"] for c in ran.document["changes"] if c["exit_code"]})


@pytest.mark.parametrize(
    ("change", "trials", "causes"),
    [
        (appended("agents/example/agent.py"), EVERY, {"code": 7}),
        (appended("agents/example/prompts.py"), EVERY, {"prompt": 7}),
        (appended("lib/parts/loop.py"), EVERY, {"code": 7}),
        (appended("agents/heir/agent.py"), OF_HEIR, {"code": 3}),
        (appended("rules/words.txt"), EVERY, {"contracts": 7}),
        (appended("rules/own.py"), EVERY, {"contracts": 7}),
        (replaced("goldensets/smoke.yaml", "[CX1]", "[CX1, CX2]"), {t for t in OF_SMOKE if "weather" in t[1]}, {"golden": 4}),
        (replaced("goldensets/smoke.yaml", "world: yard", "world: harbour"), OF_SMOKE, {"golden": 6, "world": 6}),
        (replaced("goldensets/smoke.yaml", "trials: 2", "trials: 3"), {t for t in OF_SMOKE if "weather" in t[1]} | {("example", "smoke/weather.2"), ("heir", "smoke/weather.2")}, {"baseline": 2, "golden": 4}),
        (appended("goldensets/worlds/yard/degrees.txt"), OF_SMOKE, {"world": 6}),
        (replaced("goldensets/worlds/harbour/world.yaml", "09:00", "10:00"), {("example", "other/harbour.0")}, {"world": 1}),
        (replaced("goldensets/worlds/harbour/tools.py", "city: str", "town: str"), {("example", "other/harbour.0")}, {"world": 1}),
        (appended("goldensets/images/dot.png"), {t for t in OF_SMOKE if "picture" in t[1]}, {"golden": 2}),
        (appended("cassettes/heir/scripted/smoke/weather.1.yaml"), {("heir", "smoke/weather.1")}, {"cassette": 1}),
        (replaced("pyproject.toml", "[tool.harness]", "[tool.harness.models.scripted]\nanswered_by = 'scripted'\n[tool.harness]"), EVERY, {"model": 7}),
        (lambda project: project.path("reports/baselines/other.json").unlink(), {("example", "other/harbour.0")}, {"baseline": 1}),
        (replaced("reports/baselines/other.json", '"tapegate": "', '"tapegate": "9.'), {("example", "other/harbour.0")}, {"tapegate": 1}),
        (replaced("reports/baselines/other.json", '"recording": "', '"recording": "0'), {("example", "other/harbour.0")}, {"cassette": 1}),
        (replaced("reports/baselines/other.json", '"verdict": "kept"', '"verdict": "broken"'), {("example", "other/harbour.0")}, {"baseline": 1}),
        (appended("README.md"), set(), {}),
        (appended("goldensets/scripts/smoke/heir/weather.yaml"), set(), {}),
    ],
)  # fmt: skip
def test_what_a_change_reaches(
    project: ScratchProject, change: Any, trials: set[tuple[str, str]], causes: dict[str, int]
) -> None:
    """Each kind of file reaches the trials that follow from it, under its own name."""
    change(project)
    ran = project.harness("run", "--affected", "--json")
    document = ran.document

    assert trials == {(v["agent"], f"{v['set']}/{v['case']}.{v['trial']}") for v in document["results"]}
    assert causes == document["manifest"]["affected"]["causes"]


def test_the_tools_follow_from_what_is_known_before(project: ScratchProject, as_accepted: Trials) -> None:
    """Another belt is always another world or other code: its trials are in, though their belt is not known yet."""
    replaced("goldensets/worlds/harbour/tools.py", "Current weather", "The weather")(project)
    verdict = project.harness("run", "--affected", "--json").document["results"][0]
    was = json.loads(project.path("reports/baselines/other.json").read_text())["agents"]["example"]["scripted"]["cases"]

    assert was["harbour"]["lock"]["tool_schema"] not in {"", verdict["lock"]["tool_schema"]}


def test_a_script_reaches_a_trial_by_its_recording(project: ScratchProject) -> None:
    """A changed script changes no replay; what is recorded by it does."""
    replaced("goldensets/scripts/other/example/harbour.yaml", "It is 7 °C", "It is still 7 °C")(project)
    before = project.harness("run", "--affected", "--json").document["results"]
    assert 0 == project.harness("record", "other", "--model", "scripted", "--mode", "all").exit_code
    after = project.harness("run", "--affected", "--json").document

    assert ([], {"cassette": 1}) == (before, after["manifest"]["affected"]["causes"])


def test_flags_narrow_first(project: ScratchProject) -> None:
    """Of what the flags choose, what a change reaches; where they choose nothing affected, the rest is not told of."""
    appended("agents/heir/agent.py")(project)
    chosen = project.harness("run", "--affected", "--case", "picture", "--json").document
    other = project.harness("run", "other", "--affected")

    assert [("heir", "picture")] == [(v["agent"], v["case"]) for v in chosen["results"]]
    assert (0, "UNCHANGED  1 trial follows from the same files as when accepted") == (
        other.exit_code, other.stdout.splitlines()[0],
    )  # fmt: skip


def test_the_wire_is_another_matter(project: ScratchProject) -> None:
    """Which litellm was there stands in no baseline."""
    ran = project.harness("run", "--affected", "--wire")

    assert (2, True) == (ran.exit_code, "--affected does not go with --wire" in ran.stderr)


def files_of(folder: Path) -> list[str]:
    """Every file that a person could change; not what runs have written."""
    every = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path.as_posix() for path in every if path.parts[0] not in {".cache", "reports"}]


def holds(project: ScratchProject, was: Trials) -> None:
    """Every trial that comes out otherwise than it was accepted is among the selected ones."""
    selected, now = seen(project, "--affected"), seen(project)
    changed = {key for key, trial in now.trials.items() if was.get(key) != trial}

    assert changed <= selected.trials.keys()
    assert {key: now.trials[key] for key in selected.trials} == selected.trials
    if not now.trials:
        assert now.exit_code == selected.exit_code


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_change_of_one_file_is_missed(
    accepted: Path, as_accepted: Trials, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever is done to any one file, the trials whose verdict or trace changes are among those that are selected."""
    folder = tmp_path_factory.mktemp("changed")
    shutil.copytree(accepted, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("runs"))
    path = folder / data.draw(st.sampled_from(files_of(accepted)))
    content = path.read_bytes()
    at = data.draw(st.integers(0, len(content)))
    how = data.draw(st.sampled_from(["cut", "insert", "replace", "remove"]))
    piece = data.draw(st.sampled_from([b"7", b"x", b" ", b"\n", b"weather", b"'", b"0"]))
    changed = {
        "cut": content[:at],
        "insert": content[:at] + piece + content[at:],
        "replace": content[:at] + piece + content[at + 1 :],
    }
    if how == "remove":
        path.unlink()
    else:
        path.write_bytes(changed[how])

    holds(ScratchProject(folder, {}), as_accepted)


def test_what_a_judge_says_reaches_its_trials_alone(project: ScratchProject) -> None:
    """Another recording of a judge brings in the trials of its case, under a name of its own."""
    path = project.path("cassettes/_judge/referee/smoke/weather.0.yaml")
    path.parent.mkdir(parents=True)
    path.write_text("version: 1\n")
    document = project.harness("run", "--affected", "--json").document

    assert {("example", 0), ("heir", 0)} == {(v["agent"], v["trial"]) for v in document["results"]}
    assert {"judge": 2} == document["manifest"]["affected"]["causes"]
