"""
Answers calls from a cassette: by fingerprint and slot, first recorded first, each answer once.

A call that the cassette does not hold is a miss: it is raised as a BaseException and remembered as well, because
`asyncio.gather(return_exceptions=True)` would turn even that into a value.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Literal

import msgspec

from harness.cassettes.file import Cassette, Interaction
from harness.cassettes.fingerprint import Fingerprinter
from harness.errors import ReplayMissError
from harness.records.messages import EmbeddingRequest, ModelRequest

MissCause = Literal["prompt", "tool_schema", "model", "params", "message", "extra_call", "order", "unknown"]


class Miss(msgspec.Struct, frozen=True):
    """A call that was not recorded: *key* is its fingerprint, *command* what would record it."""

    key: str
    explanation: str
    cause: MissCause
    command: str


class Player:
    """
    Plays one cassette to one trial, from any number of tasks and threads.

    Args:
        cassette: What was recorded.
        order: `any` finds answers by fingerprint alone; `strict` also wants the calls in their recorded order.
        fingerprinter: The trial's own, for calls that come in by the wire.
        command: What a person runs to record the trial again; shown with a miss.
    """

    def __init__(
        self,
        cassette: Cassette,
        *,
        order: Literal["any", "strict"] = "any",
        fingerprinter: Fingerprinter | None = None,
        command: str = "harness record --mode stale",
    ) -> None:
        self.cassette = cassette
        self.misses: list[Miss] = []
        self.drifts: list[str] = []
        """Transport drifts: the logical call was found, and its wire form differs."""
        self._order = order
        self._fingerprinter = fingerprinter or Fingerprinter()
        self._command = command
        self._lock = Lock()
        self._played = [False] * len(cassette.interactions)
        self._next = 0
        self._by_ask: dict[tuple[str, str], deque[int]] = {}
        self._by_wire: dict[tuple[str, str], deque[int]] = {}
        for position, interaction in enumerate(cassette.interactions):
            if interaction.ask:
                self._by_ask.setdefault((interaction.ask, interaction.slot), deque()).append(position)
            if interaction.wire:
                self._by_wire.setdefault((interaction.wire, interaction.slot), deque()).append(position)

    def play(self, ask: str, slot: str = "", request: ModelRequest | EmbeddingRequest | None = None) -> Interaction:
        """
        Take the next answer to the logical call *ask*; *request* serves to explain a miss.

        Raises:
            ReplayMissError: There is none (left).
        """
        with self._lock:
            position = self._take(self._by_ask, (ask, slot))
        if position < 0:
            self._miss(ask, slot, request)
        return self.cassette.interactions[position]

    def play_wire(self, method: str, uri: str, body: bytes, ask: str | None = None, slot: str = "") -> Interaction:
        """
        Take the next answer to a request as it goes over the wire, by *ask* where the caller knows it.

        A wire form that differs from the recorded one under the same *ask* is noted in *drifts*, not refused.

        Raises:
            ReplayMissError: There is none (left).
        """
        wire = self._fingerprinter.wire(body)
        index, key = (self._by_wire, wire) if ask is None else (self._by_ask, ask)
        with self._lock:
            position = self._take(index, (key, slot))
        if position < 0:
            self._miss(key, slot, None)
        interaction = self.cassette.interactions[position]
        if interaction.wire != wire:
            self.drifts.append(f"call {interaction.call}: {method} {uri} has another wire form than was recorded")
        return interaction

    def unused(self) -> list[Interaction]:
        """What was recorded and not played."""
        return [item for item, played in zip(self.cassette.interactions, self._played, strict=True) if not played]

    def _take(self, index: dict[tuple[str, str], deque[int]], key: tuple[str, str]) -> int:
        """The position of the next interaction under *key*, now played; -1 where there is none."""
        queue = index.get(key)
        while queue:
            position = queue[0]
            if not self._played[position]:
                if self._order == "strict" and position != self._next:
                    return -1
                queue.popleft()
                self._played[position] = True
                self._next = position + 1
                return position
            queue.popleft()
        return -1

    def _miss(self, key: str, slot: str, request: ModelRequest | EmbeddingRequest | None) -> None:
        explanation = f"a model call is not in {self.cassette.path or 'the cassette'}"
        with self._lock:
            self.misses.append(Miss(key, explanation, "unknown", self._command))
        raise ReplayMissError(key, explanation)
