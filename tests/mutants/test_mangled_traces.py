"""Contracts against traces that no agent writes: they find what they find, and never fail themselves."""

from __future__ import annotations

from functools import cache

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.judge import judge
from harness.records.case import GoldenCase
from harness.records.run import Trial
from harness.records.trace import Event, Trace
from harness.testing.mutants import held

from . import MUTANTS

TWINS = {mutant.id: mutant for mutant in MUTANTS}


@cache
def sound(id: str) -> tuple[GoldenCase, Trial]:
    """The run of a mutant's sound twin."""
    return TWINS[id].case, TWINS[id].run_sound().judged()


def mangled(data: st.DataObject, events: tuple[Event, ...]) -> Trace:
    """*events* with some of them taken away, told twice, moved, or without their turn."""
    left = list(events)
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, max(len(left) - 1, 0)))
        match data.draw(st.sampled_from(["drop", "cut", "repeat", "move", "turn"])):
            case "drop":
                left = left[:place] + left[place + 1 :]
            case "cut":
                left = left[:place]
            case "repeat":
                left = left[:place] + left[place : place + 1] + left[place:]
            case "move":
                left = left[place:] + left[:place]
            case "turn":
                left = [msgspec.structs.replace(one, turn=None) if n == place else one for n, one in enumerate(left)]
    return Trace(tuple(left))


@given(id=st.sampled_from(sorted(TWINS)), data=st.data())
def test_contracts_survive_any_trace(id: str, data: st.DataObject) -> None:
    """Each contract of every run keeps, breaks or says nothing; none raises."""
    case, trial = sound(id)
    traces = tuple(mangled(data, trace.events) for trace in trial.traces)
    found = judge(case, msgspec.structs.replace(trial, traces=traces), held(trial.cell.agent))

    assert [] == [f"{one.contract}: {one.because}" for one in found if one.state == "could_not_check"]
