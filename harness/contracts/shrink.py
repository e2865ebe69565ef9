"""The shortest sub-trace that still breaks a contract, found by delta debugging (Zeller and Hildebrandt, TSE 2002)."""

from __future__ import annotations

from collections.abc import Callable

from harness.contracts.base import Broken, Contract
from harness.contracts.view import TrialView
from harness.records.trace import Event

MOST_TRIES = 400
"""Sub-traces that are tried before the shortest one so far is taken."""
_PINNED = frozenset({"trial_started", "trial_finished"})


def shortest(contract: Contract, view: TrialView, found: Broken) -> tuple[int, ...]:
    """
    Name by *seq* the events of the shortest sub-trace in which *contract* still breaks with the witness of *found*.

    The first and the last event of the trial stand in every sub-trace and are not named. Where the contract cannot
    be shrunk, or its witness lies in another leg, it is the witness.
    """
    if not contract.shrinks or contract.over == "trial" or found.leg is not None or not found.witness:
        return found.witness
    tries = 0

    def still_breaks(events: list[Event]) -> bool:
        nonlocal tries
        tries += 1
        if tries > MOST_TRIES:
            return False
        kept = {event.seq for event in events}
        sub = view.sub_trace(tuple(e for e in view.events if e.seq in kept or e.type in _PINNED))
        try:
            return any(isinstance(f, Broken) and f.witness == found.witness for f in contract.check(sub))
        except Exception:  # noqa: BLE001 - a contract may stumble over a trace that no agent writes
            return False

    movable = [event for event in view.events if event.type not in _PINNED]
    small = minimise(movable, still_breaks)
    return tuple(sorted({event.seq for event in small} | set(found.witness)))


def minimise(events: list[Event], still_breaks: Callable[[list[Event]], bool]) -> list[Event]:
    """
    Take away events for as long as *still_breaks* holds; no single event of what is left can be taken away.

    Returns *events* itself where it does not break to begin with.
    """
    if still_breaks([]):
        return []
    parts = 2
    while len(events) >= 2:
        size = max(1, len(events) // parts)
        for start in range(0, len(events), size):
            rest = events[:start] + events[start + size :]
            if rest and still_breaks(rest):
                events, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(parts * 2, len(events))
    return events
