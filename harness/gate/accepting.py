"""Making a run the baseline of what it covers: which runs may be, and how the file is written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from harness.checkout import changed_after, own_source
from harness.errors import CouldNotCheckError, NothingComparedError, UsageError
from harness.gate.baseline import (
    Baseline,
    BaselineCase,
    BaselineModel,
    BaselineTrial,
    Held,
    baseline_path,
    figures_of,
    load_baseline,
    must_be_kept,
    triggered_in,
)
from harness.gate.ways import accept_ways
from harness.records.accepted import Did
from harness.records.run import CaseVerdict, Cell, Lock, RunRecord, Totals


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """
    What `accept` did: the files it wrote, the cells it covered, how many known failures they hold, and how many ways
    through a case were not accepted before.
    """

    written: tuple[str, ...]
    cells: int
    known: int
    trajectories: int = 0


def accept(
    reports: Path, record: RunRecord, *, reason: str, did: Mapping[Cell, Did] | None = None, also: bool = False
) -> Accepted:
    """
    Make the verdicts of *record* the baseline of the cells that it covers; every other cell stays as it is.

    A case whose verdicts and recordings are what the baseline already has keeps its reason, and a file whose content
    does not change is not written.

    Args:
        reports: The project's folder of that name.
        record: The run.
        reason: Why its verdicts are right.
        did: What its trials did; a trial that is not in it keeps the ways that are accepted for it.
        also: Keep the ways through a case that were accepted earlier beside the new ones.

    Raises:
        UsageError: No *reason*, or a scripted case of a reference profile is broken.
        NothingComparedError: The run has no verdict.
        CouldNotCheckError: The run has trials without a verdict.
        BadFileError: A baseline that is there cannot be read.
    """
    if not reason.strip():
        raise UsageError("no-reason", "a baseline needs a reason", hint='say why: `harness accept --reason "…"`')
    _refuse(record)
    reason = " ".join(reason.split())
    by_set: dict[str, list[CaseVerdict]] = {}
    for verdict in record.results:
        by_set.setdefault(verdict.set, []).append(verdict)
    contents: dict[Path, bytes] = {}
    source = _source(record)
    ways = 0
    for name, verdicts in sorted(by_set.items()):
        path = baseline_path(reports, name)
        old = load_baseline(path) or Baseline(set=name)
        new = merge(old, verdicts, reason=reason, manifest=record.manifest, source=source)
        contents[path] = dump_baseline(new)
        taken = accept_ways(reports, name, did or {}, reason=reason, also=also)
        contents[taken.path] = taken.content
        ways += taken.new
    written = [path for path, content in contents.items() if _written(path, content)]
    return Accepted(
        written=tuple(str(path) for path in written),
        cells=len(record.results),
        known=sum(verdict.verdict == "broken" for verdict in record.results),
        trajectories=ways,
    )


def merge(
    baseline: Baseline,
    verdicts: Iterable[CaseVerdict],
    *,
    reason: str,
    manifest: Mapping[str, object] | None = None,
    source: str = "",
) -> Baseline:
    """
    Put *verdicts* into *baseline*, in place of what it has for the same cells.

    Args:
        baseline: What was accepted so far.
        verdicts: What is accepted now.
        reason: Why.
        manifest: That of the run: `versions` of programs, and `contracts` with theirs.
        source: The tapegate that judged *verdicts*, where it ran from its sources.
    """
    verdicts = tuple(verdicts)
    told = _Told(reason, manifest or {})
    agents = {
        agent: {model: dict(cell.cases) for model, cell in models.items()} for agent, models in baseline.agents.items()
    }
    for verdict in verdicts:
        cases = agents.setdefault(verdict.agent, {}).setdefault(verdict.model, {})
        cases[verdict.case] = _with_trial(cases.get(verdict.case), verdict, told)
    made = {
        agent: {model: BaselineModel(totals=_totals(cases.values()), cases=cases) for model, cases in models.items()}
        for agent, models in agents.items()
    }
    judged_now = {verdict.cell for verdict in verdicts}
    by_one = source == baseline.source or all(cell in judged_now for cell in _cells(baseline))
    return Baseline(set=baseline.set, agents=made, source=source if by_one else "")


def dump_baseline(baseline: Baseline) -> bytes:
    """Write *baseline* as JSON: sorted, one line a case. Equal baselines give equal bytes."""
    lines = ["{", f'  "format": {baseline.format},', f'  "set": {_json(baseline.set)},']
    lines += [f'  "source": {_json(baseline.source)},'] if baseline.source else []
    lines.append('  "agents": {')
    for agent, models in sorted(baseline.agents.items()):
        lines.append(f"    {_json(agent)}: {{")
        for model, cell in sorted(models.items()):
            lines.append(f'      {_json(model)}: {{\n        "totals": {_json(cell.totals)},\n        "cases": {{')
            lines += [f"          {_json(case)}: {_case(cell.cases[case])}," for case in sorted(cell.cases)]
            lines[-1] = lines[-1].removesuffix(",")
            lines.append("        }\n      },")
        lines[-1] = lines[-1].removesuffix(",")
        lines.append("    },")
    lines[-1] = lines[-1].removesuffix(",")
    return ("\n".join([*lines, "  }", "}"]) + "\n").encode()


def _source(record: RunRecord) -> str:
    """The tapegate that judged *record*, where it runs from sources that nobody wrote to since the run began."""
    try:
        began = datetime.strptime(record.run[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        began = -math.inf
    return own_source() if own_source() and not changed_after(began) else ""


def _cells(baseline: Baseline) -> Iterator[Cell]:
    """Every trial of *baseline*."""
    for agent, models in baseline.agents.items():
        for model, accepted in models.items():
            for case, of_case in accepted.cases.items():
                yield from (Cell(agent, model, baseline.set, case, trial.n) for trial in of_case.trials)


class _Told:
    """What a run says of all its verdicts."""

    def __init__(self, reason: str, manifest: Mapping[str, object]) -> None:
        self.reason = reason
        versions, contracts = manifest.get("versions"), manifest.get("contracts")
        self.versions = {str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {}
        self._contracts = contracts if isinstance(contracts, dict) else {}

    def version(self, contract: str) -> int:
        """That of *contract*; those of a golden set's own have none but the first."""
        found = self._contracts.get(contract, 1)
        return found if isinstance(found, int) else 1


def _refuse(record: RunRecord) -> None:
    if not record.results:
        raise NothingComparedError(
            "nothing-run", f"run `{record.run}` has no verdict to accept", hint="`harness list sets` shows what can run"
        )
    unchecked = [verdict for verdict in record.results if verdict.verdict == "could_not_check"]
    if unchecked:
        raise CouldNotCheckError(
            "unchecked-run",
            f"{len(unchecked)} of {len(record.results)} trials of run `{record.run}` could not be checked: "
            f"{_named(unchecked)}",
            hint="mend these first; `harness run` says why each could not be checked",
        )
    owed = [verdict for verdict in record.results if verdict.verdict == "broken" and must_be_kept(verdict)]
    if owed:
        raise UsageError(
            "scripted-failure",
            f"scripted cases of a reference profile must be kept, so their failures are never accepted: {_named(owed)}",
            hint="mend the agent or its script; only `live` and `local` models may have known failures",
            at=owed[0].at,
        )


def _named(verdicts: Sequence[CaseVerdict]) -> str:
    shown = [f"{v.agent} × {v.model} on {v.set}/{v.case}.{v.trial}" for v in verdicts[:3]]
    return ", ".join(shown) + (f" and {len(verdicts) - 3} more" if len(verdicts) > 3 else "")


def _with_trial(old: BaselineCase | None, verdict: CaseVerdict, told: _Told) -> BaselineCase:
    lock = _shared(verdict)
    triggered = _triggered_in_others(old, verdict.trial, same=old is not None and old.lock == lock)
    triggered[verdict.trial] = triggered_in(verdict)
    every = set().union(*triggered.values())
    trials = {trial.n: trial for trial in old.trials} if old else {}
    if old and (old.lock, old.versions) != (lock, told.versions):
        # the lock speaks of these trials no longer, so nothing says what they followed from
        trials = {n: msgspec.structs.replace(trial, recording="") for n, trial in trials.items()}
    trials[verdict.trial] = BaselineTrial(
        n=verdict.trial,
        cassette_digest=verdict.cassette_digest,
        verdict=verdict.verdict,
        broken=verdict.broken,
        recording=verdict.lock.cassette,
        judge=verdict.lock.judge,
        figures=figures_of(verdict),
    )
    held = tuple(
        msgspec.structs.replace(trials[n], vacuous=tuple(sorted(every - triggered[n]))) for n in sorted(trials)
    )
    new = BaselineCase(
        provenance=verdict.provenance,
        reason=told.reason,
        trials=held,
        contracts={name: _held(name, held, told.version(name)) for name in sorted(every)},
        lock=lock,
        versions=told.versions,
    )
    return msgspec.structs.replace(new, reason=old.reason) if old and _judged_alike(new, old) else new


def _shared(verdict: CaseVerdict) -> Lock:
    """The lock but for what each trial has of its own."""
    return msgspec.structs.replace(verdict.lock, cassette="", judge="")


def _triggered_in_others(old: BaselineCase | None, trial: int, *, same: bool) -> dict[int, set[str]]:
    """
    Contracts that trials beside *trial* triggered. Where the case is not in the *same* state as when they were accepted,
    only those that broke are still spoken of.
    """
    if old is None:
        return {}
    return {
        one.n: set(old.contracts) - set(one.vacuous) if same else set(one.broken)
        for one in old.trials
        if one.n != trial
    }


def _held(contract: str, trials: Sequence[BaselineTrial], version: int) -> Held:
    asked = [trial for trial in trials if contract not in trial.vacuous]
    return Held(sum(contract not in trial.broken for trial in asked), len(asked), version)


def _judged_alike(new: BaselineCase, old: BaselineCase) -> bool:
    """Whether verdicts and recordings are the same: what only the files around them changed needs no new reason."""
    return new.provenance == old.provenance and [
        (trial.n, trial.cassette_digest, trial.verdict, trial.broken) for trial in new.trials
    ] == [(trial.n, trial.cassette_digest, trial.verdict, trial.broken) for trial in old.trials]


def _totals(cases: Iterable[BaselineCase]) -> Totals:
    verdicts = [trial.verdict for case in cases for trial in case.trials]
    broken = verdicts.count("broken")
    return Totals(trials=len(verdicts), kept=verdicts.count("kept"), broken=broken, known=broken)


def _case(case: BaselineCase) -> str:
    told = msgspec.to_builtins(case)
    if "lock" in told:
        told["lock"] = {name: digest for name, digest in told["lock"].items() if digest}
    return _json(told)


def _json(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)


def _written(path: Path, content: bytes) -> bool:
    """Write *content* by rename, so that it is there whole or not at all; False where it is there already."""
    if path.read_bytes() == content if path.is_file() else not content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.new")
    whole.write_bytes(content)
    whole.replace(path)
    return True
