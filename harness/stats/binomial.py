"""Chances of a binomial count, for thousands of trials as well."""

from __future__ import annotations

from math import ceil, exp, floor, lgamma, log, sqrt


def binomial(successes: int, trials: int, chance: float) -> float:
    """The chance of exactly so many successes; by logarithms, for thousands of trials."""
    if chance in {0.0, 1.0}:
        return float(successes == round(trials * chance))
    ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)
    return exp(ways + successes * log(chance) + (trials - successes) * log(1 - chance))


def likely_counts(trials: int, chance: float) -> range:
    """Counts whose chances add up to 1 but for 1e-12 or so."""
    middle, reach = trials * chance, 8 * sqrt(trials * chance * (1 - chance)) + 8
    return range(max(0, floor(middle - reach)), min(trials, ceil(middle + reach)) + 1)
