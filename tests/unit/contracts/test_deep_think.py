"""CD1–CD7: the loop that solves, verifies and corrects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.deep_think import (
    bounded,
    enough_passes,
    failure_starts_over,
    failures_are_corrected,
    one_graph,
    strict_verdicts,
    whole_solution,
)
from harness.contracts.verdicts import read_verdict
from harness.records.case import Leg
from harness.records.trace import Issue
from harness.testing.builders import answer, check, make_case, reasons

from .deep_traces import (
    FAILED,
    FIXED,
    FLAW,
    GOOD,
    ONE,
    QUESTION,
    STARTED,
    TWO,
    ask,
    corrected,
    error,
    passes,
    phase,
    resumed,
    run,
    said,
    solution,
    solved,
    summed_up,
    verdict,
    verified,
    verifier,
)

LEGS = make_case(legs=(Leg(stop_after={"verification": 1}), Leg(resume=True)))


@pytest.mark.parametrize(
    "trace",
    [
        run(*GOOD),
        run(*FIXED),
        run(phase("plan"), *GOOD),
        run(solved(), phase("improve"), *passes(), summed_up()),
        run(solved(), finished=FAILED),
    ],
)
def test_cd1_the_graph(trace):
    """Runs along the graph keep CD1: straight through, with a correction, with a plan, improved, and cut short."""
    assert ["kept"] == reasons(check(one_graph, trace))


def test_cd1_a_resumed_leg_goes_on_where_it_stopped():
    """After a state was loaded any phase may follow init, and the graph holds from there."""
    legs = [run(solved(), verified(1, 0), finished={"status": "cancelled"}), resumed(corrected(1), *passes(first=2))]

    assert ["the run is completed after verify, without a summary"] == reasons(check(one_graph, legs, LEGS))
    assert ["init follows init"] == reasons(check(one_graph, run(phase("init", "correct"))))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([solved(), verified(1, 0), corrected(1), *solved()], "solve follows correct"),
        ([solved(), summed_up()], "summary follows solve"),
        ([solved(), *passes(), summed_up(), phase("verify")], "verify follows summary"),
        ([solved(), *passes()], "the run is completed after verify, without a summary"),
        ([solved(), *passes(1), summed_up()], "the summary comes after 1 passes in a row"),
        ([solved(), *passes(1), corrected(1)], "a solution that passed is corrected"),
        ([solved(), verified(1, 0), verified(2, 1)], "a solution that failed is verified again without a correction"),
        ([phase("think"), *GOOD], "think follows init"),
    ],
)
def test_cd1_another_way(steps, because):
    """Re-solving after a correction, summing up too early, and any other step off the graph break CD1."""
    assert because in reasons(check(one_graph, run(*steps)))


def test_cd1_begins_with_init():
    """A run that begins elsewhere breaks CD1."""
    trace = run(*GOOD)
    late = type(trace)(tuple(event for event in trace.events if event.data != phase("init")[0]))

    assert ["the run begins with solve, not with init"] == reasons(check(one_graph, late))


def test_cd2_three_passes():
    """Three passes of one solution, each from its own call, keep CD2; a failed run is not asked."""
    assert ["kept"] == reasons(check(enough_passes, run(*GOOD)))
    assert ["kept"] == reasons(check(enough_passes, run(*FIXED)))
    assert ["vacuous"] == reasons(check(enough_passes, run(solved(), verified(1, 0), answer("?"), finished=FAILED)))


def test_cd2_too_few():
    """Two verdicts for three, a failure among the last three, or passes of two texts break CD2."""
    mixed = [verified(1, 1), verified(2, 0), corrected(2), verified(3, 2, text=TWO), summed_up(TWO)]
    texts = [verified(1, 1), verified(2, 2), verified(3, 3, text=TWO), summed_up(TWO)]

    assert ["completed after 2 verdicts, required are 3"] == reasons(
        check(enough_passes, run(solved(), *passes(2), summed_up()))
    )
    assert "one of the last 3 verdicts is no pass" in reasons(check(enough_passes, run(solved(), *mixed)))
    assert ["the last 3 verdicts are on different solutions"] == reasons(check(enough_passes, run(solved(), *texts)))


def test_cd2_one_verdict_counted_twice():
    """Three verdicts that come from two model calls break CD2."""
    first = [*phase("verify"), *verifier(1), verdict(1, 1), verdict(2, 2)]
    trace = run(solved(), first, verified(3, 3), summed_up())

    assert ["3 verdicts come from 2 model calls"] == reasons(check(enough_passes, trace))


def test_cd2_over_legs():
    """The passes of an earlier leg count where the later one loaded its state, and are void where they are done again."""
    stopped = {"status": "cancelled"}
    saved = [run(solved(), *passes(2), finished=stopped), resumed(verified(3, 3), summed_up())]
    again = [run(solved(), *passes(2), finished=stopped), resumed(verified(2, 2), verified(3, 3), summed_up())]
    fresh = [run(solved(), *passes(2), finished=stopped), run(solved(), verified(1, 1), summed_up())]

    assert ["kept"] == reasons(check(enough_passes, saved, LEGS))
    assert ["kept"] == reasons(check(enough_passes, again, LEGS))
    assert ["completed after 1 verdicts, required are 3"] == reasons(check(enough_passes, fresh, LEGS))


def test_cd3_the_correction_is_verified():
    """A correction that was shown the issues and is what is verified next keeps CD3."""
    assert ["kept"] == reasons(check(failures_are_corrected, run(*FIXED)))
    assert ["vacuous"] == reasons(check(failures_are_corrected, run(*GOOD)))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([corrected(1), verified(2, 1)], "the text that failed is verified again"),
        ([solution(TWO, "correct"), verified(2, 1, text=TWO)], "no correction stands between a failed verdict"),
        ([corrected(1, issues="- [minor] tone"), verified(2, 1, text=TWO)], "the correction is not shown the issues"),
        (
            [corrected(1, "?"), solved(TWO), verified(2, 1, text=TWO)],
            "the correction is dropped: the solve is verified",
        ),
    ],
)
def test_cd3_the_correction_is_lost(steps, because):
    """The old text again, no correction, one without the issues, or a new solution instead of it breaks CD3."""
    found = reasons(check(failures_are_corrected, run(solved(), verified(1, 0), *steps)))

    assert [True] == [one.startswith(because) for one in found]


def test_cd3_issues_of_failed_verdicts_alone():
    """In a parallel round the solver is shown the issues of those that failed, and in their order."""
    other = Issue("gap", "", "step 2 is missing")
    judged = [
        verdict(1, 1, index=0, of=3),
        verdict(1, 0, index=1, of=3),
        verdict(1, 0, index=2, of=3, issues=(other,)),
    ]
    both = "1. [critical] step 1: the count is off\n2. [gap] step 2 is missing"
    right = run(solved(), *judged, corrected(1, issues=both), verified(2, 1, text=TWO))
    first = run(solved(), *judged, corrected(1), verified(2, 1, text=TWO))

    assert ["kept"] == reasons(check(failures_are_corrected, right))
    assert ["the correction is not shown the issues of the verdict"] == reasons(check(failures_are_corrected, first))


def test_cd3_over_legs():
    """A correction before or after the stop is found; one that is missing is not."""
    stopped = {"status": "cancelled"}
    before = [run(solved(), verified(1, 0), corrected(1), finished=stopped), resumed(verified(2, 1, text=TWO))]
    after = [run(solved(), verified(1, 0), finished=stopped), resumed(corrected(1), verified(2, 1, text=TWO))]
    never = [run(solved(), verified(1, 0), finished=stopped), resumed(verified(2, 1, text=TWO))]

    assert ["kept"] == reasons(check(failures_are_corrected, before, LEGS))
    assert ["kept"] == reasons(check(failures_are_corrected, after, LEGS))
    assert ["no correction stands between a failed verdict and the next one"] == reasons(
        check(failures_are_corrected, never, LEGS)
    )


def test_cd4_counts():
    """One more for each pass and 0 after a failure keep CD4, in serial and in parallel."""
    parallel = [verdict(1, 1, of=3), verdict(1, 0, of=3, index=1), verdict(1, 0, of=3, index=2, verdict="pass")]
    again = [verdict(2, n + 1, of=3, index=n) for n in range(3)]

    assert ["kept"] == reasons(check(failure_starts_over, run(*FIXED)))
    assert ["kept"] == reasons(check(failure_starts_over, run(*parallel, *again)))


def test_cd4_cumulative_counting():
    """Pass, fail, pass, pass counted as three breaks CD4, and so does a failure that does not take the count back."""
    cumulative = run(verdict(1, 1), verdict(2, 0), verdict(3, 2))
    kept_up = run(verdict(1, 1), verdict(2, 1, verdict="fail"))

    assert ["after a pass in round 3 the count is 2, not 1"] == reasons(check(failure_starts_over, cumulative))
    assert ["after a failed verdict in round 2 the count is 1, not 0"] == reasons(check(failure_starts_over, kept_up))


def test_cd4_over_legs():
    """A resumed leg goes on counting where the saved one stopped."""
    first = run(verdict(1, 1), finished={"status": "cancelled"})

    assert ["kept"] == reasons(check(failure_starts_over, [first, resumed(verdict(2, 2))], LEGS))
    assert ["after a pass in round 2 the count is 1, not 2"] == reasons(
        check(failure_starts_over, [first, resumed(verdict(2, 1))], LEGS)
    )


def failing(rounds, *, first=1):
    """Rounds that fail, each with its correction."""
    return [[verified(n, 0), corrected(n)] for n in range(first, first + rounds - 1)] + [
        verified(first + rounds - 1, 0)
    ]


def limited(**config):
    """A start with these limits."""
    return {**STARTED, "config": config}


def test_cd5_within_limits():
    """A run inside its limits, and one that ends honestly at either, keep CD5."""
    ending = summed_up(final="Unverified: 9", complete=False)
    errors = run(*failing(2), error("max_errors"), ending, started=limited(max_errors=2), finished=FAILED)
    rounds = run(*failing(2), error("max_iterations"), ending, started=limited(max_iterations=2), finished=FAILED)

    assert ["kept"] == reasons(check(bounded, run(*GOOD)))
    assert ["kept"] == reasons(check(bounded, errors))
    assert ["kept"] == reasons(check(bounded, rounds))


@pytest.mark.parametrize(
    ("steps", "config", "finished", "because"),
    [
        (failing(3), {"max_iterations": 2}, FAILED, "round 3 is verified, max_iterations is 2"),
        (failing(3), {"max_errors": 2}, FAILED, "the run goes on after 2 failures in a row"),
        ([*failing(2), verifier(3)], {"max_iterations": 2}, FAILED, "round 3 is verified, max_iterations is 2"),
        (failing(2), {"max_errors": 2}, None, "2 failures in a row end as completed"),
        ([verified(1, 1), verified(2, 2)], {"max_iterations": 2}, None, "2 rounds end as completed"),
        (failing(2), {"max_errors": 2}, FAILED, "2 failures in a row are told by 0 errors, expected one"),
        (
            [*failing(2), error("max_errors"), error("max_iterations")], {"max_errors": 2, "max_iterations": 2}, FAILED,
            "2 failures in a row are told by 2 errors, expected one",
        ),
        (
            [*failing(2), error("max_errors"), answer("9")], {"max_errors": 2}, FAILED,
            "after 2 failures in a row the answer is marked as complete",
        ),
        ([*failing(1), error("max_errors")], {}, FAILED, "the run gives up for max_errors, and did not come to it"),
        (
            [*failing(1), error("max_iterations")], {}, FAILED,
            "the run gives up for max_iterations, and did not come to it",
        ),
        ([verified(2, 1)], {}, None, "rounds are numbered [2], expected 1 to 1"),
    ],
)  # fmt: skip
def test_cd5_beyond_limits(steps, config, finished, because):
    """Rounds and failures beyond their limits, and exits that are not honest, break CD5."""
    trace = run(solved(), *steps, started=limited(**config), finished=finished)

    assert because in reasons(check(bounded, trace))


def test_cd5_the_last_round_may_be_enough():
    """A run that passes often enough in its last round is complete; one pass short of it is not."""
    enough = run(solved(), *passes(2), summed_up(), started=limited(max_iterations=2, required_verifications=2))
    short = run(solved(), *passes(2), summed_up(), started=limited(max_iterations=2, required_verifications=3))

    assert ["kept"] == reasons(check(bounded, enough))
    assert "2 rounds end as completed" in reasons(check(bounded, short))


def test_cd5_a_stopped_leg_has_not_ended():
    """A leg that the case cuts off is not asked for an ending; the one after it is."""
    config = {"max_errors": 1}
    first = run(solved(), verified(1, 0), started=limited(**config), finished={"status": "cancelled"})

    assert ["kept"] == reasons(check(bounded, first, LEGS))


def test_cd6_the_whole_solution():
    """A verifier that is shown the problem and the solution in force keeps CD6, over legs as well."""
    legs = [run(solved(), finished={"status": "cancelled"}), resumed(*passes())]

    assert ["kept"] == reasons(check(whole_solution, run(*FIXED)))
    assert ["kept"] == reasons(check(whole_solution, legs, LEGS))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([solved(), verifier(1, embeds={"solution": None})], "the verifier is not shown the solution"),
        ([solved(), verifier(1, text="")], "the verifier is shown an empty solution"),
        ([solution("", chars=0), verifier(1, text="")], "the verifier is shown an empty solution"),
        ([solved(), corrected(1), verifier(2)], "the verifier is shown another text than the solution in force"),
        ([solved(), verifier(1, text=ONE[:5])], "the verifier is shown another text than the solution in force"),
        ([solved(), verifier(1, embeds={"problem": None})], "the verifier is not shown the problem"),
        ([solved(), verifier(1, embeds={"problem": "?"})], "the verifier is shown another problem than was asked"),
        (
            [solved(), verifier(1), verdict(1, 1, text=TWO)],
            "the verdict is booked on another text than the verifier was shown",
        ),
    ],
)
def test_cd6_another_text(steps, because):
    """Nothing, a part, an older text, or another problem before the verifier breaks CD6."""
    assert because in reasons(check(whole_solution, run(*steps)))


def test_cd6_images_are_not_part_of_the_problem():
    """The problem is the text of the question; a placeholder for an image stands beside it, not in it."""
    started = {**STARTED, "content_parts": 2}
    beside = run(solved(), verifier(1), started=started)
    inside = run(solved(), verifier(1, embeds={"problem": f"{QUESTION} [image]"}), started=started)

    assert ["kept"] == reasons(check(whole_solution, beside))
    assert ["the verifier is shown another problem than was asked"] == reasons(check(whole_solution, inside))


def test_cd7_strict_verdicts():
    """Verdicts that follow from the replies keep CD7: stated, unreadable, and too late."""
    late = ask("verify", number=2, slot="verify/2/0", error="timeout")
    down = ask("verify", number=3, slot="verify/3/0", error="server_error")
    trace = run(
        *verified(1, 1), *late, verdict(2, 0, verdict="timeout"), *down, verdict(3, 0, verdict="unparsable"),
        *verifier(4, reply="Yes!"), verdict(4, 0, verdict="unparsable"),
    )  # fmt: skip

    assert ["kept"] == reasons(check(strict_verdicts, trace))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        (
            [verifier(1, reply="No, I cannot say yes."), verdict(1, 1)],
            "the reply states unparsable, the verdict is pass",
        ),
        ([verifier(1, reply=said(True, FLAW)), verdict(1, 1)], "the reply states fail, the verdict is pass"),
        ([verifier(1), verdict(1, 0)], "the reply states pass, the verdict is fail"),
        ([verifier(1), verdict(1, 1, passed=False)], "the verdict pass is counted as a failure"),
        (
            [verifier(1, reply="?"), verdict(1, 1, verdict="unparsable", passed=True)],
            "the verdict unparsable is counted as a pass",
        ),
        ([verdict(1, 1)], "no model call of its own stands behind the verdict verify/1/0"),
        ([verifier(1, passed=False), verdict(1, 0, issues=())], "a failed verdict names no issue"),
        (
            [verifier(1, passed=False), verdict(1, 0, issues=(Issue("minor", "", "a comma"),))],
            "the reply states “the count is off”, and no issue of the verdict says so",
        ),
        (
            [ask("verify", number=1, slot="verify/1/0", error="timeout"), verdict(1, 1)],
            "the reply states timeout, the verdict is pass",
        ),
    ],
)
def test_cd7_lenient_verdicts(steps, because):
    """A pass that the reply does not state, a verdict without a reply, and issues that are lost break CD7."""
    assert because in reasons(check(strict_verdicts, run(*steps)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"passed": true, "issues": []}', "pass"),
        ('```json\n{"passed": true}\n```', "pass"),
        ('{"passed": true, "issues": [{"severity": "minor", "what": "tone"}]}', "pass"),
        ('{"passed": true, "issues": [{"severity": "gap", "what": "step 2"}]}', "fail"),
        ('{"passed": false, "issues": []}', "fail"),
        ('{"passed": "yes"}', "unparsable"),
        ('{"issues": []}', "unparsable"),
        ("[true]", "unparsable"),
        ("All is well.\nVERDICT: PASS\n", "pass"),
        ("VERDICT: PASS\nNo: step 2 fails.\nVERDICT: FAIL", "fail"),
        ("VERDICT: PASS\nAnd one more thing.", "unparsable"),
        ("VERDICT: PASSED", "unparsable"),
        ("I say yes, it passed.", "unparsable"),
        ("", "unparsable"),
        ("[" * 15000, "unparsable"),
        ('{"passed": false, "passed": true}', "unparsable"),
        ('{"passed": true, "issues": "none"}', "unparsable"),
        ('{"passed": true, "issues": ["step 2"]}', "unparsable"),
        ('{"passed": true, "issues": [{"severity": "huge"}]}', "fail"),
        ("x" * 20000 + "\nVERDICT: PASS", "unparsable"),
        ("It holds.\n**VERDICT: PASS**", "pass"),
    ],
)
def test_the_strict_rule(text, expected):
    """Only a stated verdict counts; words, other types and cut texts do not."""
    assert expected == read_verdict(text)


@given(passed=st.lists(st.booleans(), min_size=1, max_size=8), at=st.integers(0, 7), off=st.sampled_from([-1, 1, 2]))
def test_cd4_nothing_but_the_passes_in_a_row(passed, at, off):
    """The law: the count is the number of passes since the last failure, and any other count breaks CD4."""
    counts = []
    for one in passed:
        counts.append((counts[-1] if counts else 0) + 1 if one else 0)
    wrong = [count + off if n == at % len(passed) else count for n, count in enumerate(counts)]

    def judged(told):
        rows = zip(passed, told, strict=True)
        return reasons(
            check(
                failure_starts_over,
                run(*(verdict(n, count, verdict="pass" if one else "fail") for n, (one, count) in enumerate(rows, 1))),
            )
        )

    assert ["kept"] == judged(counts)
    assert ["kept"] != judged(wrong)


@given(passed=st.lists(st.booleans(), min_size=3, max_size=8))
def test_cd2_nothing_but_three_in_a_row(passed):
    """The law: a completed run keeps CD2 just where its last three verdicts passed."""
    rounds = [verified(n, int(one), verdict="pass" if one else "fail") for n, one in enumerate(passed, 1)]
    found = reasons(check(enough_passes, run(solved(), *rounds, summed_up())))

    assert (["kept"] == found) == all(passed[-3:])
