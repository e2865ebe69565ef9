"""CE1, CE2 and CE8–CE11: the news desk's executor, what it falls back on, and what it streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.react_actions import Block, Iteration, decoded, first_block, iterations
from harness.contracts.view import TrialView
from harness.records.messages import Json
from harness.records.react_lines import react_lines
from harness.records.trace import Event

DESK = ("newsdesk",)
MOST_ITERATIONS = 4
FAILURES = 2
"""Replies in a row without a usable action that end the executor."""
REASONS = frozenset({"no_llm", "llm_error", "parse", "exhausted", "tool_crash"})
"""Why the executor may give way to the deterministic pipeline."""


@contract("CE1", designs=DESK, needs=("llm_call",))
def short_loop(view: TrialView) -> Iterator[Found]:
    """
    The model is asked at most four times, every time counts, each message is followed by its thought, its action and
    the observation, and the last one by the answer or the fallback.
    """
    rounds = iterations(view)
    for call in view.chat_calls:
        if call.data.purpose != "react":
            yield broken(call.event, f"a model call with purpose {call.data.purpose} beside the loop")
    if not rounds:
        return
    yield TRIGGERED
    most = max_iterations(view)
    if len(rounds) > most:
        yield broken([one.call.event for one in rounds[most:]], f"{len(rounds)} messages, the most are {most}")
    for number, one in enumerate(rounds, start=1):
        counted = one.call.event.round
        if counted is not None and counted != number:
            yield broken(one.call.event, f"message {number} counts as iteration {counted}")
            break
    for one in rounds:
        yield from _in_order(one)
    after = rounds[-1].of("final_answer", "fallback_used", "error")
    if not after and not view.stopped:
        yield broken([rounds[-1].call.event, view.finished_event], "the loop ends without an answer or the fallback")
    early = next((end for one in rounds[:-1] for end in one.of("final_answer", "fallback_used")), None)
    if early is not None:
        yield broken([early, rounds[-1].call.event], f"the model is asked again after {early.type}")


def _in_order(one: Iteration) -> Iterator[Found]:
    """Thought, then action, then observation, all before the next message."""
    calls, results = one.actions, {event.data.call_id: event for event in one.of("tool_result")}
    for thought in one.of("thinking"):
        if thought.data.source == "react_thought" and calls and thought.seq > calls[0].seq:
            yield broken([calls[0], thought], "a thought comes after the action that it led to")
    for call in calls:
        if call.data.call_id not in results:
            yield broken([call, one.call.event], f"{call.data.tool} has no observation before the next message")


@contract("CE2", designs=DESK, needs=("llm_result",))
def one_action(view: TrialView) -> Iterator[Found]:
    """
    A message runs at most one tool, the one of its first JSON block; what stands behind that block is told as discarded
    and comes to nothing.
    """
    yield from _beside_the_messages(view)
    for one, after in _with_next(iterations(view)):
        reply, calls = one.call.reply, one.actions
        if reply is None:
            continue
        yield TRIGGERED
        if len(calls) > 1:
            yield broken([one.call.result, *calls], f"one message runs {len(calls)} tools")
            continue
        yield from _as_asked(one, calls[0] if calls else None, first_block(reply.text))
        thoughts = [event for event in one.of("thinking") if event.data.source == "react_thought"]
        if len(thoughts) > 1:
            yield broken([one.call.result, *thoughts], f"one message has {len(thoughts)} thoughts")
        grown = after.call.data.n_messages - one.call.data.n_messages if after is not None else 0
        if after is not None and grown > 2:
            yield broken([one.call.event, after.call.event], f"{grown} messages follow one action")


def _beside_the_messages(view: TrialView) -> Iterator[Found]:
    """While the executor works no tool runs but for a message."""
    gave_way = next((event.seq for event in view.by_type.get("fallback_used", ())), len(view.events))
    for use in view.uses if is_on(view.config.get("react", True)) else ():
        if use.data.source != "json_action" and use.event.seq < gave_way:
            yield broken(use.event, f"{use.tool} runs, and no message asks for it")


def _as_asked(one: Iteration, call: Event | None, block: Block | None) -> Iterator[Found]:
    """Whether the tool that ran is the one of the first block, and what stands behind the block is told."""
    if call is None:
        if block is not None and not block.is_final and not _unread(one):
            yield broken(one.call.result, f"the message asks for {block.action}, and it is not run")
        return
    witness = [one.call.result, call]
    if block is None or block.is_final:
        yield broken(witness, f"{call.data.tool} runs, and the message asks for no tool")
        return
    if (call.data.tool, call.data.args) != (block.action.strip(), block.given or {}):
        yield broken(witness, f"{call.data.tool} runs, and the first block asks for another call")
    if block.rest and not any(warning.data.code == "discarded_text" for warning in one.of("warning")):
        yield broken(witness, "text behind the first block is not told as discarded")


def _unread(one: Iteration) -> bool:
    """Whether the message was told to be unreadable, or the trial ended before anything could be done about it."""
    return bool(one.of("error")) or any(warning.data.code == "parse_failure" for warning in one.of("warning"))


def _with_next(rounds: list[Iteration]) -> Iterator[tuple[Iteration, Iteration | None]]:
    yield from zip(rounds, [*rounds[1:], None], strict=False)


@contract("CE8", designs=DESK, needs=("llm_call", "fallback_used"), shrinks=False)
def falls_back(view: TrialView) -> Iterator[Found]:
    """
    The deterministic pipeline takes over exactly where the executor fails, and says why; never after a write, which it
    could repeat.
    """
    used = view.by_type.get("fallback_used", [])
    wrote = next((use for use in view.uses if use.data.effect == "write" and use.ok), None)
    for fallback in used:
        yield TRIGGERED
        if fallback.data.reason not in REASONS:
            yield broken(fallback, f"the fallback gives the reason `{fallback.data.reason}`")
        if wrote is not None and wrote.event.seq < fallback.seq:
            yield broken([wrote.event, fallback], f"the fallback is used after {wrote.tool} wrote")
    if len(used) > 1:
        yield broken(used, f"the fallback is used {len(used)} times")
    reasons, witness = _failed(view)
    if not reasons:
        if used and iterations(view):
            yield broken(used, "the fallback is used, and the executor did not fail")
        return
    yield TRIGGERED
    why = " or ".join(reasons)
    before = wrote is not None and (not used or wrote.event.seq < used[0].seq)
    if not used and not before and not _cut_off(view):
        yield broken([*witness, view.finished_event], f"the executor failed ({why}) without the fallback")
    if used and used[0].data.reason not in reasons:
        yield broken([*witness, used[0]], f"the fallback gives {used[0].data.reason}, it failed by {why}")


def _failed(view: TrialView) -> tuple[tuple[str, ...], list[Event | None]]:
    """Why the executor cannot go on, as the trace shows it, with the events that do; empty where it can."""
    rounds = iterations(view)
    idle: list[Iteration] = []
    for one in rounds:
        if one.call.result is not None and one.call.reply is None:
            return ("no_llm", "llm_error"), [one.call.result]
        crash = next((event for event in one.of("tool_result") if event.data.error_kind == "crash"), None)
        if crash is not None and any(call.data.call_id == crash.data.call_id for call in one.actions):
            return ("tool_crash",), [crash]
        idle = [*idle, one] if not one.actions and not _answers(view, one) else []
        if len(idle) == FAILURES:
            reasons = ("parse", "exhausted") if len(rounds) == max_iterations(view) else ("parse",)
            return reasons, [other.call.result for other in idle]
    if len(rounds) >= max_iterations(view) and not _answers(view, rounds[-1]):
        return ("exhausted",), [rounds[-1].call.result]
    return (), []


def _answers(view: TrialView, one: Iteration) -> bool:
    """Whether the message is the one that the user's answer comes from."""
    reply, finals = one.call.reply, one.of("final_answer")
    block = first_block(reply.text) if reply is not None else None
    if block is None or not block.is_final or not finals or "fallback_used" in view.by_type:
        return False
    return isinstance(block.given, str) and finals[0].data.text.strip() == block.given.strip()


def _cut_off(view: TrialView) -> bool:
    """Whether the trial ended from outside, so that nothing had to follow."""
    return view.stopped or any(error.data.where == "harness" for error in view.by_type.get("error", ()))


@contract("CE9", designs=DESK, needs=("trial_started",))
def switched_off(view: TrialView) -> Iterator[Found]:
    """Unless it is switched on, by `1`, no model is asked, and the deterministic pipeline answers."""
    if is_on(view.config.get("react", True)):
        return
    yield TRIGGERED
    for call in view.chat_calls:
        yield broken(call.event, "a model is asked, and the executor is off")
        break
    for use in view.uses:
        if use.data.source != "internal":
            yield broken(use.event, f"{use.tool} is called by a message, and the executor is off")
            break
    if view.status == "completed" and not view.answer.strip():
        yield broken(view.finished_event, "the deterministic pipeline gives no answer")


def is_on(flag: Json) -> bool:
    """Whether *flag* switches the executor on: true, 1, or the text `1`."""
    return flag is True or str(flag).strip() == "1"


@contract("CE10", designs=DESK, needs=("final_answer", "error"), shrinks=False)
def stream_of_lines(view: TrialView) -> Iterator[Found]:
    """
    As a stream the trace is one JSON object a line with the keys of its type, each action followed by its observation,
    and ends with the answer or an error and nothing behind it.
    """
    yield TRIGGERED
    lines = list(react_lines(view.events))
    problem = next(stream_problems(lines), None)
    if problem is not None:
        yield broken(view.finals or view.finished_event, f"the stream is no stream: {problem}")
    late = [error for error in view.by_type.get("error", ()) if error.data.fatal]
    if view.finals and late and late[-1].seq > view.finals[0].seq and view.finals[0].data.complete:
        yield broken([view.finals[0], late[-1]], "an error comes after the stream has ended with the answer")
    bare = [event for event in view.events if event.type != "llm_chunk"]
    if len(bare) < len(view.events) and list(react_lines(bare)) != lines:
        yield broken(view.finals, "the stream depends on where the model's chunks end")


KEYS: Final[dict[str, dict[str, type | tuple[type, ...]]]] = {
    "thought": {"type": str, "content": str},
    "action": {"type": str, "tool": str, "input": dict},
    "observation": {"type": str, "content": dict},
    "final_answer": {"type": str, "content": str},
    "error": {"type": str, "content": str, "code": str},
}
_ENDS = ("final_answer", "error")


def stream_problems(lines: Iterable[str]) -> Iterator[str]:
    """What is wrong with *lines* as the news desk's stream, the first thing first."""
    types: list[str] = []
    for number, line in enumerate(lines, start=1):
        where = f"line {number}"
        if len(line.splitlines()) != 1:
            yield f"{where} is {len(line.splitlines())} lines"
            return
        value = decoded(line)
        if value is None:
            yield f"{where} is no JSON"
            return
        kind = value.get("type") if isinstance(value, dict) else None
        fields = KEYS.get(kind) if isinstance(kind, str) else None
        if fields is None:
            yield f"{where} has no type that is known"
            return
        if value.keys() != fields.keys() or not all(isinstance(value[key], of) for key, of in fields.items()):
            yield f"{where} has not the fields of {kind}"
            return
        if kind == "observation" and not _is_observed(value["content"]):
            yield f"{where} has neither a result nor an error"
            return
        types.append(str(kind))
    yield from _out_of_order(types)


def _is_observed(content: dict[str, Json]) -> bool:
    if content.get("ok") is True:
        return content.keys() == {"ok", "result"}
    return content.get("ok") is False and content.keys() == {"ok", "error"} and isinstance(content["error"], str)


def _out_of_order(types: list[str]) -> Iterator[str]:
    if not types or types[-1] not in _ENDS:
        yield "it does not end with the answer or an error"
    for number, (kind, after) in enumerate(pairwise(types), start=1):
        if kind in _ENDS:
            yield f"line {number + 1} comes after the {kind}"
        elif (kind == "action") != (after == "observation") and not (kind == "action" and after == "error"):
            yield f"line {number + 1} is {after} after {kind}"


@contract("CE11", designs=DESK, needs=("tool_call",))
def told_as_it_happens(view: TrialView) -> Iterator[Found]:
    """An action is told before its tool runs and its observation after it, as time passes, never all at the end."""
    for use in view.uses:
        if use.result is None:
            continue
        yield TRIGGERED
        passed = use.result.ts - use.event.ts
        if use.event.seq > use.result.seq or passed < use.result.data.ms:
            ms = use.result.data.ms
            yield broken([use.event, use.result], f"{use.tool} took {ms} ms, and is told {passed} ms before its result")
    for one, after in _with_next(iterations(view)):
        for thought in one.of("thinking"):
            if thought.data.source == "react_thought" and thought.turn not in (None, one.call.turn):
                witness = [thought, after.call.event if after is not None else None]
                yield broken(witness, f"a thought of message {thought.turn} is told after that of {one.call.turn}")


def max_iterations(view: TrialView) -> int:
    """The most messages of one question, as the trial settled it; never more than four."""
    settled = [
        event.data.used for event in view.by_type.get("config_resolved", ()) if event.data.key == "max_iterations"
    ]
    most = settled[-1] if settled else view.config.get("max_iterations", MOST_ITERATIONS)
    return min(most, MOST_ITERATIONS) if isinstance(most, int) else MOST_ITERATIONS
