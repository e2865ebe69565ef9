"""Whether a contract breaks more often in new recordings than in the accepted ones: Fisher's exact test, one-sided."""

from __future__ import annotations

from math import comb

ALPHA = 0.05
MOST_NEEDED = 1000
"""More recordings of one case than this nobody makes."""


def chance_of_as_bad(broken_then: int, then: int, broken_now: int, now: int) -> float:
    """
    The probability that at least *broken_now* of the broken trials fall among the *now* newer ones by chance alone.

    Fisher, *The Design of Experiments* (1935): the hypergeometric tail.
    """
    broken, total = broken_then + broken_now, then + now
    most = min(broken, now)
    ways = sum(comb(now, k) * comb(then, broken - k) for k in range(broken_now, most + 1) if broken - k <= then)
    return ways / comb(total, broken)


def trials_needed(broken_then: int, then: int, broken_now: int, now: int) -> int | None:
    """
    Trials on each side at which the same rates would be significant at `ALPHA`; None where they never are, or not
    within `MOST_NEEDED`.
    """
    if broken_now * then <= broken_then * now:
        return None
    for trials in range(2, MOST_NEEDED + 1):
        before, after = round(broken_then / then * trials), round(broken_now / now * trials)
        if chance_of_as_bad(before, trials, after, trials) <= ALPHA:
            return trials
    return None
