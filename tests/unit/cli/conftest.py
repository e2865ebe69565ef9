"""A scratch project to run commands in, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.config import load_config
from harness.evaluate import plan, record
from harness.matrix import Narrowing

REPO = Path(__file__).parents[3]
PYPROJECT = """\
[tool.harness]

[[tool.harness.matrix]]
set = "shared"
agents = ["lean_react"]
cases = ["S1-en", "S2-en"]
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        """What it printed, as JSON."""
        return json.loads(self.out)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A project with the reference agents and golden sets, and two cases recorded just now: whoever changes a prompt
    shall not meet a red test here.
    """
    root = tmp_path_factory.mktemp("recorded") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    for folder in ("agents", "goldensets"):
        shutil.copytree(REPO / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "reports").mkdir()
    project, chosen = plan(load_config(root), Narrowing())
    with warnings.catch_warnings(action="ignore"):  # litellm warns about itself
        assert record(project, chosen).refused == ()
    shutil.rmtree(root / ".cache", ignore_errors=True)
    return root


@pytest.fixture
def project(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that project, of the test's own; the current folder."""
    root = tmp_path / "project"
    shutil.copytree(recorded, root)
    monkeypatch.chdir(root)
    for name in ("CI", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return root


@pytest.fixture
def harness(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Run a command in this process."""

    def run(*words: str) -> Ended:
        code = main(list(words))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture
def process() -> Callable[..., Ended]:
    """Run a command in a process of its own, as `harness run` needs it: the network guard cannot be taken off."""

    def run(*words: str, **environ: str) -> Ended:
        env = {**os.environ, "PYTHONPATH": str(REPO), **environ}
        ended = subprocess.run(
            [sys.executable, "-m", "harness", *words], env=env, capture_output=True, text=True, check=False, timeout=120
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run
