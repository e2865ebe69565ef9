"""Stop a live run as soon as the trials seen settle the question, and say what that saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, log, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple

from harness.stats.samples import StatsInputError, Tally, check_share

Decision = Literal["good", "bad", "undecided"]


class Stopped(NamedTuple):
    """
    How a sequential run ended: the *decision*, the trials *seen* of those *planned*, and what it saved.

    A run that came to its planned end without crossing a line stays `undecided`.
    """

    decision: Decision
    seen: Tally
    planned: int

    @property
    def saved(self) -> int:
        """Trials that did not have to run; 0 without a decision, for then outcomes only ran out."""
        return 0 if self.decision == "undecided" else self.planned - self.seen.trials

    @property
    def saving(self) -> float:
        """The same as a share of those planned, 0 to 1."""
        return self.saved / self.planned


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """
    Wald's sequential probability ratio test of two pass rates, *bad* < *good*.

    A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16 (1945) 117–186, sections 3 and 5.
    Wald's bounds hold the two error chances together: α' + β' ≤ α + β.

    Args:
        good: The rate that is good enough, strictly between 0 and 1.
        bad: The rate that must be caught, strictly between 0 and *good*.
        alpha: The chance to call a good one bad.
        beta: The chance to call a bad one good; both together less than 1.

    Raises:
        StatsInputError: A number is out of range.
    """

    good: float = 0.95
    bad: float = 0.80
    alpha: float = 0.05
    beta: float = 0.20

    def __post_init__(self) -> None:
        for name in ("good", "bad", "alpha", "beta"):
            check_share(name, getattr(self, name))
        if self.bad >= self.good:
            raise StatsInputError(f"bad lies below good, not {self.bad} beside {self.good}")
        if self.alpha + self.beta >= 1:
            raise StatsInputError(f"alpha and beta together lie below 1, not at {self.alpha + self.beta}")

    @property
    def slope(self) -> float:
        """Failures a trial of both lines: between 1 − good and 1 − bad."""
        return log(self.good / self.bad) / self._weight

    @property
    def accept_below(self) -> float:
        """The line of `good` runs this far below *slope* · trials, in failures."""
        return log((1 - self.alpha) / self.beta) / self._weight

    @property
    def reject_above(self) -> float:
        """The line of `bad` runs this far above *slope* · trials, in failures."""
        return log((1 - self.beta) / self.alpha) / self._weight

    @property
    def fixed_trials(self) -> int:
        """The trials that a one-sided test of fixed length with the same error chances needs (normal approximation)."""
        quantile = NormalDist().inv_cdf
        good, bad = sqrt(self.good * (1 - self.good)), sqrt(self.bad * (1 - self.bad))
        reach = quantile(1 - self.alpha) * good + quantile(1 - self.beta) * bad
        return ceil((reach / (self.good - self.bad)) ** 2)

    def decide(self, seen: Tally) -> Decision:
        """Say where *seen* stands; nothing but the counts matters. Zero trials are undecided."""
        failures = seen.trials - seen.passes
        if failures >= self.reject_above + self.slope * seen.trials:
            return "bad"
        if failures <= self.slope * seen.trials - self.accept_below:
            return "good"
        return "undecided"

    def run(self, outcomes: Iterable[bool], *, planned: int) -> Stopped:
        """
        Take *outcomes* (True = passed) one by one until they settle the question; later ones are never asked for.

        Args:
            outcomes: Fresh trials, made as they are asked for.
            planned: The most that may run, at least 1.

        Raises:
            StatsInputError: *planned* is less than 1.
        """
        if planned < 1:
            raise StatsInputError(f"at least one trial is planned, not {planned}")
        seen = Tally(0, 0)
        for outcome in outcomes:
            seen = Tally(seen.passes + bool(outcome), seen.trials + 1)
            decision = self.decide(seen)
            if decision != "undecided" or seen.trials == planned:
                return Stopped(decision, seen, planned)
        return Stopped("undecided", seen, planned)

    def expected_trials(self, rate: float) -> float:
        """
        Return the mean number of trials until a decision at the true *rate*, which is `good` or `bad` (Wald 1945, 4.7).

        The excess over the lines is neglected, so that real runs are a little longer.

        Raises:
            StatsInputError: *rate* is neither of the two.
        """
        accepted = {self.good: 1 - self.alpha, self.bad: self.beta}.get(rate)
        if accepted is None:
            raise StatsInputError(f"the mean length is known at {self.good} and {self.bad}, not at {rate}")
        drift = (1 - rate) - self.slope
        return ((1 - accepted) * self.reject_above - accepted * self.accept_below) / drift

    @property
    def _weight(self) -> float:
        """What one failure counts against one pass, as a log likelihood ratio."""
        return log(self.good / self.bad) + log((1 - self.bad) / (1 - self.good))
