"""A request for an OpenAI chat completion, read back from its wire form."""

from __future__ import annotations

import json

from harness.dialects.body import list_or_empty, number_or_none, object_or_empty, text_or_empty
from harness.dialects.openai_reply import make_call, thinking_from
from harness.dialects.request_fields import (
    image_from_url,
    part_as_text,
    refuse,
    request_object,
    texts,
    thinking_param,
    whole,
    word,
)
from harness.records.messages import (
    ImagePart,
    Json,
    Message,
    ModelRequest,
    Role,
    TextPart,
    ToolCall,
    ToolSpec,
)

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
    "function": "tool",
}  # fmt: skip


def request_from(body: bytes) -> ModelRequest:
    """
    Read a request body.

    Raises:
        BadFileError: It is no request of this format (code `bad-interaction`).
    """
    asked = request_object(body)
    messages = asked.get("messages")
    if not isinstance(messages, list):
        refuse("the request has no list of messages")
    max_tokens = asked.get("max_completion_tokens")
    return ModelRequest(
        model=text_or_empty(asked.get("model")),
        messages=tuple(_message(message, nth) for nth, message in enumerate(messages, 1)),
        tools=tuple(_tool(tool) for tool in _offered(asked) if isinstance(tool, dict)),
        tool_choice=_tool_choice(asked.get("tool_choice") or asked.get("function_call")),
        temperature=number_or_none(asked.get("temperature")),
        top_p=number_or_none(asked.get("top_p")),
        max_tokens=whole(asked.get("max_tokens") if max_tokens is None else max_tokens),
        stop=texts(asked.get("stop")),
        seed=whole(asked.get("seed")),
        thinking=thinking_param(asked.get("thinking")),
        effort=word(asked.get("reasoning_effort")),
        json_schema=_json_schema(object_or_empty(asked.get("response_format"))),
        stream=asked.get("stream") is True,
    )


def _message(raw: Json, nth: int) -> Message:
    role = _ROLES.get(text_or_empty(raw.get("role"))) if isinstance(raw, dict) else None
    if role is None:
        refuse(f"message {nth} of the request has no known role")
    assistant = role == "assistant"
    reasoning = text_or_empty(raw.get("reasoning_content") or raw.get("reasoning"))
    return Message(
        role=role,
        content=_content(raw.get("content")),
        tool_calls=_calls(raw, nth) if assistant else (),
        tool_call_id=text_or_empty(raw.get("tool_call_id") or raw.get("name")) if role == "tool" else None,
        thinking=thinking_from(raw.get("thinking_blocks"), reasoning) if assistant else (),
    )


def _content(content: Json) -> str | tuple[TextPart | ImagePart, ...]:
    if isinstance(content, list):
        return tuple(_part(part) for part in content)
    return text_or_empty(content)


def _part(part: Json) -> TextPart | ImagePart:
    if isinstance(part, str):
        return TextPart(part)
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return TextPart(part["text"])
    if isinstance(part, dict) and part.get("type") == "image_url":
        image = part.get("image_url")
        return image_from_url(text_or_empty(image.get("url") if isinstance(image, dict) else image))
    return part_as_text(part)


def _calls(raw: dict[str, Json], nth: int) -> tuple[ToolCall, ...]:
    calls = raw.get("tool_calls")
    if not calls and isinstance(raw.get("function_call"), dict):
        # The answer to such a call carries the function's name in place of an id.
        legacy = raw["function_call"]
        calls = [{"id": legacy.get("name"), "function": legacy}]
    return tuple(_call(object_or_empty(call), nth, at) for at, call in enumerate(list_or_empty(calls)))


def _call(call: dict[str, Json], nth: int, at: int) -> ToolCall:
    function = object_or_empty(call.get("function") or call.get("custom"))
    args = function.get("arguments", function.get("input"))
    args_raw = args if isinstance(args, str) else "" if args is None else json.dumps(args)
    return make_call(
        text_or_empty(call.get("id")), text_or_empty(function.get("name")), args_raw, seed=f"message {nth}", nth=at
    )


def _offered(asked: dict[str, Json]) -> list[Json]:
    tools = asked.get("tools")
    return list_or_empty(tools) if tools else [{"function": one} for one in list_or_empty(asked.get("functions"))]


def _tool(tool: dict[str, Json]) -> ToolSpec:
    function = tool.get("function")
    if not isinstance(function, dict):
        # A tool of the provider's own, named by its type: everything that it says counts as parameters.
        return ToolSpec(text_or_empty(tool.get("name")) or text_or_empty(tool.get("type")), "", tool)
    return ToolSpec(
        text_or_empty(function.get("name")),
        text_or_empty(function.get("description")),
        object_or_empty(function.get("parameters")),
    )


def _tool_choice(choice: Json) -> str | None:
    if isinstance(choice, dict):
        return word(object_or_empty(choice.get("function")).get("name") or choice.get("name") or choice.get("type"))
    return word(choice)


def _json_schema(response_format: dict[str, Json]) -> dict[str, Json] | None:
    if response_format.get("type") == "json_object":
        return {}
    schema = object_or_empty(response_format.get("json_schema")).get("schema")
    return schema if isinstance(schema, dict) else None
