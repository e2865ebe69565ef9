"""What README.md shows is run: its console sessions in a copy of the project, its agent on a scripted model."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.testing.project import FILES, ScratchProject

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """The fenced blocks of *kind*."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def sessions() -> Iterator[tuple[str, list[str]]]:
    """Each command of the console blocks, with the lines that are shown below it."""
    for block in blocks("console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = session.strip().splitlines()
            yield command, shown


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> ScratchProject:
    """A copy of what the commands read."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("agents", "goldensets", "cassettes", "reports/baselines"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return ScratchProject(folder, {})


@pytest.mark.parametrize(("command", "shown"), list(sessions()))
def test_console_sessions(copy: ScratchProject, command: str, shown: list[str]) -> None:
    """Each command ends with 0 and prints the lines that stand below it, in order; `…` stands for anything."""
    program, *words = command.split()
    ran = copy.harness(*words)

    assert "harness" == program
    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    pattern = ".*".join(".*".join(map(re.escape, re.split(r"\s*…\s*", line))) for line in shown)
    assert re.search(pattern, ran.stdout, re.DOTALL), ran.stdout


def test_the_agent_that_is_shown_runs(tmp_path: Path) -> None:
    """The agent and the table of README.md record and replay as they stand."""
    script = "format: 1\nsteps:\n- expect: {last_role: user, system_contains: one word}\n  reply: {text: Warm.}\n"
    project = ScratchProject(
        tmp_path,
        {
            **{name: content for name, content in FILES.items() if "worlds" in name},
            "pyproject.toml": blocks("toml")[0],
            "agents/echo/agent.py": blocks("python")[0],
            "goldensets/smoke.yaml": "format: 1\nabout: One question\nworld: yard\ncases:\n"
            "  - {id: warm, question: How is it?, facts: {all: [warm]}}\n",
            "goldensets/scripts/smoke/echo/warm.yaml": script,
        },
    )
    recorded = project.harness("record", "smoke", "--model", "scripted")
    replayed = project.harness("run", "--model", "scripted")

    assert (0, 0) == (recorded.exit_code, replayed.exit_code), recorded.stderr + replayed.stdout


def test_make_targets_that_are_named_exist() -> None:
    """Every `make TARGET` that the documents name is a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {
        target
        for document in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
        for target in re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert set() == {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)}


def test_paths_that_the_documents_name_exist() -> None:
    """Code paths in ARCHITECTURE.md, README.md and DECISIONS.md are there."""
    found = set()
    for document in ("README.md", "ARCHITECTURE.md", "DECISIONS.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        found |= set(re.findall(r"`((?:harness|agents|goldensets|tests|benchmarks)/[\w./]+)`", text))

    assert [] == sorted(path for path in found if not (ROOT / path.rstrip("/")).exists() and "X" not in path)
