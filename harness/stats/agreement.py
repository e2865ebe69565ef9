"""How far two raters agree beyond chance: a judge and people, over the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from harness.stats.samples import Interval, StatsInputError, two_sided_z


class Agreement(NamedTuple):
    """
    Cohen's κ of two raters over *rated* things.

    *kappa* lies in [−1, 1]; it is None, as are its *standard_error* and *interval*, where both raters always say one and
    the same thing: chance alone then explains everything.
    """

    rated: int
    observed: float
    """Share of the things on which both agree."""
    expected: float
    """The share that two raters of these habits would agree on by chance."""
    kappa: float | None
    standard_error: float | None
    interval: Interval | None


def cohens_kappa(table: Sequence[Sequence[int]], *, confidence: float = 0.95) -> Agreement:
    """
    Measure the agreement of two raters from the square *table* of how often the first said i and the second j.

    κ: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960) 37–46.
    Its standard error for large samples, with no assumption on κ: formula 13 of J. L. Fleiss, J. Cohen and B. S. Everitt,
    "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin 72 (1969) 323–327. The interval is κ ± z
    standard errors, cut at ±1; with few things it is too narrow.

    Args:
        table: Counts of at least 0, one row and one column a category, in the same order; at least 2 categories.
        confidence: Two-sided coverage, strictly between 0 and 1.

    Raises:
        StatsInputError: The table is not square, empty, has a negative count, or *confidence* is out of range.
    """
    _check(table)
    z = two_sided_z(confidence)
    rated = sum(map(sum, table))
    share = [[count / rated for count in row] for row in table]
    rows = [sum(row) for row in share]
    columns = [sum(column) for column in zip(*share, strict=True)]
    observed = sum(share[i][i] for i in range(len(share)))
    expected = sum(map(_product, rows, columns))
    if 1 - expected < 1e-12:
        return Agreement(rated, observed, expected, None, None, None)
    kappa = (observed - expected) / (1 - expected)
    error = sqrt(max(0.0, _variance(share, rows, columns, kappa, expected) / rated))
    interval = Interval(max(-1.0, kappa - z * error), min(1.0, kappa + z * error))
    return Agreement(rated, observed, expected, kappa, error, interval)


def _variance(
    share: Sequence[Sequence[float]], rows: Sequence[float], columns: Sequence[float], kappa: float, expected: float
) -> float:
    """The variance of κ for a single thing; the sums of formula 13 in the paper's order."""
    places = range(len(share))
    agreed = sum(share[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in places)
    differed = sum(share[i][j] * (columns[i] + rows[j]) ** 2 for i in places for j in places if i != j)
    rest = (kappa - expected * (1 - kappa)) ** 2
    return (agreed + (1 - kappa) ** 2 * differed - rest) / (1 - expected) ** 2


def _check(table: Sequence[Sequence[int]]) -> None:
    if len(table) < 2 or any(len(row) != len(table) for row in table):
        raise StatsInputError("a table of agreement is square, with at least 2 categories")
    if any(count < 0 for row in table for count in row):
        raise StatsInputError("a count is at least 0")
    if not any(map(sum, table)):
        raise StatsInputError("nothing was rated")


def _product(one: float, other: float) -> float:
    return one * other
