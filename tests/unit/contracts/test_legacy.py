"""CP1–CP5: the older plan-and-execute design."""

from __future__ import annotations

from harness.contracts.legacy import (
    bounded_retries,
    fast_path_is_short,
    items_move_forward,
    nothing_left_open,
    replans_with_cause,
)
from harness.records.trace import PhaseStarted
from harness.testing.builders import answer, check, make_trace, model_turn, plan_updated, reasons, tool_use

ITEMS = ("read the Alpha document", "read the Beta document")


def todo(action, *statuses):
    """The list with these statuses."""
    return plan_updated(action, *ITEMS[: len(statuses)], statuses=statuses)


def step(text='{"action": "read_doc"}'):
    """A model call for the next action."""
    return model_turn(text, purpose="step")


FAST = PhaseStarted(name="fast")
REPLAN = PhaseStarted(name="replan")
ACTION = tool_use("read_doc", source="json_action")
DONE = [todo("create", "pending"), todo("start", "running"), todo("finish", "done")]


def test_cp1_fast_path():
    """One tool on the fast path keeps CP1; a plan or a second tool breaks it; the full path is free."""
    planned = make_trace(FAST, model_turn(purpose="plan"), answer("x"))

    assert ["kept"] == reasons(check(fast_path_is_short, make_trace(FAST, ACTION, answer("x"))))
    assert ["a plan is made on the fast path"] == reasons(check(fast_path_is_short, planned))
    assert ["a plan is made on the fast path"] == reasons(check(fast_path_is_short, make_trace(FAST, DONE)))
    assert ["2 tool calls on the fast path"] == reasons(check(fast_path_is_short, make_trace(FAST, ACTION, ACTION)))
    assert ["vacuous"] == reasons(check(fast_path_is_short, make_trace(PhaseStarted(name="plan"), ACTION, ACTION)))


def test_cp2_forward():
    """Items that run one by one to their end keep CP2."""
    trace = make_trace(
        todo("create", "pending", "pending"), todo("start", "running", "pending"), todo("fail", "failed", "pending"),
        todo("replan", "failed", "dropped"),
    )  # fmt: skip

    assert ["kept"] == reasons(check(items_move_forward, trace))


def test_cp2_skips_and_crowds():
    """An item that is done without running, goes back, or runs beside another breaks CP2."""
    skipped = make_trace(todo("create", "pending"), todo("finish", "done"))
    back = make_trace(DONE, todo("start", "running"))
    crowd = make_trace(todo("create", "pending", "pending"), todo("start", "running", "running"))

    assert ["item 1 goes from pending to done"] == reasons(check(items_move_forward, skipped))
    assert ["item 1 goes from done to running"] == reasons(check(items_move_forward, back))
    assert ["items 1, 2 are running at once"] == reasons(check(items_move_forward, crowd))


def test_cp3_retries():
    """Three retries, and any number of steps that act, keep CP3; a fourth retry breaks it."""
    acting = make_trace([[step(), ACTION]] * 6, answer("x"))
    failing = [step("hm")] * 4

    assert ["kept"] == reasons(check(bounded_retries, acting))
    assert ["kept"] == reasons(check(bounded_retries, make_trace(failing, todo("fail", "failed"), step(), ACTION)))
    assert ["5 step calls in a row without a readable action"] == reasons(
        check(bounded_retries, make_trace(failing, step("hm")))
    )


def test_cp3_guessed_action():
    """An action that the reply does not name is a guess."""
    assert ["read_doc is run, which the reply does not name"] == reasons(
        check(bounded_retries, make_trace(step("{broken"), ACTION))
    )


def test_cp3_guessed_arguments():
    """Arguments stand word for word in an object of the reply, whatever stands before it; others are a guess."""
    acted = tool_use("read_doc", {"name": "alpha\n"}, source="json_action")
    given = 'As {asked}: {"action": "read_doc", "args": {"name": "alpha\n"}}'

    assert ["kept"] == reasons(check(bounded_retries, make_trace(step(given), acted)))
    for other in ('{"action": "read_doc", "args": "alpha"}', "{{" * 60 + given, "I run read_doc on alpha."):
        assert ["read_doc is run with arguments that the reply does not give"] == reasons(
            check(bounded_retries, make_trace(step(other), acted))
        )


def test_cp4_replans():
    """A replan after a failed item that keeps what is done keeps CP4."""
    trace = make_trace(
        model_turn(), todo("fail", "done", "failed"), REPLAN,
        plan_updated("replan", *ITEMS, "ask again", statuses=["done", "failed", "pending"]),
    )  # fmt: skip

    assert ["kept"] == reasons(check(replans_with_cause, trace))
    assert ["vacuous"] == reasons(check(replans_with_cause, make_trace(model_turn(), DONE)))


def test_cp4_without_cause_too_often_and_forgetful():
    """A replan without a failure, a third one, and one that loses finished items break CP4."""
    idle = make_trace(model_turn(), DONE, REPLAN)
    twice = make_trace(model_turn(), todo("fail", "failed"), REPLAN, REPLAN)
    often = make_trace(model_turn(), plan_updated("fail", "a", "b", "c", statuses=["failed"] * 3), [REPLAN] * 3)
    forgetful = make_trace(
        model_turn(), todo("fail", "done", "failed"), plan_updated("replan", "new", statuses=["pending"])
    )

    assert ["the plan is made anew though no further item failed"] == reasons(check(replans_with_cause, idle))
    assert ["the plan is made anew though no further item failed"] == reasons(check(replans_with_cause, twice))
    assert ["the plan is made anew 3 times, at most 2"] == reasons(check(replans_with_cause, often))
    assert ["the finished item “read the Alpha document” is lost in the new plan"] == reasons(
        check(replans_with_cause, forgetful)
    )


def test_cp5_nothing_open():
    """An answer after everything ended, naming what failed, keeps CP5."""
    failed = todo("fail", "done", "failed")

    assert ["kept"] == reasons(
        check(nothing_left_open, make_trace(failed, answer("Could not read the Beta document.")))
    )
    assert ["vacuous"] == reasons(check(nothing_left_open, make_trace(answer("x"))))


def test_cp5_open_and_unnamed():
    """An open item, and a failed one that the answer is silent about, break CP5."""
    assert ["answered with open items: 2"] == reasons(
        check(nothing_left_open, make_trace(todo("finish", "done", "pending"), answer("x")))
    )
    assert ["the failed item “read the Beta document” is not named in the answer"] == reasons(
        check(nothing_left_open, make_trace(todo("fail", "done", "failed"), answer("Alpha has 120 000 EUR.")))
    )


def test_legs_without_plan_or_phase():
    """A leg that has neither a plan nor a phase of its own is asked without harm."""
    legs = [make_trace(FAST, DONE[0]), make_trace(answer("x"))]

    assert ["a plan is made on the fast path"] == reasons(check(fast_path_is_short, legs))
    assert ["kept"] == reasons(check(items_move_forward, legs))
