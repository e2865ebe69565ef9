"""A leg as contracts see it."""

from __future__ import annotations

from harness.contracts.view import TrialView
from harness.records.case import Leg
from harness.records.trace import LlmCall, ToolCalled, ToolResult
from harness.testing.builders import answer, make_case, make_event, make_trace, make_trial, model_turn, tool_use


def view_of(*steps, **case):
    """A view of a trace of one leg."""
    return TrialView(make_case(**case), make_trial(make_trace(*steps)))


def test_calls_have_their_results():
    """Model and tool calls are joined to their results, and found by turn."""
    view = view_of(model_turn(calls=[("t", {})]), tool_use("t", text="r"), model_turn("x"), answer("x"))

    assert ["", "x"] == [call.reply.text for call in view.calls]
    assert "r" == view.uses_in(1)[0].outcome.text
    assert view.by_turn[2] is view.calls[1]
    assert ("x", "completed", True) == (view.answer, view.status, view.is_last)


def test_failed_calls_have_no_reply():
    """A call that ended in an error has a result and no reply."""
    call = view_of(model_turn(error="overloaded")).calls[0]

    assert call.result is not None
    assert call.reply is None


def test_embeddings_are_no_chat_calls():
    """An embedding has no turn."""
    embedding = LlmCall(
        purpose="embed", stage="embedding", model="m", messages_digest="d", n_messages=1, cassette_key="k"
    )
    view = view_of(model_turn(), make_event(embedding, turn=None), model_turn())

    assert 3 == len(view.calls)
    assert 2 == len(view.by_turn)


def test_repeated_ids_are_joined_by_span_then_in_order():
    """A model that repeats its ids does not confuse the results."""
    calls = [make_event(ToolCalled(call_id="c", tool=name, args={}), span=name) for name in "ab"]
    results = [make_event(ToolResult(call_id="c", tool=name, ok=True), span=name) for name in "ba"]
    view = view_of(model_turn(), calls, results)

    assert ["a", "b"] == [use.result.data.tool for use in view.uses]


def test_orphans_and_extra_results():
    """Results that nothing waits for are kept apart."""
    call, result = tool_use("t")
    reply = model_turn("x")[1]
    view = view_of(model_turn(), call, result, result, reply)

    assert (1, 1) == (len(view.orphans), len(view.extra_results))


def test_stopped_legs():
    """Only a leg that the case cuts off is a stopped one."""
    case = make_case(legs=(Leg(stop_after={"state_saved": 1}), Leg(resume=True)))
    trial = make_trial(make_trace(), make_trace())
    first = TrialView(case, trial, 0)
    second = TrialView(case, trial, 1, earlier=(first,))

    assert (True, False) == (first.stopped, second.stopped)
    assert (first, second) == second.legs


def test_offered_tools():
    """Every tool of the registry and of any call is known."""
    assert {"t", "u"} == view_of(model_turn(tools=["t"]), tool_use("u", source="json_action")).offered
