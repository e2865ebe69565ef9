"""CX1–CX6, CX8, CX12 and CX13, each on a trace that keeps it and on traces that break it."""

from __future__ import annotations

import msgspec
import pytest

from harness.contracts.common import (
    answered_calls,
    envelope,
    honest_ending,
    limits,
    no_plan_for_simple,
    offered_tools,
    one_write_a_turn,
    valid_arguments,
    whole_replay,
)
from harness.records.case import Leg
from harness.records.trace import (
    AskedCall,
    Effect,
    ErrorRaised,
    LimitsInForce,
    OfferedTool,
    PhaseFinished,
    PhaseStarted,
    StateSaved,
    ToolCalled,
    ToolResult,
    Trace,
    TrialFinished,
    Warned,
)
from harness.testing.builders import answer, check, make_case, make_event, make_trace, model_turn, reasons, tool_use

WEATHER = [
    model_turn(calls=[("get_weather", {"city": "Berlin"})]),
    tool_use("get_weather", {"city": "Berlin"}, text='{"temperature_c": 7}'),
    model_turn("7 °C", tools=["get_weather"]),
    answer("7 °C"),
]
CHANGED = Effect("cluster", "120", "P3", "P2")


def test_cx1_keeps_a_whole_trace():
    """A trace with its two ends and no gap keeps CX1."""
    assert ["kept"] == reasons(check(envelope, make_trace(WEATHER)))


def test_cx1_second_finish():
    """A trial that finishes twice breaks CX1, with both events as witness."""
    trace = make_trace(answer("hi"), TrialFinished(status="completed"))

    finding = check(envelope, trace)[0]

    assert ("2 events trial_finished, expected one", (2, 3)) == (finding.because, finding.witness)


def test_cx1_ends_in_their_places():
    """An event before trial_started or after trial_finished breaks CX1."""
    events = make_trace(answer("hi")).events
    swapped = [events[1], events[0], events[2]]
    renumbered = tuple(msgspec.structs.replace(e, seq=n) for n, e in enumerate(swapped))
    late = (*events, make_event(answer("again"), seq=3))

    assert ["trial_started is not the first event"] == reasons(check(envelope, Trace(renumbered)))
    assert ["trial_finished is not the last event"] == reasons(check(envelope, Trace(late)))


def test_cx1_gap_stranger_and_nothing():
    """A gap in the numbers, an event of another trial, and an empty trace break CX1."""
    gap = make_trace(make_event(answer("hi"), seq=2))
    events = make_trace(answer("hi")).events
    stranger = Trace((events[0], msgspec.structs.replace(events[1], trial_id="other"), events[2]))

    assert ["event 1 has seq 2"] == reasons(check(envelope, gap))
    assert "event 1 belongs to trial other" in reasons(check(envelope, stranger))[0]
    assert "the trace is empty" == reasons(check(envelope, Trace(())))[0]


def test_cx2_keeps_calls_with_results():
    """Each call with its result before the next model call keeps CX2, also where the model repeats an id."""
    same = AskedCall("call_0", "get_weather", "{}", {})
    trace = make_trace(
        model_turn(calls=[same]), tool_use("get_weather", call_id="call_0"),
        model_turn(calls=[same]), tool_use("get_weather", call_id="call_0"), answer("ok"),
    )  # fmt: skip

    assert ["kept"] == reasons(check(answered_calls, trace))


def test_cx2_missing_result():
    """A call without a result breaks CX2; the shortest sub-trace keeps the call that asked for it."""
    call, _ = tool_use("get_weather")
    trace = make_trace(model_turn(calls=[("get_weather", {})]), call, model_turn("?"), answer("?"))

    finding = check(answered_calls, trace)[0]

    assert "get_weather (call-1) has no result" == finding.because
    assert (3, 4) == finding.witness
    assert (1, 3, 4) == finding.shortest


def test_cx2_orphan_and_second_result():
    """A result that no call waits for breaks CX2."""
    call, result = tool_use("get_weather")
    trace = make_trace(model_turn(calls=[("get_weather", {})]), call, result, result, answer("?"))

    assert ["a result of get_weather that no call waits for (call-1)"] == reasons(check(answered_calls, trace))


def test_cx2_late_results():
    """A result after the next model call of the conversation, or after the answer, breaks CX2."""
    call, result = tool_use("get_weather")
    late = make_trace(model_turn(calls=[("get_weather", {})]), call, model_turn("?"), result, answer("?"))
    very_late = make_trace(model_turn(calls=[("get_weather", {})]), call, answer("?"), result)

    assert ["the result of get_weather comes after the next model call"] == reasons(check(answered_calls, late))
    assert ["the result of get_weather comes after the answer"] == reasons(check(answered_calls, very_late))


def test_cx2_other_conversations_and_cut_legs_are_free():
    """Calls of another slot may lie between, and a leg that is cut off may leave a call open."""
    call, result = tool_use("get_weather")
    parallel = make_trace(
        model_turn(calls=[("get_weather", {})], slot="a"), make_event(call, turn=1), model_turn(slot="b"),
        make_event(result, turn=1), answer("?"),
    )  # fmt: skip
    cut = make_trace(model_turn(calls=[("get_weather", {})]), call, finished={"status": "cancelled"})
    case = make_case(legs=(Leg(stop_after={"tool_call": 1}),))

    assert ["kept"] == reasons(check(answered_calls, parallel))
    assert ["kept"] == reasons(check(answered_calls, cut, case))


def test_cx3_unknown_tool_refused_is_kept():
    """A call of an unknown tool that is answered with unknown_tool keeps CX3."""
    trace = make_trace(
        model_turn(calls=[("delete_file", {})], tools=["get_weather"]),
        tool_use("delete_file", error="unknown_tool", effect="none"), answer("no"),
    )  # fmt: skip

    assert ["kept"] == reasons(check(offered_tools, trace))


def test_cx3_hidden_tool_run():
    """A tool of the registry that was not offered in the turn must not run."""
    trace = make_trace(
        model_turn(calls=[("delete_file", {})], tools=["get_weather"]), tool_use("delete_file"), answer("done")
    )

    assert ["delete_file was not offered in its turn, yet it was run"] == reasons(check(offered_tools, trace))


def test_cx3_json_actions_are_held_to_the_registry():
    """A JSON action needs no native offer, only a tool that exists."""
    known = make_trace(model_turn(), tool_use("get_weather", source="json_action"), answer("ok"))
    unknown = make_trace(model_turn(), tool_use("rm", source="json_action", effect="none"), answer("ok"))
    changed = make_trace(
        model_turn(), tool_use("rm", error="unknown_tool", source="json_action", effect="none", effects=[CHANGED]),
    )  # fmt: skip

    assert ["kept"] == reasons(check(offered_tools, known))
    assert ["rm is not in the registry, yet it was run"] == reasons(check(offered_tools, unknown))
    assert ["rm was refused, yet it changed the store"] == reasons(check(offered_tools, changed))


def test_cx4_refused_arguments_are_kept():
    """Bad arguments that are answered with invalid_args keep CX4."""
    asked = AskedCall("c", "get_weather", "{bad", None)
    call = ToolCalled(call_id="c", tool="get_weather", args=None, args_raw="{bad")
    result = ToolResult(call_id="c", tool="get_weather", ok=False, error_kind="invalid_args")
    trace = make_trace(model_turn(calls=[asked]), call, result, answer("sorry"))

    assert ["kept"] == reasons(check(valid_arguments, trace))


def test_cx4_guessed_arguments():
    """A tool that runs with {} where the model wrote no JSON object breaks CX4, with or without the reply at hand."""
    asked = AskedCall("c", "get_weather", "{bad", None)
    coerced = make_trace(model_turn(calls=[asked]), tool_use("get_weather", call_id="c"), answer("7"))
    from_raw = make_trace(model_turn(), tool_use("get_weather", args_raw="[1]"), answer("7"))
    broken_raw = make_trace(model_turn(), tool_use("get_weather", args_raw="{bad"), answer("7"))

    for trace in (coerced, from_raw, broken_raw):
        assert ["get_weather ran with guessed arguments"] == reasons(check(valid_arguments, trace))


def test_cx4_no_arguments_and_effects_of_refused_calls():
    """A tool that ran without arguments, or had an effect though it was refused, breaks CX4."""
    unread = make_trace(
        model_turn(), ToolCalled(call_id="c", tool="t", args=None), ToolResult(call_id="c", tool="t", ok=True)
    )
    refused = make_trace(model_turn(), tool_use("t", error="invalid_args", effects=[CHANGED]), answer("x"))

    assert ["t ran without arguments that could be read"] == reasons(check(valid_arguments, unread))
    assert ["t was refused for its arguments, yet it had an effect"] == reasons(check(valid_arguments, refused))


@pytest.mark.parametrize(
    ("args", "because"),
    [
        ({"city": "Rome", "days": 2, "metric": True}, ""),
        ({"city": "Rome", "days": 2.0, "note": None}, ""),
        ({"days": 2}, "city is missing"),
        ({"city": "Rome", "town": "Rome"}, "there is no parameter town"),
        ({"city": 7}, "city is no string"),
        ({"city": "Rome", "days": "two"}, "days is no integer"),
        ({"city": "Rome", "days": True}, "days is no integer"),
        ({"city": "Rome", "metric": 1}, "metric is no boolean"),
    ],
)
def test_cx4_arguments_that_do_not_fit(args, because):
    """A tool that ran with other names or types than it states breaks CX4; a refusal, or an unstated tool, keeps it."""
    types = {"city": "string", "days": "integer", "metric": "boolean", "note": ""}
    started = {"tools": (OfferedTool("look", "d", parameters=types, required=("city",)),)}
    ran = make_trace(model_turn(), tool_use("look", args), answer("x"), started=started)
    refused = make_trace(model_turn(), tool_use("look", args, error="invalid_args"), answer("x"), started=started)
    unstated = make_trace(model_turn(), tool_use("look", args), answer("x"))

    expected = f"look ran with arguments that do not fit: {because}" if because else "kept"
    assert [expected] == reasons(check(valid_arguments, ran))
    for trace in (refused, unstated):
        assert ["kept"] == reasons(check(valid_arguments, trace))


def test_cx5_completed_and_honestly_failed_runs_are_kept():
    """One answer with only bookkeeping after it keeps CX5, and so does a failed run that raised its error."""
    done = make_trace(
        PhaseStarted(name="answer"), answer("hi"), StateSaved(session_id="s", digest="d", parts={}),
        PhaseFinished(name="answer", ok=True),
    )  # fmt: skip
    failed = make_trace(
        ErrorRaised(kind="max_steps", message="no answer"), answer("so far: 7", complete=False),
        finished={"status": "failed", "reason": "max_steps"},
    )  # fmt: skip

    assert ["kept"] == reasons(check(honest_ending, done))
    assert ["kept"] == reasons(check(honest_ending, failed))


def test_cx5_completed_without_an_answer():
    """No answer, two answers, a blank one, or work after it break CX5."""
    assert ["status completed with 0 answers"] == reasons(check(honest_ending, make_trace()))
    assert ["status completed with 2 answers"] == reasons(check(honest_ending, make_trace(answer("a"), answer("b"))))
    assert ["status completed with a blank answer"] == reasons(check(honest_ending, make_trace(answer(" \n"))))
    assert ["llm_result after the answer"] == reasons(check(honest_ending, make_trace(answer("a"), model_turn("b"))))


def test_cx5_silent_failure():
    """A failed run without an error event breaks CX5 and names the crash; so does an answer marked as complete."""
    failed = {"status": "failed", "reason": "crash: KeyError"}
    crash = make_trace(Warned(code="agent_crash", detail="KeyError: 'x' (agent.py:3)"), finished=failed)
    boast = make_trace(ErrorRaised(kind="x", message="x"), answer("all fine"), finished=failed)

    assert ["status failed without an error event: the agent raised KeyError: 'x' (agent.py:3)"] == reasons(
        check(honest_ending, crash)
    )
    assert ["status failed, yet the answer is marked as complete"] == reasons(check(honest_ending, boast))


def test_cx6_within_limits():
    """A run at its limits keeps CX6; one without limits does not trigger it."""
    at_limit = make_trace(WEATHER, started={"limits": LimitsInForce(llm_calls=2, tool_calls=1, rounds=1, writes=0)})

    assert ["kept"] == reasons(check(limits, at_limit))
    assert ["vacuous"] == reasons(check(limits, make_trace(WEATHER)))


def test_cx6_beyond_limits():
    """One call, round or write too many breaks CX6 and is the witness."""
    calls = make_trace(WEATHER, started={"limits": LimitsInForce(llm_calls=1, tool_calls=0)})
    rounds = make_trace(
        make_event(model_turn()[0], round=1), make_event(model_turn()[0], round=2),
        started={"limits": LimitsInForce(rounds=1)},
    )  # fmt: skip
    writes = make_trace(
        tool_use("w", effect="write"), tool_use("w", effect="write", cached=True), tool_use("w", effect="write"),
        started={"limits": LimitsInForce(writes=1)},
    )  # fmt: skip

    findings = check(limits, calls)
    assert ["2 model calls, the limit is 1", "1 tool calls, the limit is 0"] == reasons(findings)
    assert (5,) == findings[0].witness
    assert ["2 rounds, the limit is 1"] == reasons(check(limits, rounds))
    assert ["2 writes, the limit is 1"] == reasons(check(limits, writes))


def test_cx6_counts_over_legs_and_wants_a_reason():
    """Calls of all legs count together, and a run that fails at its limit says why."""
    first = make_trace(model_turn("a"), started={"limits": LimitsInForce(llm_calls=1)})
    second = make_trace(model_turn("b"), started={"limits": LimitsInForce(llm_calls=1)}, first_turn=2)
    silent = make_trace(model_turn(), started={"limits": LimitsInForce(llm_calls=1)}, finished={"status": "failed"})

    assert ["2 model calls, the limit is 1"] == reasons(check(limits, [first, second]))
    assert ["failed at 1 model calls without a reason"] == reasons(check(limits, silent))


def test_cx8_whole_replay_is_kept():
    """A replay that played everything keeps CX8; a live run does not trigger it."""
    live = make_trace(model_turn("a", result={"replayed": False}), answer("a"))

    assert ["kept"] == reasons(check(whole_replay, make_trace(WEATHER)))
    assert ["vacuous"] == reasons(check(whole_replay, live))


def test_cx8_misses_left_overs_and_live_calls():
    """A miss, a left-over answer, a live call among replayed ones, and another request's answer break CX8."""
    missed = make_trace(WEATHER, finished={"cassette_missed": ("k",)})
    unused = make_trace(WEATHER, finished={"cassette_unused": 2})
    mixed = make_trace(model_turn("a"), model_turn("b", result={"replayed": False}), answer("b"))
    own = make_trace(model_turn("a", cassette_key="k1", result={"answers_key": "k1"}), answer("a"))
    other = make_trace(model_turn("a", cassette_key="k1", result={"answers_key": "k2"}), answer("a"))

    assert ["1 model calls are not in the cassette"] == reasons(check(whole_replay, missed))
    assert ["2 recorded answers were not asked for"] == reasons(check(whole_replay, unused))
    assert ["1 of 2 model calls were answered live in a replay"] == reasons(check(whole_replay, mixed))
    assert ["kept"] == reasons(check(whole_replay, own))
    assert ["answered by the recording of another request, k2"] == reasons(check(whole_replay, other))


def test_cx12_one_write_a_turn():
    """Writes in separate turns, and one that was refused or told again, keep CX12; two that ran in one turn break it."""
    write, refused = tool_use("update", effect="write"), tool_use("update", effect="write", error="denied")
    apart = make_trace(model_turn(), write, model_turn(), write, answer("ok"))

    assert ["kept"] == reasons(check(one_write_a_turn, apart))
    assert ["kept"] == reasons(check(one_write_a_turn, make_trace(model_turn(), write, refused)))
    told_again = tool_use("update", effect="write", cached=True)
    assert ["kept"] == reasons(check(one_write_a_turn, make_trace(model_turn(), write, told_again)))
    assert ["update and update both write in one turn"] == reasons(
        check(one_write_a_turn, make_trace(model_turn(), write, write))
    )
    assert ["vacuous"] == reasons(check(one_write_a_turn, make_trace(WEATHER)))


def test_cx13_simple_questions_are_not_planned():
    """A plan for a simple question breaks CX13; other classes are free."""
    simple = make_case(class_="simple")
    tool = make_trace(model_turn(), tool_use("manage_plan", {"action": "create_plan"}, effect="none"), answer("x"))
    call = make_trace(model_turn(purpose="plan"), answer("x"))

    assert ["kept"] == reasons(check(no_plan_for_simple, make_trace(WEATHER), simple))
    assert ["manage_plan is called for a simple question"] == reasons(check(no_plan_for_simple, tool, simple))
    assert ["a model call with purpose plan for a simple question"] == reasons(check(no_plan_for_simple, call, simple))
    assert ["vacuous"] == reasons(check(no_plan_for_simple, tool))
