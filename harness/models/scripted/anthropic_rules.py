"""
What Anthropic's messages API refuses with a 400, as far as an agent can get it wrong; thinking has its own module.

Source: Anthropic's API reference and the texts of its errors as of November 2026, with what each model takes from
`harness.models.capability`. The texts are close to the provider's, not equal to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.dialects.body import list_or_empty, object_or_empty
from harness.records.capability import Capability

Json = Any

_PARAMS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "system",
        "metadata",
        "stop_sequences",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "thinking",
        "tools",
        "tool_choice",
        "output_config",
        "output_format",
        "service_tier",
        "container",
        "context_management",
        "mcp_servers",
        "cache_control",
        "inference_geo",
        "prefix_mismatch_behavior",
        "speed",
    ]
)
_SAMPLING = ("temperature", "top_p", "top_k")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_FORCED = ("any", "tool")


def broken_message_rules(request: Mapping[str, Json], capability: Capability) -> Iterator[str]:
    """What is wrong with a messages request, thinking apart."""
    for name in request:
        if name not in _PARAMS:
            yield f"{name}: Extra inputs are not permitted"
    for name in ("model", "messages", "max_tokens"):
        if name not in request:
            yield f"{name}: Field required"
    yield from _limits(request, capability)
    yield from _tools(request)
    yield from _conversation(
        [object_or_empty(message) for message in list_or_empty(request.get("messages"))], capability
    )


def blocks_of(message: Mapping[str, Json]) -> list[dict[str, Json]]:
    """The content of a message as blocks, a bare text included."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [object_or_empty(block) for block in list_or_empty(content)]


def _limits(request: Mapping[str, Json], capability: Capability) -> Iterator[str]:
    most = capability.max_output_tokens
    asked = request.get("max_tokens")
    if not (isinstance(asked, int) and asked >= 1):
        yield "max_tokens: Input should be greater than or equal to 1"
    elif most is not None and asked > most:
        yield (
            f"max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for "
            f"{request.get('model')}"
        )
    temperature = request.get("temperature")
    if temperature is not None and not (isinstance(temperature, int | float) and 0 <= temperature <= 1):
        yield "temperature: range: 0..1"
    if capability.sampling == "refused":
        for name in _SAMPLING:
            if request.get(name) is not None:
                yield f"{name}: sampling parameters are not supported on {request.get('model')}"
    effort = object_or_empty(request.get("output_config")).get("effort")
    if effort is not None and effort not in capability.efforts:
        taken = ", ".join(f"'{level}'" for level in capability.efforts) or "none"
        yield f"output_config.effort: '{effort}' is not supported on {request.get('model')}; levels: {taken}"


def _tools(request: Mapping[str, Json]) -> Iterator[str]:
    names = [object_or_empty(tool).get("name") for tool in list_or_empty(request.get("tools"))]
    for index, name in enumerate(names):
        if not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
            yield f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if len({str(name) for name in names}) != len(names):
        yield "tools: Tool names must be unique."
    choice = request.get("tool_choice")
    if choice is None:
        return
    kind = object_or_empty(choice).get("type")
    if kind not in ("auto", "none", *_FORCED):
        yield f"tool_choice: Input tag '{kind}' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
    elif not names:
        yield "tool_choice: may only be specified while providing tools"
    elif kind == "tool" and choice.get("name") not in names:
        yield f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"


def forces_a_tool(request: Mapping[str, Json]) -> bool:
    """Whether `tool_choice` leaves the model no choice."""
    return object_or_empty(request.get("tool_choice")).get("type") in _FORCED


def _conversation(messages: list[dict[str, Json]], capability: Capability) -> Iterator[str]:
    """Every tool use has its result at the head of the next message, and no result stands without its use."""
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield 'messages: first message must use the "user" role'
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        blocks = blocks_of(message)
        if role not in ("user", "assistant") and not (role == "system" and capability.preserved and index > 0):
            yield f'messages: Unexpected role "{role}". The Messages API accepts a top-level `system` parameter.'
        yield from _empty_content(blocks, index, last=index == len(messages) - 1 and role == "assistant")
        yield from _results(blocks, index, open_ids)
        open_ids = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
    yield from _results([], len(messages), open_ids)


def _empty_content(blocks: list[dict[str, Json]], index: int, *, last: bool) -> Iterator[str]:
    if not blocks and not last:
        yield f"messages.{index}: all messages must have non-empty content except for the optional final assistant message"
    for block in blocks:
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            yield f"messages.{index}: text content blocks must contain non-whitespace text"


def _results(blocks: list[dict[str, Json]], index: int, open_ids: list[str]) -> Iterator[str]:
    answered: list[str] = []
    at_head = True
    for position, block in enumerate(blocks):
        if block.get("type") != "tool_result":
            at_head = False
            continue
        asked = str(block.get("tool_use_id"))
        if asked not in open_ids or asked in answered:
            yield (
                f"messages.{index}.content.{position}: unexpected `tool_use_id` found in `tool_result` blocks: {asked}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        elif at_head:
            answered.append(asked)
    missing = [asked for asked in open_ids if asked not in answered]
    if missing:
        yield (
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )
