"""Which trials of two runs are held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec

from harness.records.run import CaseVerdict, Cell


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is compared; empty means all. Of *agents* and *models* one stands for both runs, and two for one each: the
    trials of the first in the first run against those of the second in the second.
    """

    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    """Globs."""
    trial: int | None = None


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """Trials that belong together, in the order of the first run, and those that have no counterpart."""

    both: tuple[tuple[CaseVerdict, CaseVerdict], ...]
    only_a: tuple[Cell, ...]
    only_b: tuple[Cell, ...]


def paired(a: Sequence[CaseVerdict], b: Sequence[CaseVerdict], choice: Choice) -> Pairs:
    """Pair the trials of run *a* with those of run *b*, by everything that *choice* does not let differ."""
    first = {_place(verdict, choice): verdict for verdict in a if _chosen(verdict, choice, side=0)}
    second = {_place(verdict, choice): verdict for verdict in b if _chosen(verdict, choice, side=-1)}
    return Pairs(
        both=tuple((verdict, second[place]) for place, verdict in first.items() if place in second),
        only_a=tuple(verdict.cell for place, verdict in first.items() if place not in second),
        only_b=tuple(verdict.cell for place, verdict in second.items() if place not in first),
    )


def _chosen(verdict: CaseVerdict, choice: Choice, *, side: int) -> bool:
    return (
        (not choice.agents or verdict.agent == choice.agents[side])
        and (not choice.models or verdict.model == choice.models[side])
        and (not choice.sets or verdict.set in choice.sets)
        and (not choice.cases or any(fnmatchcase(verdict.case, glob) for glob in choice.cases))
        and (choice.trial is None or verdict.trial == choice.trial)
    )


def _place(verdict: CaseVerdict, choice: Choice) -> Cell:
    cell = verdict.cell
    agent = cell.agent if len(choice.agents) < 2 else ""
    model = cell.model if len(choice.models) < 2 else ""
    return msgspec.structs.replace(cell, agent=agent, model=model)
