"""
Native thinking as request parameters: what each kind of model takes, and what may not stand beside it.

Source: Anthropic's reference for extended and adaptive thinking as of November 2026. A budget is at least 1,024 tokens
and less than `max_tokens`; models without budgets dose their thinking themselves; some cannot be told to stop.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.records.capability import INTERLEAVED_THINKING, MAX_BUDGET_TOKENS, MIN_BUDGET_TOKENS, Capability
from harness.records.messages import ModelRequest, Thinking

ANSWER_TOKENS = 8192
"""Kept for the answer where nobody said how many tokens a reply may have."""
LEAST_ANSWER_TOKENS = 1024
"""Kept for the answer of a reply that is limited."""
_LEAST_TOP_P = 0.95


class Budget(msgspec.Struct, frozen=True):
    """A thinking budget as it may be sent: *used* tokens of the reply's *max_tokens*, and *why* it is not what was asked."""

    used: int
    max_tokens: int
    why: str = ""


def in_range(asked: int) -> int:
    """*asked* tokens, within what a budget may be."""
    return min(max(asked, MIN_BUDGET_TOKENS), MAX_BUDGET_TOKENS)


def fit_budget(asked: int, max_tokens: int | None, capability: Capability) -> Budget | None:
    """
    Fit a budget of *asked* tokens into a reply.

    Args:
        asked: Tokens, any number.
        max_tokens: The most tokens of the reply, thinking included; None: as many as the budget needs.
        capability: The model's; its longest reply is the limit of *max_tokens* where that is None.

    Returns:
        The budget, at least 1,024 and below `max_tokens`; None where a reply of *max_tokens* has no room for one.
    """
    used = in_range(asked)
    why = "" if used == asked else f"a budget is {MIN_BUDGET_TOKENS} to {MAX_BUDGET_TOKENS} tokens"
    if max_tokens is None:
        max_tokens = min(used + ANSWER_TOKENS, capability.max_output_tokens or used + ANSWER_TOKENS)
    most = max(max_tokens - LEAST_ANSWER_TOKENS, MIN_BUDGET_TOKENS)
    if used > most:
        used, why = most, f"a reply has {max_tokens} tokens, and some are the answer's"
    return Budget(used, max_tokens, why) if used < max_tokens else None


def can_think(request: ModelRequest) -> bool:
    """Whether *request* leaves the model its own beginning: a reply that goes on from a text of ours cannot think."""
    return not request.messages or request.messages[-1].role != "assistant"


def with_budget(request: ModelRequest, capability: Capability, budget: Budget, *, interleaved: bool) -> ModelRequest:
    """*request* with thinking of *budget*; between tool calls as well where *interleaved* says so."""
    betas = request.betas
    if interleaved and capability.interleave_header and request.tools and INTERLEAVED_THINKING not in betas:
        betas = (*betas, INTERLEAVED_THINKING)
    thinking = Thinking("enabled", budget.used)
    return msgspec.structs.replace(request, thinking=thinking, max_tokens=budget.max_tokens, betas=betas)


def adaptive(request: ModelRequest) -> ModelRequest:
    """*request* with thinking that the model doses itself."""
    return msgspec.structs.replace(request, thinking=Thinking("adaptive"))


def least(request: ModelRequest, capability: Capability) -> ModelRequest:
    """*request* with the least thinking that can be asked for: untouched where the model does not think unasked."""
    if capability.kind == "always_on":
        return msgspec.structs.replace(request, effort=capability.efforts[0])
    if not capability.on_by_default:
        return request
    if capability.lowest == "between_tools":
        return msgspec.structs.replace(request, thinking=Thinking("between_tools"))
    effort, most, levels = request.effort, capability.disable_up_to_effort, capability.efforts
    if effort in levels and most is not None and levels.index(effort) > levels.index(most):
        effort = most
    return msgspec.structs.replace(request, thinking=Thinking("disabled"), effort=effort)


def illegal_beside(request: ModelRequest, capability: Capability) -> dict[str, tuple[Any, Any]]:
    """The parameters of *request* that a thinking model refuses, each with its value and the one to send instead."""
    changes: dict[str, tuple[Any, Any]] = {}
    if request.temperature not in (None, 1):
        changes["temperature"] = (request.temperature, None)
    if request.top_p is not None and (request.top_p < _LEAST_TOP_P or capability.sampling == "refused"):
        changes["top_p"] = (request.top_p, None)
    if request.tool_choice not in (None, "auto", "none"):
        changes["tool_choice"] = (request.tool_choice, "auto")
    return changes
