"""Cohen's κ against printed values of other programs and books, and the laws that it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import StatsInputError, cohens_kappa

COUNTS = st.integers(0, 30)
TABLES = st.lists(st.lists(COUNTS, min_size=2, max_size=2), min_size=2, max_size=2).filter(
    lambda table: sum(map(sum, table))
)


@pytest.mark.parametrize(
    ("table", "printed"),
    [
        # Simple kappa, ASE and 95 % limits as SAS prints them, by the tests of statsmodels (stats/tests/test_inter_rater.py).
        ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], (0.4842, 0.1380, 0.2137, 0.7547)),
        # The two dermatologists of the manual of SAS's PROC FREQ.
        ([[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]], (0.3449, 0.0724, 0.2030, 0.4868)),
    ],
)
def test_printed_values(table: list[list[int]], printed: tuple[float, ...]) -> None:
    """κ, its standard error and both limits are those that SAS prints, to its four digits."""
    found = cohens_kappa(table)

    assert found.kappa is not None
    assert found.interval is not None
    assert printed == tuple(round(value, 4) for value in (found.kappa, found.standard_error or 0.0, *found.interval))


def test_the_textbook_example() -> None:
    """The two clinicians of Fleiss, Levin and Paik (2003, table 18.1): agreement 0.89, by chance 0.66, κ 0.68."""
    found = cohens_kappa([[75, 1, 4], [5, 4, 1], [0, 0, 10]])

    assert (0.89, 0.66, 0.68) == (round(found.observed, 2), round(found.expected, 2), round(found.kappa or 0.0, 2))


def test_two_raters_who_only_ever_say_one_thing() -> None:
    """Where chance explains everything there is no κ, and nothing is made up in its place."""
    found = cohens_kappa([[12, 0], [0, 0]])

    assert (12, 1.0, 1.0, None, None, None) == tuple(found)


@given(TABLES)
def test_neither_the_order_of_raters_nor_that_of_categories_matters(table: list[list[int]]) -> None:
    """κ and its standard error are the same with raters swapped, and with categories swapped."""
    turned = [list(column) for column in zip(*table, strict=True)]
    mirrored = [row[::-1] for row in table[::-1]]

    for other in (cohens_kappa(turned), cohens_kappa(mirrored)):
        assert _figures(cohens_kappa(table)) == pytest.approx(_figures(other), abs=1e-9)


@given(TABLES)
def test_kappa_stays_in_its_bounds(table: list[list[int]]) -> None:
    """It is 1 where all agree and both categories occur, at most 1 anywhere, and its interval holds it."""
    found = cohens_kappa(table)
    if found.kappa is None or found.interval is None:
        return

    assert (found.observed == 1) == (found.kappa == pytest.approx(1))
    assert -1 - 1e-9 <= found.interval.low <= found.kappa + 1e-9
    assert found.kappa - 1e-9 <= found.interval.high <= 1


@given(TABLES, st.integers(2, 5))
def test_more_of_the_same_only_sharpens_it(table: list[list[int]], times: int) -> None:
    """The same shares from n times as many things: the same κ, a standard error smaller by √n."""
    one = cohens_kappa(table)
    many = cohens_kappa([[count * times for count in row] for row in table])

    assert (one.kappa is None) == (many.kappa is None)
    if one.kappa is not None:
        assert one.kappa == pytest.approx(many.kappa, abs=1e-9)
        assert one.standard_error == pytest.approx((many.standard_error or 0.0) * times**0.5, abs=1e-6)


@pytest.mark.parametrize("table", [[], [[1]], [[1, 2]], [[1, 2], [3]], [[0, 0], [0, 0]], [[1, -1], [1, 1]]])
def test_what_is_no_table_is_refused(table: list[list[int]]) -> None:
    """Tables that are not square, are empty or have a count below 0 are nobody's ratings."""
    with pytest.raises(StatsInputError):
        cohens_kappa(table)


def _figures(found: object) -> tuple[float, ...]:
    return tuple(getattr(found, name) or 0.0 for name in ("observed", "expected", "kappa", "standard_error"))
