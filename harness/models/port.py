"""
The seam between the model client and whatever answers: three ports, one shape.

`fast` answers from a cassette without litellm and without HTTP; `wire` answers from a cassette through litellm over a
patched transport; `live` asks a real server through litellm and is recorded while it does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Protocol

import msgspec

from harness.records.messages import EmbeddingReply, EmbeddingRequest, ModelReply, ModelRequest, ReplyChunk


class CallInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a call stands in its trial; travels beside the request and is never part of its fingerprint, *slot* apart."""

    number: int
    """From 1, in start order, embeddings included."""
    ask: str
    """The fingerprint of the logical call."""
    slot: str = ""
    purpose: str = "agent"
    timeout_ms: int | None = None
    """Milliseconds after which a live call is given up; None: the port's own bound."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A reply and how long it took, in milliseconds of the recording (or of now, on the live port)."""

    reply: ModelReply
    ms: int = 0
    chunks: int = 0
    replayed: bool = False
    ask: str = ""
    """Fingerprint of the recorded request whose answer this is, where the port knows it."""


class AnsweredEmbedding(msgspec.Struct, frozen=True, kw_only=True):
    """Vectors and how long they took, in milliseconds."""

    reply: EmbeddingReply
    ms: int = 0
    replayed: bool = False


class Port(Protocol):
    """
    Answers model calls.

    Every method raises `harness.records.faults.ModelError` where the provider failed (with *ms* set), of the same kind
    on every port, and `harness.errors.ReplayMissError` where a cassette does not hold the call.
    """

    name: str
    """`fast`, `wire`, `live`, or `recording`."""

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        """Answer a request whose `stream` is False."""
        ...

    def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        """Answer a request whose `stream` is True: chunks as they come, then exactly one `Answered`."""
        ...

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        """Answer an embedding request."""
        ...

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        """The sync twin of `chat`; with `stream` True it reads the stream to its end."""
        ...

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        """The sync twin of `stream`."""
        ...

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        """The sync twin of `embed`."""
        ...
