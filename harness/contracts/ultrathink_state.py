"""What the reasoning layer's switches stand at, folded from the trace; shared by the contracts that ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.contracts.view import ModelCall, ToolUse, TrialView
from harness.records.trace import Event

ENABLE, DISABLE, THINK = "enable_ultrathink", "disable_ultrathink", "think_step_by_step"
SECTION, SECTION_WITH_TOOL = "thinking_section", "thinking_section_with_tool"
"""The names under which a model call states that the fallback's section is in its prompt."""
TITLES = frozenset({"RACIOCÍNIO PASSO A PASSO"})
"""Titles of that section, where nothing else names it."""


class InForce(NamedTuple):
    """Whether the layer is on, with what budget if one is known, and the switch and leg that made it so."""

    enabled: bool
    budget: int | None = None
    use: ToolUse | None = None
    leg: int | None = None


def has_layer(view: TrialView) -> bool:
    """Whether the layer is installed at all."""
    return view.config.get("layer") is not False


def mode_of(view: TrialView) -> str:
    """What models without native thinking get: `tool`, `prompt` or `both`."""
    return str(view.config.get("fallback_mode", "both"))


def section_of(call: ModelCall) -> str:
    """The fallback's section in the prompt of *call*: `with_tool` if it names the tool, `plain` if not, else nothing."""
    if SECTION_WITH_TOOL in call.data.embeds:
        return "with_tool"
    if SECTION in call.data.embeds or not TITLES.isdisjoint(call.data.system_sections):
        return "plain"
    return ""


def in_force(view: TrialView) -> InForce:
    """
    What holds for every call of this leg: what was wanted when the user's turn began.

    A leg that is resumed goes on with the turn of the one before it, and with what held there.
    """
    known: InForce | None = view.memo.get("ultrathink")
    if known is None:
        wanted = now = InForce(bool(view.config.get("ultrathink", False)))
        for leg in view.legs:
            if begins_turn(leg):
                now = wanted
            if leg is view:
                break
            for use in switches(leg):
                wanted = _after(leg, use) if _survives(leg, use) else wanted
        known = view.memo["ultrathink"] = now
    return known


def begins_turn(view: TrialView) -> bool:
    """Whether the user says something new in this leg, rather than an earlier one being resumed."""
    started = view.started
    return started is None or view.leg == 0 or bool(started.question or started.content_parts)


def switches(view: TrialView) -> list[ToolUse]:
    """The switches that were thrown in this leg, in order; those that failed change nothing."""
    return [use for use in view.uses if use.tool in (ENABLE, DISABLE) and use.ok]


def _survives(view: TrialView, use: ToolUse) -> bool:
    """Whether what *use* switched outlives the leg: it is saved with the session, which a leg that fails may not reach."""
    if view.status == "completed" or use.result is None:
        return True
    return any(event.seq > use.result.seq for event in view.by_type.get("state_saved", ()))


def budgets_told(view: TrialView, use: ToolUse) -> list[Event]:
    """What was said of the budget while *use* ran."""
    end = use.result.seq if use.result is not None else use.event.seq
    return [event for event in _budgets(view) if use.event.seq < event.seq < end]


def _budgets(view: TrialView) -> Iterator[Event]:
    return (event for event in view.by_type.get("config_resolved", ()) if event.data.key == "budget_tokens")


def budgets_before(view: TrialView, call: ModelCall) -> list[Event]:
    """What was said of budgets in this leg before *call*."""
    return [event for event in _budgets(view) if event.seq < call.event.seq]


def _after(view: TrialView, use: ToolUse) -> InForce:
    if use.tool == DISABLE:
        return InForce(enabled=False, use=use, leg=view.leg)
    told = budgets_told(view, use)
    used = told[-1].data.used if told else None
    return InForce(enabled=True, budget=used if isinstance(used, int) else None, use=use, leg=view.leg)
