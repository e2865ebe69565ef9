"""How far a judge agrees with people, as one record: the document of `harness judge calibrate`."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.records.run import Provenance


class Confusion(msgspec.Struct, frozen=True, kw_only=True):
    """How often people and the judge said what; the first word is theirs, the second the judge's."""

    pass_pass: int
    pass_fail: int
    fail_pass: int
    fail_fail: int

    @property
    def labels(self) -> int:
        """How many answers were rated by both."""
        return self.pass_pass + self.pass_fail + self.fail_pass + self.fail_fail


class Calibrated(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is known of a judge by one *criterion*, or by all of them where it is empty.

    *kappa* is Cohen's; it, *standard_error* and *kappa_interval* are None where both always say the same one thing.
    Intervals are at 95 %. *enough* says whether there are labels enough to speak of the judge at all.
    """

    criterion: str
    confusion: Confusion
    agreement: float
    agreement_interval: tuple[float, float]
    expected: float
    kappa: float | None
    standard_error: float | None
    kappa_interval: tuple[float, float] | None
    enough: bool


class RatedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled answer with what the judge says of it."""

    id: str
    criterion: str
    label: Literal["pass", "fail"]
    verdict: Literal["pass", "fail", "none"]
    because: str


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """`harness judge calibrate`: a judge held against a file of labelled answers; *overall* is None where it answered none."""

    file: str
    about: str
    model: str
    provenance: Provenance
    votes: int
    labels: int
    least_labels: int
    overall: Calibrated | None
    criteria: tuple[Calibrated, ...]
    answers: tuple[RatedAnswer, ...]
    warnings: tuple[str, ...]
    exit_code: int
