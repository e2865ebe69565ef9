"""Turns and steps of a trial, counted from its events."""

from __future__ import annotations

from harness.records.pace import Pace, pace_of
from harness.records.trace import LlmCall, LlmResult
from harness.testing.builders import make_event, make_trace, model_turn, tool_use


def call(span):
    """A chat call that begins."""
    data = LlmCall(purpose="verify", model="model", messages_digest="m", n_messages=2, cassette_key="key")
    return make_event(data, span=span)


def result(span):
    """Its reply."""
    return make_event(LlmResult(call_span=span), span=span)


def test_calls_that_follow_one_another_are_turns_each():
    """Two model calls with a tool call between them are three steps."""
    trace = make_trace(model_turn(calls=[("look", {})]), tool_use("look"), model_turn("Done."))

    assert Pace(turns=2, steps=3) == pace_of([trace])


def test_calls_under_way_at_once_are_one_turn():
    """Three overlapping calls, the last of which begins before the first one ends, and one afterwards."""
    trace = make_trace(call("a"), call("b"), result("b"), call("c"), result("a"), result("c"), call("d"), result("d"))

    assert Pace(turns=2, steps=2) == pace_of([trace])


def test_a_call_that_was_broken_off_holds_up_none():
    """What follows a call without a result is a turn of its own."""
    trace = make_trace(call("a"), call("b"), result("b"))

    assert Pace(turns=2, steps=2) == pace_of([trace])


def test_tools_that_one_reply_asks_for_are_one_step():
    """However many they are, and in whatever order they end."""
    asked = [("look", {"at": 1}), ("look", {"at": 2}), ("count", {})]
    trace = make_trace(model_turn(calls=asked), tool_use("look"), tool_use("look"), tool_use("count"))

    assert Pace(turns=1, steps=2) == pace_of([trace])


def test_tools_that_no_model_asked_for_are_a_step_each():
    """A pipeline that looks things up by itself does so one after the other."""
    assert Pace(turns=0, steps=2) == pace_of([make_trace(tool_use("look"), tool_use("count"))])


def test_what_was_not_run_is_no_step():
    """A call that was refused, and one that was answered from memory."""
    refused = tool_use("write", error="denied")
    again = tool_use("look", cached=True)

    assert Pace(turns=1, steps=1) == pace_of([make_trace(model_turn("Both."), refused, again)])


def test_an_embedding_is_no_turn():
    """It belongs to the search that needs it."""
    trace = make_trace(tool_use("search"), model_turn(stage="embedding", purpose="embed"), model_turn("Done."))

    assert Pace(turns=1, steps=2) == pace_of([trace])


def test_legs_add_up():
    """A trial that was stopped and resumed took what both its legs took."""
    trace = make_trace(model_turn("One."))

    assert Pace(turns=2, steps=2) == pace_of([trace, trace])
    assert Pace() == pace_of([])
