"""The recorded trials of the matrix that can be played: no key and no network are needed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import msgspec

from harness.errors import UsageError
from harness.matrix import Narrowing, PlannedCell, plan_run
from harness.records.case import GoldenCase, TextContent
from harness.records.run import Cell
from harness.sources import answered_by
from harness.trials import Project

ADDRESS = "/api/recordings"


class RecordingItem(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded trial, who answered it, and where to POST to have it played."""

    set: str
    agent: str
    model: str
    case: str
    trial: int
    question: str
    lang: str
    provenance: str
    url: str


class Recordings:
    """The trials that the matrix declares, as it was when they were first asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def listed(self) -> list[RecordingItem]:
        """Each declared trial whose cassette is there."""
        return [self._item(planned) for planned in self._planned.values() if self._is_there(planned.cell)]

    def find(self, cell: Cell) -> PlannedCell:
        """
        The trial in *cell*.

        Raises:
            UsageError: The matrix declares none, or it is not recorded.
        """
        planned = self._planned.get(cell)
        if planned is None or not self._is_there(cell):
            raise UsageError(
                "no-such-recording", "there is no such recording", hint=f"GET {ADDRESS} lists what can be played"
            )
        return planned

    @cached_property
    def _planned(self) -> dict[Cell, PlannedCell]:
        plan = plan_run(self._project.config, Narrowing(), self._project.golden_set)
        return {planned.cell: planned for planned in plan.cells}

    def _is_there(self, cell: Cell) -> bool:
        return Path(self._project.cassette_path(cell)).is_file()

    def _item(self, planned: PlannedCell) -> RecordingItem:
        cell = planned.cell
        place = "/".join(
            quote(part, safe="") for part in (cell.set, cell.agent, cell.model, cell.case, str(cell.trial))
        )
        return RecordingItem(
            set=cell.set, agent=cell.agent, model=cell.model, case=cell.case, trial=cell.trial,
            question=_question(planned.case), lang=planned.case.lang, provenance=answered_by(self._project, cell.model),
            url=f"{ADDRESS}/{place}",
        )  # fmt: skip


def _question(case: GoldenCase) -> str:
    texts = [part.text for part in case.content if isinstance(part, TextContent)]
    return case.question or "\n".join([*case.turns, *texts])
