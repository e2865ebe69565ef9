"""
What litellm makes of a response, the dialects make of it too: oddities that no scripted model sends, and the class of
every error, as a table of bodies that both read.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import httpx
import pytest

from harness.dialects import ANTHROPIC, OPENAI_CHAT
from harness.models.litellm_client import LitellmClient
from harness.models.port import CallInfo
from harness.models.route import route_of
from harness.records.faults import ModelError
from harness.records.messages import Json, Message, ModelReply, ModelRequest

DIALECTS = {"gpt-x": OPENAI_CHAT, "claude-sonnet-4-5": ANTHROPIC}
MODELS = {"openai": "gpt-x", "anthropic": "claude-sonnet-4-5"}
CALL = CallInfo(number=1, ask="")


class Canned:
    """A tape that answers everything with one response."""

    def __init__(self, status: int, content_type: str, body: bytes) -> None:
        self.status = status
        self.headers = {"content-type": content_type}
        self.body = body

    def handle(self, request: httpx.Request, send: object) -> httpx.Response:
        return httpx.Response(self.status, headers=self.headers, content=self.body, request=request)


@pytest.fixture(scope="module")
def litellm_client() -> LitellmClient:
    """litellm, told that every model is on one server."""
    return LitellmClient(lambda model: route_of(model, base_url="http://scripted.invalid/v1"))


def by_litellm(client: LitellmClient, model: str, tape: Canned) -> ModelReply | str:
    """What litellm reads, or the class of its error."""
    stream = "event-stream" in tape.headers["content-type"]
    request = ModelRequest(model=model, messages=(Message("user", "hi"),), stream=stream)
    try:
        return client.chat_sync(request, CALL, tape)
    except ModelError as failed:
        return failed.kind


def by_us(model: str, tape: Canned) -> ModelReply | str:
    """What the dialect reads, or the class of its error."""
    try:
        return DIALECTS[model].decode_reply(tape.status, tape.headers, tape.body, asked_model=model)
    except ModelError as failed:
        return failed.kind


def completion(message: Json, finish: str | None = "stop", **fields: Json) -> Json:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-x",
        "choices": [choice],
        "usage": usage,
        **fields,
    }


def calling(arguments: Json) -> Json:
    """A message that calls a tool."""
    return {
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}],
    }


def usage(**details: Json) -> Json:
    """A completion with more to its usage."""
    return completion(
        {"content": "x"}, usage={"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17, **details}
    )


WHOLE_OPENAI: dict[str, Json] = {
    "null content": completion({"content": None}),
    "no finish": completion({"content": "x"}, None),
    "refusal": completion({"content": None, "refusal": "no"}),
    "no arguments": completion(calling(""), "tool_calls"),
    "null arguments": completion(calling(None), "tool_calls"),
    "broken arguments": completion(calling('{"a":'), "tool_calls"),
    "array arguments": completion(calling("[1]"), "tool_calls"),
    "forced tool": completion(calling("{}"), "stop"),
    "empty calls": completion({"content": "x", "tool_calls": []}),
    "reasoning_content": completion({"content": "x", "reasoning_content": "hm"}),
    "reasoning": completion({"content": "x", "reasoning": "hm"}),
    "null reasoning_content": completion({"content": "x", "reasoning": "hm", "reasoning_content": None}),
    "think tag": completion({"content": "<think>hm</think>\n\nx"}),
    "think tag and field": completion({"content": "<think>hm</think>x", "reasoning_content": None}),
    "no usage": completion({"content": "x"}, usage=None),
    "details": usage(prompt_tokens_details={"cached_tokens": 4}, completion_tokens_details={"reasoning_tokens": 2}),
    "null details": usage(prompt_tokens_details=None, completion_tokens_details=None),
    "deepseek cache": usage(prompt_cache_hit_tokens=4, prompt_cache_miss_tokens=5),
    "null counts": completion({"content": "x"}, usage={"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}),
    "two choices": completion({"content": "x"}, choices=[*completion({"content": "b"})["choices"], *completion({"content": "a"})["choices"]]),
    "length": completion({"content": "x"}, "length"),
    "filtered": completion({"content": None}, "content_filter"),
    "foreign finish": completion({"content": "x"}, "max_tokens"),
    "odd finish": completion({"content": "x"}, "because"),
    "no choice": completion({}, choices=[]),
    "null choices": completion({}, choices=None),
    "no message": completion({}, choices=[{"index": 0, "finish_reason": "stop"}]),
    "error, 429": {"error": {"message": "slow down", "code": 429}},
    "error, 503": {"error": {"message": "down", "code": 503}},
    "error": {"error": {"message": "x"}},
    "error, empty": completion({"content": "x"}, error={}),
    "array": [1],
    "null": None,
    "character of two halves": completion({"content": "a😀b"}),
}  # fmt: skip


def chunk(delta: Json, finish: str | None = None, **fields: Json) -> Json:
    """A chunk of a completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-x",
        "choices": [choice],
        **fields,
    }


def piece(arguments: str | None, **fields: Json) -> Json:
    """The delta of a tool call."""
    name = {"name": fields.pop("name")} if "name" in fields else {}
    return {"tool_calls": [{"index": 0, "function": {**name, "arguments": arguments}, **fields}]}


STARTED = {"id": "a", "type": "function", "name": "f"}
COUNTS = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
COUNTED = {**chunk({}), "choices": [], "usage": COUNTS}
STREAMED_OPENAI: dict[str, list[Json]] = {
    "text": [chunk({"role": "assistant", "content": ""}), chunk({"content": "a"}), chunk({"content": "b"}), chunk({}, "stop"), COUNTED],
    "finish with text": [chunk({"content": "x"}, "stop"), COUNTED],
    "empty finish": [chunk({"content": "x"}, ""), chunk({"content": "y"}, ""), chunk({}, "stop"), COUNTED],
    "usage in the last": [chunk({"content": "x"}), chunk({}, "stop", usage=COUNTS)],
    "usage in each": [chunk({"content": "x"}, usage={**COUNTS, "completion_tokens": 1}), chunk({}, "stop", usage=COUNTS)],
    "azure's first": [{**chunk({}), "id": "", "model": "", "choices": []}, chunk({"content": "x"}), chunk({}, "stop"), COUNTED],
    "tool": [chunk(piece("", **STARTED)), chunk(piece('{"a"')), chunk(piece(": 1}")), chunk({}, "tool_calls"), COUNTED],
    "forced tool": [chunk(piece("{}", **STARTED)), chunk({}, "stop"), COUNTED],
    "tool without arguments": [chunk(piece(None, **STARTED)), chunk({}, "tool_calls"), COUNTED],
    "tool, name repeated": [chunk(piece('{"a"', **STARTED)), chunk(piece(": 1}", **STARTED)), chunk({}, "tool_calls"), COUNTED],
    "tool cut": [chunk(piece('{"a"', **STARTED)), chunk({}, "length"), COUNTED],
    "reasoning_content": [chunk({"reasoning_content": "h"}), chunk({"reasoning_content": "m"}), chunk({"content": "x"}), chunk({}, "stop"), COUNTED],
    "reasoning": [chunk({"reasoning": "hm"}), chunk({"content": "x"}), chunk({}, "stop"), COUNTED],
    "think tag": [chunk({"content": "<think>"}), chunk({"content": "hm</think>x"}), chunk({}, "stop"), COUNTED],
    "null delta": [chunk(None), chunk({"content": "x"}), chunk({}, "stop"), COUNTED],
    "nulls": [chunk({"content": None, "tool_calls": None}), chunk({"content": "x"}), chunk({}, "stop"), COUNTED],
    "refusal": [chunk({"refusal": "no"}), chunk({}, "stop"), COUNTED],
    "cut": [chunk({"content": "x"})],
    "rate limit": [{"error": {"message": "Rate limit reached", "type": "requests"}}],
}  # fmt: skip


def message(content: Json, stop: str | None = "end_turn", **fields: Json) -> Json:
    """An Anthropic message."""
    answer = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": content,
        "stop_reason": stop,
    }
    return {**answer, "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 4}, **fields}


TEXT = {"type": "text", "text": "hi"}
ROUNDS = [
    {"input_tokens": 100, "output_tokens": 20},
    {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5},
]
WHOLE_ANTHROPIC: dict[str, Json] = {
    "texts": message([TEXT, TEXT]),
    "nothing": message([]),
    "tool": message([TEXT, {"type": "tool_use", "id": "t", "name": "f", "input": {"ü": 1.0, "n": 2**70}}], "tool_use"),
    "tool of text": message([{"type": "tool_use", "id": "t", "name": "f", "input": "x"}], "tool_use"),
    "tool, end_turn": message([{"type": "tool_use", "id": "t", "name": "f", "input": {}}]),
    "thinking": message([{"type": "thinking", "thinking": "hm", "signature": "s"}, TEXT]),
    "thinking, no signature": message([{"type": "thinking", "thinking": "hm"}, TEXT]),
    "thinking, no text": message([{"type": "thinking", "thinking": "", "signature": "s"}, TEXT]),
    "redacted": message([{"type": "redacted_thinking", "data": "xx"}, TEXT]),
    "cache": message([TEXT], usage={"input_tokens": 3, "output_tokens": 4, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 20}),
    "null cache": message([TEXT], usage={"input_tokens": 3, "output_tokens": 4, "cache_creation_input_tokens": None}),
    "thinking tokens": message([TEXT], usage={"input_tokens": 3, "output_tokens": 40, "output_tokens_details": {"thinking_tokens": 7}}),
    "rounds": message([TEXT], usage={"input_tokens": 3, "output_tokens": 4, "iterations": ROUNDS}),
    "refusal": message([], "refusal"),
    "pause": message([TEXT], "pause_turn"),
    "stop sequence": message([TEXT], "stop_sequence"),
    "window": message([TEXT], "model_context_window_exceeded"),
    "no reason": message([TEXT], None),
    "server tool": message([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, TEXT]),
    "no content": {"id": "x"},
    "content of text": message("hi"),
}  # fmt: skip


def block(index: int, start: Json, *deltas: Json) -> list[Json]:
    """The events of a block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def thought(index: int, text: str, signature: str) -> list[Json]:
    """The events of a block of thinking."""
    deltas = [{"type": "thinking_delta", "thinking": text}] if text else []
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, *signed)


def tool(index: int, *pieces: str) -> list[Json]:
    """The events of a tool call."""
    start = {"type": "tool_use", "id": f"t{index}", "name": "f", "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def ended(reason: str | None = "end_turn", **counts: Json) -> list[Json]:
    """The last events."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 4, **counts}},
        {"type": "message_stop"},
    ]


START = [
    {
        "type": "message_start",
        "message": {
            **message([], None),
            "usage": {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 2},
        },
    }
]
SAID = block(9, {"type": "text", "text": ""}, {"type": "text_delta", "text": "a"}, {"type": "text_delta", "text": "b"})
REDACTED = block(8, {"type": "redacted_thinking", "data": "xx"})
STREAMED_ANTHROPIC: dict[str, list[Json]] = {
    "text": [*START, {"type": "ping"}, *SAID, *ended()],
    "tool": [*START, *SAID, *tool(1, "", '{"a"', ": 1}"), *ended("tool_use")],
    "tool without arguments": [*START, *tool(1), *tool(2, ""), *ended("tool_use")],
    "tool cut": [*START, *tool(1, '{"a"'), *ended("max_tokens")],
    "two tools": [*START, *tool(1, "{}"), *tool(2, '{"b": 2}'), *ended("tool_use")],
    "thinking": [*START, *thought(0, "hm", "s"), *SAID, *ended()],
    "thinking, no text": [*START, *thought(0, "", "s"), *SAID, *ended()],
    "thinking, no signature": [*START, *thought(0, "hm", ""), *SAID, *ended()],
    "thinking, a signature later": [*START, *thought(0, "h", ""), *thought(1, "m", "s"), *SAID, *ended()],
    "thinking twice": [*START, *thought(0, "a", "s"), *REDACTED, *thought(1, "b", "u"), *SAID, *ended()],
    "usage again": [*START, *SAID, *ended(input_tokens=30, cache_read_input_tokens=7)],
    "null usage": [*START, *SAID, *ended(input_tokens=None, cache_read_input_tokens=None)],
    "strange": [*START, {"type": "weather"}, *SAID, *ended()],
    "refusal": [*START, *ended("refusal")],
    "pause": [*START, *SAID, *ended("pause_turn")],
    "no message_stop": [*START, *SAID, *ended()[:1]],
    "cut": [*START, *SAID],
    "overloaded": [*START, *SAID, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}],
    "error": [*START, {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}],
}  # fmt: skip


def tapes() -> Iterator[tuple[str, str, Canned]]:
    """Every body of the tables: a name, a provider, a tape."""
    for provider, bodies in (("openai", WHOLE_OPENAI), ("anthropic", WHOLE_ANTHROPIC)):
        for name, body in bodies.items():
            yield name, provider, Canned(200, "application/json", json.dumps(body).encode())
        for body in ("hello", "", '{"id": "x", "cho', "<html>"):
            yield repr(body), provider, Canned(200, "application/json", body.encode())
    for provider, streams, end in (
        ("openai", STREAMED_OPENAI, "data: [DONE]\n\n"),
        ("anthropic", STREAMED_ANTHROPIC, ""),
    ):
        for name, events in streams.items():
            lines = [named(event) + f"data: {json.dumps(event)}\n\n" for event in events]
            closing = "" if name in {"cut", "rate limit"} else end
            yield f"streamed {name}", provider, Canned(200, "text/event-stream", ("".join(lines) + closing).encode())


def named(event: Json) -> str:
    """The line that names an event, as Anthropic sends it."""
    return f"event: {event['type']}\n" if "type" in event else ""


@pytest.mark.parametrize(
    ("provider", "tape"), [pytest.param(provider, tape, id=f"{provider}-{name}") for name, provider, tape in tapes()]
)
def test_an_oddity_is_read_alike(litellm_client: LitellmClient, provider: str, tape: Canned) -> None:
    """The same reply, or an error of the same class; the model apart, which litellm replaces in streams."""
    model = MODELS[provider]
    theirs, ours = by_litellm(litellm_client, model, tape), by_us(model, tape)

    assert without_model(theirs) == without_model(ours)


OPENAI_ERRORS = [
    {"error": {"message": "m", "type": "t", "param": None, "code": None}},
    {"error": {"message": "m", "type": "invalid_request_error", "param": None, "code": None}},
    {"error": {"message": "This model's maximum context length is 8 tokens", "type": "invalid_request_error"}},
    {"error": {"message": "The model `x` does not exist", "type": "invalid_request_error", "code": "model_not_found"}},
    {"error": {"message": "Incorrect API key provided: sk-x", "type": "invalid_request_error", "code": "invalid_api_key"}},
    {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}},
    {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}},
    {"error": {"message": "Request too large for gpt", "type": "tokens"}},
    {"error": {"message": "no", "type": "invalid_request_error", "code": "content_policy_violation"}},
    {"detail": "Not Found"},
    [{"error": {"code": 400, "message": "API key not valid"}}],
    "<html>",
]  # fmt: skip
ANTHROPIC_ERRORS = [
    {"type": "error", "error": {"type": "t", "message": "m"}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}},
    {"type": "error", "error": {"type": "rate_limit_error", "message": "Your rate limit is 429"}},
    {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}},
    {"type": "error", "error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}},
    {"type": "error", "error": {"type": "invalid_request_error", "message": "input length exceed context limit"}},
    "<html>",
]  # fmt: skip
STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 504, 529)


@pytest.mark.parametrize(("provider", "errors"), [("openai", OPENAI_ERRORS), ("anthropic", ANTHROPIC_ERRORS)])
def test_errors_are_of_one_class(litellm_client: LitellmClient, provider: str, errors: list[Json]) -> None:
    """Each status with each kind of words."""
    model = MODELS[provider]
    differing = {}
    for status, error in itertools.product(STATUSES, errors):
        body = error if isinstance(error, str) else json.dumps(error)
        tape = Canned(status, "application/json", body.encode())
        theirs, ours = by_litellm(litellm_client, model, tape), by_us(model, tape)
        if theirs != ours and (status, error["error"]["type"]) != (403, "overloaded_error"):
            differing[status, body] = (theirs, ours)

    assert {} == differing


def without_model(reply: ModelReply | str) -> object:
    """A reply as comparable parts."""
    if isinstance(reply, str):
        return reply
    return reply.text, reply.tool_calls, reply.thinking, reply.finish_reason, reply.usage
