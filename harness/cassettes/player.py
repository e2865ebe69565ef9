"""
Answers calls from a cassette: by fingerprint and slot, first recorded first, each answer once.

A call that the cassette does not hold is a miss: it is raised as a BaseException and remembered as well, because
`asyncio.gather(return_exceptions=True)` would turn even that into a value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Literal, NoReturn
from urllib.parse import urlsplit

import msgspec

from harness.cassettes.file import Cassette, Interaction
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.paths import cell_of
from harness.errors import BadFileError, ReplayMissError
from harness.records.messages import EmbeddingRequest, ModelRequest

Asked = ModelRequest | EmbeddingRequest
MissCause = Literal["prompt", "tool_schema", "model", "params", "message", "extra_call", "order", "unknown"]


class Miss(msgspec.Struct, frozen=True):
    """A call that was not recorded: *key* is its fingerprint, *command* what would record it."""

    key: str
    explanation: str
    cause: MissCause
    command: str
    cost_usd: float | None = None
    """What recording the trial cost the last time."""


class Player:
    """
    Plays one cassette to one trial, from any number of tasks and threads.

    Args:
        cassette: What was recorded.
        order: `any` finds answers by fingerprint alone; `strict` also wants the calls in their recorded order.
        fingerprinter: The trial's own, for calls that come in by the wire.
        command: What a person runs to record the trial again; by default told from the cassette's path.
    """

    def __init__(
        self,
        cassette: Cassette,
        *,
        order: Literal["any", "strict"] = "any",
        fingerprinter: Fingerprinter | None = None,
        command: str = "",
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
        self._asked = 0
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
            self._miss(ask, slot, lambda: request)
        return self.cassette.interactions[position]

    def play_wire(
        self,
        method: str,
        uri: str,
        body: bytes,
        ask: str | None = None,
        slot: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Interaction:
        """
        Take the next answer to a request as it goes over the wire, by *ask* where the caller knows it; *headers* serve to
        explain a miss.

        A wire form that differs from the recorded one under the same *ask* is noted in *drifts*, not refused.

        Raises:
            ReplayMissError: There is none (left).
        """
        wire = self._fingerprinter.wire(body)
        index, key = (self._by_wire, wire) if ask is None else (self._by_ask, ask)
        with self._lock:
            position = self._take(index, (key, slot))
        if position < 0:
            self._miss(key, slot, lambda: decoded_request(uri, body, headers))
        interaction = self.cassette.interactions[position]
        if interaction.wire and interaction.wire != wire:
            self._note_drift(interaction, method, uri, body)
        return interaction

    def unused(self) -> list[Interaction]:
        """What was recorded and not played."""
        return [item for item, played in zip(self.cassette.interactions, self._played, strict=True) if not played]

    def _take(self, index: dict[tuple[str, str], deque[int]], key: tuple[str, str]) -> int:
        """The position of the next interaction under *key*, now played; -1 where there is none."""
        self._asked += 1
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

    def _note_drift(self, interaction: Interaction, method: str, uri: str, body: bytes) -> None:
        from harness.cassettes.drift import wire_drift

        lines = wire_drift(interaction, method, urlsplit(uri).path, body, self._fingerprinter)
        self.drifts.extend(line for line in lines if line not in self.drifts)

    def _miss(self, key: str, slot: str, request: Callable[[], Asked | None]) -> NoReturn:
        number = self._asked
        cause, because = self._explained(key, slot, request, number)
        explanation = f"model call {number} is not in `{_shown(self.cassette.path)}`\n{because}"
        usage = self.cassette.provenance.usage
        with self._lock:
            command = self._command or _command(self.cassette.path)
            self.misses.append(Miss(key, explanation, cause, command, usage.cost_usd if usage else None))
        raise ReplayMissError(key, explanation)

    def _explained(
        self, key: str, slot: str, request: Callable[[], Asked | None], number: int
    ) -> tuple[MissCause, str]:
        if self.misses:
            return "unknown", "an earlier call of this trial was missed already"
        alike = [item for item in self.cassette.interactions if key in (item.ask, item.wire)]
        if alike:
            return self._known_call(alike, slot, number)
        asked = request()
        if asked is None:
            return "unknown", "no recorded call can be compared with it"
        from harness.cassettes.drift import explain

        unplayed = [not played for played in self._played]
        drift = explain(asked, self.cassette, fingerprinter=self._fingerprinter, unplayed=unplayed)
        return drift.cause, drift.text

    def _known_call(self, alike: list[Interaction], slot: str, number: int) -> tuple[MissCause, str]:
        """Why a call that was recorded is not answered."""
        same_slot = [item for item in alike if item.slot == slot]
        if not same_slot:
            slots = ", ".join(f"`{item.slot}`" for item in alike)
            return "order", f"it was recorded in slot {slots}, and is asked for in slot `{slot}`"
        left = [item for item in same_slot if item in self.unused()]
        if left:
            due = self.cassette.interactions[self._next].call if self._next < len(self._played) else "none"
            return "order", f"it was recorded as call {left[0].call}; in strict order, call {due} comes next"
        answers = f"{len(same_slot)} {'answer was' if len(same_slot) == 1 else 'answers were'} recorded"
        return "extra_call", f"call {number} asks again what call {same_slot[-1].call} asked, and {answers}"


def recorded_request(interaction: Interaction) -> Asked | None:
    """The logical request that *interaction* answers, or None where its interface is not known."""
    headers = first_values(interaction.request_headers)
    return decoded_request(interaction.uri, interaction.request_body.encode(), headers)


def decoded_request(uri: str, body: bytes, headers: Mapping[str, str] | None = None) -> Asked | None:
    """The logical request behind a body and its headers, or None where its interface is not known."""
    from harness.dialects import dialect_of

    dialect = dialect_of(uri)
    try:
        return dialect.decode_request(body, headers) if dialect else None
    except BadFileError:
        return None


def first_values(headers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Recorded *headers* with the first value of each."""
    return {name: values[0] for name, values in headers.items() if values}


def _shown(path: str) -> str:
    """The part of a cassette's path that people know it by."""
    parts = Path(path).parts
    return "/".join(parts[-5:]) if len(parts) > 5 else path or "the cassette"


def _command(path: str) -> str:
    import shlex

    parts = Path(path).parts
    cell = cell_of(Path(*parts[:-4]), Path(path)) if len(parts) > 4 else None
    if cell is None:
        return "harness record --mode stale"
    words = (cell.set, "--agent", cell.agent, "--model", cell.model, "--case", cell.case, "--mode", "stale")
    return "harness record " + " ".join(shlex.quote(word) for word in words)
