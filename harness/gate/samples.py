"""Whether a contract breaks more often in new recordings than in the accepted ones: Fisher's exact test, one-sided."""

from __future__ import annotations

from harness.stats import Tally, permutation_test

ALPHA = 0.05
MOST_NEEDED = 1000
"""More recordings of one case than this nobody makes."""


def chance_of_as_bad(broken_then: int, then: int, broken_now: int, now: int) -> float:
    """
    The probability that at least *broken_now* of the broken trials fall among the *now* newer ones by chance alone.

    Fisher, *The Design of Experiments* (1935): the permutation test of a single case is his exact one.
    """
    before, after = Tally(then - broken_then, then), Tally(now - broken_now, now)
    return permutation_test([(before, after)], alternative="worse").p_value


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
