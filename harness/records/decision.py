"""What the gate decides: each change against the baseline, what it demands, and what all of them come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

ChangeKind = Literal["regression", "fixed", "still_broken", "new", "missing", "skipped", "flaky", "stale", "error"]
"""
*still_broken*: broken then and now. *new*: the baseline has nothing of it. *missing*: the baseline has it, the run does
not. *skipped*: not run, or not exercised. *flaky*: samples differ, and too few to say more. *stale*: the recording no
longer fits what the agent asks. *error*: no verdict, through nobody's fault in the answer.
"""
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
    """Empty where it is not about one contract."""
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


def decide(run: str, compared: int, changes: Iterable[Change], needs_trials: int | None = None) -> Decision:
    """Put *changes* in order, those that block first, and let the strongest decide. Nothing compared is no pass."""
    order = {code: place for place, (code, _) in enumerate(PRECEDENCE)}
    ordered = sorted(
        changes, key=lambda c: (order.get(c.exit_code, 9), c.set, c.agent, c.model, c.case, c.trial or 0, c.contract)
    )
    demanded = {change.exit_code for change in ordered} | (set() if compared else {4})
    for code, name in PRECEDENCE:
        if code in demanded:
            needed = needs_trials if code == 5 else None
            return Decision(
                run=run, decision=name, exit_code=code, compared=compared, changes=tuple(ordered), needs_trials=needed
            )
    return Decision(run=run, decision="pass", exit_code=0, compared=compared, changes=tuple(ordered))
