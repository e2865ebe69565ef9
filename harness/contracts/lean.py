"""CL1, CL4, CL5, CL8 and CL12: the loop of the lean ReAct design."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import ModelCall, ToolUse, TrialView
from harness.records.digest import digest
from harness.records.trace import AskedCall

LEAN = ("lean_react",)
MAX_STEPS = 20
"""Steps where the configuration states no `max_steps`."""
MAX_ERRORS = 3
LIMITS = frozenset({"max_steps", "llm_calls", "rounds", "tool_calls", "writes"})
"""Reasons for which a run may end before the model has seen every result."""


@contract("CL1", designs=LEAN, needs=("llm_call",))
def one_loop(view: TrialView) -> Iterator[Found]:
    """There is one loop: every model call has the purpose `agent`, and there are at most max_steps of them."""
    yield TRIGGERED
    calls = view.chat_calls
    for call in calls:
        if call.data.purpose != "agent":
            yield broken(call.event, f"a model call with purpose {call.data.purpose} beside the loop")
            break
    most = max_steps(view)
    if len(calls) > most:
        yield broken([call.event for call in calls[most:]], f"{len(calls)} model calls, max_steps is {most}")


@contract("CL4", designs=LEAN, needs=("llm_result",))
def every_call_run(view: TrialView) -> Iterator[Found]:
    """All tool calls of a reply run once and in order, its text stays in the conversation, and the loop goes on."""
    for call in view.calls:
        reply = call.reply
        if reply is None or not reply.tool_calls or call.turn is None:
            continue
        yield TRIGGERED
        uses = view.uses_in(call.turn)
        yield from _ran_as_asked(view, call, reply.tool_calls, uses)
        after = next((c for c in view.calls if c.event.seq > call.event.seq), None)
        if after is None and view.status == "completed":
            yield broken([call.result, view.finished_event], "the loop ended on a reply with tool calls")
        yield from _carried_on(view, call, len(reply.tool_calls))


def _ran_as_asked(
    view: TrialView, call: ModelCall, asked: tuple[AskedCall, ...], uses: list[ToolUse]
) -> Iterator[Found]:
    wanted = [(one.id, one.name) for one in asked]
    ran = [(use.call_id, use.tool) for use in uses]
    witness = [call.result, *(use.event for use in uses)]
    if ran != wanted and not (view.stopped and ran == wanted[: len(ran)]):
        yield broken(witness, f"asked for {_names(wanted)}, ran {_names(ran)}")
        return
    for one, use in zip(asked, uses, strict=False):
        if one.args is not None and use.args != one.args:  # those that cannot be read are CX4's
            yield broken([call.result, use.event], f"{use.tool} ran with other arguments than were asked for")


def _carried_on(view: TrialView, call: ModelCall, asked: int) -> Iterator[Found]:
    """The next call of the conversation holds the text beside the tool calls, and a result for each of them."""
    later = (c for c in view.calls if c.event.seq > call.event.seq and c.conversation == call.conversation)
    after = next(later, None)
    if after is None or call.reply is None:
        return
    if after.data.n_messages < call.data.n_messages + 1 + asked:
        yield broken([call.result, after.event], "the next call's messages do not hold all results")
        return
    said = after.data.said_digests
    if said is None or not call.reply.text.strip():
        return
    if dict(said).get(call.data.n_messages) != digest(call.reply.text):
        yield broken([call.result, after.event], "the text beside the tool calls is not in the next call's messages")


def _names(calls: list[tuple[str, str]]) -> str:
    return ", ".join(name for _, name in calls) or "nothing"


@contract("CL5", designs=LEAN, needs=("llm_result",))
def text_is_the_answer(view: TrialView) -> Iterator[Found]:
    """A reply with text and without tool calls is the answer, word for word, and no model call follows it."""
    for call in view.calls:
        reply = call.reply
        if reply is None or call.turn is None or reply.tool_calls or not reply.text.strip():
            continue
        yield TRIGGERED
        later = next((c.event for c in view.calls if c.event.seq > call.event.seq), None)
        if later is not None:
            yield broken([call.result, later], "a model call follows the reply that answers")
            return
        answer = next((final for final in view.finals if final.data.complete), None)
        if view.stopped:
            return
        if answer is None:
            yield broken([call.result, view.finished_event], "the reply that answers did not become the answer")
        elif answer.data.text.strip() != reply.text.strip():
            yield broken([call.result, answer], "the answer is not the model's reply word for word")


@contract("CL8", designs=LEAN, needs=("tool_result",))
def failures_go_on(view: TrialView) -> Iterator[Found]:
    """A failed tool call is a result that the model sees in its next call; it never ends the run."""
    for use in view.uses:
        if use.result is None or use.ok:
            continue
        yield TRIGGERED
        seen = any(call.event.seq > use.result.seq for call in view.calls)
        if not seen and not view.stopped and not _at_limit(view):
            yield broken([use.event, use.result, view.finished_event], f"the run ends after {use.tool} failed")


@contract("CL12", designs=LEAN, needs=("llm_call",))
def limits_end_it(view: TrialView) -> Iterator[Found]:
    """Each model call counts as a step, and max_steps or three errors in a row end the run as failed, with a reason."""
    yield TRIGGERED
    calls = view.chat_calls
    for before, call in pairwise(calls):
        step, last = call.event.round, before.event.round
        if step is not None and last is not None and step <= last:
            yield broken([before.event, call.event], f"a model call did not count: step {step} again")
            break
    errors: list[ModelCall] = []
    for call in calls:
        if len(errors) == MAX_ERRORS:
            yield broken([*(c.event for c in errors), call.event], "a model call follows three errors in a row")
            return
        errors = [*errors, call] if call.result is not None and call.result.data.error is not None else []
    gave_up = len(errors) >= MAX_ERRORS or (len(calls) >= max_steps(view) and not _answers(calls[-1]))
    honest = view.finished is not None and view.status != "completed" and view.finished.reason
    if gave_up and not view.stopped and not honest:
        what = "three errors in a row" if errors else f"{len(calls)} steps"
        yield broken([calls[-1].event, view.finished_event], f"{what} end as {view.status}, or without a reason")


def max_steps(view: TrialView) -> int:
    """The most model calls of one question, as the trial is configured."""
    most = view.config.get("max_steps")
    return most if isinstance(most, int) else MAX_STEPS


def _answers(call: ModelCall) -> bool:
    reply = call.reply
    return reply is not None and not reply.tool_calls and bool(reply.text.strip())


def _at_limit(view: TrialView) -> bool:
    return view.finished is not None and view.status == "failed" and view.finished.reason in LIMITS
