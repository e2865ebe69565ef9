"""A request for an Anthropic message, read back from its wire form."""

from __future__ import annotations

from collections.abc import Mapping

from harness.dialects.anthropic_reply import CALL_BLOCKS, is_thinking, thinking_block, whole_call
from harness.dialects.body import header, list_or_empty, number_or_none, object_or_empty, text_or_empty
from harness.dialects.request_fields import (
    REMOTE_IMAGE,
    part_as_text,
    refuse,
    request_object,
    texts,
    thinking_param,
    whole,
    word,
)
from harness.records.capability import INTERLEAVED_THINKING
from harness.records.messages import ImagePart, Json, Message, ModelRequest, TextPart, ToolSpec

Parts = tuple[TextPart | ImagePart, ...]


ASKED_BETAS = frozenset({INTERLEAVED_THINKING})
"""The betas that a request of ours asks for; client libraries add others for what the body says anyway."""


def request_from(body: bytes, headers: Mapping[str, str]) -> ModelRequest:
    """
    Read a request; a user turn that starts with tool results becomes a `tool` message for each of them.

    Raises:
        BadFileError: It is no request of this format (code `bad-interaction`).
    """
    asked = request_object(body)
    messages = asked.get("messages")
    if not isinstance(messages, list):
        refuse("the request has no list of messages")
    output = object_or_empty(asked.get("output_config"))
    format_ = object_or_empty(asked.get("output_format") or output.get("format"))
    schema = format_.get("schema")
    return ModelRequest(
        model=text_or_empty(asked.get("model")),
        messages=(*_system(asked.get("system")), *_conversation(messages)),
        tools=tuple(_tool(tool) for tool in list_or_empty(asked.get("tools")) if isinstance(tool, dict)),
        tool_choice=_tool_choice(object_or_empty(asked.get("tool_choice"))),
        temperature=number_or_none(asked.get("temperature")),
        top_p=number_or_none(asked.get("top_p")),
        max_tokens=whole(asked.get("max_tokens")),
        stop=texts(asked.get("stop_sequences")),
        thinking=thinking_param(asked.get("thinking")),
        effort=word(output.get("effort")),
        json_schema=schema if isinstance(schema, dict) else None,
        stream=asked.get("stream") is True,
        betas=tuple(beta for beta in _words(header(headers, "anthropic-beta")) if beta in ASKED_BETAS),
    )


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",")]


def _system(system: Json) -> tuple[Message, ...]:
    content = _content(system)
    return (Message("system", content),) if content else ()


def _conversation(messages: list[Json]) -> list[Message]:
    conversation: list[Message] = []
    for nth, raw in enumerate(messages, 1):
        role = raw.get("role") if isinstance(raw, dict) else None
        if role == "assistant":
            conversation.append(_assistant(raw.get("content")))
        elif role == "user":
            conversation.extend(_user(raw.get("content")))
        elif role == "system":
            conversation.append(Message("system", _content(raw.get("content"))))
        else:
            refuse(f"message {nth} of the request has no known role")
    return conversation


def _user(content: Json) -> list[Message]:
    blocks = [block for block in list_or_empty(content) if isinstance(block, dict)]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    messages = [
        Message("tool", _content(block.get("content")), tool_call_id=text_or_empty(block.get("tool_use_id")))
        for block in results
    ]
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    if rest or not results:
        messages.append(Message("user", _content(rest or content)))
    return messages


def _assistant(content: Json) -> Message:
    blocks = [block for block in list_or_empty(content) if isinstance(block, dict)]
    calls = tuple(whole_call(block) for block in blocks if block.get("type") in CALL_BLOCKS)
    spoken = [block for block in blocks if block.get("type") not in CALL_BLOCKS and not is_thinking(block)]
    text = content if isinstance(content, str) else _content(spoken)
    return Message(
        "assistant", text, calls, None, tuple(thinking_block(block) for block in blocks if is_thinking(block))
    )


def _content(content: Json) -> str | Parts:
    if not isinstance(content, list):
        return text_or_empty(content)
    parts = tuple(_part(part) for part in content)
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return parts or ""


def _part(part: Json) -> TextPart | ImagePart:
    if isinstance(part, dict) and part.get("type") == "text":
        return TextPart(text_or_empty(part.get("text")))
    if isinstance(part, dict) and part.get("type") == "image":
        source = object_or_empty(part.get("source"))
        if isinstance(source.get("data"), str):
            return ImagePart(text_or_empty(source.get("media_type")), source["data"])
        return ImagePart(REMOTE_IMAGE, text_or_empty(source.get("url") or source.get("file_id")))
    return part_as_text(part)


def _tool(tool: dict[str, Json]) -> ToolSpec:
    if isinstance(tool.get("input_schema"), dict):
        return ToolSpec(text_or_empty(tool.get("name")), text_or_empty(tool.get("description")), tool["input_schema"])
    # A tool of the provider's own, such as its web search: everything that it says counts as parameters.
    return ToolSpec(text_or_empty(tool.get("name")), "", tool)


def _tool_choice(choice: dict[str, Json]) -> str | None:
    kind = word(choice.get("type"))
    return {"any": "required", "tool": word(choice.get("name"))}.get(kind or "", kind)
