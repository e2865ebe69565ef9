"""The ports of a server: to models, from the threads of several runs; and to nobody, where there is no model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from harness.models.port import Answered, AnsweredEmbedding, CallInfo, Port
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, ModelRequest, ReplyChunk
from harness.serve.workers import LoopThread

T = TypeVar("T")


class OneLoopPort:
    """
    Lets every run ask by *port*, each from its own event loop, while the calls themselves all run in that of *models*.

    litellm keeps some clients once for the whole process, and a client belongs to the loop that used it first: a second
    loop would close its connections under it.
    """

    def __init__(self, port: Port, models: LoopThread) -> None:
        self.name = port.name
        self._port = port
        self._models = models

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        return await self._there(self._port.chat(request, call))

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        here = asyncio.get_running_loop()
        pieces: asyncio.Queue[ReplyChunk | Answered | None] = asyncio.Queue()

        def hand_over(piece: ReplyChunk | Answered | None) -> None:
            with suppress(RuntimeError):  # the run's loop is closed: nobody waits
                here.call_soon_threadsafe(pieces.put_nowait, piece)

        async def reading() -> None:
            async for piece in self._port.stream(request, call):
                hand_over(piece)

        work = self._models.submit(reading())
        work.add_done_callback(lambda _: hand_over(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            _raise_error_of(work)
        finally:
            work.cancel()

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return await self._there(self._port.embed(request, call))

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        return self._port.chat_sync(request, call)

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        return self._port.stream_sync(request, call)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return self._port.embed_sync(request, call)

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self._models.submit(work))


class ServedModels:
    """
    Hands each call to the port of the model that it is for: an agent's options may name another one than was asked.

    Args:
        model: Whose port embeds; worlds name the models that do, so that those need not be served.
        port_of: Gives the port of a model; raises `ModelError` for one that is not served.
    """

    name = "live"

    def __init__(self, model: str, port_of: Callable[[str], Port]) -> None:
        self._model = model
        self._port_of = port_of

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        return await self._port_of(request.model).chat(request, call)

    def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        return self._port_of(request.model).stream(request, call)

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return await self._port_of(self._model).embed(request, call)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        return self._port_of(request.model).chat_sync(request, call)

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        return self._port_of(request.model).stream_sync(request, call)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return self._port_of(self._model).embed_sync(request, call)


class NoModel:
    """Fails each call as if nobody were there, so that a design with a way of its own can take it."""

    name = "live"

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        _nobody()

    def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        _nobody()

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        _nobody()

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        _nobody()

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        _nobody()

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        _nobody()


def _raise_error_of(work: Future[None]) -> None:
    if work.cancelled():  # by whoever stopped the server
        raise ModelError("connection", "the server is stopping")
    work.result()


def _nobody() -> NoReturn:
    raise ModelError("connection", "this server was started without a model")
