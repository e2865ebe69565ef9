"""Streamed Anthropic messages."""

from __future__ import annotations

import json

import pytest

from harness.dialects import ANTHROPIC, DecodedStream
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json, ReplyChunk, ThinkingBlock, ToolCall, Usage


def event(type_: str, **fields: Json) -> bytes:
    """One event on the wire."""
    return f"event: {type_}\ndata: {json.dumps({'type': type_, **fields})}\n\n".encode()


def block(start: Json, *deltas: Json) -> bytes:
    """All events of one content block."""
    return b"".join(
        [
            event("content_block_start", index=0, content_block=start),
            *(event("content_block_delta", index=0, delta=delta) for delta in deltas),
            event("content_block_stop", index=0),
        ]
    )


def thinking(*thoughts: str, signature: str = "") -> bytes:
    """A block of thinking."""
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    start = {"type": "thinking", "thinking": "", "signature": ""}
    return block(start, *({"type": "thinking_delta", "thinking": thought} for thought in thoughts), *signed)


def tool(*pieces: str, **start: Json) -> bytes:
    """A block that calls the tool `f`."""
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block({"type": "tool_use", "id": "t1", "name": "f", "input": {}, **start}, *deltas)


def ending(reason: str | None = "end_turn", **usage: Json) -> bytes:
    """The last two events."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=delta, usage={"output_tokens": 4, **usage}) + event("message_stop")


def decode(*events: bytes) -> DecodedStream:
    """Read a stream."""
    return ANTHROPIC.decode_stream(200, {}, b"".join(events), asked_model="asked")


START = event("message_start", message={"model": "claude-x", "usage": {"input_tokens": 3, "output_tokens": 1}})
TEXT = block({"type": "text", "text": ""}, {"type": "text_delta", "text": "he"}, {"type": "text_delta", "text": "y"})
REDACTED = block({"type": "redacted_thinking", "data": "xx"})


def test_a_stream_with_everything_is_read() -> None:
    """Thinking, text and a call, each on its channel, pings among them."""
    decoded = decode(
        START,
        event("ping"),
        thinking("h", "m", signature="s"),
        REDACTED,
        TEXT,
        tool("", '{"a"', ": 1}"),
        ending("tool_use"),
    )
    reply = decoded.reply

    assert [
        ReplyChunk("thinking", "h"),
        ReplyChunk("thinking", "m"),
        ReplyChunk("text", "he"),
        ReplyChunk("text", "y"),
        ReplyChunk("tool_args", '{"a"'),
        ReplyChunk("tool_args", ": 1}"),
    ] == list(decoded)
    assert ("hey", "tool_calls", Usage(3, 4), "claude-x") == (reply.text, reply.finish_reason, reply.usage, reply.model)
    assert (ThinkingBlock("thinking", "hm", "s"), ThinkingBlock("redacted", data="xx")) == reply.thinking
    assert (ToolCall("t1", "f", '{"a": 1}', {"a": 1}),) == reply.tool_calls
    assert () == decoded.unknown


@pytest.mark.parametrize(
    ("events", "blocks"),
    [
        (thinking(signature="s"), [ThinkingBlock("thinking", "", "s")]),
        (thinking("a"), [ThinkingBlock("thinking", "a")]),
        (thinking("a") + thinking("b", signature="s"), [ThinkingBlock("thinking", "ab", "s")]),
        (
            thinking("a", signature="s") + thinking("b", signature="u"),
            [ThinkingBlock("thinking", "a", "s"), ThinkingBlock("thinking", "b", "u")],
        ),
        (thinking("a") + REDACTED, [ThinkingBlock("redacted", data="xx")]),
        (
            block(
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "signature_delta", "signature": "s1"},
                {"type": "signature_delta", "signature": "s2"},
            ),
            [ThinkingBlock("thinking", "", "s1s2")],
        ),
    ],
)
def test_thinking_goes_by_its_signatures(events: bytes, blocks: list[ThinkingBlock]) -> None:
    """A block ends with its signature; text without one counts to the next, or stands alone where there is none."""
    assert tuple(blocks) == decode(START, events, TEXT, ending()).reply.thinking


@pytest.mark.parametrize(
    ("events", "raw", "args"),
    [
        (tool(), "{}", {}),
        (tool(""), "{}", {}),
        (tool(input={"a": 1}), '{"a": 1}', {"a": 1}),
        (tool('{"a":'), '{"a":', None),
    ],
)
def test_arguments_come_in_pieces_or_not_at_all(events: bytes, raw: str, args: Json) -> None:
    """No pieces mean no arguments, unless the start of the block brought them."""
    assert (ToolCall("t1", "f", raw, args),) == decode(START, events, ending("tool_use")).reply.tool_calls


@pytest.mark.parametrize(
    ("at_start", "at_end", "usage"),
    [
        ({"cache_read_input_tokens": 7, "cache_creation_input_tokens": 2}, {}, Usage(12, 4, 0, 7)),
        ({}, {"input_tokens": 30, "cache_read_input_tokens": 7}, Usage(37, 4, 0, 7)),
        ({"cache_read_input_tokens": 7}, {"input_tokens": None, "cache_read_input_tokens": None}, Usage(10, 4, 0, 7)),
        ({}, {"output_tokens_details": {"thinking_tokens": 2}}, Usage(3, 4, 2)),
    ],
)
def test_usage_of_start_and_end_is_one(at_start: dict[str, Json], at_end: dict[str, Json], usage: Usage) -> None:
    """The end repeats, corrects or leaves out what the start said; null corrects nothing."""
    start = event("message_start", message={"usage": {"input_tokens": 3, "output_tokens": 1, **at_start}})

    assert usage == decode(start, TEXT, ending(**at_end)).reply.usage


def test_what_is_not_known_is_listed_once() -> None:
    """New events, blocks and deltas change nothing in the reply and are named."""
    strange = block({"type": "hologram"}, {"type": "hologram_delta"}, {"type": "hologram_delta"})
    decoded = decode(START, event("weather"), strange, TEXT, event("weather"), ending())

    assert ("event weather", "block hologram", "delta hologram_delta") == decoded.unknown
    assert "hey" == decoded.reply.text


def test_message_delta_completes_a_stream() -> None:
    """Clients stop reading before the very last event."""
    assert "hey" == decode(START, TEXT, ending().split(b"event: message_stop")[0]).reply.text


@pytest.mark.parametrize(
    ("events", "kind", "message"),
    [
        (event("error", error={"type": "overloaded_error", "message": "Overloaded"}), "overloaded", "Overloaded"),
        (event("error", error={"type": "api_error", "message": "Oh no"}), "server_error", "Oh no"),
        (b"", "broken_stream", "the stream ended before the reply was complete"),
        (b"event: content_block_delta\nda", "broken_stream", "the stream ended before the reply was complete"),
        (b'data: {"type": "mess', "broken_stream", "the stream ended in the middle of an event"),
        (tool() * 513, "bad_reply", "the stream holds more than 512 tool calls"),
    ],
)
def test_failures_come_after_the_chunks(events: bytes, kind: ErrorKind, message: str) -> None:
    """What was streamed before a failure is kept, and the failure is raised with the reply."""
    decoded = decode(START, TEXT, events)

    assert "hey" == "".join(chunk.text for chunk in decoded)
    with pytest.raises(ModelError) as failed:
        _ = decoded.reply
    assert (kind, message) == (failed.value.kind, failed.value.message)
