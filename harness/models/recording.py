"""
The port of `harness record`: keeps what an old cassette still answers, asks the model for the rest, and writes both.

What the client library refused before sending is recorded as such, so that a replay fails in the same way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from harness.cassettes.file import TRANSPORT_ERROR, AnsweredBy, Interaction, InteractionKind
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.cassettes.tapes import RecordTape
from harness.errors import ReplayMissError
from harness.models.live import LivePort
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.models.replayed import answer_chat, answer_embedding, answer_stream, unsent_note
from harness.models.route import Embedder
from harness.models.sendable import check_sendable
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, ModelRequest, ReplyChunk

if TYPE_CHECKING:
    import httpx

    from harness.cassettes.transport import Send, SendAsync, Tape

_UNSENT_URI = {"chat": "http://unsent.invalid/v1/chat/completions", "embedding": "http://unsent.invalid/v1/embeddings"}


class RecordingPort:
    """
    Writes a trial into *recorder*.

    Args:
        recorder: Where interactions go; the caller finishes it.
        answered_by: Who answers at the other end.
        base_url: The server to ask; None for the providers themselves.
        api_key: As for the live port.
        ask_for: As for the live port.
        embedders: As for the live port.
        old: A player of the old cassette: what it still answers is taken from there and not asked again.
        fingerprinter: The trial's own.
        rewrite: Real base addresses to the ones that are recorded in their place.

    Raises:
        UsageError: litellm is not installed.
    """

    name = "recording"

    def __init__(
        self,
        recorder: Recorder,
        *,
        answered_by: AnsweredBy,
        base_url: str | None = None,
        api_key: str | None = None,
        ask_for: Mapping[str, str] | None = None,
        embedders: Mapping[str, Embedder] | None = None,
        old: Player | None = None,
        fingerprinter: Fingerprinter | None = None,
        rewrite: Mapping[str, str] | None = None,
    ) -> None:
        self.kept = 0
        """Calls that the old cassette answered."""
        self.asked = 0
        """Calls that the model answered."""
        self._recorder = recorder
        self._answered_by: AnsweredBy = answered_by
        self._old = old
        tape = RecordTape(
            recorder, answered_by=answered_by, fingerprinter=fingerprinter, rewrite=rewrite,
            embeddings_by={embedder.ask_for: embedder.answered_by for embedder in (embedders or {}).values()},
        )  # fmt: skip
        self._tape = _CountingTape(tape)
        self._live = LivePort(base_url, api_key=api_key, ask_for=ask_for, embedders=embedders, tape=self._tape)

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        kept = self._keep(request, call)
        if kept is not None:
            return answer_chat(kept, request.model)
        with self._asking("chat", call):
            return await self._live.chat(request, call)

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        kept = self._keep(request, call)
        if kept is not None:
            for piece in answer_stream(kept, request.model):
                yield piece
            return
        with self._asking("chat", call):
            async for piece in self._live.stream(request, call):
                yield piece

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        kept = self._keep(request, call)
        if kept is not None:
            return answer_embedding(kept, request.model)
        with self._asking("embedding", call):
            return await self._live.embed(request, call)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        kept = self._keep(request, call)
        if kept is not None:
            return answer_chat(kept, request.model)
        with self._asking("chat", call):
            return self._live.chat_sync(request, call)

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        kept = self._keep(request, call)
        if kept is not None:
            yield from answer_stream(kept, request.model)
            return
        with self._asking("chat", call):
            yield from self._live.stream_sync(request, call)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        kept = self._keep(request, call)
        if kept is not None:
            return answer_embedding(kept, request.model)
        with self._asking("embedding", call):
            return self._live.embed_sync(request, call)

    def _keep(self, request: ModelRequest | EmbeddingRequest, call: CallInfo) -> Interaction | None:
        """What the old cassette answers, now part of the new one."""
        if isinstance(request, ModelRequest):
            check_sendable(request)
        if self._old is None:
            return None
        try:
            old = self._old.play(call.ask, call.slot, request)
        except ReplayMissError:
            return None
        self.kept += 1
        kept = msgspec.structs.replace(old, call=call.number)
        self._recorder.add(kept)
        return kept

    @contextmanager
    def _asking(self, kind: InteractionKind, call: CallInfo) -> Iterator[None]:
        self.asked += 1
        try:
            yield
        except ModelError as error:
            if call.number not in self._tape.sent:
                self._recorder.add(self._unsent(kind, call, error))
            raise

    def _unsent(self, kind: InteractionKind, call: CallInfo, error: ModelError) -> Interaction:
        return Interaction(
            call=call.number,
            ask=call.ask,
            slot=call.slot,
            kind=kind,
            answered_by=self._answered_by,
            error=unsent_note(error),
            uri=_UNSENT_URI[kind],
            status=TRANSPORT_ERROR,
            status_message="Not Sent",
        )


class _CountingTape:
    """Hands requests on to *tape* and keeps the numbers of the calls that they belong to."""

    def __init__(self, tape: Tape) -> None:
        self.sent: set[int] = set()
        self._tape = tape

    def handle(self, request: httpx.Request, send: Send) -> httpx.Response:
        self._note()
        return self._tape.handle(request, send)

    async def handle_async(self, request: httpx.Request, send: SendAsync) -> httpx.Response:
        self._note()
        return await self._tape.handle_async(request, send)

    def _note(self) -> None:
        from harness.cassettes.transport import calling

        current = calling.get()
        if current is not None:
            self.sent.add(current.number)
