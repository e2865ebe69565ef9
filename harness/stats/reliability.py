"""What repeated trials say of one case and of a set: pass@k, pass^k, and how much a case flickers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple

from harness.stats.samples import StatsInputError, Tally, check_tally


class PassRow(NamedTuple):
    """One line of the table over k: exact averages over cases, both in [0, 1]."""

    k: int
    pass_at_k: Fraction
    pass_hat_k: Fraction


def pass_at_k(passes: int, trials: int, k: int) -> Fraction:
    """
    Estimate without bias the chance that at least one of *k* trials passes: 1 − C(n−c, k) / C(n, k).

    M. Chen et al., "Evaluating large language models trained on code" (2021), arXiv:2107.03374, equation 1.

    Args:
        passes: c, trials that passed, 0 ≤ c ≤ n.
        trials: n, fresh trials of the case.
        k: 1 ≤ k ≤ n; more than n trials cannot be spoken for.

    Raises:
        StatsInputError: A number is out of range.
    """
    _check_k(passes, trials, k)
    return 1 - Fraction(comb(trials - passes, k), comb(trials, k))


def pass_hat_k(passes: int, trials: int, k: int) -> Fraction:
    """
    Estimate without bias the chance that all of *k* trials pass: C(c, k) / C(n, k), and not (c / n) to the k-th.

    S. Yao, N. Shinn, P. Razavi, K. Narasimhan, "τ-bench: a benchmark for tool-agent-user interaction in real-world
    domains" (2024), arXiv:2406.12045, section 4.

    Args:
        passes: c, trials that passed, 0 ≤ c ≤ n.
        trials: n, fresh trials of the case.
        k: 1 ≤ k ≤ n.

    Raises:
        StatsInputError: A number is out of range.
    """
    _check_k(passes, trials, k)
    return Fraction(comb(passes, k), comb(trials, k))


def pass_table(cases: Sequence[Tally]) -> tuple[PassRow, ...]:
    """
    Average pass@k and pass^k over *cases*, for each k up to the smallest number of trials that any case has.

    Raises:
        StatsInputError: There is no case, or one has no trial.
    """
    if not cases:
        raise StatsInputError("at least one case is needed, not 0")
    return tuple(
        PassRow(
            k,
            sum((pass_at_k(*case, k) for case in cases), Fraction()) / len(cases),
            sum((pass_hat_k(*case, k) for case in cases), Fraction()) / len(cases),
        )
        for k in range(1, max(1, min(case.trials for case in cases)) + 1)
    )


def flakiness(passes: int, trials: int) -> float:
    """
    Estimate without bias the chance that two trials of a case disagree: 2c(n−c) / (n(n−1)).

    0 for a case that always passes or always fails. Its expectation is 2p(1−p), at most a half; the estimate from two trials
    is 0 or 1. It is the diversity index of E. H. Simpson, "Measurement of diversity", Nature 163 (1949) 688, for two kinds.

    Args:
        passes: c, 0 ≤ c ≤ n.
        trials: n, at least 2 fresh trials: one alone says nothing about flickering.

    Raises:
        StatsInputError: A number is out of range.
    """
    check_tally(passes, trials)
    if trials < 2:
        raise StatsInputError("at least two trials are needed to see whether they disagree, not 1")
    return 2 * passes * (trials - passes) / (trials * (trials - 1))


def _check_k(passes: int, trials: int, k: int) -> None:
    check_tally(passes, trials)
    if not 1 <= k <= trials:
        raise StatsInputError(f"k lies between 1 and the {trials} trials that there are, not at {k}")
