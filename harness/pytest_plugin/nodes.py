"""The nodes that pytest collects: `goldensets/<set>.yaml` › agent › `<case>[<model>-<trial>]`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.agents.load import split_name
from harness.errors import HarnessError
from harness.matrix import PlannedCell
from harness.records.run import Cell
from harness.reports.screen import clip, one_line

if TYPE_CHECKING:
    from harness.config import Config
    from harness.pytest_plugin.asked import AskedSets
    from harness.pytest_plugin.replayed import Opened, Replayed


class GoldenFile(pytest.File):
    """A golden set: its collectors are the agents that it is declared for."""

    def __init__(self, *, asked: AskedSets, opened: Opened, **node: Any) -> None:
        super().__init__(**node)
        self._asked = asked
        self._opened = opened

    def collect(self) -> Iterator[pytest.Collector]:
        """Give a collector for each agent, in the order of the matrix."""
        name = self.path.stem
        agents: dict[str, list[PlannedCell | Cell]] = {}
        try:
            planned = self._asked.cells(self._opened, name)
            for one in planned:
                agents.setdefault(one.cell.agent, []).append(one)
            for gone in () if self._asked.narrowed else self._opened.gone(name, planned):
                agents.setdefault(gone.agent, []).append(gone)
        except HarnessError as error:
            raise self.CollectError(str(error)) from None
        for agent, cells in agents.items():
            yield AgentCells.from_parent(self, name=agent, cells=cells, opened=self._opened)


class AgentCells(pytest.Collector):
    """An agent on a golden set: its tests are trials."""

    def __init__(self, *, cells: list[PlannedCell | Cell], opened: Opened, **node: Any) -> None:
        super().__init__(**node)
        self._cells = cells
        self._opened = opened

    def collect(self) -> Iterator[pytest.Item]:
        """Give a test for each trial."""
        for one in self._cells:
            name = item_name(one if isinstance(one, Cell) else one.cell)
            # given as a text, it is read like one from the cache: `--lf` and `--ff` compare the two
            nodeid = f"{self.nodeid}::{name}"
            if isinstance(one, Cell):
                yield GoneItem.from_parent(self, name=name, nodeid=nodeid, cell=one)
            else:
                yield TrialItem.from_parent(self, name=name, nodeid=nodeid, planned=one, opened=self._opened)


class TrialItem(pytest.Item):
    """One trial: it passes where every blocking contract is kept, or the baseline knows of each that is not."""

    def __init__(self, *, planned: PlannedCell, opened: Opened, **node: Any) -> None:
        super().__init__(**node)
        self._planned = planned
        self._opened = opened
        self.harness_known = ""
        """What is broken and known, in one line."""
        for mark in marks_of(planned, opened.config):
            self.add_marker(mark)
        case = planned.case
        self.extra_keyword_matches.update((planned.cell.set, case.class_, case.lang, *case.tags))

    def runtest(self) -> None:
        """Replay and judge the trial."""
        ran = self._opened.replay(self._planned)
        self._note(ran)
        if not (ran.kept or ran.known):
            pytest.fail(ran.evidence, pytrace=False)
        if missing := self._opened.lacks_baseline(self._planned.cell.set):
            pytest.fail(missing, pytrace=False)
        if ran.known:
            self.harness_known = clip(one_line(f"broken and accepted: {', '.join(ran.verdict.broken)}"), 200)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the line of the case in its golden set."""
        line = self._planned.case.lines.get("id") or _line_of(self._planned.case.at)
        return self.path, line - 1 if line else None, f"{self.parent.name if self.parent else ''}::{self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what a person can mend without a traceback."""
        if isinstance(excinfo.value, HarnessError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def _note(self, ran: Replayed) -> None:
        """Keep for JUnit and other reports who answered, and what came of it."""
        verdict = ran.verdict
        word = "known" if ran.known else verdict.verdict
        self.user_properties += [
            ("provenance", verdict.provenance), ("verdict", word), ("cassette", verdict.cassette),
        ]  # fmt: skip


class GoneItem(pytest.Item):
    """A trial that the baseline has accepted and nothing declares any more: it fails."""

    def __init__(self, *, cell: Cell, **node: Any) -> None:
        super().__init__(**node)
        self._cell = cell
        self.add_marker(pytest.mark.harness(**_place(cell)))

    def runtest(self) -> None:
        """Fail: what was held to its contracts must not be missing without a word."""
        cell = self._cell
        pytest.fail(
            f"GONE  {cell.agent} × {cell.model}  {cell.set}/{cell.case}.{cell.trial} was accepted, and nothing declares it any more"
            f"\n\nhint: put the case, the trial or the row of the matrix back, or take it out of the baseline of `{cell.set}` too",
            pytrace=False,
        )

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the golden set."""
        return self.path, None, f"{self._cell.agent}::{self.name}"


class UncollectedItem(pytest.Item):
    """Golden sets that were asked for and that pytest passed by: it fails."""

    def __init__(self, *, because: str, **node: Any) -> None:
        super().__init__(**node)
        self._because = because

    def runtest(self) -> None:
        """Fail: what nobody collected has not passed."""
        pytest.fail(self._because, pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the project."""
        return self.path, None, self.name


def item_name(cell: Cell) -> str:
    """The last part of a node id: all models and trials of a case are chosen by the case alone."""
    return f"{cell.case}[{cell.model}-{cell.trial}]"


def marks_of(planned: PlannedCell, config: Config) -> list[pytest.MarkDecorator]:
    """The marker `harness` with the facts of a trial, once for each tag of its case, so that `-m` finds any of them."""
    cell, case = planned.cell, planned.case
    declared = config.models.get(cell.model)
    facts = _place(cell) | {
        "class_": case.class_,
        "lang": case.lang,
        "provenance": declared.answered_by if declared else "scripted" if cell.model == "scripted" else "live",
    }
    return [pytest.mark.harness(**facts, tag=tag) for tag in case.tags or ("",)]


def _place(cell: Cell) -> dict[str, str]:
    design = split_name(cell.agent)[0]
    return {"design": design, "agent": cell.agent, "model": cell.model, "set": cell.set}


def _line_of(at: str) -> int:
    line = at.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0
