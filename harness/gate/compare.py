"""
A run against the baseline, case by case, as a pure function: what changed, why, and what that demands.

A sample is a recording. Trials with the accepted recording, and scripted ones with any, are compared exactly. Where a
live or local model was recorded anew, single trials say nothing: rates of distinct recordings are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from harness.gate.baseline import Baseline, BaselineCase, BaselineTrial, must_be_kept
from harness.gate.cause import cause_of, changed
from harness.gate.changes import broken_in, change_of
from harness.gate.coverage import (
    copied,
    lost_contracts,
    missing,
    never_compared,
    reworded,
    told_reworded,
    toothless,
    unexercised,
)
from harness.gate.figures import compared, grown
from harness.gate.fresh import fresh_cases
from harness.gate.policy import blocks, expired, quarantined
from harness.gate.policy_file import Policy
from harness.gate.rates import Rates
from harness.gate.ways import strays
from harness.records.accepted import Strayed
from harness.records.decision import Change, ChangeKind, Decision, decide
from harness.records.run import CaseVerdict, RunRecord

_STALE = frozenset({"cassette-miss", "cassette-unused"})
_EXACT = frozenset({"scripted", "none"})
"""Who never gives a sample: a script, and nobody."""


def gate(
    record: RunRecord,
    baselines: Mapping[str, Baseline],
    policy: Policy,
    *,
    today: date,
    strayed: Iterable[Strayed] = (),
) -> Decision:
    """
    Hold *record* against *baselines*, by set, as *policy* says.

    Args:
        record: The run; what it says of known failures is not looked at.
        baselines: Every baseline there is, also of sets that the run does not have.
        policy: What blocks.
        today: The day by which quarantine entries expire.
        strayed: Trials that took no accepted way, told by who can read their traces.

    Raises:
        UsageError: Recordings differ, and scipy, which their statistics need, is not installed.
    """
    rules = policy.rules
    comparing = _Comparing(record, baselines, policy)
    changes = [
        *comparing.changes(today),
        *missing(record, baselines),
        *copied(record, baselines),
        *unexercised(record, baselines, policy),
        *toothless(record, policy),
        *told_reworded(comparing.reworded),
        *strays(record, baselines, strayed, blocks=rules.trajectories == "block"),
    ]
    if not record.partial:
        changes += never_compared(policy, comparing.figures)
    changes = [quarantined(change, rules.quarantine, today) for change in changes]
    changes += expired(policy, today)
    rates = comparing.rates
    return decide(
        record.run, comparing.compared, changes, rates.needs_trials, statistics=tuple(rates.statistics),
        samples=tuple(rates.samples), policy=policy.file,
    )  # fmt: skip


class _Comparing:
    """The verdicts of one run, each beside what was accepted for it."""

    def __init__(self, record: RunRecord, baselines: Mapping[str, Baseline], policy: Policy) -> None:
        self._record = record
        self._baselines = baselines
        self._policy = policy.rules
        self.rates = Rates(policy.rules)
        self.reworded = reworded(record, baselines)
        self.compared = 0
        self.figures: set[str] = set()
        """Figures that were held against an accepted one at least once."""

    def changes(self, today: date) -> Iterator[Change]:
        """Everything that the run's verdicts say."""
        yield from self._not_baselined()
        fresh: list[tuple[CaseVerdict, BaselineCase]] = []
        for verdict in self._record.results:
            accepted = self._accepted(verdict)
            trial = _same_sample(verdict, accepted)
            self.compared += trial is not None or accepted is not None
            if verdict.verdict == "could_not_check":
                yield _unchecked(verdict, accepted, trial)
                continue
            if accepted and _unlike(verdict, accepted):
                because = f"answered by {verdict.provenance}, and by {accepted.provenance} when it was accepted"
                yield change_of(verdict, "error", "model", because, exit_code=3)
                continue
            yield from lost_contracts(verdict, accepted, self._policy)
            if accepted and not trial and verdict.provenance not in _EXACT:
                fresh.append((verdict, accepted))
                continue
            yield from self._exactly(verdict, accepted, trial)
        anew = fresh_cases(fresh, self._record.manifest.get("families", {}))
        self.figures |= {name for case in anew for name in compared(case.now[0], case.then[0])}
        yield from self.rates.changes(anew, today)

    def _accepted(self, verdict: CaseVerdict) -> BaselineCase | None:
        baseline = self._baselines.get(verdict.set)
        return baseline.case(verdict.agent, verdict.model, verdict.case) if baseline else None

    def _not_baselined(self) -> Iterator[Change]:
        """Sets, and designs in them, of which nothing was ever accepted, or too little to compare with."""
        seen = set()
        for verdict in self._record.results:
            key = (verdict.set, verdict.agent, verdict.model)
            if key in seen:
                continue
            seen.add(key)
            baseline = self._baselines.get(verdict.set)
            cell = baseline.agents.get(verdict.agent, {}).get(verdict.model) if baseline else None
            if cell is None:
                what = "this design with this model" if baseline else f"the set `{verdict.set}`"
                because = f"there is no baseline of {what}"
                yield change_of(verdict, "new", "baseline", because, case="", trial=None, exit_code=4)
            elif any(c.lock is None or any(t.figures is None for t in c.trials) for c in cell.cases.values()):
                because = "its baseline has no figures and digests to compare with; `harness accept` adds them"
                yield change_of(verdict, "error", "baseline", because, case="", trial=None, exit_code=3)

    def _exactly(
        self, verdict: CaseVerdict, accepted: BaselineCase | None, trial: BaselineTrial | None
    ) -> Iterator[Change]:
        cause = cause_of(verdict, accepted, trial)
        if trial is None:
            yield change_of(
                verdict, "new", "golden" if accepted is None else "matrix", "nothing is accepted for it yet"
            )
        elif trial.cassette_digest != verdict.cassette_digest:
            yield change_of(verdict, "new", cause, "it was recorded anew since it was accepted")
        for contract, because, at in self._broken(verdict):
            was = trial is not None and contract in trial.broken
            known = (
                was
                and trial is not None
                and trial.cassette_digest == verdict.cassette_digest
                and not must_be_kept(verdict)
            )
            kind: ChangeKind = "still_broken" if was else "regression" if trial else "new"
            demands = 0 if known else 1
            blamed = "contracts" if contract in self.reworded else cause
            if kind == "regression" and trial and _judged_anew(verdict, trial, contract):
                kind, blamed, demands = "flaky", "judge", 5
            yield change_of(verdict, kind, blamed, because, contract=contract, at=at, exit_code=demands)
        yield from self._only_told(verdict, trial, cause)
        if trial is None:
            return
        for contract in sorted(set(trial.broken) - set(verdict.broken)):
            yield change_of(verdict, "fixed", cause, "it was accepted as broken", contract=contract)
        self.figures |= set(compared(verdict, trial))
        for growth in grown(verdict, trial, self._policy.tolerate):
            is_told: ChangeKind = "error" if growth.lost else "regression"
            yield change_of(verdict, is_told, cause, growth.because, exit_code=3 if growth.lost else 1)

    def _only_told(self, verdict: CaseVerdict, trial: BaselineTrial | None, cause: str) -> Iterator[Change]:
        """What broke since it was accepted, of contracts that the policy does not let block."""
        for contract, because, at in broken_in(verdict):
            if not blocks(contract, self._policy) and (trial is None or contract not in trial.broken):
                yield change_of(verdict, "regression" if trial else "new", cause, because, contract=contract, at=at)

    def _broken(self, verdict: CaseVerdict) -> Iterator[tuple[str, str, str]]:
        """Blocking contracts that broke, each once: its name, the first reason, and where it is stated."""
        return ((name, because, at) for name, because, at in broken_in(verdict) if blocks(name, self._policy))


def _unlike(verdict: CaseVerdict, accepted: BaselineCase) -> bool:
    """Whether somebody else answers now than when the case was accepted: such are never compared."""
    return verdict.provenance != accepted.provenance and "none" not in {verdict.provenance, accepted.provenance}


def _judged_anew(verdict: CaseVerdict, trial: BaselineTrial, contract: str) -> bool:
    """Whether a model was asked again what it makes of the same recording: another word of it proves nothing by itself."""
    asked = any(f.contract == contract and f.judged_by in {"live", "local"} for f in verdict.findings)
    return asked and trial.cassette_digest == verdict.cassette_digest and trial.judge != verdict.lock.judge


def _same_sample(verdict: CaseVerdict, accepted: BaselineCase | None) -> BaselineTrial | None:
    """What was accepted for the same trial: for scripted ones whatever the recording, else for the same recording only."""
    if accepted is None:
        return None
    same = {trial.n: trial for trial in accepted.trials}.get(verdict.trial)
    exact = verdict.provenance in _EXACT or verdict.verdict == "could_not_check"
    if same and (exact or same.cassette_digest == verdict.cassette_digest):
        return same
    return next(
        (t for t in accepted.trials if t.cassette_digest and t.cassette_digest == verdict.cassette_digest), None
    )


def _unchecked(verdict: CaseVerdict, accepted: BaselineCase | None, trial: BaselineTrial | None) -> Change:
    failed = next((f for f in verdict.findings if f.state == "could_not_check" and not f.advisory), None)
    if failed:
        return change_of(
            verdict,
            "error",
            "contracts",
            failed.because,
            contract=failed.contract,
            at=failed.at or verdict.at,
            exit_code=3,
        )
    kind: ChangeKind = (
        "missing" if verdict.code == "cassette-missing" else "stale" if verdict.code in _STALE else "error"
    )
    also = changed(verdict, accepted, trial)
    because = f"{verdict.because.splitlines()[0] if verdict.because else verdict.code}"
    if len(also) > 1:
        because += f" (changed: {', '.join(also)})"
    return change_of(verdict, kind, cause_of(verdict, accepted, trial), because, exit_code=3)
