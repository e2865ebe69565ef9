"""Requests for chat completions, read back."""

from __future__ import annotations

import json

import pytest

from harness.dialects import OPENAI_CHAT
from harness.errors import BadFileError
from harness.records.messages import (
    ImagePart,
    Json,
    Message,
    ModelRequest,
    TextPart,
    Thinking,
    ThinkingBlock,
    ToolCall,
    ToolSpec,
)


def decode(**fields: Json) -> ModelRequest:
    """A request with *fields*."""
    return OPENAI_CHAT.decode_request(json.dumps({"model": "m", "messages": [], **fields}).encode())


def test_a_conversation_is_read() -> None:
    """Every role, content as text and as parts, calls and their results."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    messages = [
        {"role": "developer", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "what is"}, image]},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "c", "content": "42"},
        {"role": "assistant", "content": "42"},
    ]

    assert (
        Message("system", "be kind"),
        Message("user", (TextPart("what is"), ImagePart("image/png", "QUJD"))),
        Message("assistant", "", (ToolCall("c", "f", '{"a": 1}', {"a": 1}),), None, (ThinkingBlock("thinking", "hm"),)),
        Message("tool", "42", tool_call_id="c"),
        Message("assistant", "42"),
    ) == decode(messages=messages).messages


def test_a_legacy_conversation_is_read() -> None:
    """Before tools, the function's name linked a call and its result."""
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
    ]
    request = decode(
        messages=messages, functions=[{"name": "f", "parameters": {"type": "object"}}], function_call={"name": "f"}
    )

    assert (
        Message("assistant", "", (ToolCall("f", "f", "{}", {}),)),
        Message("tool", "42", tool_call_id="f"),
    ) == request.messages
    assert ((ToolSpec("f", "", {"type": "object"}),), "f") == (request.tools, request.tool_choice)


def test_parts_without_a_place_keep_their_json() -> None:
    """An image by address, and audio, are told apart by what they say."""
    parts = [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"format": "wav", "data": "QUJD"}},
    ]
    (message,) = decode(messages=[{"role": "user", "content": parts}]).messages

    assert (
        ImagePart("text/uri-list", "https://example.org/a.png"),
        TextPart('{"input_audio":{"data":"QUJD","format":"wav"},"type":"input_audio"}'),
    ) == message.content


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"temperature": 1, "top_p": 0.5, "seed": 7}, {"temperature": 1.0, "top_p": 0.5, "seed": 7}),
        ({"max_tokens": 5}, {"max_tokens": 5}),
        ({"max_tokens": 5, "max_completion_tokens": 6}, {"max_tokens": 6}),
        ({"stop": "END"}, {"stop": ("END",)}),
        ({"stop": ["a", "b"]}, {"stop": ("a", "b")}),
        ({"stream": True}, {"stream": True}),
        ({"reasoning_effort": "low"}, {"effort": "low"}),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, {"thinking": Thinking("enabled", 2048)}),
        ({"thinking": {"type": "sideways"}}, {}),
        ({"tool_choice": "required"}, {"tool_choice": "required"}),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, {"tool_choice": "f"}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}},
            {"json_schema": {"type": "object"}},
        ),
        ({"response_format": {"type": "json_object"}}, {"json_schema": {}}),
        ({"response_format": {"type": "text"}, "temperature": "warm", "seed": 1.5, "stop": 7, "max_tokens": True}, {}),
    ],
)
def test_parameters_are_read(sent: dict[str, Json], read: dict[str, Json]) -> None:
    """Each parameter in each of its spellings; what is no value counts as not sent."""
    assert ModelRequest(model="m", messages=(), **read) == decode(**sent)


def test_tools_are_read() -> None:
    """A function tool is a tool; a tool of the provider's own keeps all that it says."""
    tools = [
        {"type": "function", "function": {"name": "f", "description": "does", "parameters": {"type": "object"}}},
        {"type": "web_search", "depth": 2},
        None,
    ]

    assert (
        ToolSpec("f", "does", {"type": "object"}),
        ToolSpec("web_search", "", {"type": "web_search", "depth": 2}),
    ) == decode(tools=tools).tools


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the request cannot be read: the body is not JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"{}", "the request has no list of messages"),
        (b'{"messages": [{"role": "user"}, {"role": "wizard"}]}', "message 2 of the request has no known role"),
        (b'{"messages": ["x"]}', "message 1 of the request has no known role"),
    ],
)
def test_nonsense_is_refused(body: bytes, message: str) -> None:
    """A body that is no request is a bad file, with the reason."""
    with pytest.raises(BadFileError) as refused:
        OPENAI_CHAT.decode_request(body)

    assert ("bad-interaction", message) == (refused.value.code, refused.value.message)
