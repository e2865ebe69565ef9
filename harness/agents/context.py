"""What an agent gets: the door to models, tools, clock, ids and state of one leg of a trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from harness.agents.protocol import Clock, Ids, State
from harness.agents.trace_writer import TraceWriter
from harness.agents.traced_models import TracedModels
from harness.agents.traced_tools import TracedTools
from harness.records.case import Limits
from harness.records.digest import digest, digest_bytes
from harness.records.messages import Json
from harness.records.trace import EventData, PhaseFinished, PhaseStarted, StateLoaded, StateSaved


class SeededIds:
    """`kind-1`, `kind-2`, …: the same names in every replay."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def next(self, kind: str) -> str:
        number = self._last.get(kind, 0) + 1
        self._last[kind] = number
        return f"{kind}-{number}"


class StateStore:
    """The sessions of one trial; it outlives a leg. Values are kept encoded, so nobody shares an object with them."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, bytes]] = {}


class TracedState:
    """`harness.agents.protocol.State` that writes each save and load into the trace."""

    def __init__(self, store: StateStore, writer: TraceWriter) -> None:
        self._store = store
        self._writer = writer

    def save(self, session_id: str, parts: Mapping[str, Json]) -> None:
        encoded = {name: msgspec.json.encode(value) for name, value in parts.items()}
        self._store.sessions[session_id] = encoded
        digests = {name: digest_bytes(content) for name, content in encoded.items()}
        self._writer.emit(StateSaved(session_id=session_id, digest=digest(digests), parts=digests))

    def load(self, session_id: str) -> dict[str, Json] | None:
        encoded = self._store.sessions.get(session_id)
        if encoded is None:
            return None
        digests = {name: digest_bytes(content) for name, content in encoded.items()}
        self._writer.emit(StateLoaded(session_id=session_id, digest=digest(digests), parts=digests))
        return {name: msgspec.json.decode(content) for name, content in encoded.items()}


class TrialContext:
    """`harness.agents.protocol.AgentContext` of one leg."""

    def __init__(
        self,
        *,
        models: TracedModels,
        tools: TracedTools,
        clock: Clock,
        ids: SeededIds,
        state: TracedState,
        writer: TraceWriter,
        options: Mapping[str, Json],
        profile: str,
        limits: Limits,
        seed: int = 0,
    ) -> None:
        self.models: Any = models
        self.tools: Any = tools
        self.clock = clock
        self.ids: Ids = ids
        self.state: State = state
        self.options = options
        self.profile = profile
        self.limits = limits
        self.seed = seed
        self._writer = writer
        self._attempts: dict[str, int] = {}

    def emit(self, event: EventData, *, round: int | None = None, turn: int | None = None) -> None:
        self._writer.tell(event, turn=turn, round_=round)

    def show(self, text: str) -> None:
        self.models.show(text)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        writer = self._writer
        attempt = self._attempts.get(name, 0)
        self._attempts[name] = attempt + 1
        outer = writer.phase, writer.phase_span
        span = writer.span()
        writer.phase, writer.phase_span = name, span
        writer.emit(PhaseStarted(name=name, attempt=attempt), span=span)
        try:
            yield
        except BaseException as error:
            writer.emit(PhaseFinished(name=name, ok=False, reason=type(error).__name__), span=span, cut=False)
            raise
        else:
            writer.emit(PhaseFinished(name=name, ok=True), span=span)
        finally:
            writer.phase, writer.phase_span = outer
