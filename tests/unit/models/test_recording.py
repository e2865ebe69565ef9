"""Recording: what is asked, what is kept, and what fails before it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cassettes import transport as wiring
from harness.cassettes.file import Cassette, Provenance
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.errors import ReplayMissError
from harness.models.fast import FastPort
from harness.models.litellm_client import close_clients
from harness.models.live import LivePort
from harness.models.port import Answered, CallInfo, Port
from harness.models.recording import RecordingPort
from harness.models.scripted.script import Reply, Script, ScriptedCall, Step
from harness.models.scripted.server import ScriptedServer
from harness.models.scripted.session import RECORDED_ORIGIN, ScriptSession
from harness.models.verifying import VerifyingPort, divergence
from harness.models.wire_port import WirePort
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, Message, ModelReply, ModelRequest, ReplyChunk, ToolCall

_FINGERPRINTS = Fingerprinter()


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """One server for all scripts of this module."""
    with ScriptedServer() as running:
        yield running
    asyncio.run(close_clients())
    wiring.uninstall()


def _request(
    text: str, *, stream: bool = False, model: str = "gpt-4.1-mini", effort: str | None = None
) -> ModelRequest:
    return ModelRequest(model=model, messages=(Message("user", text),), stream=stream, effort=effort)


def _call(request: ModelRequest | EmbeddingRequest, number: int = 1) -> CallInfo:
    return CallInfo(number=number, ask=_FINGERPRINTS.ask(request))


def _serve(server: ScriptedServer, *replies: Reply) -> ScriptSession:
    steps = tuple(Step(reply=reply) for reply in replies)
    return server.open(Script("here.yaml", steps, ("here.yaml:1",) * len(steps)))


def _ask(port: Port, *requests: ModelRequest) -> list[str]:
    """The texts that *port* answers, in order; a failure by its kind."""

    async def ask() -> list[str]:
        texts = []
        for number, request in enumerate(requests, start=1):
            try:
                texts.append(await _text(port, request, _call(request, number)))
            except ModelError as error:
                texts.append(f"<{error.kind}>")
        await close_clients()
        return texts

    return asyncio.run(ask())


async def _text(port: Port, request: ModelRequest, call: CallInfo) -> str:
    if not request.stream:
        return (await port.chat(request, call)).reply.text
    pieces = [piece async for piece in port.stream(request, call)]
    assert all(isinstance(piece, ReplyChunk) for piece in pieces[:-1])
    assert isinstance(pieces[-1], Answered)
    return pieces[-1].reply.text


def _record(
    server: ScriptedServer,
    path: Path,
    replies: list[Reply],
    requests: list[ModelRequest],
    *,
    old: Cassette | None = None,
) -> tuple[Cassette, list[str], RecordingPort]:
    session = _serve(server, *replies)
    recorder = Recorder(path, Provenance(answered_by="scripted"), scrub=Scrubber.from_env({}))
    port = RecordingPort(
        recorder,
        answered_by="scripted",
        base_url=session.openai_base_url,
        rewrite={session.origin: RECORDED_ORIGIN},
        old=Player(old) if old else None,
    )
    texts = _ask(port, *requests)
    session.close()
    return recorder.finish(), texts, port


def test_a_recording_names_no_real_address(server: ScriptedServer, tmp_path: Path) -> None:
    """Scripted traffic is recorded under its reserved address, without the headers that tell where a call stands."""
    cassette, texts, _ = _record(server, tmp_path / "a.yaml", [Reply(text="one")], [_request("1")])

    assert texts == ["one"]
    assert [item.uri for item in cassette.interactions] == ["http://scripted.invalid/v1/chat/completions"]
    assert list(cassette.interactions[0].request_headers) == ["content-type"]


def test_what_the_old_cassette_answers_is_not_asked_again(server: ScriptedServer, tmp_path: Path) -> None:
    """Only the changed call goes to the model, and the new cassette holds all of them in order."""
    first, second, third = _request("1"), _request("2", stream=True), _request("3")
    old, _, _ = _record(server, tmp_path / "a.yaml", [Reply(text="one"), Reply(text="two")], [first, second])
    new, texts, port = _record(server, tmp_path / "b.yaml", [Reply(text="three")], [first, third, second], old=old)

    assert texts == ["one", "three", "two"]
    assert (port.kept, port.asked) == (2, 1)
    assert [item.call for item in new.interactions] == [1, 2, 3]
    assert _ask(FastPort(Player(new)), first, third, second) == texts


def test_what_litellm_refuses_to_send_fails_the_same_on_replay(server: ScriptedServer, tmp_path: Path) -> None:
    """A refusal before sending is kept as such: no miss on replay, on either port, and no answer left over."""
    refused = _request("1", effort="low")
    cassette, texts, _ = _record(server, tmp_path / "a.yaml", [Reply(text="two")], [refused, _request("2")])
    players = [Player(cassette), Player(cassette)]

    assert texts == ["<bad_request>", "two"]
    assert cassette.interactions[0].error is not None
    assert cassette.interactions[0].error.startswith("not sent: bad_request: ")
    assert [_ask(FastPort(players[0]), refused, _request("2")), _ask(WirePort(players[1]), refused, _request("2"))] == [
        texts,
        texts,
    ]
    assert [player.unused() for player in players] == [[], []]


def test_a_miss_comes_through_litellm_unharmed(server: ScriptedServer, tmp_path: Path) -> None:
    """On the wire port a call that was not recorded is a miss, not a failure of the model."""
    cassette, _, _ = _record(server, tmp_path / "a.yaml", [Reply(text="one")], [_request("1")])
    port = WirePort(Player(cassette))

    with pytest.raises(ReplayMissError):
        port.chat_sync(_request("2"), _call(_request("2")))
    with pytest.raises(ReplayMissError):
        _ask(port, _request("3"))


def test_the_wire_port_knows_the_recorded_time_and_drifts(server: ScriptedServer, tmp_path: Path) -> None:
    """Milliseconds are the recording's; a request that goes over the wire in another form is noted, not refused."""
    request = _request("1")
    cassette, _, _ = _record(server, tmp_path / "a.yaml", [Reply(text="one", delay_ms=30)], [request])
    player = Player(cassette)
    answered = WirePort(player, ask_for={request.model: "gpt-of-tomorrow"}).chat_sync(request, _call(request))

    assert (answered.ms, answered.replayed) == (cassette.interactions[0].latency_ms, True)
    assert answered.ms >= 30
    assert len(player.drifts) == 1


def test_embeddings_are_recorded_and_replayed(server: ScriptedServer, tmp_path: Path) -> None:
    """Vectors come back the same from both replay ports, sync and async."""
    request = EmbeddingRequest("embed-small", ("a", "b"))
    session = _serve(server, Reply(vectors=((0.5, -1.0), (0.25, 2.0))))
    recorder = Recorder(tmp_path / "a.yaml", Provenance(answered_by="scripted"), scrub=Scrubber.from_env({}))
    recorded = RecordingPort(recorder, answered_by="scripted", base_url=session.openai_base_url).embed_sync(
        request, _call(request)
    )
    cassette = recorder.finish()

    async def vectors(port: Port) -> tuple[tuple[float, ...], ...]:
        answered = await port.embed(request, _call(request))
        await close_clients()
        return answered.reply.vectors

    assert recorded.reply.vectors == ((0.5, -1.0), (0.25, 2.0))
    for port in (FastPort(Player(cassette)), WirePort(Player(cassette))):
        assert asyncio.run(vectors(port)) == recorded.reply.vectors


def test_verification_answers_from_the_tape_and_says_what_changed(server: ScriptedServer, tmp_path: Path) -> None:
    """The agent sees the recorded answers; calls whose live answer differs are listed."""
    first, second = _request("1"), _request("2", stream=True)
    cassette, texts, _ = _record(server, tmp_path / "a.yaml", [Reply(text="one"), Reply(text="two")], [first, second])
    session = _serve(server, Reply(text="one"), Reply(tool_calls=(ScriptedCall(name="find", args={"q": "a"}),)))
    port = VerifyingPort(FastPort(Player(cassette)), LivePort(session.openai_base_url))

    assert _ask(port, first, second) == texts
    assert port.divergences == ['call 2 (agent): recorded calls [], now [find({"q": "a"})]']


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        (ModelReply(text="a b"), ModelReply(text="a b"), ""),
        (ModelReply(text="a b c d"), ModelReply(text="a b c e"), "another text, 75% of the words the same"),
        (ModelReply(text=""), ModelError("timeout", ""), "recorded a reply, now error timeout"),
        (ModelError("timeout", "1"), ModelError("timeout", "2"), ""),
        (
            ModelReply(text="", tool_calls=(ToolCall("1", "f", "{}", {}),)),
            ModelReply(text="", tool_calls=(ToolCall("2", "f", "{}", {}),)),
            "",
        ),
    ],
)
def test_a_divergence_in_words(then: ModelReply | ModelError, now: ModelReply | ModelError, said: str) -> None:
    """Made-up ids do not count; text, calls and failures do."""
    assert divergence(then, now) == said
