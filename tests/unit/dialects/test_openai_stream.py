"""Streamed chat completions, as OpenAI and its likes send them."""

from __future__ import annotations

import json

import pytest

from harness.dialects import OPENAI_CHAT
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json, ModelReply, ReplyChunk, ThinkingBlock, ToolCall, Usage

USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
DONE = b"data: [DONE]\n\n"


def event(value: Json) -> bytes:
    """One event on the wire."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def part(delta: Json, finish: str | None = None, **fields: Json) -> bytes:
    """One chunk of the first choice."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({"id": "c1", "object": "chat.completion.chunk", "model": "gpt-x", "choices": [choice], **fields})


def call(arguments: Json = None, *, index: Json = 0, id: str | None = None, name: str | None = None) -> Json:
    """The delta of one tool call."""
    return {"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}


def decode(*events: bytes) -> ModelReply:
    """The reply in a stream."""
    return OPENAI_CHAT.decode_reply(200, {"content-type": "text/event-stream"}, b"".join(events), asked_model="asked")


END = part({}, "stop") + event({"choices": [], "usage": USAGE}) + DONE
CALLED = part({}, "tool_calls") + DONE


@pytest.mark.parametrize(
    "events",
    [
        [part({"role": "assistant", "content": ""}), part({"content": "a"}), part({"content": "b"}), END],
        [part({"content": "ab"}), part({}, "stop"), event({"choices": [], "usage": USAGE})],
        [part({"content": "ab"}), event({"model": "gpt-x", "choices": [], "usage": USAGE}), DONE],
        [part({"content": "ab"}, "stop", usage=USAGE), DONE],
        [
            part({"content": "a"}, usage={"prompt_tokens": 3, "completion_tokens": 1}),
            part({"content": "b"}, "stop", usage=USAGE),
        ],
        [part({"content": "ab"}), part({}, "stop", x_groq={"id": "r", "usage": USAGE}), DONE],
        [event({"choices": [{"index": 0, "delta": {"content": "ab"}, "usage": USAGE}], "model": "gpt-x"}), DONE],
        [event({"id": "", "model": "", "choices": [], "prompt_filter_results": []}), part({"content": "ab"}), END],
        [b": OPENROUTER PROCESSING\n\n", part({"content": "ab"}), END],
        [part({"content": None, "tool_calls": None}), part(None), part({"content": "ab"}), END],
        [part({"content": "ab"}), event({"choices": [{"index": 1, "delta": {"content": "second"}}]}), END],
        [part({"content": "ab"}), END, b"data: garbage after the end\n\n"],
        [part({"content": "ab"}, ""), part({"content": ""}, ""), END],
    ],
)
def test_a_text_is_read_whatever_stands_around_it(events: list[bytes]) -> None:
    """Usage in four places, no `[DONE]`, no finish, comments, nulls, Azure's first event, other choices."""
    assert ModelReply(text="ab", usage=Usage(3, 4), model="gpt-x") == decode(*events)


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        (
            [part(call("", id="a", name="f")), part(call('{"x"')), part(call(": 1}")), CALLED],
            [ToolCall("a", "f", '{"x": 1}', {"x": 1})],
        ),
        ([part(call(id="a", name="f")), CALLED], [ToolCall("a", "f", "{}", {})]),
        ([part(call('{"x":', id="a", name="f")), CALLED], [ToolCall("a", "f", '{"x":', None)]),
        (
            [part(call("{}", id="a", name="f")), part(call("{}", index=1, id="b", name="g")), CALLED],
            [ToolCall("a", "f", "{}", {}), ToolCall("b", "g", "{}", {})],
        ),
        (
            [part({"tool_calls": [call("{}", index=None, id=id, name="f")["tool_calls"][0] for id in "ab"]}), CALLED],
            [ToolCall("a", "f", "{}", {}), ToolCall("b", "f", "{}", {})],
        ),
        (
            [part(call("{}", id="a", name="f")), part(call("{}", id="b", name="f")), CALLED],
            [ToolCall("a", "f", "{}", {}), ToolCall("b", "f", "{}", {})],
        ),
        (
            [part(call('{"x"', id="a", name="f")), part(call(":1}", id="a", name="f")), CALLED],
            [ToolCall("a", "f", '{"x":1}', {"x": 1})],
        ),
        (
            [part(call("", id="a", name="f")), part(call("{}", id="random")), CALLED],
            [ToolCall("random", "f", "{}", {})],
        ),
        ([part(call({"x": 1}, id="a", name="f")), CALLED], [ToolCall("a", "f", '{"x": 1}', {"x": 1})]),
    ],
)
def test_tool_calls_are_put_together(events: list[bytes], calls: list[ToolCall]) -> None:
    """Pieces join by index; missing indexes, equal indexes, repeated names and ids that change are sorted out."""
    reply = decode(*events)

    assert tuple(calls) == reply.tool_calls
    assert "tool_calls" == reply.finish_reason


def test_a_legacy_function_call_is_put_together() -> None:
    """The interface before tools streams its one call alike."""
    deltas = [{"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": '{"x": 1}'}}]
    (only,) = decode(*map(part, deltas), part({}, "function_call"), DONE).tool_calls

    assert ("f", {"x": 1}) == (only.name, only.args)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_told_apart(field: str) -> None:
    """Reasoning has a channel of its own and becomes one unsigned block."""
    decoded = OPENAI_CHAT.decode_stream(200, {}, part({field: "h"}) + part({field: "m"}) + part({"content": "x"}) + END)

    assert [ReplyChunk("thinking", "h"), ReplyChunk("thinking", "m"), ReplyChunk("text", "x")] == list(decoded)
    assert ((ThinkingBlock("thinking", "hm"),), "x") == (decoded.reply.thinking, decoded.reply.text)


def test_a_message_beside_its_deltas_is_not_said_twice() -> None:
    """Perplexity repeats the text so far in `message`; a message without a delta is all there is."""
    beside = event({"choices": [{"index": 0, "delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"}]})
    alone = event({"choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}]})

    assert "ab" == decode(part({"content": "ab"}), beside).text
    assert "ab" == decode(alone).text


def test_a_character_split_between_two_events_is_joined() -> None:
    """Half of a surrogate pair waits for the other half; a half that stays alone is dropped or replaced."""
    first, second = (
        b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n' % half
        for half in (b"a\\ud83d", b"\\ude00b")
    )
    decoded = OPENAI_CHAT.decode_stream(200, {}, first + second + second + first + END)

    assert ["a", "😀b", "\ufffdb", "a"] == [chunk.text for chunk in decoded]
    assert "a😀b\ufffdba" == decoded.reply.text


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([event({"error": {"message": "The server had an error", "type": "server_error"}})], "server_error"),
        ([event({"error": {"message": "Rate limit reached", "type": "requests"}})], "rate_limit"),
        ([event({"choices": [], "error": {"message": "busy", "code": 503}})], "overloaded"),
        ([b'event: error\ndata: {"message": "x"}\n\n'], "server_error"),
        ([], "broken_stream"),
        ([b'data: {"choi'], "broken_stream"),
        ([b"data: oops\n\n", END], "bad_reply"),
        ([b"data: [1]\n\n", END], "bad_reply"),
        (
            [part({"tool_calls": [call("", index=n, id=str(n), name="f")["tool_calls"][0] for n in range(513)]})],
            "bad_reply",
        ),
    ],
)
def test_failures_come_after_the_chunks(events: list[bytes], kind: ErrorKind) -> None:
    """What was streamed before a failure is kept, and the failure is raised with the reply."""
    decoded = OPENAI_CHAT.decode_stream(200, {}, part({"content": "he"}) + b"".join(events))

    assert ReplyChunk("text", "he") == decoded.chunks[0]
    with pytest.raises(ModelError) as failed:
        _ = decoded.reply
    assert kind == failed.value.kind
