"""Between our records and litellm's: requests into its arguments, its responses and chunks into replies. No litellm needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.models.route import DialectName, Route
from harness.records.faults import ModelError
from harness.records.messages import (
    EmbeddingReply,
    EmbeddingRequest,
    FinishReason,
    ImagePart,
    Json,
    Message,
    ModelReply,
    ModelRequest,
    ReplyChunk,
    ThinkingBlock,
    ToolCall,
    ToolSpec,
    Usage,
)

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


def chat_arguments(request: ModelRequest, route: Route) -> dict[str, Any]:
    """Write *request* as keyword arguments of `litellm.completion`; what is None is left out."""
    arguments = _address(route)
    arguments["messages"] = [_message(message, route.dialect) for message in request.messages]
    for name in ("temperature", "top_p", "max_tokens", "seed"):
        value = getattr(request, name)
        if value is not None:
            arguments[name] = value
    if request.tools:
        arguments["tools"] = [_tool(tool) for tool in request.tools]
    if request.tool_choice is not None:
        arguments["tool_choice"] = _tool_choice(request.tool_choice)
    if request.stop:
        arguments["stop"] = list(request.stop)
    if request.thinking is not None:
        budget = request.thinking.budget_tokens
        arguments["thinking"] = {"type": request.thinking.type} | ({} if budget is None else {"budget_tokens": budget})
    if request.effort is not None:
        arguments |= _effort(request.effort, route.dialect)
    if request.json_schema is not None:
        schema = {"name": "answer", "schema": request.json_schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.betas and route.dialect == "anthropic":
        arguments["extra_headers"] = {"anthropic-beta": ",".join(request.betas)}
    if request.stream:
        arguments |= {"stream": True, "stream_options": {"include_usage": True}}
    return arguments


def embedding_arguments(request: EmbeddingRequest, route: Route) -> dict[str, Any]:
    """Write *request* as keyword arguments of `litellm.embedding`; vectors are asked for as plain numbers."""
    return _address(route) | {"input": list(request.texts), "encoding_format": "float"}


def reply_of(response: Any, *, asked_model: str) -> ModelReply:
    """
    Read a `litellm.ModelResponse`.

    Raises:
        ModelError: It holds no choice (`bad_reply`).
    """
    if not response.choices:
        raise ModelError("bad_reply", "the response holds no choice")
    choice = response.choices[0]
    message = choice.message
    return ModelReply(
        text=message.content or "",
        tool_calls=tuple(
            _tool_call(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()
        ),
        thinking=_thinking(message),
        finish_reason=_finish(choice.finish_reason),
        usage=_usage(getattr(response, "usage", None)),
        model=response.model or asked_model,
    )


def embeddings_of(response: Any, *, asked_model: str) -> EmbeddingReply:
    """Read a `litellm.EmbeddingResponse`."""
    ordered = sorted(response.data, key=lambda item: item["index"])
    vectors = tuple(tuple(float(number) for number in item["embedding"]) for item in ordered)
    return EmbeddingReply(vectors, response.model or asked_model, _usage(response.usage))


def streamed_reply(response: Any, *, asked_model: str) -> ModelReply:
    """
    Read what `litellm.stream_chunk_builder` made of all chunks.

    Raises:
        ModelError: It made nothing of them (`bad_reply`).
    """
    if response is None:
        raise ModelError("bad_reply", "the stream holds no chunk")
    return reply_of(response, asked_model=asked_model)


def chunks_of(chunk: Any) -> list[ReplyChunk]:
    """Read what one of litellm's chunks adds; most add one piece, the first and the last none."""
    if not chunk.choices:
        return []
    delta = chunk.choices[0].delta
    pieces = []
    if getattr(delta, "reasoning_content", None):
        pieces.append(ReplyChunk("thinking", delta.reasoning_content))
    if delta.content:
        pieces.append(ReplyChunk("text", delta.content))
    pieces += [
        ReplyChunk("tool_args", call.function.arguments, call.index)
        for call in delta.tool_calls or ()
        if call.function.arguments
    ]
    return pieces


def _address(route: Route) -> dict[str, Any]:
    # retries are the caller's: they run on the trial's clock and stand in its trace
    arguments: dict[str, Any] = {"model": route.model, "max_retries": 0}
    if route.api_base is not None:
        arguments["api_base"] = route.api_base
    if route.api_key is not None:
        arguments["api_key"] = route.api_key
    return arguments


def _message(message: Message, dialect: DialectName) -> dict[str, Json]:
    form: dict[str, Json] = {"role": message.role, "content": _content(message)}
    if message.tool_calls:
        if dialect == "anthropic":
            form["content"] = form["content"] or None  # an empty text block would be refused
        # litellm leaves None out for the others, and servers whose chat template reads the field then fail
        form["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args_raw}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        form["tool_call_id"] = message.tool_call_id
    if message.thinking and dialect == "anthropic":
        form["thinking_blocks"] = [
            {"type": "redacted_thinking", "data": block.data}
            if block.kind == "redacted"
            else {"type": "thinking", "thinking": block.text, "signature": block.signature}
            for block in message.thinking
        ]
    return form


def _content(message: Message) -> str | list[dict[str, Json]]:
    if isinstance(message.content, str):
        return message.content
    return [
        {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": part.text}
        for part in message.content
    ]


def _tool(tool: ToolSpec) -> dict[str, Json]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _effort(effort: str, dialect: DialectName) -> dict[str, Json]:
    if dialect == "anthropic":
        # as `reasoning_effort` it would become a thinking budget on older models
        return {"output_config": {"effort": effort}}
    return {"reasoning_effort": effort}


def _tool_choice(choice: str) -> Json:
    return choice if choice in ("auto", "none", "required") else {"type": "function", "function": {"name": choice}}


def _tool_call(id_: str | None, name: str | None, args_raw: str | None) -> ToolCall:
    raw = args_raw or ""
    try:
        args = json.loads(raw) if raw.strip() else {}
    except ValueError:
        args = None
    return ToolCall(id_ or "", name or "", raw, args if isinstance(args, dict) else None)


def _thinking(message: Any) -> tuple[ThinkingBlock, ...]:
    blocks = getattr(message, "thinking_blocks", None)
    if blocks:
        return tuple(_block(block) for block in blocks)
    reasoning = getattr(message, "reasoning_content", None)
    return (ThinkingBlock("thinking", reasoning),) if reasoning else ()


def _block(block: Mapping[str, Json]) -> ThinkingBlock:
    if block["type"] == "redacted_thinking":
        return ThinkingBlock("redacted", data=block["data"])
    return ThinkingBlock("thinking", block.get("thinking") or "", block.get("signature") or "")


def _finish(reason: str | None) -> FinishReason:
    return _FINISH.get(reason or "", "other")


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    spent = getattr(usage, "completion_tokens_details", None)
    asked = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        input=usage.prompt_tokens or 0,
        output=usage.completion_tokens or 0,
        thinking=getattr(spent, "reasoning_tokens", None) or 0,
        cached=getattr(asked, "cached_tokens", None) or 0,
    )
