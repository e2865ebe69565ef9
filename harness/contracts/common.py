"""The contracts of the envelope that hold every design."""

from __future__ import annotations

from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import TrialView


@contract("CX1", shrinks=False)
def envelope(view: TrialView) -> Iterator[Found]:
    """A trace starts with its one trial_started, ends with its one trial_finished, and has no gap between them."""
    yield TRIGGERED
    events = view.events
    if not events:
        yield broken(None, "the trace is empty")
        return
    for kind, place, event in (("trial_started", "first", events[0]), ("trial_finished", "last", events[-1])):
        found = view.by_type.get(kind, [])
        if len(found) != 1:
            yield broken(found, f"{len(found)} events {kind}, expected one")
        elif event.type != kind:
            yield broken([event, *found], f"{kind} is not the {place} event")
    trial_id = events[0].trial_id
    for number, event in enumerate(events):
        if event.seq != number:
            yield broken(event, f"event {number} has seq {event.seq}")
            break
        if event.trial_id != trial_id:
            yield broken(event, f"event {number} belongs to trial {event.trial_id}, the first one to {trial_id}")
            break


_AFTER_FINAL = frozenset({"state_saved", "phase_finished", "progress", "warning", "trial_finished", "final_answer"})


@contract("CX5", needs=("trial_finished",))
def honest_ending(view: TrialView) -> Iterator[Found]:
    """A completed trial ends with exactly one answer that is not blank; a failed one says so by an error event."""
    finished = view.finished
    if finished is None or view.stopped:
        return
    yield TRIGGERED
    if finished.status != "completed":
        if "error" not in view.by_type:
            yield broken(view.finished_event, f"status {finished.status} without an error event")
        for final in view.finals:
            if final.data.complete:
                yield broken(
                    [final, view.finished_event], f"status {finished.status}, yet the answer is marked as complete"
                )
        return
    if len(view.finals) != 1:
        yield broken([*view.finals, view.finished_event], f"status completed with {len(view.finals)} answers")
        return
    final = view.finals[0]
    if not final.data.text.strip():
        yield broken(final, "status completed with a blank answer")
    for event in reversed(view.events):
        if event.seq > final.seq and event.type not in _AFTER_FINAL:
            yield broken([final, event], f"{event.type} after the answer")
            break
