"""What was accepted and is not there any more: cases, trials, contracts, and contracts that nothing exercises."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from harness.config import GateConfig
from harness.gate.baseline import Baseline, BaselineCase, triggered_in
from harness.gate.cause import changed
from harness.gate.policy import blocks
from harness.gate.policy_file import Policy
from harness.records.decision import Change
from harness.records.run import CaseVerdict, RunRecord

_Key = tuple[str, str, str, str]


def missing(record: RunRecord, baselines: Mapping[str, Baseline]) -> Iterator[Change]:
    """Accepted trials that the run does not have: gone (1), or left out by a run that flags narrowed (3)."""
    ran: dict[_Key, list[CaseVerdict]] = {}
    for verdict in record.results:
        ran.setdefault((verdict.agent, verdict.model, verdict.set, verdict.case), []).append(verdict)
    for name, baseline in sorted(baselines.items()):
        for agent, models in baseline.agents.items():
            for model, accepted in models.items():
                for case, of_case in accepted.cases.items():
                    there = ran.get((agent, model, name, case), [])
                    gone = {trial.n for trial in of_case.trials} - {verdict.trial for verdict in there}
                    if gone:
                        yield _gone(record, (agent, model, name, case), sorted(gone), of_case, there)


def _gone(record: RunRecord, key: _Key, gone: list[int], accepted: BaselineCase, there: list[CaseVerdict]) -> Change:
    agent, model, set_name, case = key
    file = next((v.at.rpartition(":")[0] for v in record.results if v.set == set_name), "")
    cases = record.manifest.get("cases", {}).get(set_name)
    cause, where = "matrix", "pyproject.toml"
    if cases is not None and case not in cases:
        cause, where = "golden", file
        because = "the case is in no golden set any more"
    elif there:
        because = f"{len(there)} of {len(accepted.trials)} accepted trials were run; not {', '.join(map(str, gone))}"
        if "golden" in changed(there[0], accepted, None):
            cause, where = "golden", there[0].at
    else:
        because = "nothing runs the case with this design and model any more"
    if record.partial:
        because = "the run was narrowed by flags and left it out"
    return Change(
        agent=agent, model=model, set=set_name, case=case, contract="", cause="flags" if record.partial else cause,
        change="skipped" if record.partial else "missing", because=because, at=where,
        exit_code=3 if record.partial else 1,
    )  # fmt: skip


def copied(record: RunRecord, baselines: Mapping[str, Baseline]) -> Iterator[Change]:
    """
    Cases of a model whose trials hold fewer different recordings than were accepted: a copy under another number is no
    trial. Where only accepted recordings are left, others are gone (1); where they were made anew, that stays open (5).
    """
    ran: dict[_Key, list[CaseVerdict]] = {}
    for verdict in record.results:
        if verdict.provenance in {"live", "local"} and verdict.verdict != "could_not_check":
            ran.setdefault((verdict.agent, verdict.model, verdict.set, verdict.case), []).append(verdict)
    for (agent, model, set_name, case), there in ran.items():
        accepted = baselines[set_name].case(agent, model, case) if set_name in baselines else None
        if accepted is None or not {trial.n for trial in accepted.trials} <= {verdict.trial for verdict in there}:
            continue  # trials that were not run are told by `missing`
        then, now = {trial.cassette_digest for trial in accepted.trials}, {v.cassette_digest for v in there}
        if len(now) < len(then):
            gone = now <= then
            yield Change(
                agent=agent, model=model, set=set_name, case=case, contract="", cause="cassette", at=there[0].at,
                change="missing" if gone else "flaky", exit_code=1 if gone else 5,
                because=f"its {len(there)} trials hold {len(now)} different recordings; {len(then)} were accepted",
            )  # fmt: skip


def lost_contracts(verdict: CaseVerdict, accepted: BaselineCase | None, policy: GateConfig) -> Iterator[Change]:
    """
    Contracts that the accepted trials of the case triggered and that do not hold this one any more: they are not asked,
    or the case was edited so that nothing triggers them, or so that they only report.
    """
    if accepted is None:
        return
    edited = "golden" in changed(verdict, accepted, None)
    asked = triggered_in(verdict) if edited else {f.contract for f in verdict.findings if not f.advisory}
    for contract in sorted(set(accepted.contracts) - asked):
        if not blocks(contract, policy):
            continue
        yield Change(
            agent=verdict.agent, model=verdict.model, set=verdict.set, case=verdict.case, contract=contract,
            trial=verdict.trial, change="missing", cause="golden" if edited else "contracts", at=verdict.at, exit_code=1,
            because="the accepted trials were held to it, and this one is not",
        )  # fmt: skip


def unexercised(record: RunRecord, baselines: Mapping[str, Baseline], policy: Policy) -> Iterator[Change]:
    """
    Contracts that nothing triggers in a whole set × design with a model, though its trials did when they were accepted, or
    in a set × design where the policy says that something must. A narrowed run, and a group with trials that could not be
    checked, say nothing of it.
    """
    if record.partial:
        return
    groups: dict[tuple[str, str], list[CaseVerdict]] = {}
    for verdict in record.results:
        groups.setdefault((verdict.set, verdict.agent), []).append(verdict)
    declared = [(contract, pattern) for contract, patterns in policy.rules.exercised_by.items() for pattern in patterns]
    met = set()
    for (set_name, agent), verdicts in groups.items():
        due = {pair for pair in declared if fnmatchcase(f"{set_name}/{agent}", pair[1])}
        met |= due
        if any(verdict.verdict == "could_not_check" for verdict in verdicts):
            continue
        seen = {contract for verdict in verdicts for contract in triggered_in(verdict)}
        before = _lost_in_all(verdicts, baselines.get(set_name))
        for contract in sorted(before | ({contract for contract, _ in due} - seen)):
            if blocks(contract, policy.rules):
                yield _vacuous(verdicts[0], contract)
    for contract, pattern in declared:
        if (contract, pattern) not in met:
            yield Change(
                agent="", model="", set="", case="", contract=contract, change="skipped", cause="matrix",
                because=f"exercised_by names `{pattern}`, and no set/agent that ran matches", at=policy.file, exit_code=4,
            )  # fmt: skip


def never_compared(policy: Policy, figures: Collection[str]) -> Iterator[Change]:
    """Figures whose tolerated growth is written down, and that no trial has on both sides: that rule could never fire."""
    for name in sorted(policy.stated - set(figures)):
        yield Change(
            agent="", model="", set="", case="", contract="", change="skipped", cause="policy", at=policy.file, exit_code=4,
            because=f"`tolerate.{name}` is stated, and no trial has this figure now and when it was accepted",
        )  # fmt: skip


def toothless(record: RunRecord, policy: Policy) -> Iterator[Change]:
    """A policy under which none of the contracts that trials were held to may block could never say no."""
    asked = {finding.contract for verdict in record.results for finding in verdict.findings if not finding.advisory}
    if asked and not any(blocks(contract, policy.rules) for contract in asked):
        yield Change(
            agent="", model="", set="", case="", contract="", change="skipped", cause="policy", at=policy.file, exit_code=4,
            because=f"none of the {len(asked)} contracts of this run may block, so nothing that broke could be said",
        )  # fmt: skip


def reworded(record: RunRecord, baselines: Mapping[str, Baseline]) -> dict[str, tuple[int, int]]:
    """Contracts of this run that mean something else than when a case was accepted: versions then and now."""
    now = record.manifest.get("contracts", {})
    then = {
        (contract, held.version)
        for verdict in record.results
        if (baseline := baselines.get(verdict.set))
        and (case := baseline.case(verdict.agent, verdict.model, verdict.case))
        for contract, held in case.contracts.items()
    }
    return {
        name: (version, now[name]) for name, version in sorted(then) if version and now.get(name, version) != version
    }


def told_reworded(versions: Mapping[str, tuple[int, int]]) -> Iterator[Change]:
    """One change for each such contract: it blocks nothing by itself, and is the cause of what it breaks."""
    for contract, (then, now) in versions.items():
        yield Change(
            agent="", model="", set="", case="", contract=contract, change="new", cause="contracts", at="",
            because=f"it is version {now} now, and was version {then} when trials were accepted",
        )  # fmt: skip


def _lost_in_all(verdicts: Iterable[CaseVerdict], baseline: Baseline | None) -> set[str]:
    """
    Contracts that accepted trials of one design with a model triggered and that no trial of the two triggers now. A model
    that was recorded anew may have come to none of them by chance, so it says nothing.
    """
    by_model: dict[str, list[CaseVerdict]] = {}
    for verdict in verdicts:
        by_model.setdefault(verdict.model, []).append(verdict)
    lost = set()
    for those in by_model.values():
        cases = [(v, baseline.case(v.agent, v.model, v.case)) for v in those] if baseline else []
        if all(_is_exact(verdict, case) for verdict, case in cases):
            before = {contract for _, case in cases if case for contract in case.contracts}
            asked = {f.contract for verdict in those for f in verdict.findings if not f.advisory}
            lost |= before & asked - {contract for verdict in those for contract in triggered_in(verdict)}
    return lost


def _is_exact(verdict: CaseVerdict, accepted: BaselineCase | None) -> bool:
    """Whether chance has no part in the trial: a script answers it, or an accepted recording."""
    recordings = {trial.cassette_digest for trial in accepted.trials} if accepted else set()
    return verdict.provenance not in {"live", "local"} or verdict.cassette_digest in recordings


def _vacuous(verdict: CaseVerdict, contract: str) -> Change:
    return Change(
        agent=verdict.agent, model="", set=verdict.set, case="", contract=contract, change="skipped", cause="golden",
        because="no case of the set triggers it for this design, so nothing was compared", exit_code=4,
        at=verdict.at.rpartition(":")[0],
    )  # fmt: skip
