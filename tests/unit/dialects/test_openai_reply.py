"""Whole chat completions, as OpenAI and its likes write them."""

from __future__ import annotations

import json

import pytest

from harness.dialects import OPENAI_CHAT
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json, ModelReply, ThinkingBlock, ToolCall, Usage


def decode(message: Json, finish: str | None = "stop", **fields: Json) -> ModelReply:
    """The reply in a completion with one message."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    answer = {"id": "c1", "object": "chat.completion", "model": "gpt-x", "choices": [choice], **fields}
    return OPENAI_CHAT.decode_reply(200, {}, json.dumps(answer).encode(), asked_model="asked")


def call(arguments: Json, id: str | None = "call_1") -> Json:
    """A tool call on the wire."""
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}


@pytest.mark.parametrize(
    ("message", "text", "thinking"),
    [
        ({"content": "hi"}, "hi", ""),
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": None, "refusal": "I would rather not"}, "", ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "b"}]}, "b", "hm"),
        ({"content": "b", "reasoning_content": "hm"}, "b", "hm"),
        ({"content": "b", "reasoning": "hm"}, "b", "hm"),
        ({"content": "<think>hm</think>b"}, "b", "hm"),
        ({"content": "<think>hm</think>b", "reasoning_content": None}, "<think>hm</think>b", ""),
        ({"content": "a <think>hm</think>b"}, "a <think>hm</think>b", ""),
        ({"content": 7}, "", ""),
    ],
)
def test_text_and_reasoning_are_told_apart(message: Json, text: str, thinking: str) -> None:
    """Content may be null or parts, and reasoning stands in one of several places; it becomes one unsigned block."""
    reply = decode(message)

    assert text == reply.text
    assert ((ThinkingBlock("thinking", thinking),) if thinking else ()) == reply.thinking


def test_thinking_blocks_of_a_proxy_are_kept() -> None:
    """A proxy in front of Anthropic passes blocks with signatures through."""
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "xx"}]
    reply = decode({"content": "b", "thinking_blocks": blocks, "reasoning_content": "hm"})

    assert (ThinkingBlock("thinking", "hm", "s"), ThinkingBlock("redacted", data="xx")) == reply.thinking


@pytest.mark.parametrize(
    ("arguments", "raw", "args"),
    [
        ('{"a": 1}', '{"a": 1}', {"a": 1}),
        ("", "", {}),
        (None, "", {}),
        ({"a": 1}, '{"a": 1}', {"a": 1}),
        ('{"a":', '{"a":', None),
        ("[1]", "[1]", None),
    ],
)
def test_arguments_are_kept_byte_for_byte(arguments: Json, raw: str, args: Json) -> None:
    """The raw text stays; what it decodes to stands beside it, or None."""
    reply = decode({"content": None, "tool_calls": [call(arguments)]}, "tool_calls")

    assert (ToolCall("call_1", "f", raw, args),) == reply.tool_calls


def test_a_forced_tool_ends_in_tool_calls() -> None:
    """OpenAI says `stop` after a tool that was forced."""
    assert "tool_calls" == decode({"content": None, "tool_calls": [call("{}")]}).finish_reason


def test_a_legacy_function_call_is_a_tool_call() -> None:
    """The interface before tools had one call and no ids; it gets one that stays the same."""
    message = {"content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}}
    reply = decode(message, "function_call")
    (only,) = reply.tool_calls

    assert ("f", {"a": 1}, "tool_calls") == (only.name, only.args, reply.finish_reason)
    assert reply == decode(message, "function_call")
    assert only.id.startswith("call_")


def test_calls_without_ids_get_different_ones() -> None:
    """Equal calls in one answer, and equal answers with other ids, are told apart."""
    message = {"content": None, "tool_calls": [call("{}", None), call("{}", None)]}
    ids = {made.id for made in (*decode(message).tool_calls, *decode(message, id="c2").tool_calls)}

    assert 4 == len(ids)


def test_a_custom_tool_call_has_text_for_arguments() -> None:
    """A free-form tool takes text, which is no JSON object."""
    message = {
        "content": None,
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "x = 1"}}],
    }

    assert (ToolCall("c", "f", "x = 1", None),) == decode(message).tool_calls


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, Usage()),
        ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4)),
        ({"prompt_tokens": 3.0, "completion_tokens": None}, Usage(3, 0)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            Usage(9, 8, 2, 5),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 8, "prompt_cache_hit_tokens": 5}, Usage(9, 8, 0, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 8, "prompt_tokens_details": None}, Usage(9, 8)),
        ([], Usage()),
    ],
)
def test_usage_is_read_in_every_spelling(usage: Json, counted: Usage) -> None:
    """Missing, null and foreign spellings of token counts."""
    assert counted == decode({"content": "x"}, usage=usage).usage


def test_of_several_choices_the_first_counts() -> None:
    """A reply has one text."""
    choices = [
        {"index": n, "message": {"content": text}, "finish_reason": "length"} for n, text in [(1, "b"), (0, "a")]
    ]

    assert "b" == decode({}, choices=choices).text


def test_the_model_asked_for_stands_in() -> None:
    """Where the answer names no model, the one that was asked for is taken."""
    assert ("gpt-x", "asked") == (decode({"content": "x"}).model, decode({"content": "x"}, model=None).model)


@pytest.mark.parametrize("error", [{}, None, {"message": ""}, {"message": "", "code": None}, "", []])
def test_an_empty_error_is_none(error: Json) -> None:
    """Some servers send one with every success."""
    assert "x" == decode({"content": "x"}, error=error).text


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "Provider returned error", "code": 429}, "rate_limit"),
        ({"message": "upstream is down", "code": 502}, "server_error"),
        ({"message": "odd"}, "bad_request"),
        ("boom", "bad_request"),
    ],
)
def test_an_error_with_status_200_is_raised(error: Json, kind: ErrorKind) -> None:
    """OpenRouter reports failures of its providers so."""
    with pytest.raises(ModelError) as refused:
        decode({"content": "x"}, error=error)

    assert kind == refused.value.kind


@pytest.mark.parametrize("choices", [[], None, "x", [None], [{}], [{"message": None}]])
def test_an_answer_without_a_message_is_bad(choices: Json) -> None:
    """Nothing is made up where nothing came."""
    with pytest.raises(ModelError) as refused:
        decode({}, choices=choices)

    assert ("bad_reply", "the answer holds no choice with a message") == (refused.value.kind, refused.value.message)


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ("x", "tool_calls is not a list of at most 512 calls"),
        ([call("{}")] * 513, "tool_calls is not a list of at most 512 calls"),
        ([{"id": "x"}], "tool call 1 names no function"),
        ([None], "tool call 1 names no function"),
    ],
)
def test_calls_that_are_none_are_bad(calls: Json, message: str) -> None:
    """Broken tool calls are refused with the reason, not skipped."""
    with pytest.raises(ModelError) as refused:
        decode({"content": None, "tool_calls": calls})

    assert ("bad_reply", message) == (refused.value.kind, refused.value.message)
