"""CL1, CL4, CL5, CL8 and CL12: the loop of the lean ReAct design."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.conversation import continuation
from harness.contracts.view import ModelCall, TrialView
from harness.records.digest import digest

LEAN = ("lean_react",)
MAX_STEPS = 20
"""Steps where the configuration states no `max_steps`."""
MAX_ERRORS = 3


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
        asked = [(asked.id, asked.name) for asked in reply.tool_calls]
        uses = view.uses_in(call.turn)
        ran = [(use.call_id, use.tool) for use in uses]
        if ran != asked and not (view.stopped and ran == asked[: len(ran)]):
            witness = [call.result, *(use.event for use in uses)]
            yield broken(witness, f"asked for {_names(asked)}, ran {_names(ran)}")
        after = next((c for c in view.calls if c.event.seq > call.event.seq), None)
        if after is None and view.status == "completed":
            yield broken([call.result, view.finished_event], "the loop ended on a reply with tool calls")
        yield from _kept_text(view, call)


def _kept_text(view: TrialView, call: ModelCall) -> Iterator[Found]:
    after = continuation(view, call)
    if after is None or call.reply is None or not call.reply.text.strip():
        return
    said = after.data.said_digests
    if said is not None and dict(said).get(call.data.n_messages) != digest(call.reply.text):
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
    return view.status != "completed" and bool(view.finished and view.finished.reason) and "error" in view.by_type
