"""CU5–CU7 and CU12: what the reasoning layer's switches do, when, and that both paths to the model agree on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.ultrathink import ULTRATHINK
from harness.contracts.ultrathink_state import (
    ENABLE,
    InForce,
    begins_turn,
    budgets_before,
    budgets_told,
    has_layer,
    in_force,
    mode_of,
    section_of,
)
from harness.contracts.view import ModelCall, TrialView
from harness.records.capability import INTERLEAVED_THINKING, MAX_BUDGET_TOKENS, MIN_BUDGET_TOKENS
from harness.records.trace import Event

LEAST_ANSWER_TOKENS = 1024
"""Of a limited reply so much may be kept for the answer, so that a budget this close to the limit may be lowered."""
_OFF = frozenset({"disabled", "between_tools"})
"""Types of the thinking parameter by which a model is told to think as little as it can."""
_LOWEST_EFFORT = "low"
_GROUPING = re.compile(r"(?<=\d)[.,\s\u00a0\u202f'’](?=\d{3}(?!\d))")


@contract("CU5", designs=ULTRATHINK, needs=("config_resolved", "tool_call"))
def honest_budget(view: TrialView) -> Iterator[Found]:
    """
    A budget that is asked for is brought into 1,024 to 128,000 tokens, lowered where the reply has no room for it, and
    told: a warning says so where it changed, and the reply of the switch names what is used.
    """
    for event in view.by_type.get("config_resolved", ()):
        if event.data.key == "budget_tokens":
            yield TRIGGERED
            yield from _fitting(view, event)
    for use in view.uses:
        if use.tool != ENABLE or not use.ok or use.outcome is None:
            continue
        yield TRIGGERED
        told = budgets_told(view, use)
        if not told:
            yield broken([use.event, use.result], "nothing says what became of the budget")
            continue
        asked, used = (use.args or {}).get("budget_tokens"), told[-1].data.used
        if asked is not None and told[-1].data.asked != asked:
            yield broken([use.event, told[-1]], f"{asked} tokens are asked for, {told[-1].data.asked} were understood")
        if str(used) not in re.findall(r"\d+", _GROUPING.sub("", use.outcome.text)):
            yield broken([told[-1], use.result], f"the reply of {ENABLE} does not name the {used} tokens that are used")


def _fitting(view: TrialView, event: Event) -> Iterator[Found]:
    asked, used = event.data.asked, event.data.used
    if used != asked and not _warned(view, event):
        yield broken(event, f"{asked} tokens became {used} without a warning")
    if used is None and not _has_no_room(view):
        yield broken(event, f"{asked} tokens are told to have no room, and the reply has some")
    if not isinstance(asked, int) or used is None:
        return
    clamped = min(max(asked, MIN_BUDGET_TOKENS), MAX_BUDGET_TOKENS)
    if used == clamped:
        return
    if not MIN_BUDGET_TOKENS <= used < clamped or not _cramped(view, used, clamped):
        yield broken(event, f"{asked} tokens became {used}, expected {clamped} or less for want of room")


def _has_no_room(view: TrialView) -> bool:
    """Whether a reply that may think has no room for the least budget, or no call says how long its reply may be."""
    most = [call.data.params.get("max_tokens") for call in view.chat_calls if call.data.capability == "budget"]
    return not most or any(isinstance(one, int) and one <= MIN_BUDGET_TOKENS for one in most)


def _cramped(view: TrialView, used: int, clamped: int) -> bool:
    """Whether replies have no room for *clamped* tokens, or no call says how long its reply may be."""
    replies = []
    for call in view.chat_calls:
        most, thinking = call.data.params.get("max_tokens"), call.data.params.get("thinking") or {}
        # a call that thinks with another budget was given the room that its own one needs
        if isinstance(most, int) and thinking.get("budget_tokens") in (None, used):
            replies.append(most)
    return not replies or any(used < most <= clamped + LEAST_ANSWER_TOKENS for most in replies)


def _warned(view: TrialView, event: Event) -> bool:
    return any(
        warning.data.code == "budget_clamped" and str(event.data.asked) in warning.data.detail
        for warning in view.by_type.get("warning", ())
    )


@contract("CU6", designs=ULTRATHINK, needs=("llm_call",))
def idle_unless_enabled(view: TrialView) -> Iterator[Found]:
    """
    While the layer is not on, a model call is as it would be without it, its tools apart.

    No thinking is asked for, no beta and no section; a model that thinks anyway is told to think as little as it can.
    """
    if not has_layer(view) or in_force(view).enabled:
        return
    for call in view.chat_calls:
        yield TRIGGERED
        params = call.data.params
        type_ = (params.get("thinking") or {}).get("type")
        if call.data.capability == "always_on":
            if params.get("effort") != _LOWEST_EFFORT:
                yield broken(call.event, f"not on, and {call.data.model} is not told to use its lowest effort")
        elif type_ is not None and type_ not in _OFF:
            yield broken(call.event, f"not on, and thinking `{type_}` is sent")
        if INTERLEAVED_THINKING in params.get("betas", ()):
            yield broken(call.event, "not on, and thinking between tool calls is asked for")
        if section_of(call):
            yield broken(call.event, "not on, and the fallback's section is in the prompt")


@contract("CU7", designs=ULTRATHINK, needs=("llm_call",))
def switches_at_turns(view: TrialView) -> Iterator[Found]:
    """
    A switch holds from the user's next turn on, as what is configured does before the first one, and nothing about
    thinking changes while a turn is unfinished.
    """
    if not has_layer(view):
        return
    now, calls = in_force(view), view.chat_calls
    if begins_turn(view) and (now.enabled or now.use is not None) and calls:
        yield TRIGGERED
        because = _not_reflected(view, calls[0], now)
        if because:
            since = (
                f"{now.use.tool} was called in an earlier turn" if now.use is not None else "it is on from the start"
            )
            yield broken(calls[0].event, f"{since}, and {because}")
    before = [call for leg in view.legs for call in leg.chat_calls] if not begins_turn(view) else calls
    first: dict[str, ModelCall] = {}
    for call in before:
        same_model = first.setdefault(call.data.model, call)
        if call not in calls:
            continue
        yield TRIGGERED
        if _thinking(call) != _thinking(same_model):
            here = same_model.event if same_model in calls else None
            yield broken([here, call.event], "thinking changed inside an unfinished turn")


def _not_reflected(view: TrialView, call: ModelCall, now: InForce) -> str:
    """What is not as *now* says in *call*, the first one of a turn."""
    thinking, kind = call.data.params.get("thinking") or {}, call.data.capability
    if kind == "none" and now.use is None:  # CU3 says what it gets
        return ""
    if kind == "none":
        wanted = now.enabled and mode_of(view) in ("prompt", "both")
        return "" if bool(section_of(call)) == wanted else f"the section is {'not ' if wanted else ''}in the prompt"
    thinks = thinking.get("type") in ("enabled", "adaptive")
    if not now.enabled:
        return "thinking is asked for" if thinks and kind != "always_on" else ""
    budget = now.budget if now.use is not None else view.config.get("ultrathink_budget")
    told = [event.data.used for event in budgets_before(view, call) if budget in (None, event.data.asked)]
    if None in told:  # said to have no room
        return ""
    if not thinks:
        return "no thinking is asked for"
    if (
        budget is not None
        and thinking.get("type") == "enabled"
        and thinking.get("budget_tokens") not in (budget, *told)
    ):
        return f"{thinking.get('budget_tokens')} tokens are sent, not {budget}"
    return ""


def _thinking(call: ModelCall) -> tuple[Any, ...]:
    """What a call says of thinking."""
    params = call.data.params
    return (params.get("thinking"), params.get("effort"), params.get("betas"), section_of(call))


@contract("CU12", designs=ULTRATHINK, needs=("llm_call",))
def both_paths_agree(view: TrialView) -> Iterator[Found]:
    """Where a model is asked by the sync and the async path in turn, the layer does the same to every call of a turn."""
    if not view.config.get("both_paths") or not has_layer(view):
        return
    first: dict[str, ModelCall] = {}
    for call in view.chat_calls:
        other = first.setdefault(call.data.model, call)
        if other is call:
            continue
        yield TRIGGERED
        if (call.data.tools, *_thinking(call)) != (other.data.tools, *_thinking(other)):
            yield broken([other.event, call.event], "one path thinks, offers or instructs otherwise than the other")
            return
