"""Standard errors of cases that hang together, against the textbook formula and by simulation."""

from __future__ import annotations

from random import Random
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from harness.stats import StatsInputError, clustered_interval, clustered_standard_error

VALUES = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30)


@given(VALUES)
def test_families_of_one_give_the_ordinary_standard_error(values: list[float]) -> None:
    """Where no case resembles another, it is s / √n, and the interval is Student's."""
    families = range(len(values))
    expected = stdev(values) / len(values) ** 0.5
    reach = scipy_stats.t.ppf(0.975, len(values) - 1) * expected
    mean = sum(values) / len(values)

    assert pytest.approx(expected, abs=1e-9) == clustered_standard_error(values, families)
    assert pytest.approx((mean - reach, mean + reach), abs=1e-6) == tuple(clustered_interval(values, families))


@given(VALUES, st.integers(2, 5))
def test_copies_of_a_case_add_nothing(values: list[float], copies: int) -> None:
    """Asking each question several times with the same outcome leaves the standard error where it was."""
    once = clustered_standard_error(values, range(len(values)))
    repeated = clustered_standard_error(values * copies, list(range(len(values))) * copies)

    assert pytest.approx(once, abs=1e-9) == repeated


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.sampled_from("abc")), min_size=3), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(cases: list[tuple[float, str]], chance: Random) -> None:
    """Cases may come in any order, and families be called anything."""
    cases = [*cases, (0.0, "a"), (1.0, "b")]
    mixed = chance.sample(cases, len(cases))
    found = clustered_standard_error([value for value, _ in cases], [family for _, family in cases])
    other = clustered_standard_error([value for value, _ in mixed], [ord(family) for _, family in mixed])

    assert found >= 0
    assert pytest.approx(found, abs=1e-9) == other


def test_coverage_by_simulation() -> None:
    """Twelve families of five that share their luck: the clustered interval holds the mean, the naive one pretends."""
    chance = Random(11)
    families = [family for family in range(12) for _ in range(5)]
    held = naive = 0
    for _ in range(600):
        luck = [chance.gauss(0, 1) for _ in range(12)]
        values = [luck[family] + chance.gauss(0, 0.5) for family in families]
        held += clustered_interval(values, families).low <= 0 <= clustered_interval(values, families).high
        naive += clustered_interval(values, range(60)).low <= 0 <= clustered_interval(values, range(60)).high

    assert 0.92 < held / 600 < 0.98
    assert naive / 600 < 0.75


@pytest.mark.parametrize(
    ("values", "families", "text"),
    [
        ([1.0], ["a", "b"], "each value has one family: there are 1 and 2"),
        ([1.0, 2.0], ["a", "a"], "at least two families are needed, not 1"),
        ([1.0, float("inf")], ["a", "b"], "values are finite numbers, not inf"),
    ],
)
def test_what_has_no_standard_error_is_refused(values: list[float], families: list[str], text: str) -> None:
    """Unequal lengths, a single family and infinite values are named."""
    with pytest.raises(StatsInputError) as refused:
        clustered_standard_error(values, families)

    assert text == refused.value.message
