"""Writing Anthropic messages: what a scripted model answers with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.dialects.finish import ANTHROPIC_WORD
from harness.dialects.sse import encode_event
from harness.records.messages import Json, ModelReply, ThinkingBlock, ToolCall, Usage

_encode = msgspec.json.encode


def reply_body(reply: ModelReply, *, id: str) -> bytes:
    """
    Write *reply* as one JSON body: thinking, then text, then tool calls.

    Arguments that are not a JSON object go out as a JSON string: the format has no other place for broken text.
    """
    content: list[Json] = [_thinking(block) for block in reply.thinking]
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content.extend(_call(call, call.args_raw if call.args is None else call.args) for call in reply.tool_calls)
    message = _message(reply, id)
    message["content"] = content
    message["stop_reason"] = ANTHROPIC_WORD[reply.finish_reason]
    message["usage"] = _usage(reply.usage)
    return _encode(message)


def stream_events(reply: ModelReply, *, id: str, text_pieces: Sequence[str] | None) -> list[bytes]:
    """Write *reply* as events from `message_start` to `message_stop`, a ping among them."""
    start = _message(reply, id)
    start["usage"] = _usage(
        Usage(input=reply.usage.input, output=1 if reply.usage.output else 0, cached=reply.usage.cached)
    )
    events = [_event("message_start", message=start), _event("ping")]
    blocks = [(_thinking_start(block), _thinking_deltas(block)) for block in reply.thinking]
    if reply.text:
        pieces = text_pieces if text_pieces is not None else [reply.text]
        texts: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces if piece]
        blocks.append(({"type": "text", "text": ""}, texts))
    blocks.extend((_call(call, {}), _args_deltas(call)) for call in reply.tool_calls)
    for index, (block, deltas) in enumerate(blocks):
        events.append(_event("content_block_start", index=index, content_block=block))
        events.extend(_event("content_block_delta", index=index, delta=delta) for delta in deltas)
        events.append(_event("content_block_stop", index=index))
    ending = {"stop_reason": ANTHROPIC_WORD[reply.finish_reason], "stop_sequence": None}
    events.append(_event("message_delta", delta=ending, usage=_usage(reply.usage)))
    events.append(_event("message_stop"))
    return events


def _message(reply: ModelReply, id: str) -> dict[str, Json]:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _event(name: str, **fields: Json) -> bytes:
    return encode_event(_encode({"type": name, **fields}), name)


def _thinking(block: ThinkingBlock) -> Json:
    if block.kind == "redacted":
        return {"type": "redacted_thinking", "data": block.data}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _thinking_start(block: ThinkingBlock) -> Json:
    return _thinking(block) if block.kind == "redacted" else {"type": "thinking", "thinking": "", "signature": ""}


def _thinking_deltas(block: ThinkingBlock) -> list[Json]:
    if block.kind == "redacted":
        return []
    deltas: list[Json] = [{"type": "thinking_delta", "thinking": block.text}] if block.text else []
    return [*deltas, {"type": "signature_delta", "signature": block.signature}]


def _call(call: ToolCall, input: Json) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": input}


def _args_deltas(call: ToolCall) -> list[Json]:
    half = len(call.args_raw) // 2
    pieces = ("", call.args_raw[:half], call.args_raw[half:])
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _usage(usage: Usage) -> Json:
    counts: dict[str, Json] = {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
    if usage.thinking:
        counts["output_tokens_details"] = {"thinking_tokens": usage.thinking}
    return counts
