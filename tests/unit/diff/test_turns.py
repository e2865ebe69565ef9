"""From traces to turns."""

from __future__ import annotations

from harness.diff.turns import trajectory
from harness.records.messages import Usage
from harness.records.trace import AskedCall, Thought, ToolCalled, ToolResult
from harness.records.trajectory import Call, Turn
from harness.testing.builders import answer, make_event, make_trace, model_turn, tool_use


def test_a_turn_holds_the_reply_and_its_calls():
    """With the outcome of each call, and what the reply took."""
    trace = make_trace(
        model_turn("Looking.", calls=[("get", {"n": 1})], result={"usage": Usage(5, 2), "ms": 7}),
        Thought(text="hm"),
        Thought(text="Looking.", source="react_thought"),
        tool_use("get", {"n": 1}, text="one"),
        model_turn(error="timeout"),
        answer("One."),
    )

    told = trajectory(trace, price=lambda model, usage: usage.input / 10)
    assert told.turns == (
        Turn(
            turn=1, model="model", purpose="agent", text="Looking.", thinking="hm", usage=Usage(5, 2), cost_usd=0.5, ms=7,
            calls=(Call(tool="get", args={"n": 1}, ok=True, result="one"),),
        ),
        Turn(turn=2, model="model", purpose="agent", error="timeout", cost_usd=0.0),
    )  # fmt: skip
    assert told.answer == "One."
    assert (told.outcome["status"], told.outcome["complete"]) == ("completed", True)


def test_parallel_calls_keep_their_own_results():
    """Results are joined by the id of the call, in whatever order they come."""
    one, two = ToolCalled(call_id="1", tool="a", args={}), ToolCalled(call_id="2", tool="b", args={})
    trace = make_trace(
        model_turn(calls=[AskedCall("1", "a", "{}", {}), AskedCall("2", "b", "{}", {})]),
        [one, two, ToolResult(call_id="2", tool="b", ok=True, text="B"), ToolResult(call_id="1", tool="a", ok=True, text="A")],
    )  # fmt: skip

    (turn,) = trajectory(trace).turns
    assert [("a", "A"), ("b", "B")] == [(call.tool, call.result) for call in turn.calls]


def test_overlapping_model_calls_are_turns_of_their_own():
    """In the order in which they began."""
    first, second = model_turn("one", slot="verify/1/0"), model_turn("two", slot="verify/1/1")
    trace = make_trace(
        make_event(first[0], span="s1", turn=1), make_event(second[0], span="s2", turn=2),
        make_event(second[1], span="s2", turn=2), make_event(first[1], span="s1", turn=1),
    )  # fmt: skip

    assert [("verify/1/0", "one"), ("verify/1/1", "two")] == [(t.slot, t.text) for t in trajectory(trace).turns]


def test_calls_that_no_model_asked_for_are_a_turn():
    """A pipeline without a model still does something, one turn of it."""
    trace = make_trace(tool_use("count", source="internal"), tool_use("list", source="internal"), answer("3"))

    (turn,) = trajectory(trace).turns
    assert (turn.turn, turn.purpose, ["count", "list"]) == (None, "", [call.tool for call in turn.calls])


def test_legs_follow_each_other():
    """A trial that was resumed is one trajectory; an embedding is no turn."""
    first = make_trace(model_turn("one"), model_turn("", stage="embedding"))
    second = make_trace(model_turn("two"), answer("Two."), first_turn=2)

    told = trajectory([first, second])
    assert [("one", 0, 1), ("two", 1, 2)] == [(turn.text, turn.leg, turn.turn) for turn in told.turns]
    assert told.answer == "Two."
