"""CU9–CU11: thinking with a tool."""

from __future__ import annotations

from collections.abc import Iterator

from harness.contracts.answer import Answer, fact_name
from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.grounding import SMALL
from harness.contracts.numbers import numbers_in
from harness.contracts.ultrathink import ULTRATHINK
from harness.contracts.ultrathink_state import THINK, has_layer, in_force
from harness.contracts.view import CONTROL_TOOLS, ToolUse, TrialView
from harness.records.case import Fact
from harness.records.trace import Event

LEAST_STEPS = 2
"""Fewer steps are no reasoning."""


@contract("CU9", designs=ULTRATHINK, needs=("tool_call",))
def thinking_is_harmless(view: TrialView) -> Iterator[Found]:
    """Thinking with a tool changes nothing, and its result repeats problem, numbered steps and conclusion."""
    for use in _thoughts(view):
        if use.outcome is None or not use.ok:
            continue
        yield TRIGGERED
        if use.outcome.effects or use.data.effect not in ("none", "read"):
            yield broken([use.event, use.result], f"{THINK} changes the store")
        args, text = use.args or {}, use.outcome.text
        place = 0
        for part in (str(args.get("problem", "")), *_numbered(use), str(args.get("conclusion", ""))):
            found = text.find(part, place)
            if found < 0:
                yield broken([use.event, use.result], f"the result does not repeat “{part[:60]}” in its place")
                break
            place = found + len(part)


def _thoughts(view: TrialView) -> list[ToolUse]:
    return [use for use in view.uses if use.tool == THINK]


def _steps(use: ToolUse) -> list[str]:
    steps = (use.args or {}).get("reasoning_steps")
    return [str(step) for step in steps] if isinstance(steps, list) else []


def _numbered(use: ToolUse) -> list[str]:
    return [f"{number}. {step}" for number, step in enumerate(_steps(use), start=1)]


@contract("CU10", kind="B", designs=ULTRATHINK, over="trial", needs=("llm_call",))
def thinks_before_acting(view: TrialView) -> Iterator[Found]:
    """
    Without native thinking, a complex question is thought through with the tool, in two steps or more, before any other
    tool acts, and a simple one is not.

    It holds where the tool is offered; a complex question needs the layer to be on.
    """
    calls = [call for leg in view.legs for call in leg.chat_calls]
    if not has_layer(view) or not any(call.data.capability == "none" and THINK in call.data.tools for call in calls):
        return
    uses = [use for leg in view.legs for use in leg.uses]
    thoughts = [use for use in uses if use.tool == THINK]
    if view.case.class_ == "simple":
        yield TRIGGERED
        if thoughts:
            yield broken(_seen(view, thoughts[:1]), f"{THINK} is called for a simple question")
    elif view.case.class_ == "complex" and any(in_force(leg).enabled for leg in view.legs):
        yield TRIGGERED
        acting = next((use for use in uses if use.tool not in CONTROL_TOOLS), None)
        before = thoughts if acting is None else _until(uses, acting)
        if not any(use.ok and len(_steps(use)) >= LEAST_STEPS for use in before):
            late = "before the first tool acts" if acting is not None else "at all"
            shown = [acting] if acting is not None else []
            witness = [*_seen(view, shown), view.finished_event]
            yield broken(witness, f"{THINK} is not called with {LEAST_STEPS} steps {late}")


def _until(uses: list[ToolUse], acting: ToolUse) -> list[ToolUse]:
    """The thoughts among *uses* that come before *acting*."""
    return [use for use in uses[: uses.index(acting)] if use.tool == THINK]


def _seen(view: TrialView, uses: list[ToolUse]) -> list[Event]:
    """The events of *uses* that stand in this leg."""
    return [use.event for use in uses if use in view.uses]


@contract("CU11", designs=ULTRATHINK, over="trial", needs=("tool_call",))
def concludes_as_it_answers(view: TrialView) -> Iterator[Found]:
    """
    What the last thought concludes does not contradict the answer, as far as the case's facts can tell.

    A fact that the conclusion states must stand in the answer, and the other way round where the conclusion states
    another number instead.
    """
    thoughts = [use for leg in view.legs for use in leg.uses if use.tool == THINK and use.ok]
    if not thoughts or not view.finals or not view.finals[-1].data.complete:
        return
    conclusion = str((thoughts[-1].args or {}).get("conclusion", ""))
    concluded, answered = Answer(conclusion, view.case.lang), Answer(view.answer, view.case.lang)
    witness = [*(use.event for use in thoughts[-1:] if use in view.uses), view.finals[-1]]
    for fact in view.case.facts.all:
        yield TRIGGERED
        if concluded.says(fact) and not answered.says(fact):
            yield broken(witness, f"the last thought concludes {fact_name(fact)}, and the answer does not say so")
        elif answered.says(fact) and not concluded.says(fact) and fact.number is not None:
            other = _other_number(conclusion, answered, fact)
            if other:
                yield broken(witness, f"the answer says {fact_name(fact)}, and the last thought concludes {other}")


def _other_number(conclusion: str, answered: Answer, fact: Fact) -> str:
    """A number of *conclusion* that the answer does not say, small counts apart where *fact* is none; or nothing."""
    small = abs(fact.number or 0) <= SMALL
    for number in numbers_in(conclusion, answered.lang):
        if (small or abs(number.value) > SMALL) and not answered.says(Fact(number=number.value)):
            return number.text
    return ""
