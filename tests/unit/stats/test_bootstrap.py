"""The BCa bootstrap against its textbook's table, and by simulation."""

from __future__ import annotations

from math import exp
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats import Interval, StatsInputError, bootstrap, bootstrap_interval, bootstrap_ratio

SPATIAL_A = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41]
"""The spatial test data A of 26 children: Efron and Tibshirani (1993), Table 14.1."""
VALUES = st.lists(st.integers(0, 10_000), min_size=2, max_size=15)


def test_the_variance_of_the_spatial_test_data() -> None:
    """Table 14.2: variance 171.5, 90 % BCa interval 115.8 to 259.6, within the noise of the 2,000 samples drawn there."""
    found = bootstrap._bca([SPATIAL_A], lambda sample, axis: np.var(sample, axis=axis), 0.90, 50_000, 0)

    assert 171.5 == round(found.value, 1)
    assert pytest.approx((115.8, 259.6), abs=3) == tuple(found.interval)
    assert "BCa" == found.method


@pytest.mark.parametrize(("measure", "value"), [("mean", 22.0), ("median", 3.0), ("p90", 61.6), ("p95", 80.8)])
def test_each_measure_is_what_its_name_says(measure, value: float) -> None:
    """Percentiles are interpolated linearly."""
    assert pytest.approx(value) == bootstrap_interval([1, 2, 3, 4, 100], measure=measure, resamples=100).value


@settings(max_examples=15)
@given(VALUES, st.randoms(use_true_random=False), st.sampled_from(["mean", "median", "p90", "p95"]))
def test_it_stays_among_the_values_and_heeds_no_order(values: list[int], chance: Random, measure) -> None:
    """Ends lie among the values in the right order, and shuffled values give exactly the same."""
    found = bootstrap_interval(values, measure=measure, resamples=300)

    assert min(values) <= found.interval.low <= found.interval.high <= max(values)
    assert found == bootstrap_interval(chance.sample(values, len(values)), measure=measure, resamples=300)


def test_seeds_repeat_themselves_and_differ() -> None:
    """The same seed gives the same ends, another seed slightly different ones."""
    found = bootstrap_interval(SPATIAL_A, resamples=500)

    assert found == bootstrap_interval(SPATIAL_A, resamples=500, seed=0)
    assert found != bootstrap_interval(SPATIAL_A, resamples=500, seed=1)


def test_equal_values_have_a_point_for_an_interval() -> None:
    """Where nothing varies, nothing is drawn, and that is said."""
    assert (7.0, Interval(7.0, 7.0), "constant") == bootstrap_interval([7, 7, 7])


def test_a_ratio_that_never_varies_falls_back_and_says_so() -> None:
    """Everything exactly doubled leaves the corrections undefined; the percentile interval is the point 2."""
    assert (2.0, Interval(2.0, 2.0), "percentile") == bootstrap_ratio([1, 2, 4], [2, 4, 8], resamples=100)


def test_more_confidence_is_wider() -> None:
    """99 % takes in more than 80 %."""
    wide = bootstrap_interval(SPATIAL_A, confidence=0.99).interval
    narrow = bootstrap_interval(SPATIAL_A, confidence=0.80).interval

    assert wide.low < narrow.low < narrow.high < wide.high


def test_pairs_cancel_what_makes_a_case_dear() -> None:
    """A tenth more on every case, cheap or dear, is seen although the cases differ by a factor of a thousand."""
    before = [1.0, 10.0, 100.0, 1000.0, 3.0, 30.0, 300.0, 500.0]
    after = [value * (1.1 + 0.01 * (place % 3)) for place, value in enumerate(before)]
    found = bootstrap_ratio(before, after)

    assert 1.09 < found.interval.low <= found.value <= found.interval.high < 1.13
    assert found == bootstrap_ratio(before[::-1], after[::-1])


def test_what_became_free_has_a_ratio() -> None:
    """A case that costs nothing any more is counted; only a baseline of nothing has no ratio."""
    found = bootstrap_ratio([0.5, 2.0, 1.5], [0.0, 1.0, 0.5], resamples=200)

    assert 1.5 / 4 == found.value
    assert 0 <= found.interval.low <= found.value <= found.interval.high <= 0.5


def test_coverage_by_simulation() -> None:
    """Over 200 samples of 30 skewed latencies, the 90 % interval holds the true mean about as often as it says."""
    chance = Random(3)
    held = 0
    for _ in range(200):
        interval = bootstrap_interval(
            [chance.lognormvariate(0, 0.7) for _ in range(30)], confidence=0.90, resamples=400
        ).interval
        held += interval.low <= exp(0.7**2 / 2) <= interval.high

    assert 0.82 < held / 200 < 0.96


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bootstrap_interval([]), "at least two values are needed, not 0"),
        (lambda: bootstrap_interval([1.0]), "at least two values are needed, not 1"),
        (lambda: bootstrap_interval([1.0, float("nan")]), "values are finite numbers, not nan"),
        (lambda: bootstrap_interval([1, 2], resamples=99), "at least 100 resamples are needed, not 99"),
        (
            lambda: bootstrap_interval([1, 2], confidence=95),
            "confidence lies between 0 and 1, both excluded, not at 95",
        ),
        (lambda: bootstrap_ratio([1, 2], [1]), "pairs need as many values before as after, not 2 and 1"),
        (lambda: bootstrap_ratio([0, 2], [1, 2]), "a ratio needs values above 0 before, and of at least 0 after"),
        (lambda: bootstrap_ratio([1, 2], [1, -2]), "a ratio needs values above 0 before, and of at least 0 after"),
    ],
)
def test_what_cannot_be_bounded_is_refused(call, text: str) -> None:
    """Too little, infinite and senseless input is named."""
    with pytest.raises(StatsInputError) as refused:
        call()

    assert text == refused.value.message
