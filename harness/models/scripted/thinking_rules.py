"""
What Anthropic's messages API refuses about thinking, and the memory that it takes to know: which blocks were given out.

A block must come back byte for byte, in order, while its tool turn is open; a preserved one also behind the same
system prompt, tools and messages as when it was made. Source: as for `anthropic_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.dialects.body import list_or_empty, object_or_empty
from harness.models.scripted.anthropic_rules import blocks_of, forces_a_tool
from harness.records.capability import INTERLEAVED_THINKING, MIN_BUDGET_TOKENS, Capability
from harness.records.digest import digest
from harness.records.messages import ModelReply

Json = Any
Block = dict[str, Json]

_THINKING = ("thinking", "redacted_thinking")


class _Issued(msgspec.Struct, frozen=True):
    """What went out in one reply with tool calls or thinking: its blocks, and the digest of what stood before them."""

    blocks: tuple[Block, ...]
    prefix: str


class IssuedThinking:
    """The thinking blocks that a session has given out, by the tool call or the seal that they went with."""

    def __init__(self) -> None:
        self._by_tool_use: dict[str, _Issued] = {}
        self._by_seal: dict[str, list[_Issued]] = {}

    def remember(self, request: Mapping[str, Json], reply: ModelReply) -> None:
        """Keep the thinking blocks of *reply*, which answers *request*, together with its tool calls."""
        blocks = tuple(
            {"type": "redacted_thinking", "data": block.data}
            if block.kind == "redacted"
            else {"type": "thinking", "thinking": block.text, "signature": block.signature}
            for block in reply.thinking
        )
        prefix = _prefix(request, len(list_or_empty(request.get("messages")))) if blocks else ""
        issued = _Issued(blocks, prefix)
        self._by_tool_use.update({call.id: issued for call in reply.tool_calls})
        for block in blocks:
            self._by_seal.setdefault(_seal(block), []).append(issued)

    def broken(self, request: Mapping[str, Json], capability: Capability) -> Iterator[str]:
        """What is wrong with the thinking blocks that *request* brings back."""
        messages = [object_or_empty(message) for message in list_or_empty(request.get("messages"))]
        start = _start_of_turn(messages)
        manual = object_or_empty(request.get("thinking")).get("type") == "enabled"
        bound = capability.preserved and request.get("prefix_mismatch_behavior") != "drop_block"
        for index, message in enumerate(messages):
            if message.get("role") != "assistant":
                continue
            blocks = blocks_of(message)
            yield from self._changed(request, index, blocks, bound=bound)
            if index > start and any(block.get("type") == "tool_use" for block in blocks):
                yield from self._missing(index, blocks, manual=manual)

    def _changed(
        self, request: Mapping[str, Json], index: int, blocks: Sequence[Block], *, bound: bool
    ) -> Iterator[str]:
        for position, block in enumerate(blocks):
            if block.get("type") not in _THINKING:
                continue
            sealed = self._by_seal.get(_seal(block), [])
            same = [issued for issued in sealed if _bare(block) in issued.blocks]
            where = f"messages.{index}.content.{position}"
            if not sealed:
                yield f"{where}: Invalid `{_sealed_by(block)}` in `{block['type']}` block"
            elif not same:
                yield (
                    f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
                    "modified. These blocks must remain as they were in the original response."
                )
            elif bound and all(issued.prefix != _prefix(request, index) for issued in same):
                yield f"{where}: `{block['type']}` block does not match the prefix that it was created with"

    def _missing(self, index: int, blocks: Sequence[Block], *, manual: bool) -> Iterator[str]:
        returned = [_bare(block) for block in blocks if block.get("type") in _THINKING]
        used = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        issued = next((self._by_tool_use[name] for name in used if name in self._by_tool_use), None)
        due = list(issued.blocks) if issued else []
        if returned != due and all(block in due for block in returned):
            found = blocks[0].get("type")
            yield (
                f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When "
                "`thinking` is enabled, the assistant message of an open tool turn must start with its thinking blocks, "
                "all of them and in order."
            )
        elif issued is None and manual and blocks[0].get("type") not in _THINKING:
            yield (
                f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{blocks[0].get('type')}`. When `thinking` is enabled, a final `assistant` message must start with a "
                "thinking block."
            )


def broken_thinking_rules(
    request: Mapping[str, Json], capability: Capability, betas: Sequence[str] = ()
) -> Iterator[str]:
    """What is wrong with the `thinking` parameter and with what may not stand beside it; *betas* as in the header."""
    asked = object_or_empty(request.get("thinking"))
    kind = asked.get("type")
    model = request.get("model")
    if request.get("thinking") is not None:
        yield from _kind(asked, request, capability)
    if kind == "enabled":
        yield from _budget(asked, request, capability, betas)
    thinks = kind in ("enabled", "adaptive") or (kind is None and capability.on_by_default)
    if forces_a_tool(request) and (
        capability.forced_tool == "refused" or (thinks and capability.forced_tool == "not_while_thinking")
    ):
        yield f"tool_choice: Thinking may not be enabled when tool_choice forces tool use. (model {model})"
    if thinks:
        yield from _beside(request, capability)


def _kind(asked: Block, request: Mapping[str, Json], capability: Capability) -> Iterator[str]:
    kind = asked.get("type")
    model = request.get("model")
    if kind not in ("enabled", "adaptive", "disabled", "between_tools"):
        yield f"thinking: Input tag '{kind}' does not match any of the expected tags: 'enabled', 'adaptive', 'disabled'"
    elif capability.kind == "none":
        yield f"thinking: {model} does not support thinking"
    elif kind == "enabled" and not capability.takes_budget:
        yield f'thinking: "thinking.type.enabled" is not supported for {model}. Use "thinking.type.adaptive" instead.'
    elif kind == "adaptive" and capability.kind == "budget":
        yield f"thinking: adaptive thinking is not supported on {model}"
    elif kind == "between_tools" and capability.lowest != "between_tools":
        yield f"thinking: type 'between_tools' is not supported on {model}"
    elif kind == "disabled" and not capability.can_disable:
        yield f"thinking: thinking cannot be disabled on {model}"
    elif kind == "disabled" and _effort_too_high(request, capability):
        yield f"thinking: on {model} thinking can be disabled only up to effort '{capability.disable_up_to_effort}'"
    if kind != "enabled" and asked.get("budget_tokens") is not None:
        yield f"thinking.{kind}.budget_tokens: Extra inputs are not permitted"


def _effort_too_high(request: Mapping[str, Json], capability: Capability) -> bool:
    effort = object_or_empty(request.get("output_config")).get("effort", capability.default_effort)
    most = capability.disable_up_to_effort
    if most is None or effort not in capability.efforts:
        return False
    return capability.efforts.index(effort) > capability.efforts.index(most)


def _budget(asked: Block, request: Mapping[str, Json], capability: Capability, betas: Sequence[str]) -> Iterator[str]:
    budget = asked.get("budget_tokens")
    most = request.get("max_tokens")
    if not isinstance(budget, int):
        yield "thinking.enabled.budget_tokens: Field required"
    elif budget < MIN_BUDGET_TOKENS:
        yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {MIN_BUDGET_TOKENS}"
    elif isinstance(most, int) and budget >= most and not _interleaves(request, capability, betas):
        yield f"`max_tokens` must be greater than `thinking.budget_tokens`. ({most} and {budget})"


def _interleaves(request: Mapping[str, Json], capability: Capability, betas: Sequence[str]) -> bool:
    """Whether the budget spans a whole turn with tools, and may so be larger than `max_tokens`."""
    return bool(request.get("tools")) and capability.interleave_header and INTERLEAVED_THINKING in betas


def _beside(request: Mapping[str, Json], capability: Capability) -> Iterator[str]:
    if capability.sampling == "default_while_thinking":
        if request.get("temperature") not in (None, 1):
            yield "`temperature` may only be set to 1 when thinking is enabled."
        if request.get("top_k") is not None:
            yield "`top_k` must be unset when thinking is enabled."
        top_p = request.get("top_p")
        if top_p is not None and not (isinstance(top_p, int | float) and 0.95 <= top_p <= 1):
            yield "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."
    last = object_or_empty((list_or_empty(request.get("messages")) or [None])[-1])
    if last.get("role") == "assistant":
        yield "messages: a final assistant message (prefill) is not allowed when thinking is enabled"


def _start_of_turn(messages: Sequence[Block]) -> int:
    """The position of the last user message that says something of its own: the open tool turn begins there."""
    for index in reversed(range(len(messages))):
        blocks = blocks_of(messages[index])
        if messages[index].get("role") == "user" and not any(block.get("type") == "tool_result" for block in blocks):
            return index
    return -1


def _seal(block: Block) -> str:
    """What cannot be made up: the signature of a thinking block, the data of a redacted one."""
    return f"{block.get('type')}:{block.get(_sealed_by(block))}"


def _sealed_by(block: Block) -> str:
    return "data" if block.get("type") == "redacted_thinking" else "signature"


def _bare(block: Block) -> Block:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _prefix(request: Mapping[str, Json], count: int) -> str:
    """The digest of system prompt, tools and the first *count* messages; marks for caching do not count."""
    messages = [object_or_empty(message) for message in list_or_empty(request.get("messages"))[:count]]
    said = [[message.get("role"), [_bare(block) for block in blocks_of(message)]] for message in messages]
    system = [_bare(block) for block in blocks_of({"content": request.get("system") or []})]
    tools = [_bare(object_or_empty(tool)) for tool in list_or_empty(request.get("tools"))]
    return digest([system, tools, said])
