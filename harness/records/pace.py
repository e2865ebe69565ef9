"""How much of a trial's work went on at once: turns of the model, and steps of the whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.records.trace import Trace

_EMBEDDING = "embedding"


class Pace(NamedTuple):
    """
    *turns* are chat calls that follow one another: calls under way at once are one turn. *steps* adds one for all the tool
    calls that one reply asked for, and one for each tool call that no model asked for. Calls that were refused, or told
    again from memory, took no step; embeddings belong to the search that needs them.
    """

    turns: int = 0
    steps: int = 0


def pace_of(traces: Iterable[Trace]) -> Pace:
    """Count over all legs of a trial, by the order of events: no clock is asked."""
    turns = steps = 0
    for trace in traces:
        turns += _turns(trace)
        ran = [
            event.turn
            for event in trace.of("tool_result")
            if not event.data.cached and event.data.error_kind != "denied"
        ]
        steps += len({turn for turn in ran if turn is not None}) + ran.count(None)
    return Pace(turns, turns + steps)


def _turns(trace: Trace) -> int:
    """Chat calls that began while no other was under way; one without a result was broken off, and holds up none."""
    calls = [event for event in trace.of("llm_call") if event.data.stage != _EMBEDDING]
    if len(calls) < 2:
        return len(calls)
    ends = {event.span: event.seq for event in trace.of("llm_result")}
    turns, until = 0, -1
    for call in calls:
        turns += call.seq > until
        until = max(until, ends.get(call.span, call.seq))
    return turns
