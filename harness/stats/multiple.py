"""Many cases tested at once: p-values adjusted so that one of them does not turn up by chance."""

from __future__ import annotations

from collections.abc import Sequence

from harness.stats.samples import check_rate


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """
    Adjust *p_values* so that comparing each with α keeps the chance of any false alarm at most α.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979) 65–70.

    Args:
        p_values: One a case, each in [0, 1]; there may be none.

    Returns:
        Adjusted values in the same order, each at least its own and at most 1.

    Raises:
        StatsInputError: A p-value lies outside [0, 1].
    """
    for p_value in p_values:
        check_rate("a p-value", p_value)
    adjusted = [0.0] * len(p_values)
    most = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = most
    return tuple(adjusted)
