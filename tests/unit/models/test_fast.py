"""The fast port: recorded bytes in, replies out, nothing in between."""

from __future__ import annotations

import asyncio

import pytest

from harness.cassettes.file import Interaction, Provenance, make_cassette
from harness.cassettes.player import Player
from harness.errors import CassetteError, ReplayMissError, UsageError
from harness.models import open_port
from harness.models.fast import FastPort, unknown_to_fast
from harness.models.port import Answered, CallInfo
from harness.models.replayed import unsent_note
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, Message, ModelRequest, ReplyChunk, Thinking, Usage

_CHAT = "http://scripted.invalid/v1/chat/completions"
_REQUEST = ModelRequest(model="gpt-x", messages=(Message("user", "?"),))
_BODY = (
    '{"id": "c", "object": "chat.completion", "model": "gpt-x-1", "choices": [{"index": 0, "finish_reason": "stop",'
    ' "message": {"role": "assistant", "content": "Yes."}}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}'
)
_STREAM = (
    'data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Ye"}}]}\n\n'
    'data: {"choices": [{"index": 0, "delta": {"content": "s."}}]}\n\n'
)
_STREAM_END = 'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def _player(**changes: object) -> Player:
    fields: dict[str, object] = {
        "call": 1,
        "ask": "a",
        "answered_by": "scripted",
        "uri": _CHAT,
        "latency_ms": 40,
        "response_headers": {"content-type": ["application/json"]},
        "response_body": _BODY,
    }
    interaction = Interaction(**(fields | changes))
    return Player(make_cassette(Provenance(answered_by="scripted"), [interaction], path="c.yaml"))


def _call(ask: str = "a") -> CallInfo:
    return CallInfo(number=1, ask=ask)


def test_a_reply_comes_with_its_recorded_time() -> None:
    """Text, usage and the answering model are the recording's, and so are the milliseconds."""
    answered = FastPort(_player()).chat_sync(_REQUEST, _call())

    assert (answered.reply.text, answered.reply.usage, answered.reply.model) == ("Yes.", Usage(3, 2), "gpt-x-1")
    assert (answered.ms, answered.replayed, answered.ask) == (40, True, "a")


def test_each_answer_is_given_once() -> None:
    """A call that was not recorded, or not so often, is a miss that no `except Exception` catches."""
    port = FastPort(_player())
    port.chat_sync(_REQUEST, _call())

    with pytest.raises(ReplayMissError):
        port.chat_sync(_REQUEST, _call())
    with pytest.raises(ReplayMissError):
        asyncio.run(port.chat(_REQUEST, _call("b")))


def _streamed(player: Player) -> tuple[list[ReplyChunk | Answered], ModelError | None]:
    pieces: list[ReplyChunk | Answered] = []

    async def read() -> None:
        async for piece in FastPort(player).stream(_REQUEST, _call()):
            pieces.append(piece)  # noqa: PERF401  # the pieces before a failure count

    try:
        asyncio.run(read())
    except ModelError as error:
        return pieces, error
    return pieces, None


def test_a_stream_is_replayed_in_its_pieces() -> None:
    """The chunks as they came, then the reply."""
    headers = {"content-type": ["text/event-stream"]}
    pieces, error = _streamed(_player(response_body=_STREAM + _STREAM_END, response_headers=headers))

    assert error is None
    assert pieces[:2] == [ReplyChunk("text", "Ye"), ReplyChunk("text", "s.")]
    assert [piece.reply.text for piece in pieces[2:] if isinstance(piece, Answered)] == ["Yes."]


def test_a_stream_that_was_cut_fails_after_its_pieces() -> None:
    """The agent has seen the chunks before it learns that more will not come."""
    headers = {"content-type": ["text/event-stream"]}
    cut = _player(response_body=_STREAM, response_headers=headers, error="ReadError: gone", complete=False)
    pieces, error = _streamed(cut)

    assert [piece.text for piece in pieces if isinstance(piece, ReplyChunk)] == ["Ye", "s."]
    assert error is not None
    assert (error.kind, error.ms) == ("broken_stream", 40)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"status": 599, "error": "ConnectError: refused"}, "connection", "ConnectError: refused"),
        ({"status": 599, "error": "ReadTimeout: "}, "timeout", "ReadTimeout: "),
        ({"error": "RemoteProtocolError: half a body"}, "connection", "RemoteProtocolError: half a body"),
        ({"status": 429, "response_body": '{"error": {"message": "Slow"}}'}, "rate_limit", "Slow"),
        (
            {"status": 599, "error": unsent_note(ModelError("not_found", "no: such model"))},
            "not_found",
            "no: such model",
        ),
        ({"status": 599, "error": "not sent: invented: words"}, "bad_request", "words"),
    ],
)
def test_what_failed_fails_again(changes: dict[str, object], kind: str, message: str) -> None:
    """Every recorded failure comes back as the same class, in the same words, after the same time."""
    with pytest.raises(ModelError) as failed:
        FastPort(_player(**changes)).chat_sync(_REQUEST, _call())

    assert (failed.value.kind, failed.value.message, failed.value.ms) == (kind, message, 40)


def test_what_no_port_sends_is_not_played() -> None:
    """A request that would be rewritten fails before it uses up an answer."""
    player = _player()
    request = ModelRequest(model="gpt-x", messages=(), thinking=Thinking("adaptive"))

    with pytest.raises(ModelError):
        FastPort(player).chat_sync(request, _call())
    assert len(player.unused()) == 1


def test_vectors_are_replayed() -> None:
    """An embedding call reads the embedding format, and only that."""
    body = '{"data": [{"index": 0, "embedding": [0.5, 1]}], "model": "e", "usage": {"prompt_tokens": 1}}'
    player = _player(uri="http://scripted.invalid/v1/embeddings", response_body=body, kind="embedding")

    assert FastPort(player).embed_sync(EmbeddingRequest("e", ("a",)), _call()).reply.vectors == ((0.5, 1.0),)


def test_an_interface_that_cannot_be_read_is_named() -> None:
    """A chat call that went to some other interface is no bad reply, but a cassette for another tool."""
    with pytest.raises(CassetteError) as refused:
        FastPort(_player(uri="http://scripted.invalid/v1/responses")).chat_sync(_REQUEST, _call())

    assert str(refused.value) == (
        "error[cassette-unreadable]: call 1 went to http://scripted.invalid/v1/responses,"
        " which is no chat API that can be replayed\n\n"
        "hint: supported are …/chat/completions, …/v1/messages and …/embeddings; record the case again"
    )


def test_what_our_readers_do_not_know_goes_to_litellm() -> None:
    """A cassette with an unknown field is opened on the wire port, though `fast` was asked for."""
    strange = _player(response_body=_BODY.replace('"content"', '"hologram": 1, "content"'))

    assert unknown_to_fast(_player()) == ()
    assert len(unknown_to_fast(strange)) == 1
    assert (open_port("fast", player=_player()).name, open_port("fast", player=strange).name) == ("fast", "wire")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("fast", "error[no-port]: port `fast` needs a cassette\n\nhint: ports are `fast`, `wire` and `live`"),
        ("slow", "error[no-port]: port `slow` is not known\n\nhint: ports are `fast`, `wire` and `live`"),
    ],
)
def test_a_port_that_cannot_be_opened(kind: str, text: str) -> None:
    """The message names the port, what it lacks, and what there is."""
    with pytest.raises(UsageError) as refused:
        open_port(kind)

    assert str(refused.value) == text
