"""
Which fields of a response a dialect knows: read, or known to change nothing in a reply.

Whatever else stands there is listed, so that a recording can be read through litellm instead and the gap is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.dialects.base import MAX_NAME_CHARS, MAX_UNKNOWN
from harness.dialects.body import list_or_empty, object_or_empty
from harness.records.messages import Json

_OPENAI_TOP = {
    "id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "error",
    "provider", "x_groq", "timings", "time_info", "prompt_filter_results", "obfuscation", "metadata",
    "usage_breakdown", "prompt_logprobs", "prompt_token_ids", "prompt_routed_experts", "kv_transfer_params",
    "citations", "search_results", "stats", "request_id", "moderation", "nonce", "p",
}  # fmt: skip
_OPENAI_CHOICE = {
    "index", "message", "delta", "finish_reason", "logprobs", "native_finish_reason", "stop_reason",
    "content_filter_results", "content_filter_result", "token_ids", "usage", "matched_stop", "text", "seed",
    "error", "routed_experts",
}  # fmt: skip
_OPENAI_MESSAGE = {
    "role", "content", "tool_calls", "function_call", "refusal", "annotations", "reasoning_content", "reasoning",
    "reasoning_details", "thinking_blocks", "name", "prefix", "tool_call_id", "context",
}  # fmt: skip
_OPENAI_CALL = {"index", "id", "type", "function"}
_PARALLEL = "multi_tool_use.parallel"
"""A name that old models make up to wrap several calls in one; litellm unwraps them."""
_ANTHROPIC_TOP = {
    "id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
    "context_management", "request_id", "diagnostics",
}  # fmt: skip
_ANTHROPIC_BLOCKS = {
    "text": {"type", "text", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "caller"},
}


def unknown_in_openai(answer: dict[str, Json]) -> list[str]:
    """List what is not known in a chat completion, or in one of its chunks."""
    return _first(_openai(answer))


def unknown_in_anthropic(answer: dict[str, Json]) -> list[str]:
    """List what is not known in a message, or in one event of its stream."""
    if answer.get("type") == "content_block_start":
        return _first(_block(object_or_empty(answer.get("content_block"))))
    return [] if "content" not in answer else _first(_anthropic(answer))


def _openai(answer: dict[str, Json]) -> Iterator[str]:
    yield from _beyond(answer, _OPENAI_TOP, "")
    choices = list_or_empty(answer.get("choices"))
    for choice in map(object_or_empty, choices):
        if choice.get("index") not in (0, None):
            yield "a second choice"
        yield from _beyond(choice, _OPENAI_CHOICE, "choice.")
        message = object_or_empty(choice.get("message") or choice.get("delta"))
        yield from _beyond(message, _OPENAI_MESSAGE, "message.")
        for call in map(object_or_empty, list_or_empty(message.get("tool_calls"))):
            yield from _beyond(call, _OPENAI_CALL, "tool_call.")
            if object_or_empty(call.get("function")).get("name") == _PARALLEL:
                yield f"tool_call {_PARALLEL}"


def _anthropic(answer: dict[str, Json]) -> Iterator[str]:
    yield from _beyond(answer, _ANTHROPIC_TOP, "")
    for block in map(object_or_empty, list_or_empty(answer.get("content"))):
        yield from _block(block)


def _block(block: Mapping[str, Json]) -> Iterator[str]:
    kind = block.get("type")
    known = _ANTHROPIC_BLOCKS.get(kind) if isinstance(kind, str) else None
    if known is None:
        yield f"block {kind}"
    else:
        yield from _beyond(block, known, f"{kind}.")


def _beyond(value: Mapping[str, Json], known: set[str], prefix: str) -> Iterator[str]:
    return (prefix + name for name, held in value.items() if name not in known and held is not None)


def _first(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name[:MAX_NAME_CHARS] for name in names))[:MAX_UNKNOWN]
