"""CP1–CP5: the older plan-and-execute design, in which code routes, plans and works a list off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.plans import Plan, plan_at_start, plan_before
from harness.contracts.view import PLAN_PURPOSES, ModelCall, TrialView
from harness.records.messages import Json
from harness.records.trace import Event, PlanStep

LEGACY = ("plan_execute",)
MAX_RETRIES = 3
MAX_REPLANS = 2
MOST_TRIES = 100
"""Places in a reply where a JSON object is looked for."""
_DECODER = json.JSONDecoder(strict=False)
_MOVES = frozenset(
    {("pending", "running"), ("pending", "dropped"), ("running", "done"), ("running", "failed"), ("running", "dropped")}
)
_ENDED = frozenset({"done", "failed", "dropped"})


@contract("CP1", designs=LEGACY, needs=("phase_started",))
def fast_path_is_short(view: TrialView) -> Iterator[Found]:
    """The fast path makes no plan and at most one tool call."""
    fast = next((event for event in view.by_type.get("phase_started", ()) if event.data.name == "fast"), None)
    if fast is None:
        return
    yield TRIGGERED
    planned = [call.event for call in view.calls if call.data.purpose in PLAN_PURPOSES]
    planned += view.by_type.get("plan_updated", [])
    if planned:
        yield broken([fast, *planned[:1]], "a plan is made on the fast path")
    if len(view.uses) > 1:
        yield broken([fast, *(use.event for use in view.uses)], f"{len(view.uses)} tool calls on the fast path")


@contract("CP2", designs=LEGACY, needs=("plan_updated",), shrinks=False)
def items_move_forward(view: TrialView) -> Iterator[Found]:
    """An item goes from pending to running to done or failed, and only one is running at a time."""
    before: dict[int, PlanStep] = {step.n: step for step in plan_at_start(view)}
    for update in view.by_type.get("plan_updated", ()):
        yield TRIGGERED
        plan: Plan = update.data.plan
        running = [step for step in plan if step.status == "running"]
        if len(running) > 1:
            yield broken(update, f"items {', '.join(str(step.n) for step in running)} are running at once")
            return
        for step in plan:
            was = before.get(step.n)
            start = was.status if was is not None else "pending"
            if start != step.status and (start, step.status) not in _MOVES:
                yield broken(update, f"item {step.n} goes from {start} to {step.status}")
                return
        before = {step.n: step for step in plan}


@contract("CP3", designs=LEGACY, needs=("llm_result",))
def bounded_retries(view: TrialView) -> Iterator[Found]:
    """A reply that cannot be read is asked for again at most three times, and no action that it does not name is run."""
    unread: list[ModelCall] = []
    for call in view.calls_for("step"):
        if call.reply is None:
            continue
        yield TRIGGERED
        if unread and _acted(view, unread[-1], call):
            unread = []
        unread.append(call)
        if len(unread) > 1 + MAX_RETRIES:
            yield broken([c.event for c in unread], f"{len(unread)} step calls in a row without a readable action")
            return
    for use in view.uses:
        asked = view.by_turn.get(use.turn) if use.turn is not None else None
        if asked is None or asked.reply is None or use.data.source != "json_action":
            continue
        yield TRIGGERED
        if use.tool not in asked.reply.text:
            yield broken([asked.result, use.event], f"{use.tool} is run, which the reply does not name")
        elif use.args and not _gives(asked.reply.text, use.args):
            yield broken([asked.result, use.event], f"{use.tool} is run with arguments that the reply does not give")


def _gives(text: str, args: dict[str, Json]) -> bool:
    """Whether a JSON object in *text* has *args* for one of its values, word for word."""
    start = text.find("{")
    for _ in range(MOST_TRIES):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if args in value.values():
                return True
        start = text.find("{", end)
    return False


def _acted(view: TrialView, call: ModelCall, after: ModelCall) -> bool:
    """Whether something came of *call* before *after* began."""
    return any(
        call.event.seq < event.seq < after.event.seq
        for kind in ("tool_call", "plan_updated")
        for event in view.by_type.get(kind, ())
    )


@contract("CP4", designs=LEGACY, needs=("llm_call",), over="trial")
def replans_with_cause(view: TrialView) -> Iterator[Found]:
    """The plan is made anew only after an item failed, at most twice, and what is done stays done."""
    replans = [(leg, phase) for leg in view.legs for phase in leg.by_type.get("phase_started", ())]
    replans = [(leg, phase) for leg, phase in replans if phase.data.name == "replan"]
    for number, (leg, phase) in enumerate(replans):
        yield TRIGGERED
        failed = [step for step in plan_before(leg, phase) if step.status == "failed"]
        if len(failed) <= number:
            yield broken(phase, "the plan is made anew though no further item failed", leg=leg.leg)
        if number >= MAX_REPLANS:
            yield broken(phase, f"the plan is made anew {number + 1} times, at most {MAX_REPLANS}", leg=leg.leg)
            return
    for leg in view.legs:
        for update in leg.by_type.get("plan_updated", ()):
            if update.data.action == "replan":
                yield TRIGGERED
                yield from _finished_kept(leg, update)


def _finished_kept(leg: TrialView, update: Event) -> Iterator[Found]:
    kept = {(step.text, step.status) for step in update.data.plan}
    for step in plan_before(leg, update):
        if step.status == "done" and (step.text, "done") not in kept:
            yield broken(update, f"the finished item “{step.text}” is lost in the new plan", leg=leg.leg)


@contract("CP5", designs=LEGACY, needs=("final_answer",))
def nothing_left_open(view: TrialView) -> Iterator[Found]:
    """At the answer every item is done, failed or dropped, and the answer names those that failed."""
    for final in view.finals:
        plan = plan_before(view, final)
        if not plan:
            continue
        yield TRIGGERED
        left = [step for step in plan if step.status not in _ENDED]
        if left and final.data.complete:
            yield broken(final, f"answered with open items: {', '.join(str(step.n) for step in left)}")
        for step in plan:
            if step.status == "failed" and final.data.complete and not _named(step.text, final.data.text):
                yield broken(final, f"the failed item “{step.text}” is not named in the answer")


def _named(item: str, answer: str) -> bool:
    """Whether *answer* speaks of *item*: by its whole text, or by more than half of its longer words."""
    folded = answer.casefold()
    if item.casefold() in folded:
        return True
    words = {word for word in re.findall(r"\w+", item.casefold()) if len(word) > 3}
    return bool(words) and sum(word in folded for word in words) * 2 > len(words)
