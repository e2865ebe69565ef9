"""What many runs say together: how each design went, what changed between runs, and which cases do not hold still."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.records.messages import Usage
from harness.records.run import Provenance


class PastRunTold(msgspec.Struct, frozen=True, kw_only=True):
    """One run that history knows. *partial*: flags narrowed it; *unfinished*: it goes on, or was cut off."""

    run: str
    began: str
    """UTC."""
    state: Literal["whole", "partial", "unfinished"]
    exit_code: int | None
    version: str
    trials: int
    kept: int
    broken: int
    known: int
    could_not_check: int


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a trend; all figures are sums over its *trials*. *known* are among the *broken*."""

    run: str
    began: str
    trials: int
    kept: int
    broken: int
    known: int
    could_not_check: int
    kept_rate: float
    """Trials kept of all trials, 0 to 1: what could not be checked was not kept."""
    llm_calls: int
    tool_calls: int
    tokens: Usage
    cost_usd: float | None
    """None where one of its trials has no price."""
    recorded_ms: int
    new_recordings: int
    """Recordings that no run before it had: only these are new samples of a model."""
    changed: tuple[str, ...]
    """What differs from the run before: cases, prompts, code and the like; empty where that was not told, too."""


class TrendSeries(msgspec.Struct, frozen=True, kw_only=True):
    """How one design went with one model; provenances are never mixed."""

    agent: str
    model: str
    provenance: Provenance
    points: tuple[TrendPoint, ...]


class UnsteadyCase(msgspec.Struct, frozen=True, kw_only=True):
    """
    A case that flickers: *kept* in so many *of* its recordings (`recordings`), or in so many of the times that one and
    the same recording was judged (`nondeterminism`). *score* is the chance that two recordings disagree.
    """

    agent: str
    model: str
    provenance: Provenance
    set: str
    case: str
    kind: Literal["recordings", "nondeterminism"]
    kept: int
    of: int
    score: float | None
    runs: tuple[str, ...]
    because: str


class CaseHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A case that was not always kept: a mark for each run of the trend, `.` kept, `x` broken, `k` known, `?` not checked, `-` not run."""

    agent: str
    model: str
    provenance: Provenance
    set: str
    case: str
    states: str


class SkippedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run folder that could not be read."""

    run: str
    because: str


class History(msgspec.Struct, frozen=True, kw_only=True):
    """`harness history`: the runs of a trend, oldest first, and what they say of each design and case."""

    store: str
    """Where runs are kept, without its password; empty where run folders were read directly."""
    runs: tuple[PastRunTold, ...]
    series: tuple[TrendSeries, ...]
    unsteady: tuple[UnsteadyCase, ...]
    cases: tuple[CaseHistory, ...]
    left_out: int
    """Runs that are partial or unfinished, and so no part of the trend."""
    skipped: tuple[SkippedRun, ...]
    taken: int
    """Runs that this command put into the store."""
