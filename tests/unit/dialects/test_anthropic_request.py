"""Requests for Anthropic messages, read back."""

from __future__ import annotations

import json

import pytest

from harness.dialects import ANTHROPIC
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
    return ANTHROPIC.decode_request(json.dumps({"model": "m", "messages": [], **fields}).encode())


def test_a_conversation_is_read() -> None:
    """The system prompt comes first, tool results become messages of their own, thinking and calls keep their order."""
    assistant = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "let me see"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
        {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "42"}]},
        {"type": "tool_result", "tool_use_id": "t2", "content": "43"},
        {"type": "text", "text": "go on"},
    ]
    messages = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": assistant},
        {"role": "user", "content": results},
        {"role": "assistant", "content": "done"},
        {"role": "system", "content": "now in German"},
    ]
    system = [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}]

    assert (
        Message("system", "be kind"),
        Message("user", "hello"),
        Message(
            "assistant",
            "let me see",
            (ToolCall("t1", "f", '{"a": 1}', {"a": 1}), ToolCall("t2", "g", "{}", {})),
            None,
            (ThinkingBlock("thinking", "hm", "s"), ThinkingBlock("redacted", data="xx")),
        ),
        Message("tool", "42", tool_call_id="t1"),
        Message("tool", "43", tool_call_id="t2"),
        Message("user", "go on"),
        Message("assistant", "done"),
        Message("system", "now in German"),
    ) == decode(system=system, messages=messages).messages


def test_images_and_documents_are_read() -> None:
    """Images carry data or an address; what has no place keeps its JSON."""
    parts = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "document", "title": "d"},
    ]

    assert (
        Message(
            "user",
            (
                ImagePart("image/png", "QUJD"),
                ImagePart("text/uri-list", "https://example.org/a.png"),
                TextPart('{"title":"d","type":"document"}'),
            ),
        ),
    ) == decode(messages=[{"role": "user", "content": parts}]).messages


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"temperature": 1, "top_p": 0.5, "max_tokens": 7}, {"temperature": 1.0, "top_p": 0.5, "max_tokens": 7}),
        ({"stop_sequences": ["a"]}, {"stop": ("a",)}),
        ({"thinking": {"type": "adaptive"}}, {"thinking": Thinking("adaptive")}),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"thinking": Thinking("enabled", 1024)}),
        ({"tool_choice": {"type": "auto"}}, {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "any"}}, {"tool_choice": "required"}),
        ({"tool_choice": {"type": "tool", "name": "f"}}, {"tool_choice": "f"}),
        ({"output_config": {"effort": "low"}}, {"effort": "low"}),
        ({"output_format": {"type": "json_schema", "schema": {"type": "object"}}}, {"json_schema": {"type": "object"}}),
        ({"output_config": {"format": {"schema": {"type": "array"}}}}, {"json_schema": {"type": "array"}}),
        ({"stream": True}, {"stream": True}),
        ({"system": ""}, {}),
    ],
)
def test_parameters_are_read(sent: dict[str, Json], read: dict[str, Json]) -> None:
    """Each parameter in each of its spellings."""
    assert ModelRequest(model="m", messages=(), **read) == decode(**sent)


def test_tools_are_read() -> None:
    """A tool has a schema; a tool of the provider's own keeps all that it says."""
    tools = [
        {"name": "f", "description": "does", "input_schema": {"type": "object"}},
        {"type": "web_search_20250305", "name": "web_search"},
    ]

    assert (
        ToolSpec("f", "does", {"type": "object"}),
        ToolSpec("web_search", "", {"type": "web_search_20250305", "name": "web_search"}),
    ) == decode(tools=tools).tools


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "the request cannot be read: the JSON is not an object"),
        (b"{}", "the request has no list of messages"),
        (b'{"messages": [{"role": "tool"}]}', "message 1 of the request has no known role"),
    ],
)
def test_nonsense_is_refused(body: bytes, message: str) -> None:
    """A body that is no request is a bad file, with the reason."""
    with pytest.raises(BadFileError) as refused:
        ANTHROPIC.decode_request(body)

    assert ("bad-interaction", message) == (refused.value.code, refused.value.message)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"anthropic-beta": "interleaved-thinking-2025-05-14"}, ("interleaved-thinking-2025-05-14",)),
        ({"Anthropic-Beta": "structured-outputs-2025-11-13, interleaved-thinking-2025-05-14"}, ("interleaved-thinking-2025-05-14",)),
        ({"anthropic-beta": "structured-outputs-2025-11-13"}, ()),
        ({}, ()),
        (None, ()),
    ],
)  # fmt: skip
def test_betas_that_a_request_asks_for_are_read(headers: dict[str, str] | None, expected: tuple[str, ...]) -> None:
    """Of the header only what an agent can ask for counts; what client libraries add of their own does not."""
    assert expected == ANTHROPIC.decode_request(b'{"model": "m", "messages": []}', headers).betas
