"""What is behind the fixtures: choosing declared trials, replaying them, reading their recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from harness.cassettes.file import Cassette
from harness.config import load_config
from harness.errors import HarnessError, UsageError
from harness.matrix import Narrowing, PlannedCell
from harness.pytest_plugin.asked import opened_project
from harness.pytest_plugin.nodes import marks_of
from harness.pytest_plugin.replayed import Opened, Replayed


def parametrize(metafunc: pytest.Metafunc) -> None:
    """
    Run the test once for each trial that its marker `harness_cases` chooses.

    Raises:
        pytest.Collector.CollectError: The marker chooses nothing, or a file of the project cannot be used.
    """
    marker = metafunc.definition.get_closest_marker("harness_cases")
    try:
        opened = _project_of(metafunc.config, metafunc.definition.path)
        cells = opened.plan(_chosen(*marker.args, **marker.kwargs) if marker else Narrowing()).cells
        if not cells:
            raise UsageError("no-such-case", "the marker `harness_cases` chooses no declared trial")
    except (HarnessError, TypeError) as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None
    metafunc.parametrize(
        "harness_case",
        [pytest.param(one, id=_id(one), marks=marks_of(one, opened.config)) for one in cells],
        indirect=True,
    )


def runner(request: pytest.FixtureRequest) -> Callable[..., Replayed]:
    """Make what the fixture `harness_run` gives."""
    opened = _project_of(request.config, request.path)

    def run(case: str | None = None, *, agent: str | None = None, model: str | None = None, trial: int = 0) -> Replayed:
        """
        Replay one trial: *case* is `SET/CASE`, and *agent* and *model* are needed where several are declared for it.

        Raises:
            HarnessError: No such trial, or more than one.
        """
        if case is None:
            if "harness_case" not in request.fixturenames:
                raise UsageError("bad-arguments", 'harness_run() needs "SET/CASE", or a test that takes `harness_case`')
            planned: PlannedCell = request.getfixturevalue("harness_case")
        else:
            planned = _one(opened, case, agent, model, trial)
        return opened.replay(planned)

    return run


def cassette_of(request: pytest.FixtureRequest, planned: PlannedCell) -> Cassette:
    """Read the recording of a trial; a missing one fails the test."""
    opened = _project_of(request.config, request.path)
    try:
        return opened.project.cassette(opened.project.cassette_path(planned.cell))
    except HarnessError as error:
        pytest.fail(str(error), pytrace=False)


def _project_of(config: pytest.Config, path: Path) -> Opened:
    """The project that a test file belongs to."""
    return opened_project(config, load_config(path.parent))


def _chosen(
    *sets: str, agent: str | None = None, model: str | None = None, case: str | None = None, tag: str | None = None
) -> Narrowing:
    return Narrowing(
        sets=sets,
        agents=[agent] if agent else (),
        models=[model] if model else (),
        cases=[case] if case else (),
        tags=[tag] if tag else (),
    )


def _one(opened: Opened, name: str, agent: str | None, model: str | None, trial: int) -> PlannedCell:
    """The one declared trial that these words name."""
    set_name, slash, case = name.partition("/")
    if not slash:
        raise UsageError("bad-arguments", f"`{name}` is not of the form SET/CASE")
    cells = opened.plan(_chosen(set_name, agent=agent, model=model)).cells
    ids = sorted({one.cell.case for one in cells})
    chosen = [one for one in cells if one.cell.case == case and one.cell.trial == trial]
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        close = [other for other in ids if fnmatchcase(other.casefold(), f"*{case.casefold()[:3]}*")]
        raise UsageError(
            "no-such-case",
            f"no declared trial {trial} of `{name}`",
            hint=f"cases of {set_name}: {', '.join(close or ids) or 'none'}",
        )
    raise UsageError(
        "bad-arguments", f"`{name}` stands for several trials: {_listed(chosen)}", hint="give agent and model"
    )


def _listed(cells: Sequence[PlannedCell]) -> str:
    return ", ".join(f"{one.cell.agent} × {one.cell.model}" for one in cells)


def _id(planned: PlannedCell) -> str:
    cell = planned.cell
    return f"{cell.set}/{cell.case}-{cell.agent}-{cell.model}-{cell.trial}"
