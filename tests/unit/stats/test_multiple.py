"""Holm's correction, against a published example and its laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from harness.stats import StatsInputError, holm

P_VALUES = st.lists(st.floats(0, 1), max_size=20)


def test_the_published_example() -> None:
    """0.01, 0.04, 0.03 and 0.005 at 5 %: the first and the last stay, as in the standard worked example."""
    assert pytest.approx((0.03, 0.06, 0.06, 0.02)) == holm([0.01, 0.04, 0.03, 0.005])


@given(P_VALUES, st.floats(0.001, 0.5))
def test_it_rejects_what_stepping_down_rejects(p_values: list[float], alpha: float) -> None:
    """Going up from the smallest, p ≤ α / (those left) rejects until it first does not: the procedure as Holm wrote it."""
    rejected: set[int] = set()
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if (len(p_values) - rank) * p_values[place] > alpha:
            break
        rejected.add(place)

    assert rejected == {place for place, p_value in enumerate(holm(p_values)) if p_value <= alpha}


@given(P_VALUES)
def test_adjusting_keeps_order_and_bounds(p_values: list[float]) -> None:
    """No value gets smaller or passes 1, order is kept, and the order of the cases does not matter."""
    adjusted = holm(p_values)

    assert all(p_value <= more <= 1 for p_value, more in zip(p_values, adjusted, strict=True))
    assert sorted(adjusted) == [more for _, more in sorted(zip(p_values, adjusted, strict=True))]
    assert adjusted[::-1] == holm(p_values[::-1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_it_is_stricter_than_false_discovery_and_kinder_than_bonferroni(p_values: list[float]) -> None:
    """It lies between the two other corrections that people know."""
    kinder = false_discovery_control(p_values)

    for p_value, adjusted, discovery in zip(p_values, holm(p_values), kinder, strict=True):
        assert discovery - 1e-12 <= adjusted <= min(1, len(p_values) * p_value)


def test_nothing_tested_is_nothing_adjusted() -> None:
    """No p-value, no answer."""
    assert () == holm([])


@pytest.mark.parametrize("p_value", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(p_value: float) -> None:
    """A p-value lies in [0, 1]."""
    with pytest.raises(StatsInputError, match="a p-value lies between 0 and 1, not at"):
        holm([0.5, p_value])
