"""The ports of a server: one loop for all model calls, and a port to nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingReply, EmbeddingRequest, ModelReply, ModelRequest, ReplyChunk
from harness.serve.ports import NoModel, OneLoopPort, ServedModels
from harness.serve.workers import LoopThread

REQUEST = ModelRequest(model="m", messages=())
EMBEDDING = EmbeddingRequest("m", ("text",))
CALL = CallInfo(number=1, ask="ask")


class Telling:
    """A port that answers with the name of its thread, then fails or waits where it is told to."""

    name = "live"

    def __init__(self, then: str = "") -> None:
        self.then = then
        self.cancelled = threading.Event()

    def answer(self) -> Answered:
        return Answered(reply=ModelReply(text=threading.current_thread().name))

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        await self._then()
        return self.answer()

    async def stream(self, request: ModelRequest, call: CallInfo) -> Any:
        yield ReplyChunk("text", "first")
        await self._then()
        yield self.answer()

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return AnsweredEmbedding(reply=EmbeddingReply((), threading.current_thread().name))

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        return self.answer()

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Any:
        yield self.answer()

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return AnsweredEmbedding(reply=EmbeddingReply((), threading.current_thread().name))

    async def _then(self) -> None:
        if self.then == "fail":
            raise ModelError("overloaded", "not now", status=529)
        if self.then == "wait":
            try:
                await asyncio.sleep(600)
            finally:
                self.cancelled.set()


@pytest.fixture
def models() -> Iterator[LoopThread]:
    """The thread of the model calls."""
    thread = LoopThread("models")
    yield thread
    thread.stop()


async def streamed(port: Any) -> list[Any]:
    """All pieces of a stream."""
    return [piece async for piece in port.stream(REQUEST, CALL)]


def test_calls_run_in_the_loop_of_the_models(models):
    """Whichever loop asks; a sync call stays where it is, for it has no loop."""
    port = OneLoopPort(Telling(), models)

    assert "models" == asyncio.run(port.chat(REQUEST, CALL)).reply.text
    assert "models" == asyncio.run(port.embed(EMBEDDING, CALL)).reply.model
    assert "MainThread" == port.chat_sync(REQUEST, CALL).reply.text
    assert "MainThread" == next(iter(port.stream_sync(REQUEST, CALL))).reply.text
    assert "MainThread" == port.embed_sync(EMBEDDING, CALL).reply.model


def test_a_stream_is_handed_over_piece_by_piece(models):
    """Its chunks, then the whole."""
    first, last = asyncio.run(streamed(OneLoopPort(Telling(), models)))

    assert ("first", "models") == (first.text, last.reply.text)


def test_failures_are_those_of_the_port(models):
    """The same error, from a call and from a stream that has begun."""
    port = OneLoopPort(Telling("fail"), models)
    with pytest.raises(ModelError, match="not now"):
        asyncio.run(port.chat(REQUEST, CALL))
    with pytest.raises(ModelError, match="not now") as failed:
        asyncio.run(streamed(port))

    assert 529 == failed.value.status


@pytest.mark.parametrize("way", ["chat", "stream"])
def test_who_gives_up_cancels_the_call(models, way):
    """The request to the provider ends with the run that made it."""
    telling = Telling("wait")
    port = OneLoopPort(telling, models)

    async def asking() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await (port.chat(REQUEST, CALL) if way == "chat" else streamed(port))

    asyncio.run(asking())

    assert telling.cancelled.wait(5)


def test_a_stream_that_is_left_is_cancelled(models):
    """Its reader closed it after the first piece."""
    telling = Telling("wait")

    async def asking() -> None:
        stream = OneLoopPort(telling, models).stream(REQUEST, CALL)
        assert "first" == (await anext(stream)).text
        await stream.aclose()

    asyncio.run(asking())

    assert telling.cancelled.wait(5)


def test_a_call_that_the_server_s_end_cuts_off_is_a_failed_connection():
    """The models' thread stopped under it."""
    models = LoopThread("models")
    port = OneLoopPort(Telling("wait"), models)

    async def asking() -> None:
        stream = port.stream(REQUEST, CALL)
        await anext(stream)
        models.stop()
        await anext(stream)

    with pytest.raises(ModelError, match="the server is stopping"):
        asyncio.run(asking())


def test_nobody_answers_where_there_is_no_model():
    """Each way to ask fails as a connection does, so that a design may fall back."""
    port = NoModel()
    for ask in (
        lambda: asyncio.run(port.chat(REQUEST, CALL)),
        lambda: port.stream(REQUEST, CALL),
        lambda: asyncio.run(port.embed(EMBEDDING, CALL)),
        lambda: port.chat_sync(REQUEST, CALL),
        lambda: port.stream_sync(REQUEST, CALL),
        lambda: port.embed_sync(EMBEDDING, CALL),
    ):
        with pytest.raises(ModelError, match="started without a model") as failed:
            ask()
        assert "connection" == failed.value.kind


class Named(Telling):
    """A port that answers with the model that it is for."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model

    def answer(self) -> Answered:
        return Answered(reply=ModelReply(text=self.model))


def test_no_other_model_is_asked_than_those_that_are_served():
    """An agent's option may name a model for a stage: one that is served answers by its own port, no other is asked."""

    def port_of(model):
        if model not in {"m", "judge"}:
            raise ModelError("not_found", f"{model} is not served")
        return Named(model)

    port = ServedModels("m", port_of)

    async def asked(model):
        request = ModelRequest(model=model, messages=())
        whole = [piece async for piece in port.stream(request, CALL)][-1]
        sync = [*port.stream_sync(request, CALL)][-1]
        replies = (await port.chat(request, CALL), port.chat_sync(request, CALL), whole, sync)
        return {answered.reply.text for answered in replies}

    assert ({"m"}, {"judge"}) == (asyncio.run(asked("m")), asyncio.run(asked("judge")))
    for way in ("chat", "stream", "chat_sync", "stream_sync"):
        with pytest.raises(ModelError, match="opus is not served"):
            asyncio.run(getattr(port, way)(ModelRequest(model="opus", messages=()), CALL))
    vectors = EmbeddingRequest("e5", ("text",))  # worlds name the models that embed, agents do not
    assert port.embed_sync(vectors, CALL).reply == asyncio.run(port.embed(vectors, CALL)).reply
