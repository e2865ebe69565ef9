"""The stratified permutation test against published exact p-values, brute force, and the tests that it contains."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import StatsInputError, Tally, mcnemar_exact, permutation, permutation_test, tally

SIDE = st.integers(1, 4).flatmap(lambda trials: st.integers(0, trials).map(lambda passes: Tally(passes, trials)))
CASES = st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=5)
SMALL = st.lists(st.tuples(*[st.lists(st.booleans(), min_size=1, max_size=3)] * 2), min_size=1, max_size=3)
RABBITS = [
    (Tally(0, 5), Tally(0, 6)),
    (Tally(0, 6), Tally(3, 6)),
    (Tally(2, 6), Tally(6, 6)),
    (Tally(6, 6), Tally(5, 6)),
    (Tally(5, 5), Tally(2, 2)),
]
"""Cured among those treated after 1.5 hours and at once, by dose: Agresti (1990), pages 231–237."""


def test_penicillin_and_rabbits() -> None:
    """R's `mantelhaen.test(Rabbits, exact = TRUE)` says 0.040, and 0.020 for the one-sided alternative."""
    assert (0.03994, True) == (round(permutation_test(RABBITS).p_value, 5), permutation_test(RABBITS).exact)
    assert 0.020 == round(permutation_test(RABBITS, alternative="better").p_value, 3)


def test_the_lady_tasting_tea() -> None:
    """Three of four cups right against one of four: Fisher's 17 in 70."""
    assert 17 / 70 == permutation_test([(Tally(1, 4), Tally(3, 4))], alternative="better").p_value


@given(SMALL)
def test_it_is_the_share_of_all_relabellings(cases: list[tuple[list[bool], list[bool]]]) -> None:
    """Exchanging labels within each case in every way, this share moves the mean rate as far as it moved."""

    def moves(before: list[bool], after: list[bool]) -> list[Fraction]:
        pool = before + after
        chosen = combinations(range(len(pool)), len(after))
        return [
            Fraction(sum(pool[place] for place in places), len(after))
            - Fraction(sum(pool) - sum(pool[place] for place in places), len(before))
            for places in chosen
        ]

    observed = sum(Fraction(sum(after), len(after)) - Fraction(sum(before), len(before)) for before, after in cases)
    sums = [sum(choice) for choice in product(*(moves(*case) for case in cases))]
    found = permutation_test([(tally(before), tally(after)) for before, after in cases])

    assert pytest.approx(sum(abs(value) >= abs(observed) for value in sums) / len(sums)) == found.p_value
    assert pytest.approx(float(observed / len(cases))) == found.difference


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_with_one_trial_a_side_it_is_mcnemars(outcomes: list[tuple[bool, bool]]) -> None:
    """Single paired trials are the special case that McNemar's exact test treats."""
    cases = [(Tally(int(before), 1), Tally(int(after), 1)) for before, after in outcomes]
    lost, gained = outcomes.count((True, False)), outcomes.count((False, True))

    assert pytest.approx(mcnemar_exact(lost, gained)) == permutation_test(cases).p_value
    assert pytest.approx(mcnemar_exact(lost, gained, alternative="worse")) == (
        permutation_test(cases, alternative="worse").p_value
    )


@given(CASES, st.randoms(use_true_random=False))
def test_order_and_direction_do_not_matter(cases: list[tuple[Tally, Tally]], chance: Random) -> None:
    """Shuffled cases give the same p-value, exchanged sides too; and it is a probability above 0."""
    shuffled = chance.sample(cases, len(cases))
    turned = [(after, before) for before, after in cases]
    found = permutation_test(cases)

    assert 0 < found.p_value <= 1
    assert found == permutation_test(shuffled)
    assert pytest.approx((-found.difference, found.p_value)) == permutation_test(turned)[:2]


@given(CASES)
def test_another_failure_never_looks_better(cases: list[tuple[Tally, Tally]]) -> None:
    """Turning one pass of the candidate into a failure lowers the difference, wherever it was."""
    for place, (before, after) in enumerate(cases):
        if after.passes:
            worse = [*cases[:place], (before, Tally(after.passes - 1, after.trials)), *cases[place + 1 :]]
            assert permutation_test(worse).difference < permutation_test(cases).difference


@given(CASES, st.sampled_from(["two-sided", "worse", "better"]))
def test_sampling_comes_close_to_counting(cases: list[tuple[Tally, Tally]], alternative) -> None:
    """Where the exact way would be too long, sampling agrees with it, repeats itself and heeds no order."""
    exact = permutation_test(cases, alternative=alternative)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permutation, "EXACT_STATES", 0)
        sampled = permutation_test(cases, alternative=alternative, resamples=3_000, seed=7)
        again = permutation_test(cases[::-1], alternative=alternative, resamples=3_000, seed=7)

    assert (True, False) == (exact.exact, sampled.exact)
    assert pytest.approx(exact.p_value, abs=0.045) == sampled.p_value
    assert sampled == again


def test_a_sampled_p_value_is_never_zero() -> None:
    """However clear the loss, drawing cannot prove it impossible: (0 + 1) / (resamples + 1)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permutation, "EXACT_STATES", 0)
        found = permutation_test([(Tally(20, 20), Tally(0, 20))] * 5, resamples=999)

    assert 1 / 1000 == found.p_value


def test_many_cases_of_a_common_size_are_counted_exactly() -> None:
    """A hundred cases with five trials a side, one of them lost, need no sampling."""
    cases = [(Tally(5, 5), Tally(5, 5))] * 99 + [(Tally(5, 5), Tally(0, 5))]

    assert (-0.01, 2 / 252, True) == permutation_test(cases)


def test_false_alarms_by_simulation() -> None:
    """Over 300 pairs of runs in which nothing changed, no more than about 5 in 100 are called a change."""
    chance = Random(4)
    alarms = 0
    for _ in range(300):
        rates = [chance.choice((0.2, 0.6, 0.9)) for _ in range(10)]
        cases = [
            (tally(chance.random() < rate for _ in range(4)), tally(chance.random() < rate for _ in range(4)))
            for rate in rates
        ]
        alarms += permutation_test(cases).p_value <= 0.05

    assert alarms <= 22


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: permutation_test([]), "at least one case is needed, not 0"),
        (lambda: permutation_test([(Tally(1, 1), Tally(0, 0))]), "at least one trial is needed, not 0"),
        (lambda: permutation_test([(Tally(1, 1), Tally(0, 1))], resamples=0), "at least one resample is needed, not 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, text: str) -> None:
    """No case, a side without a trial and no resamples are named."""
    with pytest.raises(StatsInputError) as refused:
        call()

    assert text == refused.value.message
