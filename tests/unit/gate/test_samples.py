"""Rates of new recordings against accepted ones: which test is asked, how they are corrected, and what they can see."""

from __future__ import annotations

from math import comb

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gate.samples import ALPHA
from harness.records.decision import Decision, Statistic
from harness.records.finding import Finding
from harness.stats import holm

from .verdicts import accepted, judged, record, runs, scripted, told, verdict

SEVEN = [f"S{n}" for n in range(7)]


def decided(outcomes: dict[str, tuple[str, str]], **manifest) -> Decision:
    """What the gate says of these outcomes; figures are the same on both sides."""
    now, then = runs(outcomes)
    return judged(msgspec.structs.replace(now, manifest=manifest), then)


def of_rates(decision: Decision) -> list[Statistic]:
    """Tests of how often contracts broke."""
    return [one for one in decision.statistics if one.figure is None]


def test_single_recordings_are_tested_over_the_cases_by_mcnemar() -> None:
    """Five cases lost and none gained has a chance of 1 in 32: together a regression, though none alone could be one."""
    decision = decided(dict.fromkeys(SEVEN[:5], ("k", "b")) | dict.fromkeys(SEVEN[5:], ("k", "k")))

    (test,) = of_rates(decision)
    assert ("mcnemar", 7, 5, 0, 1 / 32, "worse") == (
        test.test, test.cases, test.lost, test.gained, test.p_value, test.outcome,
    )  # fmt: skip
    assert (1, 5) == (decision.exit_code, [change.change for change in decision.changes].count("regression"))
    assert (
        "it did (broken in 1 of 1 recordings, 0 of 1 accepted; over 7 cases of the set worse by 71%, "
        "McNemar's exact test p = 0.031, Holm 0.031)"
    ) == decision.changes[0].because


def test_four_lost_cases_are_inconclusive() -> None:
    """One in 16 is not one in 20; what would settle it is said, and so is what so few cases can see."""
    decision = decided(dict.fromkeys(SEVEN[:4], ("k", "b")) | dict.fromkeys(SEVEN[4:], ("k", "k")))

    (test,) = of_rates(decision)
    assert (5, 3, "inconclusive", 1 / 16) == (decision.exit_code, decision.needs_trials, test.outcome, test.p_value)
    assert 0.5 < test.smallest_detectable < 1
    assert test.needs_trials is not None


def test_gains_are_weighed_against_losses() -> None:
    """Five lost beside five gained is no worsening of the set, though each lost case stays open."""
    decision = decided({f"L{n}": ("k", "b") for n in range(5)} | {f"G{n}": ("b", "k") for n in range(5)})

    (test,) = of_rates(decision)
    assert (0.0, "not_worse", 5) == (test.effect, test.outcome, decision.exit_code)


def test_several_recordings_are_tested_by_permutation_within_each_case() -> None:
    """Two of three cases that lose a recording or two: the labels are shuffled within each case alone."""
    decision = decided({"S1": ("kkk", "kbb"), "S2": ("kkkk", "kbbb"), "S3": ("kk", "kk")})

    over_all = of_rates(decision)[0]
    assert ("permutation", 3, None) == (over_all.test, over_all.cases, over_all.lost)
    assert over_all.p_value == pytest.approx(
        comb(3, 2) / comb(6, 2) * comb(4, 3) / comb(8, 3), rel=0.3
    )  # the most extreme split of each, and those as extreme beside it
    assert 1 == decision.exit_code


def test_the_lady_tasting_tea() -> None:
    """One case alone is Fisher's exact test: 1 in 70 for four of four, 17 in 70 for at least three."""
    assert [1 / 70, 17 / 70] == pytest.approx(
        [of_rates(decided({"S1": sides}))[0].p_value for sides in (("kkkk", "bbbb"), ("kkkb", "kbbb"))]
    )


def test_holm_corrects_every_test_that_could_have_been_significant() -> None:
    """Cases with enough broken recordings are tests of their own; those that could prove nothing are none."""
    decision = decided({"S1": ("kkkk", "bbbb"), "S2": ("kkkk", "kkbb"), "S3": ("k", "b")})

    tests = of_rates(decision)
    assert ["", "S1"] == [test.case for test in tests]
    assert holm([test.p_value for test in tests]) == tuple(test.p_adjusted for test in tests)


def test_a_test_that_could_prove_nothing_makes_no_other_harder() -> None:
    """Contracts that broke once are no chance of a false alarm: six lost cases stay a regression beside three of them."""
    once = {"S0": ("CX1", "A"), "S1": ("CX1", "B"), "S2": ("CX1", "C")}
    broken = {case: once.get(case, ("CX1",)) for case in SEVEN[:6]} | {SEVEN[6]: ()}
    now = record(*(verdict(case, *names, cassette_digest=f"b{case}") for case, names in broken.items()))
    decision = judged(now, accepted(*(verdict(case, cassette_digest=f"a{case}") for case in SEVEN)))

    tests = {test.contract: test for test in of_rates(decision)}
    assert (1, 1 / 64, 2 / 64) == (decision.exit_code, tests["CX1"].p_value, tests["CX1"].p_adjusted)
    assert (0.5, None) == (tests["A"].p_value, tests["A"].p_adjusted)


def test_more_tests_make_each_harder() -> None:
    """Three of three broken is significant alone, and not among three such cases of other sets that got better."""
    alone = decided({"S1": ("kkk", "bbb")})
    among = decided({"S1": ("kkk", "bbb"), "S2": ("bbb", "kkk"), "S3": ("bbb", "kkk")})

    assert (1, 5) == (alone.exit_code, among.exit_code)


def test_a_scripted_trial_is_in_no_statistic() -> None:
    """However many of them break: a script has no luck."""
    names = [f"S{n}" for n in range(9)]
    now = record(*(scripted(case, "CX1", cassette_digest=f"b{case}") for case in names))
    decision = judged(now, accepted(*(scripted(case, cassette_digest=f"a{case}") for case in names)))

    assert (1, (), ()) == (decision.exit_code, decision.statistics, decision.samples)


def test_another_scripted_trial_is_no_sample_either() -> None:
    """One more trial of a script than was accepted is new, and must be kept."""
    then = accepted(scripted(cassette_digest="a"))
    decision = judged(record(scripted(cassette_digest="a"), scripted("S1", "CX1", trial=1, cassette_digest="b")), then)

    assert (1, ()) == (decision.exit_code, decision.samples)
    assert ("CX1", "new", "unknown", 1) in told(decision)


def test_a_replay_of_an_accepted_recording_is_in_no_statistic() -> None:
    """Replayed a hundred times it stays the one sample that it is: compared exactly, and counted nowhere."""
    then = accepted(*(verdict(case) for case in SEVEN))
    decision = judged(record(*(verdict(case, "CX1") for case in SEVEN)), then)

    assert (1, (), ()) == (decision.exit_code, decision.statistics, decision.samples)
    assert {("CX1", "regression", "unknown", 1)} == set(told(decision))


def test_an_accepted_recording_under_another_number_is_no_fresh_sample() -> None:
    """Renaming a cassette to the next trial gives nobody a second sample."""
    then = accepted(verdict(trial=0, cassette_digest="a"), verdict(trial=1, cassette_digest="b"))
    decision = judged(record(verdict(trial=0, cassette_digest="b"), verdict(trial=1, cassette_digest="a")), then)

    assert (0, ()) == (decision.exit_code, decision.samples)


def test_copies_of_an_accepted_recording_do_not_stand_for_the_others() -> None:
    """The best recording under every number hides what became of those that were accepted beside it."""
    then = accepted(*(verdict(trial=n, cassette_digest=f"a{n}") for n in range(3)))
    decision = judged(record(*(verdict(trial=n, cassette_digest="a0") for n in range(3))), then)

    assert [("", "missing", "cassette", 1)] == told(decision)
    assert "its 3 trials hold 1 different recordings; 3 were accepted" == decision.changes[0].because


def test_fewer_different_recordings_than_accepted_stay_open() -> None:
    """A model that was recorded anew and repeated itself gave one sample, which is not what two were."""
    then = accepted(*(verdict(trial=n, cassette_digest=f"a{n}") for n in range(2)))
    repeated = judged(record(*(verdict(trial=n, cassette_digest="b") for n in range(2))), then)
    twice = judged(record(*(verdict(trial=n, cassette_digest=f"b{n}") for n in range(2))), then)

    assert (5, 0) == (repeated.exit_code, twice.exit_code)


def test_copies_that_were_accepted_as_such_are_no_loss() -> None:
    """A model without chance repeats itself, then as now."""
    then = accepted(*(verdict(trial=n, cassette_digest="a") for n in range(2)))

    assert 0 == judged(record(*(verdict(trial=n, cassette_digest="b") for n in range(2))), then).exit_code


@pytest.mark.parametrize("order", [1, -1])
def test_what_any_trial_of_a_new_recording_broke_counts(order: int) -> None:
    """Two trials of one recording that judges saw differently are one sample, and never the better of the two."""
    then = accepted(*(verdict(trial=n, cassette_digest="a") for n in range(2)))
    now = [verdict(trial=0, cassette_digest="b"), verdict("S1", "CX1", trial=1, cassette_digest="b")][::order]
    decision = judged(record(*now), then)

    assert ("CX1", "flaky", "cassette", 5) in told(decision)
    assert [(0, 1)] == [(one.after.kept, one.after.trials) for one in decision.samples]


@pytest.mark.parametrize("order", [1, -1])
def test_what_any_trial_of_an_accepted_recording_broke_counts(order: int) -> None:
    """The same of what was accepted, in whatever order its trials stand."""
    trials = [0, 1][::order]
    then = accepted(
        verdict("S1", "CX1", trial=trials[0], cassette_digest="a"), verdict(trial=trials[1], cassette_digest="a")
    )
    decision = judged(record(*(verdict("S1", "CX1", trial=n, cassette_digest="b") for n in range(2))), then)

    assert ("CX1", "still_broken", "cassette", 0) in told(decision)


def test_a_judge_that_is_asked_again_is_no_fresh_sample() -> None:
    """Another word of a judge on the same recording is open, not a regression, and counts as no sample."""
    finding = Finding(contract="rubric", state="broken", because="too long", judged_by="local")
    kept, lock = Finding(contract="rubric", state="kept", judged_by="local"), verdict().lock
    then = accepted(verdict(findings=(kept,), lock=msgspec.structs.replace(lock, judge="j1")))
    fields = {"verdict": "broken", "findings": (finding,)}
    anew = judged(record(verdict(lock=msgspec.structs.replace(lock, judge="j2"), **fields)), then)
    replayed = judged(record(verdict(lock=msgspec.structs.replace(lock, judge="j1"), **fields)), then)

    assert ([("rubric", "flaky", "judge", 5)], ()) == (told(anew), anew.samples)
    assert [("rubric", "regression", "unknown", 1)] == told(replayed)


def test_answers_of_somebody_else_are_not_compared() -> None:
    """A script in place of a model, or a model in place of a script, proves nothing of either."""
    then = accepted(verdict())
    decision = judged(record(verdict(provenance="live", cassette_digest="d2")), then)

    assert (3, "answered by live, and by local when it was accepted") == (
        decision.exit_code, decision.changes[0].because,
    )  # fmt: skip


def test_families_widen_what_is_said_of_other_questions() -> None:
    """Six cases that are two questions in three languages have a larger standard error than six questions."""
    outcomes = {f"{q}-{lang}": ("k", "b" if q == "Q1" else "k") for q in ("Q1", "Q2") for lang in ("de", "en", "pt")}
    families = {"shared": {case: case[:2] for case in outcomes}}
    apart, together = of_rates(decided(outcomes))[0], of_rates(decided(outcomes, families=families))[0]

    assert (6, 2) == (apart.families, together.families)
    assert apart.standard_error < together.standard_error
    assert apart.p_value == together.p_value


def test_each_case_has_its_rates_and_how_much_it_flickers() -> None:
    """Kept and trials with Wilson's interval on both sides; one recording says nothing of flickering."""
    decision = decided({"S1": ("kkk", "kkb"), "S2": ("k", "b")})

    first, second = decision.samples
    assert (3, 3, 2, 3, pytest.approx(2 / 3)) == (
        first.before.kept, first.before.trials, first.after.kept, first.after.trials, first.flakiness,
    )  # fmt: skip
    assert pytest.approx([0.2077, 0.9385], abs=1e-4) == [first.after.interval.lo, first.after.interval.hi]
    assert second.flakiness is None


def test_a_quarantined_contract_proves_nothing_against_others() -> None:
    """What an entry excuses is in no test, so that it cannot make another contract red."""
    from datetime import date

    from harness.config import Quarantine

    now, then = runs({f"S{n}": ("k", "b") for n in range(8)})
    entry = Quarantine(contract="CX1", case="*", owner="v", reason="r", expires=date(2030, 1, 1))
    decision = judged(now, then, quarantine=(entry,))

    assert (0, "not_worse") == (decision.exit_code, of_rates(decision)[0].outcome)


sides = st.integers(1, 3).flatmap(
    lambda n: st.tuples(st.text("kb", min_size=n, max_size=n), st.text("kb", min_size=n, max_size=3))
)


@given(st.dictionaries(st.sampled_from(SEVEN), sides, min_size=1, max_size=4))
def test_a_regression_is_always_significant_and_a_pass_never_worse(outcomes: dict[str, tuple[str, str]]) -> None:
    """Exit 1 needs an adjusted p-value within the limit; exit 0 means that no case got worse; else it is open."""
    decision = decided(outcomes)

    worse = [test for test in decision.statistics if test.outcome == "worse"]
    assert all(test.p_value <= test.p_adjusted <= ALPHA for test in worse)
    got_worse = any(now.count("b") * len(then) > then.count("b") * len(now) for then, now in outcomes.values())
    assert (decision.exit_code == 0) == (not got_worse)
    assert (decision.exit_code == 1) <= bool(worse)


@given(st.dictionaries(st.sampled_from(SEVEN), sides, min_size=1, max_size=4), st.sampled_from(SEVEN))
def test_one_more_broken_recording_never_makes_it_green(outcomes: dict[str, tuple[str, str]], case: str) -> None:
    """Breaking one more recording of a case never turns exit 1 or 5 into 0."""
    then, now = outcomes.get(case, ("k", "k"))
    worse = outcomes | {case: (then, now.replace("k", "b", 1))}

    assert decided(outcomes | {case: (then, now)}).exit_code == 0 or decided(worse).exit_code != 0
