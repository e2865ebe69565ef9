"""Asks a real server through litellm; whether that is recorded is the business of a tape."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager

from harness.cassettes.transport import Tape
from harness.models.litellm_client import LitellmClient
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.models.route import Embedder, Route, route_of
from harness.models.sendable import check_sendable
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, ModelRequest, ReplyChunk


class LivePort:
    """
    Asks the provider of each model, or one server for all of them.

    Args:
        base_url: A server that speaks OpenAI's format below `/v1`, such as `http://127.0.0.1:8555/v1`; None for the
            providers themselves.
        api_key: The key to send; by default none to *base_url*, and the environment's to a provider.
        ask_for: The name that the server knows a model by, where it is not our own.
        embedders: Embedding models that are served elsewhere, by name.
        timeout_s: Seconds that a call may take, above 0.
        tape: What sees the traffic; by default the tape of the context, and where there is none it passes unseen.

    Raises:
        UsageError: litellm is not installed.
    """

    name = "live"

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        ask_for: Mapping[str, str] | None = None,
        embedders: Mapping[str, Embedder] | None = None,
        timeout_s: float = 600.0,
        tape: Tape | None = None,
    ) -> None:
        names, elsewhere = dict(ask_for or {}), dict(embedders or {})

        def route(model: str) -> Route:
            return route_of(names.get(model, model), base_url=base_url, api_key=api_key)

        def embedding_route(model: str) -> Route:
            own = elsewhere.get(model)
            return route_of(own.ask_for, base_url=own.base_url) if own else route(model)

        self._client = LitellmClient(route, timeout_s=timeout_s)
        self._embedder = LitellmClient(embedding_route, timeout_s=timeout_s)
        self._tape = tape

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        check_sendable(request)
        with _timed() as ms:
            reply = await self._client.chat(request, call, self._tape)
        return Answered(reply=reply, ms=ms())

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        check_sendable(request)
        chunks = 0
        with _timed() as ms:
            async for piece in self._client.stream(request, call, self._tape):
                if isinstance(piece, ReplyChunk):
                    chunks += 1
                    yield piece
                else:
                    yield Answered(reply=piece, ms=ms(), chunks=chunks)

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        with _timed() as ms:
            reply = await self._embedder.embed(request, call, self._tape)
        return AnsweredEmbedding(reply=reply, ms=ms())

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        check_sendable(request)
        with _timed() as ms:
            reply = self._client.chat_sync(request, call, self._tape)
        return Answered(reply=reply, ms=ms())

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        check_sendable(request)
        chunks = 0
        with _timed() as ms:
            for piece in self._client.stream_sync(request, call, self._tape):
                if isinstance(piece, ReplyChunk):
                    chunks += 1
                    yield piece
                else:
                    yield Answered(reply=piece, ms=ms(), chunks=chunks)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        with _timed() as ms:
            reply = self._embedder.embed_sync(request, call, self._tape)
        return AnsweredEmbedding(reply=reply, ms=ms())


@contextmanager
def _timed() -> Iterator[Callable[[], int]]:
    """A stopwatch in milliseconds; a `ModelError` that passes carries its reading."""
    began = time.monotonic()

    def ms() -> int:
        return round((time.monotonic() - began) * 1000)

    try:
        yield ms
    except ModelError as error:
        error.ms = ms()
        raise
