"""What runs: the matrix, what flags leave of it, and what they ask for beside it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.config import Config, MatrixRow, ModelConfig
from harness.errors import BadFileError, UsageError
from harness.matrix import Narrowing, RunPlan, plan_run
from harness.records.case import Fault, GoldenCase, GoldenSet

AGENT = """
OPTIONS = {"depth": (1, "how deep")}


def build(ctx):
    return None
"""

SETS = {
    "shared": GoldenSet(
        name="shared",
        path="goldensets/shared.yaml",
        cases=(
            GoldenCase(id="S1-de", question="?", lang="de", tags=("weather",)),
            GoldenCase(id="S1-en", question="?", lang="en", tags=("weather",)),
            GoldenCase(id="S2-en", question="?", lang="en", designs=("lean",), trials=2),
        ),
    ),
    "own": GoldenSet(name="own", path="goldensets/own.yaml", cases=(GoldenCase(id="O1", question="?"),)),
}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A project with two agents and two sets."""
    for agent in ("lean", "legacy"):
        folder = tmp_path / "agents" / agent
        folder.mkdir(parents=True)
        (folder / "agent.py").write_text(AGENT)
    (tmp_path / "goldensets").mkdir()
    for name in SETS:
        (tmp_path / "goldensets" / f"{name}.yaml").touch()
    return Config(
        root=tmp_path,
        goldensets=tmp_path / "goldensets",
        cassettes=tmp_path / "cassettes",
        agents=tmp_path / "agents",
        reports=tmp_path / "reports",
        matrix=(
            MatrixRow(set="shared", agents=("lean", "legacy")),
            MatrixRow(set="shared", agents=("lean",), models=("small",), lang=("en",), trials=1),
            MatrixRow(set="own", agents=("lean",)),
        ),
        models={"small": ModelConfig(answered_by="local")},
    )


def planned(config: Config, **flags: object) -> RunPlan:
    """The plan for *flags*."""
    return plan_run(config, Narrowing(**flags), SETS.__getitem__)


def names(plan: RunPlan) -> list[str]:
    """Cells as short texts."""
    return [f"{c.cell.agent}/{c.cell.model}/{c.cell.set}/{c.cell.case}.{c.cell.trial}" for c in plan.cells]


def test_no_flags_mean_the_whole_matrix(config: Config) -> None:
    """Every declared cell runs, cases narrowed by their designs and rows by language, and nothing is partial."""
    plan = planned(config)

    assert [
        "lean/scripted/shared/S1-de.0",
        "lean/scripted/shared/S1-en.0",
        "lean/scripted/shared/S2-en.0",
        "lean/scripted/shared/S2-en.1",
        "legacy/scripted/shared/S1-de.0",
        "legacy/scripted/shared/S1-en.0",
        "lean/small/shared/S1-en.0",
        "lean/small/shared/S2-en.0",
        "lean/scripted/own/O1.0",
    ] == names(plan)
    assert not plan.partial


@pytest.mark.parametrize(
    ("flags", "cells"),
    [
        ({"sets": ["own"]}, ["lean/scripted/own/O1.0"]),
        ({"models": ["small"]}, ["lean/small/shared/S1-en.0", "lean/small/shared/S2-en.0"]),
        ({"agents": ["legacy"]}, ["legacy/scripted/shared/S1-de.0", "legacy/scripted/shared/S1-en.0"]),
        ({"cases": ["S1-*"], "agents": ["lean"], "models": ["small"]}, ["lean/small/shared/S1-en.0"]),
        ({"tags": ["weather"], "models": ["small"]}, ["lean/small/shared/S1-en.0"]),
        (
            {"models": ["scripted"], "agents": ["lean"], "cases": ["S2-en"], "trials": 3},
            [f"lean/scripted/shared/S2-en.{n}" for n in range(3)],
        ),
    ],
)
def test_flags_narrow_the_matrix(config: Config, flags: dict[str, object], cells: list[str]) -> None:
    """Each flag leaves the cells that it names, and the run is partial."""
    plan = planned(config, **flags)

    assert cells == names(plan)
    assert plan.partial


def test_a_pair_beside_the_matrix_runs_on_the_named_sets(config: Config) -> None:
    """An agent with a model that no row declares runs where the command says."""
    plan = planned(config, sets=["own"], agents=["legacy"], models=["small"])

    assert ["legacy/small/own/O1.0"] == names(plan)


def test_options_that_differ_are_part_of_the_name(config: Config) -> None:
    """A cell is named after the options that are not the agent's defaults."""
    differs = planned(config, sets=["own"], options={"depth": 2})
    default = planned(config, sets=["own"], options={"depth": 1})

    assert ["lean+depth=2/scripted/own/O1.0"] == names(differs)
    assert ["lean/scripted/own/O1.0"] == names(default)


@pytest.mark.parametrize(
    ("flags", "code", "hint"),
    [
        ({"sets": ["shard"]}, "no-such-set", "did you mean `shared`?"),
        ({"agents": ["leen"]}, "no-such-agent", "did you mean `lean`?"),
        ({"agents": ["lean@literal"]}, "no-such-profile", "its profiles: reference"),
        ({"models": ["smal"]}, "no-such-model", "did you mean `small`?"),
        (
            {"models": ["gpt-x"]},
            "no-such-model",
            'declare it as `models = ["gpt-x"]` in a row of [[tool.harness.matrix]]',
        ),
        ({"cases": ["S1-fr"]}, "no-such-case", "did you mean `S1-"),
        ({"cases": ["S1-en", "S1-fr"]}, "no-such-case", "did you mean `S1-"),
        ({"tags": ["weather", "whether"]}, "no-such-case", "cases of shared, own: "),
        ({"sets": ["own"], "options": {"width": 2}}, "no-such-option", "its options: depth"),
        ({"sets": ["own"], "options": {"depth": "deep"}}, "bad-arguments", "its default is 1"),
        ({"sets": ["own"], "options": {"depth": True}}, "bad-arguments", "its default is 1"),
    ],
)
def test_a_wrong_name_is_answered_with_what_there_is(
    config: Config, flags: dict[str, object], code: str, hint: str
) -> None:
    """Each name that does not exist is a mistake of the caller, with the nearest one as a hint."""
    with pytest.raises(UsageError) as caught:
        planned(config, **flags)

    assert code == caught.value.code
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("row", "because"),
    [
        (MatrixRow(set="own", agents=()), "names no agents"),
        (MatrixRow(set="own", agents=("lean",), models=()), "names no models"),
        (MatrixRow(set="own", agents=("lean",), trials=0), "asks for 0 trials"),
        (MatrixRow(set="own", agents=("lean",), cases=("O1", "P*")), "no case matches `P*`"),
        (MatrixRow(set="shared", agents=("lean",), lang=("en", "ed")), "no case has the language `ed`"),
        (MatrixRow(set="shared", agents=("legacy",), cases=("S2-*",)), "no case is left for `legacy`"),
    ],
)
def test_a_row_that_declares_nothing_is_refused(config: Config, row: MatrixRow, because: str) -> None:
    """A misspelt glob beside rows that run would otherwise stay green for ever."""
    with pytest.raises(BadFileError) as caught:
        planned(msgspec.structs.replace(config, matrix=(*config.matrix, row)))

    assert f"row 4 of [[tool.harness.matrix]], for the set `{row.set}`: {because}" == caught.value.message


@pytest.mark.parametrize(
    ("change", "because"),
    [
        ({"designs": ("leen",)}, "case `O1` is for a design that is not there: no agent named `leen`"),
        (
            {"faults": (Fault(kind="timeout", call=1),)},
            "case `O1`: a fault at a model call is not injected by this version",
        ),
    ],
)
def test_a_case_that_would_pass_untried_is_refused(config: Config, change: dict[str, object], because: str) -> None:
    """A misspelt design drops the case from every run, and a fault that never comes proves nothing."""
    case = msgspec.structs.replace(SETS["own"].cases[0], **change)
    sets = SETS | {"own": msgspec.structs.replace(SETS["own"], cases=(*SETS["own"].cases, case))}

    with pytest.raises(BadFileError) as caught:
        plan_run(config, Narrowing(), sets.__getitem__)
    assert because == caught.value.message


@pytest.mark.parametrize(
    ("options", "code", "because", "hint"),
    [
        (
            {"dept": 2},
            "no-such-option",
            "case `O1` sets the option `dept`, which none of its agents has",
            "did you mean `depth`?",
        ),
        (
            {"tone": "friendly"},
            "no-such-option",
            "case `O1` sets the option `tone`, which none of its agents has",
            "options of lean: depth",
        ),
        (
            {"depth": "deep"},
            "bad-golden",
            "case `O1`: option `depth` of agent `lean` cannot be 'deep'",
            "its default is 1",
        ),
    ],
)
def test_an_option_of_a_case_that_cannot_be_is_refused(
    config: Config, options: dict[str, object], code: str, because: str, hint: str
) -> None:
    """A misspelt option would leave the case to test the default, and nobody would know."""
    case = msgspec.structs.replace(SETS["own"].cases[0], options=options, at="goldensets/own.yaml:4")
    sets = SETS | {"own": msgspec.structs.replace(SETS["own"], cases=(case,))}

    with pytest.raises(BadFileError) as caught:
        plan_run(config, Narrowing(), sets.__getitem__)
    error = caught.value

    assert (code, because, hint, "goldensets/own.yaml:4") == (error.code, error.message, error.hint, error.at)


def test_an_option_of_a_case_may_be_for_one_of_its_agents(config: Config) -> None:
    """A case that several designs answer can set up one of them."""
    (config.agents / "legacy" / "agent.py").write_text(AGENT.replace('"depth"', '"width"'))
    case = msgspec.structs.replace(SETS["shared"].cases[0], options={"width": 3})
    sets = SETS | {"shared": msgspec.structs.replace(SETS["shared"], cases=(case,))}
    matrix = (MatrixRow(set="shared", agents=("lean", "legacy")),)

    plan = plan_run(msgspec.structs.replace(config, matrix=matrix), Narrowing(), sets.__getitem__)

    assert ["lean/scripted/shared/S1-de.0", "legacy/scripted/shared/S1-de.0"] == names(plan)


def test_a_dead_row_of_another_set_is_not_in_the_way(config: Config) -> None:
    """A command that names its sets is held up by rows of these alone."""
    dead = MatrixRow(set="shared", agents=())

    assert names(planned(msgspec.structs.replace(config, matrix=(*config.matrix, dead)), sets=["own"]))
