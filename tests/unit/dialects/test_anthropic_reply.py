"""Whole Anthropic messages."""

from __future__ import annotations

import json

import pytest

from harness.dialects import ANTHROPIC
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json, ModelReply, ThinkingBlock, ToolCall, Usage

TEXT = {"type": "text", "text": "hi"}


def decode(content: Json, stop: str | None = "end_turn", **fields: Json) -> ModelReply:
    """The reply in a message with *content*."""
    answer = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-x", "content": content}
    body = json.dumps({**answer, "stop_reason": stop, **fields}).encode()
    return ANTHROPIC.decode_reply(200, {}, body, asked_model="asked")


def test_blocks_become_text_calls_and_thinking() -> None:
    """Texts join, tool calls carry their input as Python writes it, and thinking keeps order, data and signatures."""
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s1"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        TEXT,
        TEXT,
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"ü": 1.0, "b": [None]}},
        {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
    ]
    thinking = (
        ThinkingBlock("thinking", "hm", "s1"),
        ThinkingBlock("redacted", data="xx"),
        ThinkingBlock("thinking", "", "s2"),
    )
    calls = (
        ToolCall("t1", "f", '{"\\u00fc": 1.0, "b": [null]}', {"ü": 1.0, "b": [None]}),
        ToolCall("t2", "g", "{}", {}),
    )

    assert ModelReply(
        text="hihi", tool_calls=calls, thinking=thinking, finish_reason="tool_calls", model="claude-x"
    ) == decode(content, "tool_use")


def test_input_that_is_no_object_is_no_arguments() -> None:
    """Nothing may run a tool with them."""
    (call,) = decode([{"type": "tool_use", "id": "t", "name": "f", "input": '{"a":'}]).tool_calls

    assert ('"{\\"a\\":"', None) == (call.args_raw, call.args)


def test_a_servers_own_tool_counts_as_a_call() -> None:
    """litellm has it so, and its result block is left out."""
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        TEXT,
    ]
    reply = decode(content)

    assert ("hi", ["web_search"]) == (reply.text, [call.name for call in reply.tool_calls])


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"input_tokens": 3, "output_tokens": 4}, Usage(3, 4)),
        (
            {"input_tokens": 3, "output_tokens": 4, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 20},
            Usage(33, 4, 0, 20),
        ),
        ({"input_tokens": 3, "output_tokens": 4, "cache_creation_input_tokens": None}, Usage(3, 4)),
        ({"input_tokens": 3, "output_tokens": 40, "output_tokens_details": {"thinking_tokens": 7}}, Usage(3, 40, 7)),
        (
            {
                "input_tokens": 3,
                "output_tokens": 4,
                "iterations": [
                    {"input_tokens": 100, "output_tokens": 20},
                    {"input_tokens": 3, "cache_read_input_tokens": 5},
                ],
            },
            Usage(108, 20, 0, 5),
        ),
        (None, Usage()),
    ],
)
def test_input_counts_the_cache_too(usage: Json, counted: Usage) -> None:
    """Tokens read from and written to the cache are input; rounds of a compaction add up."""
    assert counted == decode([TEXT], usage=usage).usage


@pytest.mark.parametrize("content", [None, "hi", [None], {}])
def test_content_must_be_blocks(content: Json) -> None:
    """Anything else is no answer."""
    with pytest.raises(ModelError) as refused:
        decode(content)

    assert ("bad_reply", "the answer holds no list of content blocks") == (refused.value.kind, refused.value.message)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded"),
        ({"type": "api_error", "message": "Internal server error"}, "server_error"),
    ],
)
def test_an_error_with_status_200_is_raised(error: Json, kind: ErrorKind) -> None:
    """Gateways lose the status."""
    with pytest.raises(ModelError) as refused:
        decode([], error=error)

    assert (kind, error["message"]) == (refused.value.kind, refused.value.message)
