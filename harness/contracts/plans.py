"""Plans as traces tell them: what they look like, what the plan tool does to them, and what a resumed leg starts with."""

from __future__ import annotations

from collections.abc import Sequence

from harness.contracts.view import TrialView
from harness.records.messages import Json
from harness.records.trace import Event, PlanStep

Plan = tuple[PlanStep, ...]


def render(plan: Sequence[PlanStep]) -> str:
    """A plan as the model sees it: one line a step, `[x]` or `[ ]`, number, text. Empty without steps."""
    return "\n".join(f"[{'x' if step.status == 'DONE' else ' '}] {step.n}. {step.text}" for step in plan)


def apply(plan: Plan, args: dict[str, Json]) -> Plan:
    """What a good call of `manage_plan` with *args* makes of *plan*; numbers count from 1, unknown ones do nothing."""
    action = args.get("action")
    if action == "create_plan":
        return _numbered([(text, "PENDING") for text in _texts(args.get("tasks"))])
    if action == "mark_done":
        done = args.get("step_index")
        return tuple([PlanStep(s.n, s.text, "DONE") if s.n == done else s for s in plan])
    if action == "update_plan":
        removed = args.get("remove_indices") or ()
        kept = [(step.text, step.status) for step in plan if step.n not in removed]
        position = args.get("position") or 0
        at = position - 1 if position else len(kept)
        return _numbered([*kept[:at], *((text, "PENDING") for text in _texts(args.get("add_steps"))), *kept[at:]])
    return plan


def plan_at_start(view: TrialView) -> Plan:
    """The plan that a leg starts with: the one last saved where the leg loads a state, else none."""
    if "state_loaded" not in view.by_type:
        return ()
    for leg in reversed(view.earlier):
        saves = leg.by_type.get("state_saved")
        if saves:
            return plan_before(leg, saves[-1])
    return ()


def plan_before(view: TrialView, event: Event) -> Plan:
    """The plan as it stands when *event* happens."""
    updates = [update for update in view.by_type.get("plan_updated", ()) if update.seq < event.seq]
    if updates:
        plan: Plan = updates[-1].data.plan
        return plan
    return plan_at_start(view)


def _texts(given: Json) -> list[str]:
    return [" ".join(str(text).split()) for text in given] if isinstance(given, list | tuple) else []


def _numbered(steps: Sequence[tuple[str, str]]) -> Plan:
    return tuple(PlanStep(n, text, status) for n, (text, status) in enumerate(steps, start=1))
