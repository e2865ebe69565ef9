"""What the statistics take and give: counts of trials, intervals, and the error for numbers that cannot be."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from statistics import NormalDist
from typing import NamedTuple

from harness.errors import UsageError


class StatsInputError(UsageError):
    """A number is outside the range in which a formula means anything."""

    def __init__(self, message: str) -> None:
        super().__init__("bad-numbers", message)


class Interval(NamedTuple):
    """A confidence interval, low ≤ high, in the unit of what it bounds."""

    low: float
    high: float


class Tally(NamedTuple):
    """
    Trials of one case, 0 ≤ passes ≤ trials.

    Only fresh samples count: a recording that is replayed twice is one trial.
    """

    passes: int
    trials: int

    @property
    def rate(self) -> float:
        """The share of trials that passed, 0 to 1; needs at least one trial."""
        return self.passes / self.trials


def tally(outcomes: Iterable[bool]) -> Tally:
    """Count *outcomes*, True = passed."""
    seen = [bool(outcome) for outcome in outcomes]
    return Tally(sum(seen), len(seen))


def tally_recordings(outcomes: Iterable[tuple[str, bool]]) -> Tally:
    """
    Count (digest of the recording, passed), each recording once: a replay is no fresh sample.

    Raises:
        StatsInputError: One recording both passed and failed, so that its outcome depends on something else.
    """
    seen: dict[str, bool] = {}
    for recording, passed in outcomes:
        if seen.setdefault(recording, passed) != passed:
            raise StatsInputError(f"recording {recording} both passed and failed")
    return tally(seen.values())


def check_tally(passes: int, trials: int) -> None:
    """Raise `StatsInputError` unless 0 ≤ *passes* ≤ *trials* and there is at least one trial."""
    if trials < 1:
        raise StatsInputError(f"at least one trial is needed, not {trials}")
    if not 0 <= passes <= trials:
        raise StatsInputError(f"passes lie between 0 and {trials} trials, not at {passes}")


def check_share(name: str, value: float) -> None:
    """Raise `StatsInputError` unless *value* lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise StatsInputError(f"{name} lies between 0 and 1, both excluded, not at {value}")


def check_rate(name: str, value: float) -> None:
    """Raise `StatsInputError` unless *value* lies between 0 and 1, both included."""
    if not 0 <= value <= 1:
        raise StatsInputError(f"{name} lies between 0 and 1, not at {value}")


def check_finite(name: str, values: Iterable[float]) -> None:
    """Raise `StatsInputError` when one of *values* is infinite or no number."""
    for value in values:
        if not isfinite(value):
            raise StatsInputError(f"{name} are finite numbers, not {value}")


def two_sided_z(confidence: float) -> float:
    """Return the normal quantile that leaves (1 − *confidence*) / 2 above it, e.g. 1.96 for 0.95."""
    check_share("confidence", confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)
