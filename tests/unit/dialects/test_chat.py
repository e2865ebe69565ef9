"""Laws of the chat dialects: what is written is read back, whole or streamed, however the bytes are cut."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects import ANTHROPIC, OPENAI_CHAT, ChatDialect
from harness.dialects.body import tool_args
from harness.records.faults import ModelError
from harness.records.messages import ModelReply, ReplyChunk, ThinkingBlock, ToolCall, Usage

JSON_HEADERS = {"content-type": "application/json"}
SSE_HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
DIALECTS = pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC], ids=["openai", "anthropic"])

TEXTS = st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=40)
WORDS = st.text(alphabet=st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGS = st.dictionaries(TEXTS, VALUES, max_size=3).map(json.dumps)
BROKEN_ARGS = st.sampled_from(['{"a":', "[1]", "not json", '{"a": 1}}'])
COUNTS = st.integers(0, 10**6)


@st.composite
def replies(draw: st.DrawFn, *, dialect: ChatDialect, args: st.SearchStrategy[str]) -> ModelReply:
    """Replies that *dialect* can carry without loss."""
    signed = st.builds(ThinkingBlock, st.just("thinking"), text=TEXTS, signature=WORDS)
    redacted = st.builds(ThinkingBlock, st.just("redacted"), data=WORDS)
    unsigned = st.builds(ThinkingBlock, st.just("thinking"), text=WORDS)
    thinking = st.lists(signed | redacted, max_size=3) if dialect is ANTHROPIC else st.lists(unsigned, max_size=1)
    raw_calls = draw(st.lists(st.tuples(WORDS, WORDS, args), max_size=3))
    calls = tuple(ToolCall(id, name, raw, tool_args(raw)) for id, name, raw in raw_calls)
    text = draw(TEXTS.filter(lambda text: not text.startswith("<")))
    cached = draw(COUNTS)
    output = draw(COUNTS)
    return ModelReply(
        text=text,
        tool_calls=calls,
        thinking=tuple(draw(thinking)),
        finish_reason="tool_calls" if calls else draw(st.sampled_from(["stop", "length", "content_filter"])),
        usage=Usage(input=cached + draw(COUNTS), output=output, thinking=draw(st.integers(0, output)), cached=cached),
        model=draw(WORDS),
    )


def cut(stream: bytes, data: st.DataObject) -> list[bytes]:
    """*stream* in pieces, cut anywhere."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


@DIALECTS
@given(data=st.data())
def test_a_whole_reply_is_read_as_it_was_written(dialect: ChatDialect, data: st.DataObject) -> None:
    """decode(encode(reply)) is the reply, packed or not."""
    reply = data.draw(replies(dialect=dialect, args=ARGS))
    body = dialect.encode_reply(reply, id="id-1", created=1)

    assert reply == dialect.decode_reply(200, JSON_HEADERS, body)
    assert reply == dialect.decode_reply(200, {"content-encoding": "gzip"}, gzip.compress(body))
    assert () == dialect.unknown(JSON_HEADERS, body)


@DIALECTS
@given(data=st.data())
def test_a_stream_is_read_as_it_was_written_however_it_is_cut(dialect: ChatDialect, data: st.DataObject) -> None:
    """Pieces may end anywhere, arguments may be no JSON: reply and chunks are the same, and chunks add up to it."""
    reply = data.draw(replies(dialect=dialect, args=ARGS | BROKEN_ARGS))
    pieces = data.draw(st.none() | st.just(list(reply.text)))
    stream = b"".join(dialect.encode_stream(reply, id="id-1", created=1, text_pieces=pieces))
    decoder = dialect.stream_decoder(asked_model="asked")
    chunks = [chunk for piece in cut(stream, data) for chunk in decoder.feed(piece)]
    whole = dialect.decode_stream(200, SSE_HEADERS, stream)

    assert reply == decoder.finish()
    assert reply == whole.reply == dialect.decode_reply(200, {}, stream)
    assert tuple(chunks) == tuple(whole) == whole.chunks
    assert reply.text == joined(chunks, "text")
    assert [call.args_raw for call in reply.tool_calls] == [
        joined(chunks, "tool_args", index) for index in range(len(reply.tool_calls))
    ]
    assert () == dialect.unknown(SSE_HEADERS, stream)


@DIALECTS
@given(data=st.data())
def test_a_cut_stream_never_passes_for_whole(dialect: ChatDialect, data: st.DataObject) -> None:
    """Cut before its closing events, a stream ends in `broken_stream`, after the chunks that did come."""
    reply = data.draw(replies(dialect=dialect, args=ARGS))
    events = dialect.encode_stream(reply, id="id-1", created=1, text_pieces=None)
    closing = 3 if dialect is OPENAI_CHAT else 2
    body = b"".join(events[:-closing])
    most = data.draw(st.integers(0, len(body)))
    decoded = dialect.decode_stream(200, SSE_HEADERS, body[:most])

    with pytest.raises(ModelError) as broken:
        _ = decoded.reply
    assert "broken_stream" == broken.value.kind
    assert reply.text.startswith(joined(decoded.chunks, "text"))


def test_openai_has_one_text_for_all_thinking() -> None:
    """Blocks join, without signatures and without what is redacted."""
    blocks = (ThinkingBlock("thinking", "a", "s"), ThinkingBlock("redacted", data="xx"), ThinkingBlock("thinking", "b"))
    reply = ModelReply(text="x", thinking=blocks, model="m")
    whole = OPENAI_CHAT.encode_reply(reply, id="i", created=1)
    stream = b"".join(OPENAI_CHAT.encode_stream(reply, id="i", created=1))

    assert (ThinkingBlock("thinking", "ab"),) == OPENAI_CHAT.decode_reply(200, {}, whole).thinking
    assert (ThinkingBlock("thinking", "ab"),) == OPENAI_CHAT.decode_reply(200, {}, stream).thinking


@DIALECTS
def test_a_whole_answer_to_a_streaming_request_is_one_chunk(dialect: ChatDialect) -> None:
    """Some servers ignore `stream`."""
    reply = ModelReply(text="hello", model="m")
    decoded = dialect.decode_stream(200, JSON_HEADERS, dialect.encode_reply(reply, id="i", created=1))

    assert (ReplyChunk("text", "hello"),) == decoded.chunks
    assert reply == decoded.reply


@DIALECTS
def test_an_error_to_a_streaming_request_is_raised_at_once(dialect: ChatDialect) -> None:
    """There is nothing to iterate over."""
    with pytest.raises(ModelError) as refused:
        dialect.decode_stream(429, {}, dialect.encode_error(429, "rate_limit", "slow down"))

    assert ("rate_limit", "slow down", 429) == (refused.value.kind, refused.value.message, refused.value.status)


@DIALECTS
@pytest.mark.parametrize(
    ("headers", "body", "message"),
    [
        ({}, b"hello", "the answer cannot be read: the body is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ({}, b"[1]", "the answer cannot be read: the JSON is not an object"),
        ({"content-encoding": "zstd"}, b"(\xb5/\xfd", "the body is packed as 'zstd', which is not supported"),
    ],
)
def test_nonsense_is_a_bad_reply(dialect: ChatDialect, headers: dict[str, str], body: bytes, message: str) -> None:
    """A success whose body cannot be read says why."""
    with pytest.raises(ModelError) as refused:
        dialect.decode_reply(200, headers, body)

    assert ("bad_reply", message) == (refused.value.kind, refused.value.message)


@DIALECTS
def test_an_unreadable_body_is_unknown_as_a_whole(dialect: ChatDialect) -> None:
    """What cannot be read counts as unknown, with the reason."""
    assert ("the JSON is not an object",) == dialect.unknown({}, b"[]")


@DIALECTS
def test_an_unreadable_event_is_not_a_cut(dialect: ChatDialect) -> None:
    """A broken event in the middle is a bad reply; one that breaks off at the end is a broken stream."""
    reply = ModelReply(text="hello", model="m")
    events = dialect.encode_stream(reply, id="i", created=1)
    middle = dialect.decode_stream(200, {}, events[0] + b'data: {"a\n\n' + b"".join(events[1:]))
    end = dialect.decode_stream(200, {}, events[0] + b'data: {"a')

    with pytest.raises(ModelError, match=r"^an event of the stream cannot be read: the body is not JSON"):
        _ = middle.reply
    with pytest.raises(ModelError, match=r"^the stream ended in the middle of an event$"):
        _ = end.reply


def joined(chunks, channel: str, index: int = 0) -> str:
    """What came over a channel."""
    return "".join(chunk.text for chunk in chunks if (chunk.channel, chunk.index) == (channel, index))
