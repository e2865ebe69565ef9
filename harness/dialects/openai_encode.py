"""Writing OpenAI chat completions: what a scripted model answers with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.dialects.finish import OPENAI_WORD
from harness.dialects.sse import encode_event
from harness.records.messages import Json, ModelReply, ToolCall, Usage

_encode = msgspec.json.encode


def reply_body(reply: ModelReply, *, id: str, created: int) -> bytes:
    """Write *reply* as one JSON body; thinking becomes `reasoning_content`, since this format has no blocks."""
    message: dict[str, Json] = {"role": "assistant", "content": reply.text or None}
    if reasoning := _reasoning(reply):
        message["reasoning_content"] = reasoning
    if reply.tool_calls:
        message["tool_calls"] = [_call(call) for call in reply.tool_calls]
    message["refusal"] = None
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": OPENAI_WORD[reply.finish_reason]}
    return _encode(
        {
            "id": id,
            "object": "chat.completion",
            "created": created,
            "model": reply.model,
            "choices": [choice],
            "usage": _usage(reply.usage),
        }
    )


def stream_events(reply: ModelReply, *, id: str, created: int, text_pieces: Sequence[str] | None) -> list[bytes]:
    """Write *reply* as events, with usage before `[DONE]`; arguments of a tool call come in two pieces."""
    deltas: list[dict[str, Json]] = [{"role": "assistant", "content": "" if reply.text else None}]
    if reasoning := _reasoning(reply):
        deltas.append({"reasoning_content": reasoning})
    pieces = text_pieces if text_pieces is not None else [reply.text]
    deltas.extend({"content": piece} for piece in pieces if piece)
    for index, call in enumerate(reply.tool_calls):
        head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        deltas.append({"tool_calls": [head]})
        half = len(call.args_raw) // 2
        deltas.extend(
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in (call.args_raw[:half], call.args_raw[half:])
            if piece
        )
    base = {"id": id, "object": "chat.completion.chunk", "created": created, "model": reply.model}
    choices: list[list[Json]] = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": OPENAI_WORD[reply.finish_reason]}])
    events = [encode_event(_encode({**base, "choices": choice})) for choice in choices]
    events.append(encode_event(_encode({**base, "choices": [], "usage": _usage(reply.usage)})))
    events.append(encode_event(b"[DONE]"))
    return events


def _reasoning(reply: ModelReply) -> str:
    return "".join(block.text for block in reply.thinking)


def _call(call: ToolCall) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args_raw}}


def _usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking},
    }
