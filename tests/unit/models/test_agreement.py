"""Answers in the forms that servers really send, read alike by our dialects and by litellm."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from harness.cassettes import transport as wiring
from harness.cassettes.file import Interaction, Provenance, make_cassette
from harness.models.agreement import Outcome, differences, disagreements
from harness.models.fast import FastPort
from harness.models.litellm_client import close_clients
from harness.models.wire_port import WirePort
from harness.records.messages import Usage

_JSON, _SSE = "application/json", "text/event-stream"
_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_DETAILED = {
    "prompt_tokens": 9,
    "completion_tokens": 4,
    "total_tokens": 13,
    "completion_tokens_details": {"reasoning_tokens": 3},
    "prompt_tokens_details": {"cached_tokens": 5},
}


@pytest.fixture(autouse=True)
def _patched() -> Iterator[None]:
    """No connection and no patch is left behind."""
    yield
    asyncio.run(close_clients())
    wiring.uninstall()


def _completion(message: dict[str, Any], finish: str = "stop", usage: dict[str, Any] | None = None) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": finish}
    counted = usage or {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": counted}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def _message(*content: dict[str, Any], stop: str = "end_turn", **usage: Any) -> dict[str, Any]:
    counted = {"input_tokens": 1, "output_tokens": 9} | usage
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": list(content),
        "stop_reason": stop, "stop_sequence": None, "usage": counted,
    }  # fmt: skip


_TEXT = {"type": "text", "text": "x"}
_OPENAI: dict[str, tuple[Any, int]] = {
    "reasoning beside the text": (_completion({"content": "x", "reasoning_content": "r"}), 200),
    "thinking in tags": (_completion({"content": "<think>a</think>b"}), 200),
    "calls that end with stop": (_completion({"content": None, "tool_calls": [_CALL]}), 200),
    "tokens in detail": (_completion({"content": "x"}, usage=_DETAILED), 200),
    "a refusal": (_completion({"content": "no", "refusal": "no"}), 200),
    "filtered": (_completion({"content": ""}, "content_filter"), 200),
    "an error inside an answer": ({"error": {"message": "inside", "code": 429}}, 200),
    "no choice": ({"choices": []}, 200),
    "too long": (
        {"error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}},
        400,
    ),
    "an error that is a text": ({"error": "plain"}, 400),
    "a gateway's words": ("upstream gone", 502),
}
_STREAMS = {
    "reasoning first": (
        _chunk({"role": "assistant", "reasoning_content": "r1"}),
        _chunk({"reasoning_content": "r2"}),
        _chunk({"content": "x"}),
        _chunk({}, "stop"),
        "[DONE]",
    ),
    "calls that end with stop": (
        _chunk({"tool_calls": [{"index": 0, **_CALL, "function": {"name": "f", "arguments": '{"a"'}}]}),
        _chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}),
        _chunk({}, "stop"),
        "[DONE]",
    ),
    "no end mark": (_chunk({"content": "x"}), _chunk({}, "length")),
    "an event that is no JSON": (_chunk({"content": "x"}), "{nonsense", _chunk({}, "stop"), "[DONE]"),
    "an error event": (_chunk({"content": "x"}), '{"error": {"message": "slow", "code": 429}}'),
}
_ANTHROPIC: dict[str, tuple[Any, int]] = {
    "two texts and a cache": (
        _message(_TEXT, _TEXT, cache_read_input_tokens=5, cache_creation_input_tokens=7),
        200,
    ),
    "thinking tokens": (
        _message(
            {"type": "thinking", "thinking": "t", "signature": "s"}, _TEXT, output_tokens_details={"thinking_tokens": 4}
        ),
        200,
    ),
    "nothing": (_message(stop="max_tokens"), 200),
    "a pause": (_message(_TEXT, stop="pause_turn"), 200),
    "a call without arguments": (
        _message({"type": "tool_use", "id": "t", "name": "f", "input": {}}, stop="tool_use"),
        200,
    ),
    "slow down": ({"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}, 429),
    "a gateway's words": ("gateway", 504),
}


def _found(model: str, path: str, bodies: list[tuple[str, int]], content_type: str = _JSON) -> list[str]:
    interactions = [
        Interaction(
            call=number,
            ask=str(number),
            answered_by="scripted",
            uri=f"http://server.invalid{path}",
            request_body=json.dumps(
                {
                    "model": model,
                    "messages": [{"role": "user", "content": str(number)}],
                    "max_tokens": 100,
                    "stream": content_type == _SSE,
                }
            ),
            status=status,
            response_headers={"content-type": [content_type]},
            response_body=body,
        )
        for number, (body, status) in enumerate(bodies, start=1)
    ]
    return disagreements(make_cassette(Provenance(answered_by="scripted"), interactions), FastPort, WirePort)


def _as_text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


@pytest.mark.parametrize("name", _OPENAI)
def test_whole_answers_of_openai(name: str) -> None:
    """Both ports read the answer alike."""
    body, status = _OPENAI[name]

    assert _found("m", "/v1/chat/completions", [(_as_text(body), status)]) == []


@pytest.mark.parametrize("name", _STREAMS)
def test_streams_of_openai(name: str) -> None:
    """Both ports read the stream alike, chunk by chunk, also one that fails."""
    body = "".join(f"data: {event}\n\n" for event in _STREAMS[name])

    assert _found("m", "/v1/chat/completions", [(body, 200)], _SSE) == []


@pytest.mark.parametrize("name", _ANTHROPIC)
def test_whole_answers_of_anthropic(name: str) -> None:
    """Both ports read the answer alike."""
    body, status = _ANTHROPIC[name]

    assert _found("claude-sonnet-4-5", "/v1/messages", [(_as_text(body), status)]) == []


def test_a_claude_behind_an_openai_server_is_asked_as_it_was_recorded() -> None:
    """The recorded address decides the format, not the model's name."""
    assert _found("claude-sonnet-4-5", "/v1/chat/completions", [(_as_text(_completion({"content": "x"})), 200)]) == []


def test_differences_name_the_field_and_both_values() -> None:
    """Long values are cut, so that a difference stays one readable line."""
    ours = Outcome(text="x" * 300, usage=Usage(1, 2))
    theirs = msgspec.structs.replace(ours, text="y", usage=Usage(1, 3))

    assert differences(ours, theirs) == [
        f"text: '{'x' * 199}…, not 'y'",
        "usage: Usage(input=1, output=2, thinking=0, cached=0), not Usage(input=1, output=3, thinking=0, cached=0)",
    ]
    assert differences(ours, ours) == []
