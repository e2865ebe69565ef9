"""What the gate decides: each change against the baseline, what it demands, and what all of them come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from harness.records.comparison import Interval
from harness.records.run import Provenance

ChangeKind = Literal["regression", "fixed", "still_broken", "new", "missing", "skipped", "flaky", "stale", "error"]
"""
*still_broken*: broken then and now. *new*: the baseline has nothing of it. *missing*: the baseline has it, the run does
not. *skipped*: not run, or not exercised. *flaky*: samples differ, and too few to say more. *stale*: the recording no
longer fits what the agent asks. *error*: no verdict, through nobody's fault in the answer.
"""
TRAJECTORY = "trajectory"
"""Stands in place of a contract where a change is about what the agent did, and no contract is broken by it."""
Figure = Literal["llm_calls", "tool_calls", "tokens", "cost", "latency"]
Decided = Literal["pass", "regressed", "could_not_check", "nothing_compared", "inconclusive"]

PRECEDENCE: tuple[tuple[int, Decided], ...] = (
    (3, "could_not_check"), (1, "regressed"), (4, "nothing_compared"), (5, "inconclusive"),
)  # fmt: skip
"""Exit codes in the order in which they win; 2 never gets this far."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference from the baseline."""

    agent: str
    model: str
    set: str
    case: str
    contract: str
    """Empty where it is not about one contract; `trajectory` where it is about what the agent did."""
    change: ChangeKind
    cause: str
    """What changed: prompt, tool_schema, model, code, golden, cassette, world, contracts, matrix, … or `unknown`."""
    because: str
    at: str
    trial: int | None = None
    """None where it is about all trials of the case."""
    exit_code: int = 0
    """What it demands by itself; 0 is told and blocks nothing."""
    quarantined: str = ""
    """Owner, reason and last day of the entry that keeps it from blocking."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How many recordings of one side were kept; *interval* is Wilson's at 95 %, over cases for as many as they are worth."""

    kept: int
    trials: int
    interval: Interval


class Statistic(msgspec.Struct, frozen=True, kw_only=True):
    """
    One question that recordings made anew were asked: whether a contract, or all of them, broke more often than in the
    accepted recordings, or whether a *figure* grew. Scripted trials and replays of the accepted recordings are in none.
    """

    agent: str
    model: str
    provenance: Provenance
    set: str
    case: str = ""
    """Empty: over all cases that were recorded anew."""
    contract: str = ""
    """Empty: all blocking contracts together, or a *figure*."""
    figure: Figure | None = None
    test: Literal["mcnemar", "permutation", "bca", "none"]
    """`none` where there are too few families to bound a figure."""
    cases: int
    families: int
    """Variants of one question hang together, and are one family."""
    before: Rate | None = None
    after: Rate | None = None
    lost: int | None = None
    """Cases that were kept and are broken now: McNemar's test only, as *gained*."""
    gained: int | None = None
    effect: float
    """Keep-rate now less that of before, averaged over cases, -1 to 1; of a figure, the ratio of its totals, now by before."""
    standard_error: float | None = None
    """Of *effect*, clustered by family; None for a figure, or with fewer than two families."""
    interval: Interval | None = None
    """Of *effect*, at 95 %: Student's t over families, or Newcombe's of one; of a figure, BCa with families drawn whole."""
    p_value: float | None = None
    """One-sided: the chance of as bad an outcome if nothing changed."""
    p_adjusted: float | None = None
    """Holm's, over all tests of this decision that could have been significant; None where this one could not."""
    smallest_detectable: float | None = None
    """The smallest loss of the rate, or growth of the figure, that is seen with 80 % power; None: none is."""
    needs_trials: int | None = None
    """Recordings of each case, on each side, that would show *effect* with 80 % power; None where nothing got worse."""
    outcome: Literal["worse", "inconclusive", "not_worse"]


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """One case that was recorded anew: how often it was kept, then and now, and how much it flickers."""

    agent: str
    model: str
    provenance: Provenance
    set: str
    case: str
    before: Rate
    after: Rate
    flakiness: float | None
    """The chance that two of the new recordings disagree, 0 to 1; None where there is only one."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What all changes come to."""

    run: str
    decision: Decided
    exit_code: int
    compared: int
    """Trials that were held against an accepted one."""
    changes: tuple[Change, ...]
    needs_trials: int | None = None
    """Recordings of a case, on each side, that would settle what is inconclusive."""
    statistics: tuple[Statistic, ...] = ()
    samples: tuple[Sampled, ...] = ()
    policy: str = "pyproject.toml"
    """The file that says what blocks."""


def decide(
    run: str, compared: int, changes: Iterable[Change], needs_trials: int | None = None, **told: Any
) -> Decision:
    """
    Put *changes* in order, those that block first, and let the strongest decide. Nothing compared is no pass.

    Args:
        run: The run that was held against the baseline.
        compared: Trials that were held against an accepted one.
        changes: Everything that differs.
        needs_trials: What would settle it, should it be inconclusive.
        told: Other fields of the decision, which decide nothing.
    """
    order = {code: place for place, (code, _) in enumerate(PRECEDENCE)}
    ordered = sorted(
        changes, key=lambda c: (order.get(c.exit_code, 9), c.set, c.agent, c.model, c.case, c.trial or 0, c.contract)
    )
    demanded = {change.exit_code for change in ordered} | (set() if compared else {4})
    for code, name in PRECEDENCE:
        if code in demanded:
            told["needs_trials"] = needs_trials if code == 5 else None
            return Decision(run=run, decision=name, exit_code=code, compared=compared, changes=tuple(ordered), **told)
    return Decision(run=run, decision="pass", exit_code=0, compared=compared, changes=tuple(ordered), **told)
