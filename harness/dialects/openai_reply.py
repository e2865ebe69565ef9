"""A whole OpenAI chat completion as our reply, and the pieces that streams share with it."""

from __future__ import annotations

import json
import re

from harness.dialects.base import MAX_TOOL_CALLS
from harness.dialects.body import (
    count_or_zero,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    tool_args,
    well_formed,
)
from harness.dialects.failures import failure_inside
from harness.dialects.finish import finish_reason
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.messages import Json, ModelReply, ThinkingBlock, ToolCall, Usage

_TAGGED_THINKING = re.compile(
    r"<(?:think|thinking|budget:thinking)>(.*?)</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL
)


def reply_from(answer: dict[str, Json], asked_model: str) -> ModelReply:
    """
    Read a decoded chat completion; of several choices the first counts.

    Raises:
        ModelError: It holds an error object instead (OpenRouter sends those with status 200), or no message.
    """
    raise_error_inside(answer, default_status=422)
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ModelError("bad_reply", "the answer holds no choice with a message")
    calls = _calls(message, seed=text_or_empty(answer.get("id")))
    reasoning, text = _reasoning_and_text(message)
    return ModelReply(
        text=text,
        tool_calls=calls,
        thinking=thinking_from(message.get("thinking_blocks"), reasoning),
        finish_reason=finish_reason(choice.get("finish_reason"), called_tools=bool(calls)),
        usage=usage_from(answer.get("usage")),
        model=text_or_empty(answer.get("model")) or asked_model,
    )


def raise_error_inside(answer: dict[str, Json], *, default_status: int) -> None:
    """
    Refuse an answer that carries an error; some servers send an empty error object with every success.

    *default_status* classes an error that names no status of its own.

    Raises:
        ModelError: The error means something.
    """
    error = answer.get("error")
    if not error or (isinstance(error, dict) and not error.get("message") and error.get("code") is None):
        return
    raise failure_inside("openai", error, default_status=default_status)


def usage_from(usage: Json) -> Usage:
    """Read token counts; DeepSeek and Anthropic name cached tokens in their own ways."""
    if not isinstance(usage, dict):
        return Usage()
    given = object_or_empty(usage.get("prompt_tokens_details"))
    made = object_or_empty(usage.get("completion_tokens_details"))
    cached = given.get("cached_tokens")
    for own_name in ("prompt_cache_hit_tokens", "cache_read_input_tokens"):
        cached = usage.get(own_name, cached)
    return Usage(
        input=count_or_zero(usage.get("prompt_tokens")),
        output=count_or_zero(usage.get("completion_tokens")),
        thinking=count_or_zero(made.get("reasoning_tokens") or usage.get("reasoning_tokens")),
        cached=count_or_zero(cached),
    )


def make_call(id: str, name: str, args_raw: str, *, seed: str, nth: int) -> ToolCall:
    """Build a tool call; one that came without an id gets one that only depends on the answer."""
    id, name = well_formed(id), well_formed(name)
    if not id:
        id = f"call_{digest([seed, nth, name, args_raw])}"
    return ToolCall(id, name, args_raw, tool_args(args_raw))


def thinking_from(blocks: Json, reasoning: str) -> tuple[ThinkingBlock, ...]:
    """
    Build thinking blocks: those that a proxy passed through, else the reasoning text as one block.

    Such a block has no signature; it is shown and recorded, and nothing asks for it back.
    """
    passed = [block for block in list_or_empty(blocks) if isinstance(block, dict)]
    if passed:
        return tuple(
            ThinkingBlock("redacted", data=text_or_empty(block.get("data")))
            if block.get("type") == "redacted_thinking"
            else ThinkingBlock(
                "thinking",
                text=text_or_empty(block.get("thinking")),
                signature=text_or_empty(block.get("signature")),
            )
            for block in passed
        )
    return (ThinkingBlock("thinking", text=reasoning),) if reasoning else ()


def text_of_parts(content: Json) -> tuple[str, str]:
    """Split content into reasoning and text: it is a string, null, or a list of parts (Mistral's reasoning models)."""
    if isinstance(content, str):
        return "", content
    reasoning: list[str] = []
    text: list[str] = []
    for part in list_or_empty(content):
        if not isinstance(part, dict):
            continue
        if part.get("type") == "thinking":
            thoughts = part.get("thinking")
            pieces = [thoughts] if isinstance(thoughts, str) else list_or_empty(thoughts)
            reasoning.extend(
                piece if isinstance(piece, str) else text_or_empty(object_or_empty(piece).get("text"))
                for piece in pieces
            )
        else:
            text.append(text_or_empty(part.get("text")))
    return "".join(reasoning), "".join(text)


def _reasoning_and_text(message: dict[str, Json]) -> tuple[str, str]:
    reasoning, text = text_of_parts(message.get("content"))
    for name in ("reasoning_content", "reasoning"):
        if name in message:
            return text_or_empty(message[name]) or reasoning, text
    if text.startswith("<") and (tagged := _TAGGED_THINKING.match(text)):
        return tagged[1], tagged[2]
    return reasoning, text


def _calls(message: dict[str, Json], *, seed: str) -> tuple[ToolCall, ...]:
    raw_calls = message.get("tool_calls")
    if not raw_calls:
        legacy = message.get("function_call")
        raw_calls = [{"function": legacy}] if isinstance(legacy, dict) else []
    if not isinstance(raw_calls, list) or len(raw_calls) > MAX_TOOL_CALLS:
        raise ModelError("bad_reply", f"tool_calls is not a list of at most {MAX_TOOL_CALLS} calls")
    return tuple(_call(raw, seed, nth) for nth, raw in enumerate(raw_calls))


def _call(raw: Json, seed: str, nth: int) -> ToolCall:
    raw = object_or_empty(raw)
    function = raw.get("function") or raw.get("custom")
    if not isinstance(function, dict):
        raise ModelError("bad_reply", f"tool call {nth + 1} names no function")
    args = function.get("arguments", function.get("input"))
    if args is None:
        args = function.get("parameters")
    args_raw = args if isinstance(args, str) else "" if args is None else json.dumps(args)
    return make_call(text_or_empty(raw.get("id")), text_or_empty(function.get("name")), args_raw, seed=seed, nth=nth)
