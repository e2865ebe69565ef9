"""CD8–CD11: what the loop asks, with which settings, and what verifiers may do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from harness.contracts.deep_think_calls import (
    parallel_rounds,
    plan_is_used,
    settings_by_stage,
    verifiers_only_judge,
)
from harness.records.case import Leg
from harness.records.trace import ConfigResolved, FallbackUsed, StateSaved, Warned
from harness.testing.builders import check, make_case, make_event, model_turn, reasons

from .deep_traces import (
    FIXED,
    GOOD,
    ONE,
    PARALLEL,
    STARTED,
    TWO,
    ask,
    corrected,
    passes,
    resumed,
    run,
    solution,
    solved,
    summed_up,
    verdict,
    verified,
    verifier,
)

PLANNING = {**STARTED, "config": {"enable_planning": True}}
PLAN = "Count, then check."
PLANNED = {"plan": PLAN}
ASKED_FOR = {"instruction": "Make a plan."}


def plan(text=PLAN, **fields):
    """The call for a plan."""
    return ask("plan", text, **({"embeds": ASKED_FOR} | fields))


def planned(*steps, started=PLANNING):
    """A run with planning on."""
    return run(*steps, started=started)


def test_cd8_the_plan_is_shown():
    """One plan that every later call of the solver is shown keeps CD8; so does none where planning is off, or failed."""
    steps = [plan(), solved(embeds=PLANNED), verified(1, 0), corrected(1, embeds=PLANNED)]

    assert ["kept"] == reasons(check(plan_is_used, planned(*steps)))
    assert ["kept"] == reasons(check(plan_is_used, planned(plan(error="server_error"), plan(), solved(embeds=PLANNED))))
    assert ["kept"] == reasons(check(plan_is_used, planned(plan(error="server_error"), solved())))
    assert ["vacuous"] == reasons(check(plan_is_used, run(*GOOD)))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([solved()], "planning is on, and no plan is asked for"),
        ([plan(), solved()], "the call for solve is not shown the plan"),
        ([plan(), solved(embeds={"plan": "?"})], "the call for solve is shown another plan than was made"),
        (
            [plan(), solved(embeds=PLANNED), verified(1, 0), corrected(1)],
            "the call for correct is not shown the plan",
        ),
        ([plan(), plan(), solved(embeds=PLANNED)], "2 plans are made, expected one"),
        ([solved(embeds=PLANNED), plan()], "the plan is made after the first solution"),
        ([plan(embeds={}), solved(embeds=PLANNED)], "the plan is asked for without the instruction"),
        (
            [plan(embeds={"problem": None}), solved(embeds=PLANNED)],
            "the plan is asked for without the problem and the instruction",
        ),
    ],
)
def test_cd8_the_plan_is_ignored(steps, because):
    """No plan, a second one, one that is made late, of nothing or for nothing breaks CD8."""
    assert because in reasons(check(plan_is_used, planned(*steps)))


def test_cd8_planning_is_off():
    """A plan that nobody asked for breaks CD8."""
    assert ["a plan is asked for, and planning is off"] == reasons(check(plan_is_used, run(plan(), solved())))


def test_cd8_over_legs():
    """A resumed leg shows the saved plan, and makes one of its own only where none was saved."""
    case = make_case(legs=(Leg(stop_after={"state_saved": 1}), Leg(resume=True)))
    saved = StateSaved(session_id="session", digest="d", parts={})
    first = planned(plan(), saved, solved(embeds=PLANNED))
    lost = planned(plan("Guess."))
    again = resumed(plan(), solved(embeds=PLANNED), enable_planning=True)

    goes_on = resumed(corrected(1, embeds=PLANNED), enable_planning=True)
    assert ["kept"] == reasons(check(plan_is_used, [first, goes_on], case))
    assert ["the call for correct is not shown the plan"] == reasons(
        check(plan_is_used, [first, resumed(corrected(1), enable_planning=True)], case)
    )
    assert ["kept"] == reasons(check(plan_is_used, [lost, again], case))
    assert ["2 plans are made, expected one"] == reasons(check(plan_is_used, [first, again], case))


def test_a_run_does_not_settle_its_own_options():
    """What a design says of its options excuses nothing: planning that is switched on stays on."""
    told = ConfigResolved(key="enable_planning", asked=True, used=False, why="not today")

    assert ["planning is on, and no plan is asked for"] == reasons(check(plan_is_used, planned(told, solved())))


def staged(**models):
    """A run with these models of stages."""
    return {**STARTED, "config": {"model_stages": models}}


def test_cd9_by_stage():
    """The model of the stage, or one default for all others, with the settings of the nodes, keeps CD9."""
    steps = [solved(), verifier(1, model="judge")]

    assert ["kept"] == reasons(check(settings_by_stage, run(*FIXED)))
    assert ["kept"] == reasons(check(settings_by_stage, run(*steps, started=staged(verification="judge"))))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([verifier(1)], "the verification uses model, its stage names judge"),
        ([solved(), solved(model="other")], "the initial uses other, the default is model"),
        (
            [solved(params={"temperature": 0.2, "max_tokens": 2000})],
            "the initial has temperature 0.2, its node states 0.7",
        ),
        ([solved(params={"temperature": 0.7})], "the initial has max_tokens None, its node states 2000"),
        ([model_turn("?", stage="thinking")], "the stage `thinking` is none of the design's"),
    ],
)
def test_cd9_other_settings(steps, because):
    """The solver's model for a verifier, two defaults, other temperatures and unknown stages break CD9."""
    assert because in reasons(check(settings_by_stage, run(*steps, started=staged(verification="judge"))))


def test_cd9_general_settings_fill_gaps():
    """What the nodes do not state comes from the general settings."""
    started = {**STARTED, "config": {"llm_params": {"top_p": 0.5, "temperature": 1.0}}}
    filled = {"temperature": 0.7, "max_tokens": 2000, "top_p": 0.5}

    assert ["kept"] == reasons(check(settings_by_stage, run(solved(params=filled), started=started)))
    assert ["the initial has top_p None, the general settings state 0.5"] == reasons(
        check(settings_by_stage, run(solved(), started=started))
    )


def test_cd9_a_model_that_refuses_them():
    """A temperature is left out where the model thinks natively and the run says so, and nowhere else."""
    told = ConfigResolved(key="temperature of initial", asked=0.7, used=None, why="m takes no temperature")
    bare = {"params": {"max_tokens": 2000}}
    because = ["the initial has temperature None, its node states 0.7"]

    other = ConfigResolved(key="max_iterations", asked=30, used=None)

    assert ["kept"] == reasons(check(settings_by_stage, run(told, solved(**bare, capability="adaptive"))))
    assert because == reasons(check(settings_by_stage, run(other, solved(**bare, capability="adaptive"))))
    assert because == reasons(check(settings_by_stage, run(told, solved(**bare))))
    assert because == reasons(check(settings_by_stage, run(solved(**bare, capability="adaptive"))))


def at_once(*rows, number=1):
    """The events of verifiers that begin together, then end, then are judged; *rows* are counts, 0 for a failure."""
    made = [verifier(number, bool(count), index=n) for n, count in enumerate(rows)]
    judged = [verdict(number, count, index=n, of=len(rows)) for n, count in enumerate(rows)]
    return [spanned(made), judged]


def spanned(pairs):
    """Calls first, results after; each pair shares a span."""
    calls, results = [], []
    for n, (called, result) in enumerate(pairs):
        place = {"span": f"v{called.round}-{n}", "round": called.round}
        calls.append(make_event(called.data, **place))
        results.append(make_event(replace(result.data, call_span=place["span"]), **place))
    return [*calls, *results]


def parallel(*steps, **config):
    """A run whose rounds are parallel."""
    return run(solved(), *steps, started={**PARALLEL, "config": {"enable_parallel_check": True, **config}})


def test_cd10_at_once():
    """Three verifiers that begin together and all pass keep CD10; so does a round that fails and is corrected after."""
    assert ["kept"] == reasons(check(parallel_rounds, parallel(at_once(1, 2, 3), summed_up())))
    assert ["kept"] == reasons(check(parallel_rounds, parallel(at_once(1, 0, 0), corrected(1))))
    assert ["vacuous"] == reasons(check(parallel_rounds, run(*GOOD)))


def test_cd10_one_after_the_other():
    """Once the provider failed verifiers that ran at once, they may be asked one by one; without that it breaks CD10."""
    gave_up = FallbackUsed(origin="parallel", to="serial", reason="server_error")

    failed = ask("verify", error="server_error", number=1, slot="verify/1/0")

    assert ["kept"] == reasons(check(parallel_rounds, parallel(failed, gave_up, *passes(), summed_up())))
    for steps in (passes(), [gave_up, *passes()]):  # nobody failed, whatever is said
        assert "round 1 asks one verifier, and no parallel round failed before" in reasons(
            check(parallel_rounds, parallel(*steps, summed_up()))
        )


@pytest.mark.parametrize(
    ("steps", "config", "because"),
    [
        ([at_once(1, 2)], {}, "round 1 has 2 verifiers and 2 verdicts, required are 3"),
        ([at_once(1, 2, 3)[0], verdict(1, 1, of=3)], {}, "round 1 has 3 verifiers and 1 verdicts, required are 3"),
        ([at_once(1, 2, 3)], {"max_parallel": 2}, "3 verifiers of round 1 run at once, max_parallel is 2"),
        (
            [[verifier(1, index=n) for n in range(3)], at_once(1, 2, 3)[1]], {},
            "the verifiers of round 1 run 1 at a time, not 3",
        ),
        ([at_once(1, 0, 3)], {}, "one of round 1 failed, yet the count is 3"),
        ([at_once(1, 2, 2)], {}, "all of round 1 passed, yet the count is 2"),
    ],
)  # fmt: skip
def test_cd10_not_all(steps, config, because):
    """A verifier left out, too many at a time, one after the other, or a majority vote breaks CD10."""
    assert because in reasons(check(parallel_rounds, parallel(*steps, **config)))


def test_cd10_corrects_too_soon():
    """A correction that begins before the last verifier has spoken breaks CD10."""
    calls, judged = at_once(1, 0, 0)
    trace = parallel(calls[:5], ask("correct", "?", number=1, slot="correct/1"), calls[5:], judged)

    assert ["the correction begins before round 1 is over"] == reasons(check(parallel_rounds, trace))


def test_cd10_two_at_a_time():
    """With room for two a round of three runs two at a time."""
    calls, judged = at_once(1, 2, 3)
    steps = [calls[0], calls[1], calls[3], calls[2], calls[4], calls[5], judged]

    assert ["kept"] == reasons(check(parallel_rounds, parallel(*steps, max_parallel=2)))


def test_cd11_verifiers_judge():
    """Verifiers and a summary without tools, and solutions that solvers said, keep CD11."""
    assert ["kept"] == reasons(check(verifiers_only_judge, run(*FIXED)))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([solved(), verifier(1, tools=["search"])], "the verify call is offered search"),
        ([ask("summary", "9", tools=["search"])], "the summary call is offered search"),
        ([solved(), verifier(1, embeds={"issues": "- [gap] x"})], "the verifier is shown the issues"),
        (
            [solved(), verifier(1), verifier(2, messages_digest="other")],
            "two verifiers of one solution are shown different messages",
        ),
        (
            [solved(), verifier(1), verifier(2, text=TWO, n_messages=4)],
            "a verifier is shown 4 messages, the one before 2",
        ),
        ([solved(), verifier(1, reply=TWO), solution(TWO, "correct")], "the solution is no reply of the solver"),
        ([solution(ONE), ask("solve", ONE)], "the solution is no reply of the solver"),
        ([ask("correct", ONE), solution(ONE)], "the solution is said to come from solve, and comes from correct"),
    ],
)
def test_cd11_verifiers_meddle(steps, because):
    """Tools, other reports, and a solution out of a verifier's mouth break CD11."""
    assert because in reasons(check(verifiers_only_judge, run(*steps)))


def test_cd11_a_reply_of_an_earlier_leg():
    """A later leg may reuse a solver's reply word for word."""
    again = run(Warned(code="cached_reply", detail="initial"), solution())

    assert ["kept"] == reasons(check(verifiers_only_judge, [run(*GOOD), again], make_case(legs=(Leg(), Leg()))))


def test_cd10_a_round_that_is_cut_off():
    """A leg that the case stops inside a round is not asked for the rest of it."""
    case = make_case(legs=(Leg(stop_after={"verification": 1}), Leg(resume=True)))
    trace = parallel(at_once(1, 2, 3)[0], verdict(1, 1, of=3))

    assert ["vacuous"] == reasons(check(parallel_rounds, trace, case))
