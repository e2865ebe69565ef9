"""A whole Anthropic message as our reply, and the pieces that streams share with it."""

from __future__ import annotations

import json

from harness.dialects.base import MAX_TOOL_CALLS
from harness.dialects.body import count_or_zero, object_or_empty, text_or_empty, tool_args, well_formed
from harness.dialects.failures import failure_inside
from harness.dialects.finish import finish_reason
from harness.records.faults import ModelError
from harness.records.messages import Json, ModelReply, ThinkingBlock, ToolCall, Usage

CALL_BLOCKS = ("tool_use", "server_tool_use")
"""Blocks that become tool calls; a server's own tools are among them, as litellm has it."""


def reply_from(answer: dict[str, Json], asked_model: str) -> ModelReply:
    """
    Read a decoded message.

    Raises:
        ModelError: It holds an error object instead, or no list of content blocks.
    """
    if "error" in answer:
        raise failure_inside("anthropic", answer["error"], default_status=500)
    content = answer.get("content")
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise ModelError("bad_reply", "the answer holds no list of content blocks")
    calls = tuple(whole_call(block) for block in content if block.get("type") in CALL_BLOCKS)
    if len(calls) > MAX_TOOL_CALLS:
        raise ModelError("bad_reply", f"the answer holds more than {MAX_TOOL_CALLS} tool calls")
    text = "".join(text_or_empty(block.get("text")) for block in content if block.get("type") == "text")
    return ModelReply(
        text=text,
        tool_calls=calls,
        thinking=tuple(thinking_block(block) for block in content if is_thinking(block)),
        finish_reason=finish_reason(answer.get("stop_reason")),
        usage=usage_from(object_or_empty(answer.get("usage"))),
        model=text_or_empty(answer.get("model")) or asked_model,
    )


def is_thinking(block: dict[str, Json]) -> bool:
    """Whether *block* is native thinking, readable or redacted."""
    return block.get("type") in ("thinking", "redacted_thinking")


def thinking_block(block: dict[str, Json]) -> ThinkingBlock:
    """Read a thinking block."""
    if block.get("type") == "redacted_thinking":
        return ThinkingBlock("redacted", data=text_or_empty(block.get("data")))
    return ThinkingBlock(
        "thinking",
        text=text_or_empty(block.get("thinking")),
        signature=text_or_empty(block.get("signature")),
    )


def whole_call(block: dict[str, Json]) -> ToolCall:
    """
    Build a tool call from a whole block.

    Anthropic sends an object where others send text; it is written as litellm does, with Python's own separators.
    """
    given = block.get("input", {})
    args = given if isinstance(given, dict) else None
    return ToolCall(text_or_empty(block.get("id")), text_or_empty(block.get("name")), json.dumps(given), args)


def streamed_call(block: dict[str, Json], args_raw: str) -> ToolCall:
    """Build a tool call from the start of its block and the text of its arguments."""
    id, name = text_or_empty(block.get("id")), text_or_empty(block.get("name"))
    return ToolCall(well_formed(id), well_formed(name), args_raw, tool_args(args_raw))


def usage_from(usage: dict[str, Json]) -> Usage:
    """
    Read token counts: input counts what was read from and written to the cache too.

    A server-side compaction reports its rounds in `iterations`; then only those count.
    """
    rounds = usage.get("iterations")
    if isinstance(rounds, list) and rounds:
        return sum((usage_from({**object_or_empty(one), "iterations": None}) for one in rounds), Usage())
    cached = count_or_zero(usage.get("cache_read_input_tokens"))
    written = count_or_zero(usage.get("cache_creation_input_tokens"))
    details = object_or_empty(usage.get("output_tokens_details"))
    return Usage(
        input=count_or_zero(usage.get("input_tokens")) + written + cached,
        output=count_or_zero(usage.get("output_tokens")),
        thinking=count_or_zero(details.get("thinking_tokens")),
        cached=cached,
    )
