"""The arena on this project's own designs, as a person asks for it, and the comparison that is committed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.reports.documents import schema_of
from harness.testing.project import ScratchProject

ROOT = Path(__file__).parent.parent.parent
DESIGNS = ("deep_think", "lean_react", "newsdesk", "plan_execute", "two_phase", "ultrathink")
LOCAL = "qwen2.5-coder-1.5b-instruct"
COMMITTED = "reports/comparison"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> ScratchProject:
    """A copy of what the command reads."""
    folder = tmp_path_factory.mktemp("arena")
    for name in ("agents", "goldensets", "cassettes", "reports/baselines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return ScratchProject(folder, {})


@pytest.fixture(scope="module")
def shared(copy: ScratchProject) -> Any:
    """What `harness compare --set shared --json` prints, while it writes what is committed."""
    ran = copy.harness("compare", "--set", "shared", "--write", "--json")

    assert 0 == ran.exit_code, ran.stderr
    assert f"wrote {COMMITTED}/shared.md\nwrote {COMMITTED}/shared.json\n" == ran.stderr
    return ran.document


@pytest.mark.parametrize("name", ["shared.md", "shared.json"])
def test_the_committed_comparison_is_what_the_command_gives(copy: ScratchProject, shared: Any, name: str) -> None:
    """To the byte; `harness compare --set shared --write` writes it anew."""
    assert shared["designs"]
    assert (copy.folder / COMMITTED / name).read_text(encoding="utf-8") == (ROOT / COMMITTED / name).read_text(
        encoding="utf-8"
    )


def test_the_document_holds_what_is_promised(shared: Any) -> None:
    """Every field of the stable interface, under the published schema."""
    jsonschema.Draft202012Validator(schema_of("compare")).validate(shared)

    design = {"agent", "profile", "model", "provenance", "cases", "trials", "kept_rate", "interval", "llm_calls", "tokens",
              "cost_usd", "recorded_ms", "pareto"}  # fmt: skip
    pair = {"a", "b", "test", "p_value", "p_adjusted", "effect", "interval", "smallest_detectable"}
    assert all(design <= set(one) for one in shared["designs"])
    assert all(pair <= set(one) for one in shared["pairs"])
    assert {"designs", "pairs", "matrix"} <= set(shared)


def test_scripts_and_the_local_model_are_kept_apart(shared: Any) -> None:
    """Six designs answered by scripts, two by the local model; no pair and no front across."""
    designs = {(one["agent"], one["model"]): one for one in shared["designs"]}

    assert {*((name, "scripted") for name in DESIGNS), ("lean_react", LOCAL), ("plan_execute", LOCAL)} == set(designs)
    assert [("scripted", 6, 20), ("local", 2, 11)] == [
        (group["provenance"], len(group["designs"]), group["cases"]) for group in shared["groups"]
    ]
    assert 15 + 1 == len(shared["pairs"])
    assert all(pair["a"].rpartition(" ")[2] == pair["b"].rpartition(" ")[2] for pair in shared["pairs"])
    for one in shared["designs"]:
        assert all(name.endswith(one["model"]) for name in one["dominated_by"])


def test_scripts_are_counted_and_the_local_model_is_tested(shared: Any) -> None:
    """Every scripted case is kept, without any figure of chance; of the local model it is said what would show."""
    scripted = [pair for pair in shared["pairs"] if pair["provenance"] == "scripted"]
    (sampled,) = [pair for pair in shared["pairs"] if pair["provenance"] == "local"]

    assert {("", None, None, 20)} == {(p["test"], p["p_value"], p["interval"] and 1, p["ties"]) for p in scripted}
    assert all(1.0 == one["kept_rate"] for one in shared["designs"] if one["provenance"] == "scripted")
    assert ("mcnemar_exact", 11, False) == (sampled["test"], sampled["tested"], sampled["told"])
    assert 0 < sampled["smallest_detectable"] < 1
    assert sampled["needs_trials"] > 1
    assert "inconclusive" in sampled["because"]
    for one in shared["designs"]:
        assert (one["interval"] is None) == (one["provenance"] == "scripted")


def test_each_case_says_why_designs_differ(shared: Any) -> None:
    """All twenty cases, each with the first turn where two of the fifteen scripted pairs part."""
    assert 20 == len(shared["matrix"])
    assert {15, 16} == {len(row["why"]) for row in shared["matrix"]}
    parted = [part["divergence"] for row in shared["matrix"] for part in row["why"] if part["divergence"]]
    assert len(parted) > 150
    assert all(one["step"] >= 1 and one["because"] for one in parted)


def test_one_front_beats_all_others(shared: Any) -> None:
    """Who is not on it names somebody who is."""
    for group in shared["groups"]:
        marks = {f"{one['agent']} × {one['model']}": one for one in shared["designs"]}
        members = [marks[name] for name in group["designs"]]
        front = {name for name in group["designs"] if marks[name]["pareto"]}
        assert front
        assert all(front & set(one["dominated_by"]) for one in members if not one["pareto"])


def test_the_local_model_alone_tells_nothing_yet(copy: ScratchProject) -> None:
    """Every case fails with both designs: exit 5, and how many trials would tell."""
    ran = copy.harness("compare", "--set", "shared", "--model", LOCAL)

    assert 5 == ran.exit_code, ran.stderr
    assert (
        "INCONCLUSIVE  2 designs on 11 cases: 1 pair left to chance; about 32 trials of each case would tell"
        in ran.stdout
    )
    assert "every design kept 0 cases" in ran.stdout


def test_what_is_never_compared_is_refused(copy: ScratchProject) -> None:
    """A script beside a model, and designs without a common set."""
    kinds = copy.harness("compare", "--set", "shared", "--model", "scripted", "--model", LOCAL)
    sets = copy.harness("compare", "newsdesk", "two_phase", "--set", "newsdesk", "--set", "two_phase")

    assert (2, "") == (kinds.exit_code, kinds.stdout)
    assert kinds.stderr.startswith(
        f"error[unlike-provenance]: `scripted` was answered by scripts, and `{LOCAL}` by a local model: such trials"
    )
    assert (2, "") == (sets.exit_code, sets.stdout)
    assert sets.stderr.startswith(
        "error[unlike-sets]: `newsdesk` and `two_phase` ran no set in common: newsdesk against"
    )
