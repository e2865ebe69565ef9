"""McNemar's exact test and the interval of a paired difference, against published examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from harness.stats import Pairs, StatsInputError, mcnemar_exact, pair, paired_interval, paired_standard_error

COUNTS = st.integers(0, 60)
OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)
PAIRS = st.builds(Pairs, COUNTS, COUNTS, COUNTS, COUNTS).filter(lambda pairs: pairs.cases > 0)


def test_the_published_p_value() -> None:
    """The example of R's `exact2x2` (Fay 2010), 2 against 9 changed pairs: p = 0.06543."""
    assert 0.06543 == round(mcnemar_exact(2, 9), 5)


@given(COUNTS, COUNTS)
def test_it_is_the_binomial_test_of_a_half(lost: int, gained: int) -> None:
    """An independent implementation gives the same p-value, in all three directions."""
    changed = lost + gained
    expected = [
        binomtest(lost, changed, alternative=side).pvalue if changed else 1.0
        for side in ("two-sided", "greater", "less")
    ]

    assert pytest.approx(expected, rel=1e-9) == [
        mcnemar_exact(lost, gained),
        mcnemar_exact(lost, gained, alternative="worse"),
        mcnemar_exact(lost, gained, alternative="better"),
    ]


@given(COUNTS, COUNTS)
def test_direction_does_not_matter_and_more_losses_count_more(lost: int, gained: int) -> None:
    """Two-sided, losses and gains mirror each other; another loss makes the suspicion of losses stronger."""
    assert 0 < mcnemar_exact(lost, gained) == mcnemar_exact(gained, lost) <= 1
    assert (
        mcnemar_exact(lost + 1, gained, alternative="worse") < mcnemar_exact(lost, gained, alternative="worse") + 1e-15
    )


def test_five_losses_alone_are_not_enough() -> None:
    """With everything going one way, six changed cases are the least that a two-sided test at 5 % can reject."""
    assert mcnemar_exact(5, 0) > 0.05 > mcnemar_exact(6, 0)


def test_nothing_changed_is_no_evidence() -> None:
    """Without a changed case the p-value is 1."""
    assert 1.0 == mcnemar_exact(0, 0)


@given(OUTCOMES)
def test_pairs_are_counted_in_any_order(outcomes: list[tuple[bool, bool]]) -> None:
    """The counts add up to the cases, and shuffling the cases changes nothing."""
    found = pair([before for before, _ in outcomes], [after for _, after in outcomes])
    again = pair([before for before, _ in outcomes[::-1]], [after for _, after in outcomes[::-1]])

    assert len(outcomes) == found.cases
    assert found == again
    assert pytest.approx(sum(after - before for before, after in outcomes) / len(outcomes)) == found.difference


def test_pairs_are_told_apart() -> None:
    """Each kind of pair is counted under its own name."""
    before = [True] * 4 + [True] * 3 + [False] * 2 + [False]
    after = [True] * 4 + [False] * 3 + [True] * 2 + [False]

    assert Pairs(both=4, lost=3, gained=2, neither=1) == pair(before, after)


@pytest.mark.parametrize(
    ("pairs", "published"),
    [
        (Pairs(both=1, lost=7, gained=1, neither=12), (-0.507, -0.026)),
        (Pairs(both=36, lost=2, gained=12, neither=0), (0.057, 0.340)),
    ],
)
def test_the_interval_is_that_published(pairs: Pairs, published: tuple[float, float]) -> None:
    """Method 10: airway hyper-responsiveness in Fagerland, Lydersen and Laake (2014), Table VI; Newcombe (1998), Table III."""
    assert published == tuple(round(end, 3) for end in paired_interval(pairs))


@given(PAIRS)
def test_a_paired_difference_lies_in_its_interval_and_turns_round(pairs: Pairs) -> None:
    """Ends lie in [−1, 1] around the difference; exchanging before and after changes the sign only."""
    found = paired_interval(pairs)
    turned = paired_interval(Pairs(pairs.both, pairs.gained, pairs.lost, pairs.neither))

    assert -1 <= found.low <= pairs.difference + 1e-9
    assert pairs.difference - 1e-9 <= found.high <= 1
    assert pytest.approx((found.low, found.high), abs=1e-9) == (-turned.high, -turned.low)


@given(OUTCOMES)
def test_the_standard_error_is_that_of_the_differences(outcomes: list[tuple[bool, bool]]) -> None:
    """It is the standard deviation of the differences, case by case, over the root of the number of cases."""
    pairs = pair([before for before, _ in outcomes], [after for _, after in outcomes])
    variance = sum((after - before - pairs.difference) ** 2 for before, after in outcomes) / len(outcomes)

    assert pytest.approx((variance / len(outcomes)) ** 0.5, abs=1e-12) == paired_standard_error(pairs)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pair([True], []), "pairs need as many outcomes before as after, not 1 and 0"),
        (lambda: pair([], []), "at least one pair is needed, not 0"),
        (lambda: mcnemar_exact(-1, 2), "counts of cases are not negative, as -1 is"),
        (lambda: paired_interval(Pairs(0, 0, 0, 0)), "at least one pair is needed, not 0"),
        (lambda: paired_standard_error(Pairs(3, -2, 0, 0)), "counts of cases are not negative, as -2 is"),
    ],
)
def test_what_is_no_pair_is_refused(call, text: str) -> None:
    """Unequal, empty and negative counts are named."""
    with pytest.raises(StatsInputError) as refused:
        call()

    assert text == refused.value.message
