"""The live port against a scripted server: what goes wrong on the way, and who pays for a retry."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import httpx
import msgspec
import pytest

from harness.cassettes import transport as wiring
from harness.models.litellm_client import close_clients
from harness.models.live import LivePort
from harness.models.port import Answered, CallInfo, Port
from harness.models.scripted.script import Reply, Script, Step
from harness.models.scripted.server import ScriptedServer
from harness.models.scripted.session import ScriptSession
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, Message, ModelRequest, ReplyChunk, Thinking, ToolSpec

_CALL = CallInfo(number=1, ask="a")
_MODELS = ("gpt-4.1-mini", "claude-sonnet-4-5")


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """One server for all scripts of this module."""
    with ScriptedServer() as running:
        yield running
    wiring.uninstall()


class _CountingTape(wiring.OpenTape):
    """Counts the requests that it lets through."""

    def __init__(self) -> None:
        self.requests = 0

    def handle(self, request: httpx.Request, send: wiring.Send) -> httpx.Response:
        self.requests += 1
        return super().handle(request, send)

    async def handle_async(self, request: httpx.Request, send: wiring.SendAsync) -> httpx.Response:
        self.requests += 1
        return await super().handle_async(request, send)


def _request(model: str, *, stream: bool = False) -> ModelRequest:
    return ModelRequest(model=model, messages=(Message("user", "?"),), max_tokens=100, stream=stream)


def _serve(server: ScriptedServer, *replies: Reply) -> ScriptSession:
    steps = tuple(Step(reply=reply) for reply in replies)
    return server.open(Script("here.yaml", steps, ("here.yaml:1",) * len(steps)))


def _fails(port: Port, request: ModelRequest, *, sync: bool) -> ModelError:
    async def ask() -> Answered:
        try:
            return port.chat_sync(request, _CALL) if sync else await port.chat(request, _CALL)
        finally:
            await close_clients()

    with pytest.raises(ModelError) as failed:
        asyncio.run(ask())
    return failed.value


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("model", _MODELS)
def test_a_server_that_is_not_there(model: str, sync: bool) -> None:
    """A refused connection is a `connection` failure in the words of what broke, and tried once: retries are the agent's."""
    tape = _CountingTape()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = LivePort(f"http://127.0.0.1:{free.getsockname()[1]}/v1", tape=tape)
    failure = _fails(port, _request(model), sync=sync)

    assert (failure.kind, failure.status, failure.message.partition(":")[0]) == ("connection", None, "ConnectError")
    assert " object at 0x" not in failure.message  # what differs from run to run is no reason
    assert tape.requests == 1


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("model", _MODELS)
def test_a_server_that_takes_too_long(server: ScriptedServer, model: str, sync: bool) -> None:
    """A call ends with `timeout` once the time that was allowed is over, and says how long it took."""
    session = _serve(server, Reply(text="late", delay_ms=2000))
    failure = _fails(LivePort(session.openai_base_url, timeout_s=0.2), _request(model), sync=sync)

    assert failure.kind == "timeout"
    assert failure.ms >= 150


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("model", _MODELS)
def test_a_broken_connection_is_not_asked_twice(server: ScriptedServer, model: str, sync: bool) -> None:
    """One call of ours is one request, whatever litellm's own client would do; retries belong to the agent."""
    session = _serve(server, Reply(text="half of it", drop=True), Reply(text="paid twice"))
    failure = _fails(LivePort(session.openai_base_url), _request(model), sync=sync)

    assert (failure.kind, session.calls) == ("connection", 1)


def test_a_stream_arrives_in_pieces_and_ends_with_its_reply(server: ScriptedServer) -> None:
    """Chunks come as the server sends them, then exactly one whole reply that counts them."""
    session = _serve(server, Reply(text="one two", chunks=("one ", "two")))
    port = LivePort(session.openai_base_url)

    async def ask() -> list[ReplyChunk | Answered]:
        pieces = [piece async for piece in port.stream(_request("gpt-4.1-mini", stream=True), _CALL)]
        await close_clients()
        return pieces

    *chunks, last = asyncio.run(ask())

    assert chunks == [ReplyChunk("text", "one "), ReplyChunk("text", "two")]
    assert isinstance(last, Answered)
    assert (last.reply.text, last.chunks, last.replayed) == ("one two", 2, False)


def test_embeddings_keep_their_order(server: ScriptedServer) -> None:
    """One vector a text, sync and async alike."""
    vectors = ((0.5, -1.0), (0.25, 2.0))
    session = _serve(server, Reply(vectors=vectors), Reply(vectors=vectors))
    port = LivePort(session.openai_base_url)
    request = EmbeddingRequest("embed-small", ("a", "b"))

    async def ask() -> tuple[tuple[float, ...], ...]:
        answered = await port.embed(request, _CALL)
        await close_clients()
        return answered.reply.vectors

    assert asyncio.run(ask()) == vectors
    assert port.embed_sync(request, _CALL).reply.vectors == vectors
    asyncio.run(close_clients())


def test_a_server_may_know_a_model_by_another_name(server: ScriptedServer) -> None:
    """`ask_for` renames what goes over the wire, and nothing else."""
    session = _serve(server, Reply(text="yes"))
    port = LivePort(session.openai_base_url, ask_for={"our-model": "their-model"})
    reply = port.chat_sync(_request("our-model"), _CALL).reply
    asyncio.run(close_clients())

    assert reply.model == "their-model"


@pytest.mark.parametrize("sync", [False, True])
def test_a_beta_reaches_the_provider(server: ScriptedServer, sync: bool) -> None:
    """Thinking between tool calls spans the turn, so its budget may pass `max_tokens`: by the header, and only by it."""
    asked = ModelRequest(
        model="claude-sonnet-4-5", messages=(Message("user", "?"),), max_tokens=4000, thinking=Thinking("enabled", 9000),
        tools=(ToolSpec("look", "Look.", {"type": "object", "properties": {}}),),
    )  # fmt: skip
    beta = msgspec.structs.replace(asked, betas=("interleaved-thinking-2025-05-14",))
    session = _serve(server, Reply(text="yes"))
    port = LivePort(session.openai_base_url)

    async def ask(request: ModelRequest) -> Answered:
        try:
            return port.chat_sync(request, _CALL) if sync else await port.chat(request, _CALL)
        finally:
            await close_clients()

    with pytest.raises(ModelError, match="must be greater than"):
        asyncio.run(ask(asked))

    assert "yes" == asyncio.run(ask(beta)).reply.text
