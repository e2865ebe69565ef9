"""The trace of a leg as it is being written: numbers, time and place for every event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.records.trace import ErrorRaised, Event, EventData, Trace

Listener = Callable[[Event], None]


RUNTIME_ONLY = frozenset(
    {
        "trial_started", "trial_finished", "llm_call", "llm_chunk", "llm_result", "tool_call", "tool_result",
        "state_saved", "state_loaded", "phase_started", "phase_finished",
    }
)  # fmt: skip
"""Events that only the runtime writes, so that no agent can misreport what it did."""
HARNESS = "harness"
"""`where` of the errors by which the harness itself ends a leg: no agent may excuse itself with one."""


class Ticking(Protocol):
    """The part of a clock that a trace needs."""

    def ms(self) -> int: ...


class LegCutError(BaseException):
    """The agent is cut off here, as if its process had been killed. A BaseException, so that no agent survives it."""


class TraceWriter:
    """
    Collects the events of one leg.

    Events that arrive before `open` (an agent may speak while it is built) wait, so that `trial_started` stays first.
    """

    def __init__(
        self,
        trial_id: str,
        clock: Ticking,
        *,
        stop_after: dict[str, int] | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.trial_id = trial_id
        self.events: list[Event] = []
        self.phase = ""
        self.phase_span = ""
        self._clock = clock
        self._spans = 0
        self._stop_after = dict(stop_after or {})
        self._listener = listener
        self._cut = False
        self._waiting: list[tuple[EventData, int | None, int | None]] | None = []

    def open(self, started: EventData) -> None:
        """Write *started* as event 0, then whatever came too early."""
        waiting, self._waiting = self._waiting or [], None
        self.emit(started)
        for data, turn, round_ in waiting:
            self.emit(data, turn=turn, round_=round_)

    @property
    def unopened(self) -> bool:
        """Whether `open` is still to come."""
        return self._waiting is not None

    def span(self) -> str:
        """A new span id, `s1`, `s2`, …"""
        self._spans += 1
        return f"s{self._spans}"

    def tell(self, data: EventData, *, turn: int | None = None, round_: int | None = None) -> None:
        """
        Write what an agent says of itself.

        Raises:
            TypeError: It is an event that only the runtime writes.
            ValueError: It is an error that says it is the harness's own.
            LegCutError: The leg ends after this event, by the case's `stop_after`.
        """
        if data.type in RUNTIME_ONLY:
            raise TypeError(f"an agent cannot write {data.type} itself; ctx does")
        if isinstance(data, ErrorRaised) and data.where == HARNESS:
            raise ValueError("an agent cannot raise an error of the harness")
        self.emit(data, turn=turn, round_=round_)

    def emit(
        self, data: EventData, *, span: str = "", turn: int | None = None, round_: int | None = None, cut: bool = True
    ) -> None:
        """
        Write *data* as the next event.

        Raises:
            LegCutError: The leg ends after this event, by the case's `stop_after`.
        """
        if self._waiting is not None:
            self._waiting.append((data, turn, round_))
            return
        if self._cut and cut:
            raise LegCutError  # an agent that survived the first one gets no further
        events = self.events
        event = Event(
            self.trial_id,
            len(events),
            self._clock.ms(),
            data.type,
            data,
            span,
            self.phase_span,
            self.phase,
            turn,
            round_,
        )
        events.append(event)
        if self._listener is not None:
            self._listener(event)
        if self._stop_after and cut:
            self._count_down(data.type)

    def _count_down(self, type_: str) -> None:
        left = self._stop_after.get(type_)
        if left is None:
            return
        self._stop_after[type_] = left - 1
        if left <= 1:
            self._cut = True
            raise LegCutError

    def trace(self) -> Trace:
        """The events so far."""
        return Trace(tuple(self.events))
