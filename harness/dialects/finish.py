"""
Why a reply ended, in our words.

The classes are those that litellm 1.106.2 folds the providers' words into, so that every port agrees: a refusal is a
`content_filter`, and words that nobody knows, a pause among them, are a `stop`.
"""

from __future__ import annotations

from harness.records.messages import FinishReason, Json

_LENGTH = {"length", "max_tokens", "MAX_TOKENS", "compaction"}
_TOOL_CALLS = {"tool_calls", "tool_use", "function_call"}
_FILTERED = {
    "content_filter", "content_filtered", "refusal", "guardrail_intervened", "sensitive", "ERROR_TOXIC", "SAFETY",
    "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "NO_IMAGE", "ESCALATION",
}  # fmt: skip

OPENAI_WORD: dict[FinishReason, str] = {
    "stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter",
    "refusal": "content_filter", "pause": "stop", "other": "stop",
}  # fmt: skip
"""What OpenAI sends for a reason."""

ANTHROPIC_WORD: dict[FinishReason, str] = {
    "stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal",
    "refusal": "refusal", "pause": "pause_turn", "other": "end_turn",
}  # fmt: skip
"""What Anthropic sends for a reason."""


def finish_reason(word: Json, *, called_tools: bool = False) -> FinishReason:
    """Fold a provider's *word*; with *called_tools* a plain stop means `tool_calls` (OpenAI, after a forced tool)."""
    if not isinstance(word, str):
        word = "stop"
    if word in _TOOL_CALLS:
        return "tool_calls"
    if word in _LENGTH:
        return "length"
    if word in _FILTERED:
        return "content_filter"
    return "tool_calls" if called_tools else "stop"
