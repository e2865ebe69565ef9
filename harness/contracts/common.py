"""CX1–CX6, CX8, CX12 and CX13: what the trace of any agent must look like, whatever it answers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import PLAN_PURPOSES, PLAN_TOOLS, ToolUse, TrialView
from harness.records.messages import Json
from harness.records.trace import Event, OfferedTool

_AFTER_FINAL = frozenset({"state_saved", "phase_finished", "progress", "warning", "trial_finished", "final_answer"})
_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": (int, float), "number": (int, float), "boolean": bool, "array": list, "object": dict,
}  # fmt: skip
_NOT_RUN = frozenset({"unknown_tool", "invalid_args", "denied"})


@contract("CX1", shrinks=False)
def envelope(view: TrialView) -> Iterator[Found]:
    """A trace starts with its one trial_started, ends with its one trial_finished, and has no gap between them."""
    yield TRIGGERED
    events = view.events
    if not events:
        yield broken(None, "the trace is empty")
        return
    for kind, place, event in (("trial_started", "first", events[0]), ("trial_finished", "last", events[-1])):
        found = view.by_type.get(kind, [])
        if len(found) != 1:
            yield broken(found, f"{len(found)} events {kind}, expected one")
        elif event.type != kind:
            yield broken([event, *found], f"{kind} is not the {place} event")
    trial_id = events[0].trial_id
    for number, event in enumerate(events):
        if event.seq != number:
            yield broken(event, f"event {number} has seq {event.seq}")
            break
        if event.trial_id != trial_id:
            yield broken(event, f"event {number} belongs to trial {event.trial_id}, the first one to {trial_id}")
            break


@contract("CX2", needs=("tool_call", "tool_result"))
def answered_calls(view: TrialView) -> Iterator[Found]:
    """Each tool call has exactly one result, before the next model call of its conversation and before the answer."""
    yield TRIGGERED
    for event in view.orphans:
        yield broken(event, f"a result of {event.data.tool} that no call waits for ({event.data.call_id})")
    finals = view.finals
    for use in view.uses:
        after = _next_in_conversation(view, use)
        if use.result is None:
            if not view.stopped:
                yield broken([use.event, after], f"{use.tool} ({use.call_id}) has no result")
        elif after is not None and after.seq < use.result.seq:
            yield broken([use.event, after, use.result], f"the result of {use.tool} comes after the next model call")
        elif finals and use.event.seq < finals[-1].seq < use.result.seq:
            yield broken([use.event, finals[-1], use.result], f"the result of {use.tool} comes after the answer")


def _next_in_conversation(view: TrialView, use: ToolUse) -> Event | None:
    asked = view.by_turn.get(use.turn) if use.turn is not None else None
    if asked is None:
        return None
    for call in view.calls:
        if call.event.seq > use.event.seq and call.conversation == asked.conversation:
            return call.event
    return None


@contract("CX3", needs=("tool_call",))
def offered_tools(view: TrialView) -> Iterator[Found]:
    """A tool that was not offered to the model, or does not exist, is never run: its call fails and changes nothing."""
    yield TRIGGERED
    for use in view.uses:
        asked = view.by_turn.get(use.turn) if use.turn is not None and use.data.source == "native" else None
        known = asked.data.tools if asked is not None else view.offered
        result = use.outcome
        if use.tool in known or result is None:
            continue
        if result.ok or result.error_kind not in _NOT_RUN:
            where = "was not offered in its turn" if asked is not None else "is not in the registry"
            yield broken([use.event, use.result], f"{use.tool} {where}, yet it was run")
        elif result.effects:
            yield broken([use.event, use.result], f"{use.tool} was refused, yet it changed the store")


@contract("CX4", needs=("tool_call",))
def valid_arguments(view: TrialView) -> Iterator[Found]:
    """
    A tool never runs with arguments that are no JSON object, were guessed, or do not fit its parameters: the call fails
    and changes nothing.
    """
    yield TRIGGERED
    stated = {tool.name: tool for tool in view.started.tools} if view.started is not None else {}
    for use in view.uses:
        result = use.outcome
        if result is None:
            continue
        if result.error_kind == "invalid_args" and (result.ok or result.effects):
            yield broken([use.event, use.result], f"{use.tool} was refused for its arguments, yet it had an effect")
        if result.error_kind in _NOT_RUN:
            continue
        if use.args is None:
            yield broken([use.event, use.result], f"{use.tool} ran without arguments that could be read")
        elif _unreadable(view, use):
            yield broken([use.event, use.result], f"{use.tool} ran with guessed arguments")
        elif result.ok and use.tool in stated:
            wrong = _misfit(stated[use.tool], use.args)
            if wrong:
                yield broken([use.event, use.result], f"{use.tool} ran with arguments that do not fit: {wrong}")


def _misfit(tool: OfferedTool, args: dict[str, Json]) -> str:
    """The first thing wrong with *args* by name and type, or nothing; the schema's finer points are the runtime's."""
    if tool.parameters is None:
        return ""
    for name in tool.required:
        if name not in args:
            return f"{name} is missing"
    for name, value in args.items():
        if name not in tool.parameters:
            return f"there is no parameter {name}"
        kind = tool.parameters[name]
        if kind in _JSON_TYPES and not (
            isinstance(value, _JSON_TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")
        ):
            return f"{name} is no {kind}"
    return ""


def _unreadable(view: TrialView, use: ToolUse) -> bool:
    """Whether the model's own text for the arguments of *use* is no JSON object."""
    asked = view.by_turn.get(use.turn) if use.turn is not None else None
    if asked is not None and asked.reply is not None:
        for call in asked.reply.tool_calls:
            if call.id == use.call_id:
                return call.args is None
    raw = use.data.args_raw
    if not raw or use.data.source != "native":
        return False
    try:
        return not isinstance(msgspec.json.decode(raw), dict)
    except (msgspec.DecodeError, RecursionError):
        return True


@contract("CX5", needs=("trial_finished",))
def honest_ending(view: TrialView) -> Iterator[Found]:
    """A completed trial ends with exactly one answer that is not blank; a failed one says so by an error event."""
    finished = view.finished
    if finished is None or view.stopped:
        return
    yield TRIGGERED
    if finished.status != "completed":
        yield from _honest_failure(view)
        return
    if len(view.finals) != 1:
        yield broken([*view.finals, view.finished_event], f"status completed with {len(view.finals)} answers")
        return
    final = view.finals[0]
    if not final.data.text.strip():
        yield broken(final, "status completed with a blank answer")
    for event in reversed(view.events):
        if event.seq <= final.seq:
            break
        if event.type not in _AFTER_FINAL:
            yield broken([final, event], f"{event.type} after the answer")
            break


def _honest_failure(view: TrialView) -> Iterator[Found]:
    if "error" not in view.by_type:
        crash = next((e for e in view.by_type.get("warning", ()) if e.data.code == "agent_crash"), None)
        why = f": the agent raised {crash.data.detail}" if crash is not None else ""
        yield broken([crash, view.finished_event], f"status {view.status} without an error event{why}")
    for final in view.finals:
        if final.data.complete:
            yield broken([final, view.finished_event], f"status {view.status}, yet the answer is marked as complete")


@contract("CX6", over="trial", needs=("trial_started",), shrinks=False)
def limits(view: TrialView) -> Iterator[Found]:
    """A trial stays within its limits on model calls, rounds, tool calls and writes, and ends with a reason at one."""
    started = view.started
    if started is None:
        return
    most = started.limits
    legs = view.legs
    if most.llm_calls is not None:
        yield TRIGGERED
        calls = [call.event for leg in legs for call in leg.calls]
        yield from _within("model calls", calls, most.llm_calls)
        if len(calls) >= most.llm_calls and view.status == "failed" and view.finished and not view.finished.reason:
            yield broken(view.finished_event, f"failed at {len(calls)} model calls without a reason")
    if most.rounds is not None:
        yield TRIGGERED
        seen: dict[int, Event] = {}
        for leg in legs:
            for call in leg.calls:
                if call.event.round is not None:
                    seen.setdefault(call.event.round, call.event)
        yield from _within("rounds", list(seen.values()), most.rounds)
    if most.tool_calls is not None:
        yield TRIGGERED
        yield from _within("tool calls", [use.event for leg in legs for use in leg.uses], most.tool_calls)
    if most.writes is not None:
        yield TRIGGERED
        written = [use.event for leg in legs for use in leg.uses if use.wrote]
        yield from _within("writes", written, most.writes)


def _within(what: str, events: list[Event], most: int) -> Iterator[Found]:
    if len(events) > most:
        yield broken(events[most:], f"{len(events)} {what}, the limit is {most}")


@contract("CX8", needs=("llm_call",))
def whole_replay(view: TrialView) -> Iterator[Found]:
    """On replay every model call is answered by its own recording in the cassette, and no answer is left over."""
    finished = view.finished
    results = [call.result for call in view.calls if call.result is not None and call.result.data.error is None]
    live = [result for result in results if not result.data.replayed]
    if not results or len(live) == len(results):
        return
    yield TRIGGERED
    if live:
        yield broken(live, f"{len(live)} of {len(results)} model calls were answered live in a replay")
    for call in view.calls:
        played = call.reply.answers_key if call.reply is not None else ""
        if played and played != call.data.cassette_key:
            yield broken([call.event, call.result], f"answered by the recording of another request, {played}")
    if finished is None:
        return
    if finished.cassette_missed:
        yield broken(view.finished_event, f"{len(finished.cassette_missed)} model calls are not in the cassette")
    if finished.cassette_unused:
        yield broken(view.finished_event, f"{finished.cassette_unused} recorded answers were not asked for")


@contract("CX12", needs=("tool_call",))
def one_write_a_turn(view: TrialView) -> Iterator[Found]:
    """At most one writing tool call is run in a turn: updates never come in batches."""
    first: dict[int, ToolUse] = {}
    for use in view.uses:
        if use.turn is None or use.data.effect != "write":
            continue
        yield TRIGGERED
        result = use.outcome
        if result is not None and (result.error_kind in _NOT_RUN or result.cached):
            continue
        before = first.setdefault(use.turn, use)
        if before is not use:
            yield broken([before.event, use.event], f"{before.tool} and {use.tool} both write in one turn")


@contract("CX13", kind="B", needs=("llm_call", "tool_call"))
def no_plan_for_simple(view: TrialView) -> Iterator[Found]:
    """A simple question is answered without planning: no planning tool call and no model call for a plan."""
    if view.case.class_ != "simple" or view.case.plan == "required":
        return
    yield TRIGGERED
    for use in view.uses:
        if use.tool in PLAN_TOOLS:
            yield broken(use.event, f"{use.tool} is called for a simple question")
            break
    for call in view.calls:
        if call.data.purpose in PLAN_PURPOSES:
            yield broken(call.event, f"a model call with purpose {call.data.purpose} for a simple question")
            break
