"""CL1, CL4, CL5, CL8 and CL12: the loop."""

from __future__ import annotations

from harness.contracts.lean import every_call_run, failures_go_on, limits_end_it, one_loop, text_is_the_answer
from harness.records.case import Leg
from harness.records.digest import digest
from harness.records.trace import ErrorRaised
from harness.testing.builders import answer, check, make_case, make_event, make_trace, model_turn, reasons, tool_use

ASKED = [("get_weather", {"city": "Berlin"}), ("get_weather", {"city": "Lisbon"})]
FAILED = {"status": "failed", "reason": "max_steps"}
STOPPED = make_case(legs=(Leg(stop_after={"tool_result": 1}),))


def rounds(*numbers, **turn):
    """One model turn a number, each with that round."""
    return [[make_event(data, round=number) for data in model_turn(**turn)] for number in numbers]


def test_cl1_one_loop():
    """Calls with the purpose agent, up to max_steps, keep CL1."""
    assert ["kept"] == reasons(check(one_loop, make_trace(model_turn(), model_turn("x"), answer("x"))))


def test_cl1_other_calls_and_too_many():
    """A planning call beside the loop, or one call more than max_steps, breaks CL1."""
    planned = make_trace(model_turn(purpose="plan"), model_turn("x"), answer("x"))
    many = make_trace(model_turn(), model_turn(), started={"config": {"max_steps": 1}})

    assert ["a model call with purpose plan beside the loop"] == reasons(check(one_loop, planned))
    assert ["2 model calls, max_steps is 1"] == reasons(check(one_loop, many))
    assert ["21 model calls, max_steps is 20"] == reasons(check(one_loop, make_trace([model_turn()] * 21)))


BERLIN, LISBON = (tool_use(name, args) for name, args in ASKED)


def test_cl4_all_calls_in_order():
    """Both calls of a reply, run in order, keep CL4; so does a leg that is cut off between them."""
    whole = make_trace(model_turn(calls=ASKED), BERLIN, LISBON, model_turn("x", n_messages=5), answer("x"))
    cut = make_trace(model_turn(calls=ASKED), BERLIN, finished={"status": "cancelled"})

    assert ["kept"] == reasons(check(every_call_run, whole))
    assert ["kept"] == reasons(check(every_call_run, cut, STOPPED))


def test_cl4_lost_calls():
    """A call that is asked for and not run, run twice, or run with other arguments, breaks CL4."""
    after = [model_turn("x", n_messages=5), answer("x")]
    first = make_trace(model_turn(calls=ASKED), BERLIN, after)
    twice = make_trace(model_turn(calls=ASKED[:1]), BERLIN, BERLIN, after)
    other = make_trace(model_turn(calls=ASKED[:1]), LISBON, after)

    assert ["asked for get_weather, get_weather, ran get_weather"] == reasons(check(every_call_run, first))
    assert ["asked for get_weather, ran get_weather, get_weather"] == reasons(check(every_call_run, twice))
    assert ["get_weather ran with other arguments than were asked for"] == reasons(check(every_call_run, other))


def test_cl4_lost_results():
    """A next call that is too short for a reply and its two results breaks CL4."""
    trace = make_trace(model_turn(calls=ASKED), BERLIN, LISBON, model_turn("x", n_messages=4), answer("x"))

    assert ["the next call's messages do not hold all results"] == reasons(check(every_call_run, trace))


def test_cl4_loop_goes_on():
    """A completed run whose last reply asks for tools breaks CL4."""
    trace = make_trace(model_turn("7", calls=ASKED[:1]), BERLIN, answer("7"))

    assert ["the loop ended on a reply with tool calls"] == reasons(check(every_call_run, trace))


def test_cl4_text_stays():
    """The text beside tool calls must stand in the next call's messages, where the trace tells them."""

    def trace(said):
        return make_trace(
            model_turn("I look.", calls=ASKED[:1]), BERLIN,
            model_turn("7", n_messages=4, said_digests=said), answer("7"),
        )  # fmt: skip

    assert ["kept"] == reasons(check(every_call_run, trace(((2, digest("I look.")),))))
    assert ["kept"] == reasons(check(every_call_run, trace(None)))
    assert ["the text beside the tool calls is not in the next call's messages"] == reasons(
        check(every_call_run, trace(()))
    )


def test_cl5_text_is_the_answer():
    """The first text without tool calls is the answer."""
    trace = make_trace(model_turn(calls=ASKED[:1]), tool_use("get_weather"), model_turn("7 °C"), answer("7 °C"))

    assert ["kept"] == reasons(check(text_is_the_answer, trace))


def test_cl5_more_or_other_words():
    """A further call, another text, or no answer at all breaks CL5."""
    more = make_trace(model_turn("7 °C"), model_turn("In short: 7"), answer("In short: 7"))
    other = make_trace(model_turn("7 °C"), answer("It is 7 °C"))
    none = make_trace(model_turn("7 °C"), ErrorRaised(kind="x", message="x"), finished=FAILED)

    assert ["a model call follows the reply that answers"] == reasons(check(text_is_the_answer, more))
    assert ["the answer is not the model's reply word for word"] == reasons(check(text_is_the_answer, other))
    assert ["the reply that answers did not become the answer"] == reasons(check(text_is_the_answer, none))


def test_cl8_failures_go_on():
    """A failed tool with a model call after it, or at the limit, keeps CL8; one that ends the run breaks it."""
    seen = make_trace(model_turn(), tool_use("t", error="crash"), model_turn("x"), answer("x"))
    at_limit = make_trace(
        model_turn(), tool_use("t", error="crash"), ErrorRaised(kind="max_steps", message="x"), finished=FAILED
    )
    ended = make_trace(model_turn(), tool_use("t", error="crash"), finished={"status": "failed"})
    told = make_trace(
        model_turn(), tool_use("t", error="crash"), ErrorRaised(kind="crash", message="x"),
        finished={"status": "failed", "reason": "crash"},
    )  # fmt: skip

    assert ["kept"] == reasons(check(failures_go_on, seen))
    assert ["kept"] == reasons(check(failures_go_on, at_limit))
    assert ["the run ends after t failed"] == reasons(check(failures_go_on, ended))
    assert ["the run ends after t failed"] == reasons(check(failures_go_on, told))


def test_cl12_honest_limits():
    """Three errors, or max_steps, that end as failed with a reason keep CL12."""
    errors = make_trace(rounds(1, 2, 3, error="overloaded"), finished={"status": "failed", "reason": "llm_errors"})
    steps = make_trace(rounds(1, 2), started={"config": {"max_steps": 2}}, finished=FAILED)
    recovered = make_trace(rounds(1, 2, error="overloaded"), model_turn("x"), answer("x"))

    for trace in (errors, steps, recovered):
        assert ["kept"] == reasons(check(limits_end_it, trace))


def test_cl12_errors_for_free_and_silent_limits():
    """A fourth call after three errors, a step that does not count, and an ending without a reason break CL12."""
    fourth = make_trace(rounds(1, 2, 3, error="overloaded"), model_turn("x"), answer("x"))
    free = make_trace(rounds(1, 1), answer("x"))
    silent = make_trace(rounds(1, 2), started={"config": {"max_steps": 2}}, finished={"status": "failed"})

    assert ["a model call follows three errors in a row"] == reasons(check(limits_end_it, fourth))
    assert ["a model call did not count: step 1 again"] == reasons(check(limits_end_it, free))
    assert ["2 steps end as failed, or without a reason"] == reasons(check(limits_end_it, silent))
