"""Every design on every set, as a person runs them: named, replayed offline, each cell with a verdict and its provenance."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from harness.config import load_config
from harness.testing.project import ScratchProject

ROOT = Path(__file__).parent.parent.parent
PROFILES = {
    "deep_think": ["reference", "seed_literal"],
    "lean_react": ["reference", "seed_literal"],
    "newsdesk": ["reference", "seed_literal"],
    "plan_execute": ["reference"],
    "two_phase": ["reference", "seed_literal"],
    "ultrathink": ["reference", "seed_literal"],
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> ScratchProject:
    """A copy of what the commands read."""
    folder = tmp_path_factory.mktemp("designs")
    for name in ("agents", "goldensets", "cassettes", "reports/baselines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return ScratchProject(folder, {})


def test_every_design_is_named_with_its_profiles(copy: ScratchProject) -> None:
    """`harness list agents` names the six designs, the profiles of each, and what each is."""
    listed = copy.harness("list", "agents", "--json").document

    assert PROFILES == {agent["name"]: list(agent["profiles"]) for agent in listed}
    assert all(agent["about"] for agent in listed)


def test_every_design_answers_every_shared_question(copy: ScratchProject) -> None:
    """`harness run shared` has a kept verdict for each design and case, and says that the answers were scripted."""
    ran = copy.harness("run", "shared", "--model", "scripted", "--json")
    cases = yaml.safe_load((ROOT / "goldensets/shared.yaml").read_text(encoding="utf-8"))["cases"]
    verdicts = {(r["agent"], r["case"]): (r["verdict"], r["provenance"], r["known"]) for r in ran.document["results"]}

    assert 0 == ran.exit_code, ran.stderr
    wanted = {(design, case["id"]): ("kept", "scripted", False) for design in PROFILES for case in cases}
    assert wanted == verdicts


def test_every_golden_set_is_run_by_its_design() -> None:
    """Each file of golden cases is in the matrix; a design's own set is run by that design."""
    matrix = load_config(ROOT).matrix
    declared = {(row.set, agent) for row in matrix for agent in row.agents}
    sets = {path.stem for path in (ROOT / "goldensets").glob("*.yaml")}

    assert sets == {name for name, _ in declared}
    assert {(name, name) for name in sets - {"shared"}} <= declared
    assert {("shared", design) for design in PROFILES} <= declared
