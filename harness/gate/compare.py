"""
A run against the baseline, case by case, as a pure function: what changed, why, and what that demands.

A sample is a recording. Trials with the accepted recording, and scripted ones with any, are compared exactly. Where a
live or local model was recorded anew, single trials say nothing: rates of distinct recordings are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import msgspec

from harness.config import GateConfig
from harness.gate.baseline import Baseline, BaselineCase, BaselineTrial, must_be_kept
from harness.gate.cause import cause_of, changed
from harness.gate.coverage import lost_contracts, missing, unexercised
from harness.gate.figures import grown, grown_together
from harness.gate.policy import blocks, expired, quarantined
from harness.gate.samples import ALPHA, chance_of_as_bad, trials_needed
from harness.records.decision import Change, ChangeKind, Decision, decide
from harness.records.run import CaseVerdict, RunRecord

_STALE = frozenset({"cassette-miss", "cassette-unused"})


def gate(record: RunRecord, baselines: Mapping[str, Baseline], policy: GateConfig, *, today: date) -> Decision:
    """
    Hold *record* against *baselines*, by set, as *policy* says.

    Args:
        record: The run; what it says of known failures is not looked at.
        baselines: Every baseline there is, also of sets that the run does not have.
        policy: What blocks.
        today: The day by which quarantine entries expire.
    """
    comparing = _Comparing(record, baselines, policy)
    changes = [*comparing.changes(), *missing(record, baselines), *unexercised(record, baselines, policy)]
    changes = [quarantined(change, policy.quarantine, today) for change in changes]
    changes += expired(policy.quarantine, today)
    return decide(record.run, comparing.compared, changes, comparing.needs_trials)


class _Comparing:
    """The verdicts of one run, each beside what was accepted for it."""

    def __init__(self, record: RunRecord, baselines: Mapping[str, Baseline], policy: GateConfig) -> None:
        self._record = record
        self._baselines = baselines
        self._policy = policy
        self.compared = 0
        self.needs_trials: int | None = None

    def changes(self) -> Iterator[Change]:
        """Everything that the run's verdicts say."""
        yield from self._not_baselined()
        fresh: dict[tuple[str, str, str, str], list[CaseVerdict]] = {}
        for verdict in self._record.results:
            accepted = self._accepted(verdict)
            trial = _same_sample(verdict, accepted)
            self.compared += trial is not None or accepted is not None
            if verdict.verdict == "could_not_check":
                yield _unchecked(verdict, accepted, trial)
                continue
            yield from lost_contracts(verdict, accepted, self._policy)
            if accepted and not trial and verdict.provenance != "scripted":
                fresh.setdefault((verdict.agent, verdict.model, verdict.set, verdict.case), []).append(verdict)
                continue
            yield from self._exactly(verdict, accepted, trial)
        for verdicts in fresh.values():
            accepted = self._accepted(verdicts[0])
            if accepted:
                yield from self._by_rate(verdicts, accepted)
        yield from grown_together(
            self._baselines, [v for group in fresh.values() for v in group], self._policy.tolerate
        )

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
                yield _change(verdict, "new", "baseline", because, case="", trial=None, exit_code=4)
            elif any(c.lock is None or any(t.figures is None for t in c.trials) for c in cell.cases.values()):
                because = "its baseline has no figures and digests to compare with; `harness accept` adds them"
                yield _change(verdict, "error", "baseline", because, case="", trial=None, exit_code=3)

    def _exactly(
        self, verdict: CaseVerdict, accepted: BaselineCase | None, trial: BaselineTrial | None
    ) -> Iterator[Change]:
        cause = cause_of(verdict, accepted, trial)
        if trial is None:
            yield _change(verdict, "new", "golden" if accepted is None else "matrix", "nothing is accepted for it yet")
        elif trial.cassette_digest != verdict.cassette_digest:
            yield _change(verdict, "new", cause, "it was recorded anew since it was accepted")
        for contract, because, at in self._broken(verdict):
            was = trial is not None and contract in trial.broken
            known = (
                was
                and trial is not None
                and trial.cassette_digest == verdict.cassette_digest
                and not must_be_kept(verdict)
            )
            kind: ChangeKind = "still_broken" if was else "regression" if trial else "new"
            yield _change(verdict, kind, cause, because, contract=contract, at=at, exit_code=0 if known else 1)
        if trial is None:
            return
        for contract in sorted(set(trial.broken) - set(verdict.broken)):
            yield _change(verdict, "fixed", cause, "it was accepted as broken", contract=contract)
        for because in grown(verdict, trial, self._policy.tolerate):
            yield _change(verdict, "regression", cause, because, exit_code=1)

    def _broken(self, verdict: CaseVerdict) -> Iterator[tuple[str, str, str]]:
        """Blocking contracts that broke, each once: its name, the first reason, and where it is stated."""
        seen = set()
        for finding in verdict.findings:
            if finding.state != "broken" or finding.advisory or finding.contract in seen:
                continue
            seen.add(finding.contract)
            if blocks(finding.contract, self._policy):
                yield finding.contract, finding.because, finding.at or verdict.at

    def _by_rate(self, verdicts: Sequence[CaseVerdict], accepted: BaselineCase) -> Iterator[Change]:
        """Compare how often each contract broke in the new recordings and in the accepted ones."""
        distinct = {verdict.cassette_digest: verdict for verdict in verdicts}
        samples = {trial.cassette_digest: trial for trial in accepted.trials}
        first = verdicts[0]
        cause = cause_of(first, accepted, accepted.trials[0])
        yield _change(first, "new", cause, f"recorded anew since it was accepted: {len(distinct)} samples", trial=None)
        reasons = {name: (because, at) for verdict in verdicts for name, because, at in self._broken(verdict)}
        for contract in sorted(reasons.keys() | {name for trial in samples.values() for name in trial.broken}):
            then = sum(contract in trial.broken for trial in samples.values())
            now = sum(contract in verdict.broken for verdict in distinct.values())
            yield self._rated(first, contract, cause, (then, len(samples), now, len(distinct)), reasons.get(contract))

    def _rated(
        self, verdict: CaseVerdict, contract: str, cause: str, counts: tuple[int, int, int, int],
        told: tuple[str, str] | None,
    ) -> Change:  # fmt: skip
        then, samples, now, distinct = counts
        because, at = told or ("it is no longer broken", verdict.at)
        rates = f"broken in {now} of {distinct} recordings, {then} of {samples} accepted"
        if not now:
            kind: ChangeKind = "fixed"
            demands = 0
        elif now * samples <= then * distinct:
            kind, demands = "still_broken", 0
        elif chance_of_as_bad(then, samples, now, distinct) <= ALPHA:
            kind, demands = "regression", 1
        else:
            kind, demands = "flaky", 5
            needed = trials_needed(then, samples, now, distinct)
            self.needs_trials = max(self.needs_trials or 0, needed or 0) or None
        return _change(
            verdict, kind, cause, f"{because} ({rates})", contract=contract, at=at, trial=None, exit_code=demands
        )


def _same_sample(verdict: CaseVerdict, accepted: BaselineCase | None) -> BaselineTrial | None:
    """What was accepted for the same trial: for scripted ones whatever the recording, else for the same recording only."""
    if accepted is None:
        return None
    same = {trial.n: trial for trial in accepted.trials}.get(verdict.trial)
    exact = verdict.provenance in {"scripted", "none"} or verdict.verdict == "could_not_check"
    if same and (exact or same.cassette_digest == verdict.cassette_digest):
        return same
    return next(
        (t for t in accepted.trials if t.cassette_digest and t.cassette_digest == verdict.cassette_digest), None
    )


def _unchecked(verdict: CaseVerdict, accepted: BaselineCase | None, trial: BaselineTrial | None) -> Change:
    failed = next((f for f in verdict.findings if f.state == "could_not_check" and not f.advisory), None)
    if failed:
        return _change(
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
    return _change(verdict, kind, cause_of(verdict, accepted, trial), because, exit_code=3)


def _change(
    verdict: CaseVerdict,
    change: ChangeKind,
    cause: str,
    because: str,
    *,
    contract: str = "",
    exit_code: int = 0,
    **fields: object,
) -> Change:
    told = {"case": verdict.case, "trial": verdict.trial, "at": verdict.at} | fields
    return msgspec.convert(
        {
            "agent": verdict.agent, "model": verdict.model, "set": verdict.set, "contract": contract, "change": change,
            "cause": cause, "because": because, "exit_code": exit_code, **told,
        },
        Change,
    )  # fmt: skip
