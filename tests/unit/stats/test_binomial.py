"""Binomial chances, against scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from harness.stats.binomial import binomial, likely_counts

CHANCES = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-9, 1 - 1e-9))
"""scipy itself overflows at chances of 1e-308."""


@given(st.integers(0, 5_000), CHANCES, st.data())
def test_chances_are_those_of_scipy(trials: int, chance: float, data: st.DataObject) -> None:
    """One count's chance is right from certain to hopeless, for few and for thousands of trials."""
    count = data.draw(st.integers(0, trials))

    assert pytest.approx(binom.pmf(count, trials, chance), rel=1e-7, abs=1e-12) == binomial(count, trials, chance)


@given(st.integers(0, 5_000), CHANCES)
def test_likely_counts_are_all_that_matter(trials: int, chance: float) -> None:
    """The chances of the likely counts add up to 1."""
    assert pytest.approx(1, abs=1e-8) == sum(binomial(count, trials, chance) for count in likely_counts(trials, chance))
