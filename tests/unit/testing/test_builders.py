"""Traces made by hand."""

from __future__ import annotations

from harness.contracts import builtin, contracts_for, judge
from harness.records.trace_file import decode_events, encode_events
from harness.testing.builders import (
    answer,
    check,
    make_case,
    make_event,
    make_trace,
    make_trial,
    model_turn,
    plan_updated,
    reasons,
    tool_use,
)

TRACE = make_trace(
    model_turn(calls=[("get_weather", {"city": "Berlin"}), ("get_weather", {"city": "Rome"})]),
    tool_use("get_weather", {"city": "Berlin"}, text='{"temperature_c": 7}'),
    tool_use("get_weather", {"city": "Rome"}, error="not_found"),
    model_turn("7 °C in Berlin, nothing is known of Rome.", result={"ms": 3}),
    answer("7 °C in Berlin, nothing is known of Rome."),
)


def test_numbers_turns_and_ids_are_filled_in():
    """Events are numbered without gaps, belong to the turn of their model call, and results to their calls."""
    uses = TRACE.of("tool_call")
    results = TRACE.of("tool_result")

    assert list(range(len(TRACE))) == [event.seq for event in TRACE]
    assert ["call-1", "call-2"] == [use.data.call_id for use in uses]
    assert ["call-1", "call-2"] == [result.data.call_id for result in results]
    assert [1, 1, 2] == [event.turn for event in (*uses, TRACE.of("llm_call")[1])]
    assert TRACE.of("llm_call")[0].span == TRACE.of("llm_result")[0].data.call_span


def test_a_built_trace_is_a_real_one():
    """It can be written and read, and a sensible one keeps every contract."""
    case = make_case()
    findings = judge(case, make_trial(TRACE), contracts_for(case, "design", builtin()))

    assert TRACE.events == decode_events(encode_events(TRACE.events))
    assert [] == [finding for finding in findings if finding.state not in ("kept", "vacuous")]


def test_given_numbers_stay():
    """A number or a turn that is given is not changed."""
    trace = make_trace(make_event(answer("x"), seq=5, turn=7))

    assert [(0, None), (5, 7), (6, None)] == [(event.seq, event.turn) for event in trace]


def test_plans():
    """Steps are pending, done, or whatever is said."""
    statuses = [step.status for step in plan_updated("x", "a", "b", done=[2]).plan]

    assert ["PENDING", "DONE"] == statuses
    assert "running" == plan_updated("x", "a", statuses=["running"]).plan[0].status


def test_check_and_reasons():
    """A single contract is held against a trace, and its reasons are read as text."""
    assert ["kept"] == reasons(check(builtin()["CX1"], TRACE))
    assert ["status completed with 0 answers"] == reasons(check(builtin()["CX5"], make_trace()))
