"""Two designs head to head."""

from __future__ import annotations

from math import asin, pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare.pairs import COPIES, NOTHING_SHARED, SCRIPTED, UNPROVEN, pair_tests
from harness.stats import Pairs, Tally, clustered_interval, matched_smallest_detectable, paired_interval

from .builders import local, outcomes, rivals, verdict


def head_to_head(*verdicts, family_of="/".join):
    """The head-to-head tests of these verdicts."""
    groups, _ = rivals(*verdicts)
    return pair_tests(groups, family_of=family_of)


def test_single_trials_by_hand():
    """Ten cases: a alone keeps seven, b alone one, both one, neither one; p = 2 · (1 + 8) / 2⁸."""
    (test,) = head_to_head(
        *local("a", [True] * 7 + [False] + [True, False]), *local("b", [False] * 7 + [True] + [True, False])
    )

    assert (10, 10, 7, 1, 2) == (test.cases, test.tested, test.wins, test.losses, test.ties)
    assert ("mcnemar_exact", 18 / 256) == (test.test, test.p_value)
    assert 0.6 == test.effect
    assert tuple(paired_interval(Pairs(both=1, lost=1, gained=7, neither=1))) == (test.interval.lo, test.interval.hi)
    assert pytest.approx(2 * asin(0.8**0.5) - 2 * asin(0.2**0.5)) == test.effect_size
    assert (
        "inconclusive: p = 0.07 after Holm's adjustment, and not even the utmost difference would show" == test.because
    )


def test_what_would_show_is_said():
    """Eleven cases that both fail: only a wide difference would be seen, and 32 trials of each would see a tenth."""
    (test,) = head_to_head(*local("a", [False] * 11), *local("b", [False] * 11))

    assert (32, False, pytest.approx(0.622, abs=0.001)) == (test.needs_trials, test.told, test.smallest_detectable)
    assert test.because == (
        "inconclusive: p = 1 after Holm's adjustment, and only a difference of 62 points would show in four of five"
        " comparisons"
    )


def test_several_trials_are_permuted_within_their_case():
    """Two cases of three trials, each lost wholly: 2 · (1/20)² both ways."""
    (test,) = head_to_head(*local("a", [[True] * 3] * 2), *local("b", [[False] * 3] * 2))

    assert ("stratified_permutation", 2 / 400) == (test.test, test.p_value)
    assert (1.0, pi, True, None) == (test.effect, pytest.approx(test.effect_size), test.told, test.needs_trials)


def test_trials_of_a_case_cluster():
    """The interval knows as many cases as there are, not as many trials; its middle is the effect."""
    (test,) = head_to_head(
        *local("a", [[True, True], [True, False], [False, False]]),
        *local("b", [[False, False], [True, False], [True, False]]),
    )
    low, high = clustered_interval([1.0, 0.0, -0.5], "abc")

    assert (max(-1.0, low), min(1.0, high)) == (test.interval.lo, test.interval.hi)
    assert pytest.approx(1 / 6) == test.effect


def test_p_values_are_adjusted_over_all_pairs():
    """Holm's over three pairs: the smallest times three, and so on up."""
    tests = head_to_head(*local("a", [True] * 7), *local("b", [False] * 7), *local("c", [False] * 7))

    assert [2 / 128, 2 / 128, 1.0] == [test.p_value for test in tests]
    assert [6 / 128, 6 / 128, 1.0] == [test.p_adjusted for test in tests]
    assert [True, True, False] == [test.told for test in tests]


def test_more_trials_are_needed_than_there_are():
    """Six cases would do for one pair; of three, Holm's adjustment leaves it open, so that a second trial is asked for."""
    tests = head_to_head(*local("a", [True] * 6), *local("b", [False] * 6), *local("c", [False] * 6))

    assert [(6 / 64, 2), (6 / 64, 2)] == [(test.p_adjusted, test.needs_trials) for test in tests[:2]]


def test_scripted_designs_are_counted_and_never_tested():
    """Exact counts stay; every figure of chance is empty."""
    (test,) = head_to_head(*outcomes("a", [True, True, False]), *outcomes("b", [False, True, False]))

    assert (1, 0, 2, SCRIPTED, True) == (test.wins, test.losses, test.ties, test.because, test.told)
    assert ("", 0) == (test.test, test.tested)
    assert {None} == {
        test.p_value, test.p_adjusted, test.effect, test.effect_size, test.interval, test.smallest_detectable,
        test.needs_trials,
    }  # fmt: skip


def test_who_is_not_known_to_have_answered_is_no_sample():
    """A design without any model call."""
    (test,) = head_to_head(*local("a", [True], provenance="none"), *local("b", [True], provenance="none"))

    assert ("", UNPROVEN) == (test.test, test.because)


def test_one_recording_on_both_sides_is_no_sample():
    """Two profiles that replay the same responses: what differs is their code, exactly."""
    copies = {"cassette_digest": "same"}
    (test,) = head_to_head(*local("a", [True], **copies), *local("b", [False], **copies))

    assert (1, "", COPIES, True) == (test.wins, test.test, test.because, test.told)


def test_shared_recordings_enter_no_test():
    """The case counts; the test is about those with recordings of their own on both sides."""
    (test,) = head_to_head(
        *local("a", [True] * 6), *local("b", [False] * 6),
        verdict("a", "S7", model="small", cassette_digest="same"), verdict("b", "S7", model="small", cassette_digest="same"),
    )  # fmt: skip

    assert (7, 6, 2 / 2**6) == (test.cases, test.tested, test.p_value)


def test_replays_of_one_recording_are_one_trial():
    """Three trials that replay the same responses are one sample, and a broken one of them is believed."""
    (test,) = head_to_head(
        *local("a", [[True, True, False]], cassette_digest="one"),
        *local("b", [[True, True, True]], cassette_digest="other"),
    )

    assert ("mcnemar_exact", 0, 1) == (test.test, test.wins, test.losses)


def test_variants_of_a_question_hang_together():
    """With families, the interval of single trials is that of the families."""
    sides = (*local("a", [True] * 4), *local("b", [False, False, True, True]))
    families = {"S1": "one", "S2": "one", "S3": "two", "S4": "three"}
    (test,) = head_to_head(*sides, family_of=lambda place: families[place[1]])
    low, high = clustered_interval([1.0, 1.0, 0.0, 0.0], ["one", "one", "two", "three"])

    assert (max(-1.0, low), min(1.0, high)) == (test.interval.lo, test.interval.hi)


def test_without_a_shared_case_nothing_is_told():
    """The pair stands there, and says so."""
    tests = head_to_head(
        *local("a", [True]), verdict("b", "S2", model="small"), *local("c", [True, True])
    )  # fmt: skip

    assert [("a", "b", 0, NOTHING_SHARED, False)] == [
        (test.a[0], test.b[0], test.cases, test.because, test.told) for test in tests if not test.cases
    ]


def test_many_trials_tell_that_there_is_no_difference():
    """Where a tenth would show, a pair that shows nothing is told."""
    (test,) = head_to_head(*local("a", [[True] * 40] * 5), *local("b", [[True] * 40] * 5))

    assert (1.0, True, None) == (test.p_adjusted, test.told, test.needs_trials)
    assert 0.02 < test.smallest_detectable < 0.1
    assert test.because.startswith("no difference that matters: p = 1 after Holm's adjustment, and a difference of ")


def test_hundreds_of_cases_are_weighed_by_the_normal_approximation():
    """Counting out would take longer than anybody waits."""
    (test,) = head_to_head(*local("a", [True] * 150), *local("b", [True] * 150))

    assert matched_smallest_detectable([(Tally(1, 1), Tally(1, 1))] * 150) == test.smallest_detectable


SIDES = st.integers(1, 8).flatmap(
    lambda cases: st.tuples(*[
        st.lists(st.lists(st.booleans(), min_size=1, max_size=3), min_size=cases, max_size=cases) for _ in range(2)
    ])
)  # fmt: skip


@given(SIDES)
def test_the_other_way_round_only_signs_change(sides):
    """Wins are losses, effect and interval are mirrored, and chance is the same."""
    one, other = sides
    (test,) = head_to_head(*local("a", one), *local("b", other))
    (turned,) = head_to_head(*local("a", other), *local("b", one))

    assert (test.wins, test.losses, test.ties) == (turned.losses, turned.wins, turned.ties)
    assert pytest.approx(test.p_value) == turned.p_value
    assert pytest.approx(test.effect) == -turned.effect
    assert pytest.approx(test.effect_size) == -turned.effect_size
    assert pytest.approx((test.interval.lo, test.interval.hi)) == (-turned.interval.hi, -turned.interval.lo)
    assert pytest.approx(test.smallest_detectable) == turned.smallest_detectable
    assert (test.needs_trials, test.told) == (turned.needs_trials, turned.told)


@given(SIDES)
def test_figures_of_chance_keep_to_their_range(sides):
    """A p-value is one, the interval holds the effect, and more trials are needed than there are."""
    one, other = sides
    (test,) = head_to_head(*local("a", one), *local("b", other))

    assert 0 < test.p_value <= test.p_adjusted <= 1
    assert -1 <= test.interval.lo <= test.interval.hi <= 1
    assert test.interval.lo - 1e-9 <= test.effect <= test.interval.hi + 1e-9
    assert test.told or test.needs_trials > max(map(len, [*one, *other]))
    assert test.smallest_detectable is None or 0 < test.smallest_detectable <= 1
