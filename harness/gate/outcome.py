"""What a run comes to: its totals and its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.errors import ExitCode
from harness.records.run import CaseVerdict, Totals

_FIRST = (
    ExitCode.USAGE,
    ExitCode.COULD_NOT_CHECK,
    ExitCode.REGRESSED,
    ExitCode.NOTHING_COMPARED,
    ExitCode.INCONCLUSIVE,
)


def totals_of(verdicts: Iterable[CaseVerdict]) -> Totals:
    """Count how trials ended."""
    states = [(verdict.verdict, verdict.known) for verdict in verdicts]
    return Totals(
        trials=len(states),
        kept=sum(state == "kept" for state, _ in states),
        broken=sum(state == "broken" for state, _ in states),
        known=sum(state == "broken" and known for state, known in states),
        could_not_check=sum(state == "could_not_check" for state, _ in states),
    )


def exit_code_of(totals: Totals) -> ExitCode:
    """The exit code of a run: 4 without trials, 3 where one could not be checked, 1 where one broke and is not known."""
    codes = set()
    if totals.trials == 0:
        codes.add(ExitCode.NOTHING_COMPARED)
    if totals.could_not_check:
        codes.add(ExitCode.COULD_NOT_CHECK)
    if totals.broken > totals.known:
        codes.add(ExitCode.REGRESSED)
    return strongest(tuple(codes))


def strongest(codes: Sequence[ExitCode]) -> ExitCode:
    """When several exit codes apply: the first of 2, 3, 1, 4, 5, 0."""
    return next((code for code in _FIRST if code in codes), ExitCode.PASS)
