"""CU1–CU4 and CU8: what each model call of the reasoning layer may look like, whatever was said before it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.ultrathink_state import DISABLE, ENABLE, THINK, has_layer, in_force, mode_of, section_of
from harness.contracts.view import ModelCall, TrialView
from harness.records.capability import INTERLEAVED_THINKING, MIN_BUDGET_TOKENS
from harness.records.messages import Json

ULTRATHINK = ("ultrathink",)
TYPES: dict[str, frozenset[str]] = {
    "budget": frozenset({"enabled", "disabled"}),
    "adaptive": frozenset({"adaptive", "disabled", "between_tools"}),
    "always_on": frozenset({"adaptive"}),
    "none": frozenset(),
}
"""The types of the `thinking` parameter that each kind of model takes; only `enabled` carries a budget."""
LEAST_TOP_P = 0.95


@contract("CU1", designs=ULTRATHINK, needs=("llm_call",))
def legal_thinking(view: TrialView) -> Iterator[Found]:
    """
    The thinking parameter of each model call is one that its model takes.

    A model with budgets takes one of at least 1,024 tokens and less than `max_tokens` (with interleaved thinking and
    tools it spans the turn and may be more); adaptive and always-on models take none, all others no thinking at all.
    """
    for call in view.chat_calls:
        yield TRIGGERED
        because = _illegal(call)
        if because:
            yield broken(call.event, f"{call.data.model} ({call.data.capability}): {because}")


def _illegal(call: ModelCall) -> str:
    kind, thinking = call.data.capability, call.data.params.get("thinking")
    if kind not in TYPES:
        return f"`{kind}` is no kind of model"
    if thinking is None:
        return ""
    if kind == "none":
        return "a thinking parameter is sent to a model that takes none"
    type_, budget = thinking.get("type"), thinking.get("budget_tokens")
    if type_ not in TYPES[kind]:
        return f"thinking `{type_}`{f' with {budget} tokens' if budget is not None else ''} is sent"
    if type_ == "enabled":
        return _illegal_budget(call, budget)
    return f"thinking `{type_}` with a budget of {budget} is sent" if budget is not None else ""


def _illegal_budget(call: ModelCall, budget: Json) -> str:
    most = call.data.params.get("max_tokens")
    if not isinstance(budget, int) or budget < MIN_BUDGET_TOKENS:
        return f"a budget of {budget} tokens is sent, the least is {MIN_BUDGET_TOKENS}"
    spans_turn = bool(call.data.tools) and INTERLEAVED_THINKING in call.data.params.get("betas", ())
    if isinstance(most, int) and budget >= most and not spans_turn:
        return f"a budget of {budget} tokens is not below max_tokens {most}"
    return ""


@contract("CU2", designs=ULTRATHINK, needs=("llm_call",))
def no_fallback_beside_native(view: TrialView) -> Iterator[Found]:
    """A model that thinks natively is not offered the tool to think with, and its prompt has no section about it."""
    for call in view.chat_calls:
        if call.data.capability == "none" or not has_layer(view):
            continue
        yield TRIGGERED
        if THINK in call.data.tools:
            yield broken(call.event, f"{call.data.model} thinks natively, and is offered {THINK}")
        if section_of(call):
            yield broken(call.event, f"{call.data.model} thinks natively, and its prompt has the fallback's section")


@contract("CU3", designs=ULTRATHINK, needs=("llm_call",))
def fallback_by_mode(view: TrialView) -> Iterator[Found]:
    """
    A model without native thinking gets what the mode says, and no more.

    The tool is offered in the modes `tool` and `both`; the section stands in the prompt in the modes `prompt` and `both`
    while the layer is on, and it names the tool in the mode `both` alone.
    """
    mode = mode_of(view)
    for call in view.chat_calls:
        if call.data.capability != "none" or not has_layer(view):
            continue
        yield TRIGGERED
        offered, section = THINK in call.data.tools, section_of(call)
        if offered != (mode in ("tool", "both")):
            yield broken(call.event, f"mode {mode}: {THINK} is {'' if offered else 'not '}offered")
        wanted = mode in ("prompt", "both") and in_force(view).enabled
        if bool(section) != wanted:
            is_on = "on" if in_force(view).enabled else "off"
            yield broken(call.event, f"mode {mode}, {is_on}: the section is {'' if section else 'not '}in the prompt")
        elif section and (section == "with_tool") != (mode == "both"):
            names = "names" if section == "with_tool" else "does not name"
            yield broken(call.event, f"mode {mode}: the section {names} {THINK}")


@contract("CU4", designs=ULTRATHINK, needs=("llm_call",))
def constant_tools(view: TrialView) -> Iterator[Found]:
    """Each model call offers both switches, and the same tools in the same order as every other call of its model."""
    if not has_layer(view):
        return
    first: dict[str, ModelCall] = {}
    for call in (call for leg in view.legs for call in leg.chat_calls):
        first.setdefault(call.data.model, call)
    for call in view.chat_calls:
        yield TRIGGERED
        missing = [name for name in (ENABLE, DISABLE) if name not in call.data.tools]
        if missing:
            yield broken(call.event, f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not offered")
        before = first[call.data.model]
        if call.data.tools != before.data.tools:
            here = before.event if before in view.calls else None
            yield broken([here, call.event], f"the tools changed: {_change(before.data.tools, call.data.tools)}")


def _change(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    gone = [name for name in before if name not in now]
    come = [name for name in now if name not in before]
    return ", ".join([*(f"-{name}" for name in gone), *(f"+{name}" for name in come)]) or "another order"


@contract("CU8", designs=ULTRATHINK, needs=("llm_call",))
def nothing_beside_thinking(view: TrialView) -> Iterator[Found]:
    """
    While a model thinks, nothing is sent that it refuses then.

    Temperature 1 or none, no top_k, top_p from 0.95, no forced tool, and no reply that goes on from a text of ours.
    """
    for call in view.chat_calls:
        params = call.data.params
        type_ = (params.get("thinking") or {}).get("type")
        if type_ not in ("enabled", "adaptive") and call.data.capability != "always_on":
            continue
        yield TRIGGERED
        for because in _refused(call, params):
            yield broken(call.event, f"{call.data.model} thinks, and {because}")


def _refused(call: ModelCall, params: dict[str, Json]) -> Iterator[str]:
    if params.get("temperature") not in (None, 1):
        yield f"temperature {params['temperature']} is sent"
    if params.get("top_k") is not None:
        yield f"top_k {params['top_k']} is sent"
    if params.get("top_p") is not None and not LEAST_TOP_P <= params["top_p"] <= 1:
        yield f"top_p {params['top_p']} is sent"
    if call.data.tool_choice not in (None, "auto", "none"):
        yield f"the tool choice is forced: {call.data.tool_choice}"
    if params.get("prefill"):
        yield "the reply is to go on from a text of ours"
