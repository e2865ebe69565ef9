"""The bytes of an answer: each form of reply, in each provider's shape, read back by the dialect that reads recordings."""

import base64
import gzip
import json
import struct
import zlib

import pytest

from harness.dialects import ANTHROPIC, OPENAI_CHAT, OPENAI_EMBEDDINGS
from harness.models.scripted.answers import chat_answer, embedding_answer, error_answer, model_reply, text_pieces
from harness.models.scripted.script import Reply, ScriptedCall, ScriptedError, ScriptedThinking
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, Message, ModelRequest, ThinkingBlock, ToolCall, Usage

CHATS = pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC], ids=lambda dialect: dialect.name)
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def request(*, stream=False):
    return ModelRequest(model="m-1", messages=(Message("user", "x" * 40),), stream=stream)


def read_back(dialect, answer):
    return dialect.decode_reply(answer.status, answer.headers, b"".join(answer.pieces), asked_model="m-1")


@CHATS
@STREAMS
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_what_is_scripted_is_what_is_read(dialect, stream, packed):
    """Text, parallel calls, thinking, usage and ending survive the wire, whole or streamed, packed or not."""
    reply = Reply(
        text="Größe: 7 °C 🌧",
        tool_calls=(ScriptedCall(name="a", args={"city": "Berlin"}), ScriptedCall(name="b", id="mine", args_raw="{}")),
        thinking=(ScriptedThinking(text="hm", signature="c2ln"), ScriptedThinking(redacted="b3Bh"))
        if dialect is ANTHROPIC
        else (),
        usage=Usage(input=10, output=5, cached=3),
        gzip=packed,
        chunks=3,
    )

    assert model_reply(dialect.name, reply, request(), number=4) == read_back(
        dialect, chat_answer(dialect, reply, request(stream=stream), number=4)
    )


def test_what_a_script_leaves_open_is_filled_in_the_same_way():
    """Ids by step and position, usage by characters, the ending by the calls, the model as asked for."""
    reply = Reply(text="12345678", tool_calls=(ScriptedCall(name="ab", args={}), ScriptedCall(name="cd", args_raw="{")))
    filled = model_reply("openai_chat", reply, request(), number=3)

    assert (ToolCall("call_3_1", "ab", "{}", {}), ToolCall("call_3_2", "cd", "{", None)) == filled.tool_calls
    assert Usage(input=11, output=4) == filled.usage
    assert ("tool_calls", "m-1") == (filled.finish_reason, filled.model)
    assert "toolu_3_1" == model_reply("anthropic", reply, request(), number=3).tool_calls[0].id
    assert "stop" == model_reply("anthropic", Reply(text="x"), request(), number=1).finish_reason


def test_thinking_counts_as_output():
    """Tokens of thinking are part of the output, as providers bill them."""
    reply = Reply(text="1234", thinking=(ScriptedThinking(text="x" * 40, signature="s"),))
    filled = model_reply("anthropic", reply, request(), number=1)

    assert Usage(input=11, output=12, thinking=10) == filled.usage
    assert (ThinkingBlock("thinking", "x" * 40, "s"),) == filled.thinking


@pytest.mark.parametrize(
    ("reply", "pieces"),
    [
        (Reply(text="abcdef", chunks=3), ["ab", "cd", "ef"]),
        (Reply(text="abcde", chunks=2), ["abc", "de"]),
        (Reply(text="ab", chunks=9), ["a", "b"]),
        (Reply(text="abc", chunks=("a", "bc")), ("a", "bc")),
        (Reply(text="abc"), None),
    ],
)
def test_text_is_cut_as_the_script_says(reply, pieces):
    """A number of pieces, the pieces themselves, or nothing."""
    assert pieces == text_pieces(reply)


@CHATS
def test_streamed_pieces_arrive_as_chunks(dialect):
    """The decoder sees the chunks that the script wrote."""
    answer = chat_answer(dialect, Reply(text="abc", chunks=("a", "bc")), request(stream=True), number=1)
    chunks = dialect.decode_stream(200, answer.headers, b"".join(answer.pieces)).chunks

    assert ["a", "bc"] == [chunk.text for chunk in chunks if chunk.text]


@CHATS
@pytest.mark.parametrize("cut", [True, 2])
def test_a_cut_stream_has_no_end(dialect, cut):
    """A stream cut after half of its events, or after some, is broken for the reader."""
    answer = chat_answer(dialect, Reply(text="a b c d", chunks=4, cut=cut), request(stream=True), number=1)
    whole = chat_answer(dialect, Reply(text="a b c d", chunks=4), request(stream=True), number=1)

    assert (len(whole.pieces) // 2 if cut is True else 2) == len(answer.pieces)
    with pytest.raises(ModelError) as caught:
        dialect.decode_stream(200, answer.headers, b"".join(answer.pieces)).reply  # noqa: B018 - reading it raises
    assert "broken_stream" == caught.value.kind


@CHATS
def test_an_error_can_end_a_stream(dialect):
    """A stream that began well may end in the provider's error event."""
    error = ScriptedError(message="Overloaded", kind="overloaded")
    answer = chat_answer(dialect, Reply(text="a b", chunks=2, cut=3, error=error), request(stream=True), number=1)
    with pytest.raises(ModelError) as caught:
        dialect.decode_stream(200, answer.headers, b"".join(answer.pieces)).reply  # noqa: B018

    assert 4 == len(answer.pieces)
    assert "Overloaded" in caught.value.message


@CHATS
@STREAMS
@pytest.mark.parametrize(
    ("status", "kind"), [(429, "rate_limit"), (500, "server_error"), (529, "overloaded"), (401, "authentication")]
)
def test_errors_have_the_providers_shape(dialect, stream, status, kind):
    """An error is whole JSON also for a streamed request, and is read as its kind."""
    reply = Reply(status=status, error=ScriptedError(message="Slow down"), retry_after=1.5)
    answer = chat_answer(dialect, reply, request(stream=stream), number=1)
    with pytest.raises(ModelError) as caught:
        read_back(dialect, answer)

    assert (kind, "Slow down", 1500) == (caught.value.kind, caught.value.message, caught.value.retry_after_ms)
    assert not answer.streamed
    assert "1.5" == answer.headers["retry-after"]


@CHATS
@STREAMS
def test_an_answer_is_named_by_its_step(dialect, stream):
    """Ids look like the provider's and are the same in every recording."""
    answer = chat_answer(dialect, Reply(text="a"), request(stream=stream), number=7)
    name = {"openai_chat": b'"id":"chatcmpl-7"', "anthropic": b'"id":"msg_0007"'}[dialect.name]

    assert name in answer.pieces[0]
    assert stream == answer.streamed


@pytest.mark.parametrize(
    ("dialect", "start"),
    [
        (OPENAI_CHAT, b'data: {"error":{'),
        (ANTHROPIC, b'event: error\ndata: {"type":"error","error":{"type":"api_error"'),
    ],
    ids=["openai_chat", "anthropic"],
)
def test_an_error_inside_a_stream_has_the_providers_form(dialect, start):
    """Without a kind it is an error of the server."""
    reply = Reply(text="a b", cut=1, error=ScriptedError(message="x"))
    answer = chat_answer(dialect, reply, request(stream=True), number=1)

    assert answer.pieces[-1].startswith(start)
    assert answer.pieces[-1].endswith(b"\n\n")


def test_a_kind_can_differ_from_its_status():
    """A context that is too long is a 400 with words of its own."""
    error = ScriptedError(message="prompt is too long: 9 tokens > 8 maximum", kind="context_length")
    answer = chat_answer(ANTHROPIC, Reply(status=400, error=error), request(), number=1)
    with pytest.raises(ModelError) as caught:
        read_back(ANTHROPIC, answer)

    assert "context_length" == caught.value.kind


@CHATS
def test_nonsense_is_sent_as_it_is(dialect):
    """`body` stands in place of everything; one that looks like a stream is sent as one."""
    assert (b"{oops",) == chat_answer(dialect, Reply(body="{oops"), request(), number=1).pieces
    answer = chat_answer(dialect, Reply(body="data: {oops\n\n"), request(stream=True), number=1)

    assert "text/event-stream; charset=utf-8" == answer.headers["content-type"]


def test_packed_answers_unpack_piece_by_piece():
    """Each event of a packed stream can be read as soon as it is there; a packed body is the same each time."""
    plain = chat_answer(OPENAI_CHAT, Reply(text="a b", chunks=2), request(stream=True), number=1)
    packed = chat_answer(OPENAI_CHAT, Reply(text="a b", chunks=2, gzip=True), request(stream=True), number=1)
    reader = zlib.decompressobj(31)

    assert list(plain.pieces) == [reader.decompress(piece) for piece in packed.pieces[:-1]]
    body = chat_answer(OPENAI_CHAT, Reply(text="a", gzip=True), request(), number=1)
    assert body == chat_answer(OPENAI_CHAT, Reply(text="a", gzip=True), request(), number=1)
    assert "a" == json.loads(gzip.decompress(body.pieces[0]))["choices"][0]["message"]["content"]


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_vectors_go_out_in_the_encoding_that_was_asked_for(encoding):
    """OpenAI's own client asks for base64; both forms hold the script's numbers."""
    asked = EmbeddingRequest("e-1", ("a", "b"))
    reply = Reply(vectors=((0.5, -2.0), (1.0, 0.0)))
    body = json.loads(embedding_answer(OPENAI_EMBEDDINGS, reply, asked, {"encoding_format": encoding}).pieces[0])
    vectors = [item["embedding"] for item in body["data"]]
    if encoding == "base64":
        vectors = [list(struct.unpack("<2f", base64.b64decode(vector))) for vector in vectors]

    assert [[0.5, -2.0], [1.0, 0.0]] == vectors
    assert "e-1" == body["model"]


def test_embedding_calls_can_fail_too():
    """An error and a body of one's own work as for chat."""
    asked = EmbeddingRequest("e-1", ("a",))
    failed = Reply(vectors=(), status=429, error=ScriptedError(message="slow"))

    assert 429 == embedding_answer(OPENAI_EMBEDDINGS, failed, asked, {}).status
    assert (b"?",) == embedding_answer(OPENAI_EMBEDDINGS, Reply(vectors=(), body="?"), asked, {}).pieces


@pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC, OPENAI_EMBEDDINGS], ids=lambda dialect: dialect.name)
def test_a_refusal_is_a_bad_request(dialect):
    """What the server itself refuses has the provider's shape and the words of the refusal."""
    answer = error_answer(dialect, 400, "no such thing")

    assert (400, "Bad Request") == (answer.status, answer.reason)
    assert "no such thing" == json.loads(answer.pieces[0])["error"]["message"]
