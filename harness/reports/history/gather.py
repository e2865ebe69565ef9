"""From run folders and a store to the document of `harness history`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from harness.errors import HarnessError
from harness.records.history import History, PastRunTold, SkippedRun
from harness.reports.history.past import PastRun, PastTrial, State, read_past
from harness.reports.history.store import HistoryStore
from harness.reports.history.trend import restless, trends
from harness.reports.history.unsteady import unsteady
from harness.reports.runs import list_runs
from harness.reports.screen import clip, one_line

OnRun = Callable[[int, str], None]
"""Told how many folders were looked at, and the name of the next."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What of the past to look at; agents, sets and cases are globs, and empty means all."""

    agents: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    last: int | None = None
    states: tuple[State, ...] = ("whole",)

    def narrowed(self, run: PastRun) -> PastRun:
        """*run* with only the trials that are looked at."""
        return msgspec.structs.replace(run, trials=tuple(filter(self._chosen, run.trials)))

    def _chosen(self, trial: PastTrial) -> bool:
        return all(
            not globs or any(fnmatchcase(name, glob) for glob in globs)
            for name, globs in ((trial.agent, self.agents), (trial.set, self.sets), (trial.case, self.cases))
        )


def take_in(store: HistoryStore, runs: Path, on_run: OnRun | None = None) -> tuple[int, tuple[SkippedRun, ...]]:
    """
    Put the run folders in *runs* into *store*, but those that are finished and there: how many, and which are damaged.

    Raises:
        HarnessError: The store cannot be used.
    """
    known = store.known()
    taken, skipped = 0, []
    for place, name in enumerate(list_runs(runs)):
        if known.get(name, ("unfinished", 0))[0] != "unfinished":
            continue
        if on_run is not None:
            on_run(place, name)
        run = _read(runs / name)
        if isinstance(run, SkippedRun):
            skipped.append(run)
        else:
            taken += store.put(run)
    return taken, tuple(skipped)


def read_all(runs: Path, on_run: OnRun | None = None) -> tuple[tuple[PastRun, ...], tuple[SkippedRun, ...]]:
    """Every run folder in *runs*, oldest first, and those that are damaged."""
    found = []
    for place, name in enumerate(list_runs(runs)):
        if on_run is not None:
            on_run(place, name)
        found.append(_read(runs / name))
    past = sorted((run for run in found if isinstance(run, PastRun)), key=lambda run: (run.began, run.run))
    return tuple(past), tuple(run for run in found if isinstance(run, SkippedRun))


def document(
    runs: Sequence[PastRun],
    *,
    choice: Choice,
    known: Sequence[State],
    store: str = "",
    skipped: Sequence[SkippedRun] = (),
    taken: int = 0,
    trend: bool = True,
) -> History:
    """
    What *runs*, oldest first, say.

    Args:
        runs: Those of the states that *choice* names, or all.
        choice: What of them to look at.
        known: The state of every run that there is.
        store: Where they come from, for people.
        skipped: Folders that could not be read.
        taken: How many were put into the store just now.
        trend: Whether to look for trends; else only the runs are told.
    """
    chosen = [choice.narrowed(run) for run in runs if run.state in choice.states]
    chosen = [run for run in chosen if run.trials or not (choice.agents or choice.sets or choice.cases)]
    chosen = chosen[-choice.last :] if choice.last else chosen
    return History(
        store=store,
        runs=tuple(map(_told, chosen)),
        series=trends(chosen) if trend else (),
        unsteady=unsteady(chosen) if trend else (),
        cases=restless(chosen) if trend else (),
        left_out=sum(state not in choice.states for state in known),
        skipped=tuple(skipped),
        taken=taken,
    )


def _read(folder: Path) -> PastRun | SkippedRun:
    try:
        return read_past(folder)
    except HarnessError as error:
        return SkippedRun(run=one_line(folder.name), because=clip(one_line(error.message), 200))


def _told(run: PastRun) -> PastRunTold:
    states = [trial.verdict for trial in run.trials]
    return PastRunTold(
        run=run.run,
        began=run.began,
        state=run.state,
        exit_code=run.exit_code,
        version=run.version,
        trials=len(states),
        kept=states.count("kept"),
        broken=states.count("broken"),
        known=sum(trial.known for trial in run.trials),
        could_not_check=states.count("could_not_check"),
    )
