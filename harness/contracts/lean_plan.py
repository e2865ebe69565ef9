"""CL2, CL3, CL6, CL7, CL9–CL11 and CL13: the plan, the saved state and the good sense of the lean ReAct design."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from harness.contracts.base import TRIGGERED, Broken, Found, broken, contract
from harness.contracts.lean import LEAN
from harness.contracts.plans import Plan, apply, plan_at_start, plan_before, render
from harness.contracts.searching import is_failed_search
from harness.contracts.view import PLAN_TOOLS, ModelCall, ToolUse, TrialView
from harness.records.digest import digest, digest_bytes
from harness.records.trace import Event

MOST_REPEATS = 2
"""Times that a search may be repeated unchanged in one run."""
WORDS_OF_A_RESULT = 3
"""A text of at least this many words beside `mark_done` is taken for the step's result."""


@contract("CL2", designs=LEAN, needs=("plan_updated", "state_loaded"))
def plan_is_shown(view: TrialView) -> Iterator[Found]:
    """A model call shows the plan exactly when there is one, and shows it as it stands at that moment."""
    updates = iter(view.by_type.get("plan_updated", ()))
    update = next(updates, None)
    plan, source = plan_at_start(view), None
    for call in view.chat_calls:
        while update is not None and update.seq < call.event.seq:
            plan, source = update.data.plan, update
            update = next(updates, None)
        shown = call.data.embeds.get("plan")
        if not plan and shown is None:
            continue
        yield TRIGGERED
        if shown is None:
            yield broken([source, call.event], "there is a plan, and the model is not shown it")
        elif not plan:
            yield broken(call.event, "the model is shown a plan, and there is none")
        elif shown != digest(render(plan)):
            yield broken([source, call.event], "the model is shown another plan than the one in force")


@contract("CL3", designs=LEAN, needs=("tool_call", "plan_updated"))
def plan_follows_calls(view: TrialView) -> Iterator[Found]:
    """The plan changes only as good calls of manage_plan say, and plan_updated tells each change and nothing else."""
    plan = plan_at_start(view)
    updates = view.by_type.get("plan_updated", [])
    told = 0
    for use in view.uses:
        if use.tool not in PLAN_TOOLS or use.result is None:
            continue
        yield TRIGGERED
        if told < len(updates) and updates[told].seq < use.event.seq:
            yield broken([updates[told], use.event], "the plan changed without a call of manage_plan")
            return
        after = apply(plan, use.args) if use.ok and use.args is not None else plan
        end = _next_seq(view, use)
        mine = [update for update in updates[told:] if update.seq < end]
        told += len(mine)
        wrong = _wrong_update(use, plan, after, mine)
        if wrong is None and after != plan and view.stopped and not mine:
            return
        if wrong is not None:
            yield wrong
            return
        plan = after
    if told < len(updates):
        yield broken(updates[told], "the plan changed without a call of manage_plan")


def _next_seq(view: TrialView, use: ToolUse) -> int:
    """Where the next tool call or model call begins; what stands before it belongs to *use*."""
    starts = [e.seq for kind in ("tool_call", "llm_call") for e in view.by_type.get(kind, ()) if e.seq > use.event.seq]
    return min(starts, default=len(view.events) + use.event.seq)


def _wrong_update(use: ToolUse, before: Plan, after: Plan, told: list[Event]) -> Broken | None:
    action = (use.args or {}).get("action")
    witness = [use.event, use.result, *told]
    if after == before:
        return broken(witness, f"{action} changed nothing, yet plan_updated says so") if told else None
    if len(told) != 1:
        return broken(witness, f"{action} changed the plan, and plan_updated tells it {len(told)} times")
    if told[0].data.plan != after:
        return broken(witness, f"after {action} the plan is {_short(told[0].data.plan)}, expected {_short(after)}")
    return None


def _short(plan: Plan) -> str:
    return " ".join(f"{step.n}{'✓' if step.status == 'DONE' else ''}" for step in plan) or "empty"


@contract("CL6", designs=LEAN, needs=("tool_result",))
def saved_each_round(view: TrialView) -> Iterator[Found]:
    """After each round of tools the state is saved before the next model call, with the messages and plan as they are."""
    saves = view.by_type.get("state_saved", [])
    seen: Event | None = None
    calls = view.chat_calls
    for call, after in pairwise(calls):
        uses = view.uses_in(call.turn) if call.turn is not None else []
        if not uses:
            continue
        yield TRIGGERED
        last = max((use.result or use.event).seq for use in uses)
        save = next((s for s in saves if last < s.seq < after.event.seq), None)
        if save is None:
            yield broken([call.event, after.event], "a round of tools is not saved before the next model call")
            return
        yield from _current(view, save, seen)
        seen = save


def _current(view: TrialView, save: Event, before: Event | None) -> Iterator[Found]:
    parts = save.data.parts
    if "messages" not in parts:
        yield broken(save, "the saved state holds no messages")
    elif before is not None and before.data.parts.get("messages") == parts["messages"]:
        yield broken([before, save], "the saved messages are those of the round before")
    plan = plan_before(view, save)
    expected = digest_bytes(msgspec.json.encode([{"description": s.text, "status": s.status} for s in plan]))
    if (plan or "plan" in parts) and parts.get("plan") != expected:
        yield broken(save, "the saved plan is not the plan in force")


@contract("CL7", designs=LEAN, over="trial", needs=("state_loaded", "state_saved"))
def resumes_where_it_stood(view: TrialView) -> Iterator[Found]:
    """A resumed leg goes on with the saved messages and plan, and repeats no write that was done before."""
    for leg in view.legs[1:]:
        asked_to = leg.leg < len(view.case.legs) and view.case.legs[leg.leg].resume
        loads = leg.by_type.get("state_loaded", [])
        if not loads:
            if asked_to:
                yield TRIGGERED
                yield broken(leg.finished_event, "resumed without loading the saved state", leg=leg.leg)
            continue
        yield TRIGGERED
        saves = [save for earlier in leg.earlier for save in earlier.by_type.get("state_saved", ())]
        if not saves or saves[-1].data.digest != loads[0].data.digest:
            yield broken(loads[0], "the loaded state is not the one saved last", leg=leg.leg)
        yield from _same_messages(leg)
        yield from _same_plan(leg)
        yield from _repeated_writes(leg)


def _same_messages(leg: TrialView) -> Iterator[Found]:
    calls, earlier = leg.chat_calls, [call for old in leg.earlier for call in old.chat_calls]
    if not calls or not earlier:
        return
    before, first = earlier[-1].data.prefix_digests, calls[0].data.prefix_digests
    if first[: len(before)] != before:
        yield broken(calls[0].event, "the first model call does not go on with the saved messages", leg=leg.leg)


def _same_plan(leg: TrialView) -> Iterator[Found]:
    plan, calls = plan_at_start(leg), leg.chat_calls
    if calls and plan and calls[0].data.embeds.get("plan") != digest(render(plan)):
        yield broken(calls[0].event, "the first model call does not show the saved plan", leg=leg.leg)


def _repeated_writes(leg: TrialView) -> Iterator[Found]:
    done = [use.same_as for old in leg.earlier for use in old.uses if use.ok and use.data.effect == "write"]
    for use in leg.uses:
        refused = use.outcome is not None and use.outcome.error_kind == "denied"
        if use.data.effect == "write" and use.same_as in done and not refused:
            yield broken(use.event, f"{use.tool} repeats a write of an earlier leg", leg=leg.leg)


@contract("CL9", kind="B", designs=LEAN, needs=("llm_call",))
def simple_stays_simple(view: TrialView) -> Iterator[Found]:
    """A simple question takes no plan, and one model call more than it needs rounds of tools."""
    if view.case.class_ != "simple" or view.case.plan == "required":
        return
    yield TRIGGERED
    planned = [use.event for use in view.uses if use.tool in PLAN_TOOLS]
    planned += [update for update in view.by_type.get("plan_updated", ()) if update.data.plan]
    if planned:
        yield broken(planned, "a simple question is planned")
    replied = [call for call in view.chat_calls if call.reply is not None]
    rounds = {use.turn for use in view.uses}
    if len(replied) > 1 + len(rounds):
        yield broken(
            [call.event for call in replied],
            f"{len(replied)} model calls for a simple question with {len(rounds)} rounds",
        )


@contract("CL10", kind="B", designs=LEAN, needs=("llm_call",), shrinks=False)
def plan_is_worked_off(view: TrialView) -> Iterator[Found]:
    """
    A plan is made of at least two steps before the first other tool, each step is marked done after some work, and at
    the answer every step is done or was taken out.
    """
    if view.stopped or view.case.class_ == "simple" or view.case.plan == "none":
        return
    start = plan_at_start(view)
    creates = [u for u in view.uses if u.tool in PLAN_TOOLS and u.ok and (u.args or {}).get("action") == "create_plan"]
    if not creates and not start:
        if view.case.plan == "required":
            yield TRIGGERED
            yield broken(view.finished_event, "no plan is made")
        return
    yield TRIGGERED
    if creates and not start and view.case.plan == "required":
        tasks = (creates[0].args or {}).get("tasks") or ()
        if len(tasks) < 2:
            yield broken(creates[0].event, f"the plan has {len(tasks)} steps, expected at least 2")
        first = next((use for use in view.world_uses() if use.ok), None)
        if first is not None and first.event.seq < creates[0].event.seq:
            yield broken([first.event, creates[0].event], f"{first.tool} is called before the plan is made")
    yield from _marked_without_work(view)
    if view.status == "completed" and view.finals:
        plan = plan_before(view, view.finals[-1])
        open_steps = [step for step in plan if step.status != "DONE"]
        if open_steps:
            numbers = ", ".join(str(step.n) for step in open_steps)
            yield broken(view.finals[-1], f"answered with open steps: {numbers}")


def _marked_without_work(view: TrialView) -> Iterator[Found]:
    """Each mark needs a good result of another tool, or a text that gives the step's result, of its own."""
    work = 0
    worded: set[int] = set()
    for leg in view.legs if "state_loaded" in view.by_type else (view,):
        for use in leg.uses:
            if use.tool not in PLAN_TOOLS:
                work += use.ok
            elif use.ok and (use.args or {}).get("action") == "mark_done":
                work += _worded(leg, use, worded) - 1
                if work < 0 and leg is view:
                    step = (use.args or {}).get("step_index")
                    yield broken([use.event, use.result], f"step {step} is marked done without any work of its own")
                    return


def _worded(leg: TrialView, use: ToolUse, worded: set[int]) -> bool:
    """Whether the reply that asked for *use* gives a result in words; once for each reply."""
    if use.turn is None or use.turn in worded:
        return False
    worded.add(use.turn)
    call = leg.by_turn.get(use.turn)
    return call is not None and _gives_result(call)


def _gives_result(call: ModelCall) -> bool:
    return call.reply is not None and len(call.reply.text.split()) >= WORDS_OF_A_RESULT


@contract("CL11", kind="B", designs=LEAN, needs=("tool_result",))
def search_changes(view: TrialView) -> Iterator[Found]:
    """After a failed search the next call differs in tool or arguments, and no search is repeated more than twice."""
    for use in view.uses:
        if not is_failed_search(use):
            continue
        yield TRIGGERED
        later = [u for u in view.uses if u.event.seq > use.event.seq and u.tool not in PLAN_TOOLS]
        same = [u for u in later if u.same_as == use.same_as]
        following = next((u for u in later if u.turn != use.turn), None)
        if following is not None and following.same_as == use.same_as:
            yield broken([use.event, use.result, following.event], f"{use.tool} is repeated with the same arguments")
            return
        if len(same) > MOST_REPEATS:
            yield broken([use.event, *(u.event for u in same)], f"{use.tool} is repeated unchanged {len(same)} times")
            return


@contract("CL13", designs=LEAN, needs=("final_answer",))
def answer_after_bookkeeping(view: TrialView) -> Iterator[Found]:
    """The answer stands in a reply without calls of the plan tool, after the last of them."""
    for final in view.finals:
        if not final.data.complete:
            continue
        yield TRIGGERED
        reply = next((c for c in reversed(view.calls) if c.result is not None and c.result.seq < final.seq), None)
        if reply is not None and reply.reply is not None and any(c.name in PLAN_TOOLS for c in reply.reply.tool_calls):
            yield broken([reply.result, final], "the answer stands beside a call of the plan tool")
        late = next((use for use in view.uses if use.tool in PLAN_TOOLS and use.event.seq > final.seq), None)
        if late is not None:
            yield broken([final, late.event], "the plan tool is called after the answer")
