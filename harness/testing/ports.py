"""A port that answers from a list: what trials run on in tests."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec

from harness.errors import ReplayMissError
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingReply, EmbeddingRequest, ModelReply, ModelRequest, ReplyChunk


class ListPort:
    """
    Answers the k-th call with the k-th of *replies*; an exception among them is raised. It is its own tape.

    A call beyond the list is a miss, as it is on a cassette.
    """

    name = "list"

    def __init__(self, replies: Iterable[ModelReply | ModelError], *, ms: int = 10) -> None:
        self.requests: list[ModelRequest] = []
        self.embedded: list[EmbeddingRequest] = []
        self._left = list(replies)
        self._missed: list[str] = []
        self._ms = ms

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        return self.chat_sync(request, call)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        self.requests.append(request)
        if not self._left:
            self._missed.append(call.ask)
            raise ReplayMissError(call.ask, f"model call {call.number} is not in the list")
        reply = self._left.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return Answered(reply=reply, ms=self._ms, replayed=True)

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        for piece in self.stream_sync(request, call):
            yield piece

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        """Stream the reply word by word; the chunks put together are its text."""
        answered = self.chat_sync(request, call)
        words = re.findall(r"\S+\s*|^\s+", answered.reply.text)
        yield from (ReplyChunk("text", word) for word in words)
        yield msgspec.structs.replace(answered, chunks=len(words))

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return self.embed_sync(request, call)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        """Answer with one-dimensional vectors: the lengths of the texts."""
        self.embedded.append(request)
        vectors = tuple((float(len(text)),) for text in request.texts)
        return AnsweredEmbedding(reply=EmbeddingReply(vectors, request.model), ms=self._ms, replayed=True)

    def unused_count(self) -> int:
        """Replies that nobody asked for."""
        return len(self._left)

    def missed_keys(self) -> tuple[str, ...]:
        """Fingerprints of the calls beyond the list."""
        return tuple(self._missed)
