"""
What the gate has to say to CI: the problems of a run, each with the change that the gate makes of it.

What blocks is what the gate says, and nothing else: a failure that it excuses is told as known, quarantined or advisory,
and what no trial shows (a case that is gone, a figure that grew) is a problem of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.records.decision import TRAJECTORY, Change, Decision
from harness.records.run import CaseVerdict, RunRecord
from harness.reports.problems import KINDS, Kind, Problem, place, problems_of

_KINDS: dict[int, Kind] = {1: "broken", 3: "could_not_check", 4: "could_not_check", 5: "inconclusive"}
_Key = tuple[str, str, str, str]


def decided_problems(record: RunRecord, decision: Decision, *, prefix: str = "") -> tuple[Problem, ...]:
    """
    Everything that is wrong in *record* as *decision* sees it, the gravest first.

    Args:
        record: The run that was decided about.
        decision: What the gate says of it.
        prefix: The project's folder from the root of the repository; empty where they are the same.
    """
    changes = _Changes(decision)
    found = [problem for verdict in record.results for problem in _of_verdict(verdict, changes, prefix)]
    verdicts = {(_key(verdict), verdict.trial): verdict for verdict in record.results}
    cases = {_key(verdict): verdict for verdict in reversed(record.results)}
    for change in changes.left():
        told = verdicts.get((_key(change), change.trial or 0)) or cases.get(_key(change))
        found.append(_alone(change, told, prefix))
    return tuple(sorted(found, key=lambda problem: (KINDS.index(problem.kind), _rank(problem.change))))


def beside_trials(found: Sequence[Problem], record: RunRecord) -> list[Problem]:
    """Those of *found* that no trial of *record* shows."""
    own = {id(verdict) for verdict in record.results}
    return [problem for problem in found if id(problem.verdict) not in own]


class _Changes:
    """The changes of a decision by what they are about; each is given out, and what nobody asked for is left."""

    def __init__(self, decision: Decision) -> None:
        self._by_key: dict[tuple[_Key, str], list[Change]] = {}
        self._asked: set[int] = set()
        self._all = decision.changes
        for change in decision.changes:
            self._by_key.setdefault((_key(change), change.contract), []).append(change)

    def of(self, verdict: CaseVerdict, contract: str) -> Change | None:
        """The change of *contract* of this trial, or of all trials of its case."""
        for change in self._by_key.get((_key(verdict), contract), []):
            if change.trial in {None, verdict.trial} and (contract or change.exit_code == 3):
                self._asked.add(id(change))
                return change
        return None

    def left(self) -> list[Change]:
        """Changes that block, or would without a quarantine, and that no problem of a trial stands for."""
        return [
            change for change in self._all if (change.exit_code or change.quarantined) and id(change) not in self._asked
        ]


def _of_verdict(verdict: CaseVerdict, changes: _Changes, prefix: str) -> Iterator[Problem]:
    for problem in problems_of(verdict, prefix=prefix):
        contract = problem.finding.contract if problem.finding else ""
        change = None if problem.kind == "advisory" else changes.of(verdict, contract)
        if problem.kind == "advisory" or (change is None and verdict.verdict == "could_not_check"):
            yield problem
        elif change is None:
            yield msgspec.structs.replace(problem, kind="known" if problem.kind == "known" else "advisory")
        else:
            told: Kind = "known" if change.change == "still_broken" else "advisory"
            kind: Kind = _KINDS.get(change.exit_code, "quarantined" if change.quarantined else told)
            because = problem.because if change.trial is not None else change.because
            yield msgspec.structs.replace(problem, kind=kind, because=because, change=change)


def _alone(change: Change, told: CaseVerdict | None, prefix: str) -> Problem:
    """A problem that no finding shows, of the trial that is *told*; of none where there is none."""
    verdict = told or CaseVerdict(
        agent=change.agent, profile="reference", model=change.model, provenance="none", set=change.set, case=change.case,
        trial=change.trial or 0, verdict="could_not_check", at=change.at,
    )  # fmt: skip
    file, line = place(change.at, prefix)
    kind: Kind = "quarantined" if change.quarantined else _KINDS.get(change.exit_code, "advisory")
    rule = change.contract or f"gate-{change.change.replace('_', '-')}"
    return Problem(verdict=verdict, kind=kind, rule=rule, because=change.because, file=file, line=line, change=change)


def _key(of: CaseVerdict | Change) -> _Key:
    return of.agent, of.model, of.set, of.case


def _rank(change: Change | None) -> int:
    """Regressions of a contract before what is gone, what grew, and what was done otherwise."""
    if change is None:
        return 9
    if change.contract == TRAJECTORY:
        return 3
    if change.change == "missing":
        return 1
    return 0 if change.contract else 2
