"""
The accepted verdicts: `baselines/<set>.json`, sorted, one line a case, so that a change of it reads well in a diff.

A failure is *known* where the baseline records the same contract as broken, for the same trial of the same recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from harness.errors import BadFileError, CouldNotCheckError, NothingComparedError, UsageError
from harness.records.run import CaseVerdict, Cell, Lock, Provenance, RunRecord, Totals, VerdictState

BASELINE_FORMAT = 1


class Figures(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a trial took: calls, tokens of its input and output, US dollars (null: not priced), recorded milliseconds."""

    llm_calls: int
    tool_calls: int
    tokens: int
    cost_usd: float | None
    recorded_ms: int


class BaselineTrial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The accepted verdict on trial *n*, of the recording that *cassette_digest* names."""

    n: int
    cassette_digest: str
    verdict: VerdictState
    broken: tuple[str, ...] = ()
    figures: Figures | None = None
    """None in what was accepted before the gate compared figures."""


class BaselineCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The accepted trials of one case, in order, with who answered in them and why they were accepted.

    *contracts* are those that some trial triggered, *lock* is that of the last run that was accepted.
    """

    provenance: Provenance
    reason: str
    trials: tuple[BaselineTrial, ...]
    contracts: tuple[str, ...] = ()
    lock: Lock | None = None


class BaselineModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One design with one model: its cases by id. *totals* are there for the reader; they follow from the cases."""

    totals: Totals
    cases: dict[str, BaselineCase]


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was accepted for one golden set: by agent, then by model."""

    set: str
    agents: dict[str, dict[str, BaselineModel]] = {}
    format: int = BASELINE_FORMAT

    def case(self, agent: str, model: str, case: str) -> BaselineCase | None:
        """What is accepted for *case* under this *agent* and *model*."""
        cell = self.agents.get(agent, {}).get(model)
        return cell.cases.get(case) if cell else None

    def trial(self, cell: Cell) -> BaselineTrial | None:
        """What is accepted for *cell*, whatever its recording."""
        accepted = self.case(cell.agent, cell.model, cell.case)
        if accepted is None:
            return None
        return next((trial for trial in accepted.trials if trial.n == cell.trial), None)


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """What `accept` did: the files it wrote, the cells it covered, and how many known failures they hold."""

    written: tuple[str, ...]
    cells: int
    known: int


def baselines_folder(reports: Path) -> Path:
    """Where baselines stand in the folder *reports*."""
    return reports / "baselines"


def baseline_path(reports: Path, set_name: str) -> Path:
    """The file of the baseline of a set."""
    return baselines_folder(reports) / f"{set_name}.json"


def load_baseline(path: Path, *, any_name: bool = False) -> Baseline | None:
    """
    Read a baseline; None where there is no file. Unless it may have *any_name*, it must be named after its set.

    Raises:
        BadFileError: The file is damaged, or of a format that this version does not read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        found = msgspec.json.decode(content, type=_Format).format
        if found != BASELINE_FORMAT:
            raise BadFileError(
                "unknown-format",
                f"baseline format {found} is not known to this version (it reads {BASELINE_FORMAT})",
                hint="update tapegate, or take the file back to an older commit",
                at=str(path),
            )
        baseline = msgspec.json.decode(content, type=Baseline)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadFileError(
            "bad-baseline",
            f"not a baseline: {error}",
            hint=f"`git checkout -- {path}` brings the committed one back",
            at=str(path),
        ) from None
    if baseline.set != path.stem and not any_name:
        raise BadFileError("bad-baseline", f"it is the baseline of the set `{baseline.set}`", at=str(path))
    return baseline


def load_baselines(reports: Path, sets: Iterable[str]) -> dict[str, Baseline]:
    """
    Read the baselines of these *sets*, by name; a set without one is left out.

    Raises:
        BadFileError: A file is damaged, or of a format that this version does not read.
    """
    found = {name: load_baseline(baseline_path(reports, name)) for name in sorted(set(sets))}
    return {name: baseline for name, baseline in found.items() if baseline is not None}


def mark_known(verdict: CaseVerdict, baseline: Baseline | None) -> CaseVerdict:
    """
    Set *known* on a broken verdict whose every broken contract the *baseline* of its set has, for the same trial of
    the same recording. A scripted case of a reference profile must be kept: whatever a baseline says, it is never known.
    """
    if verdict.provenance == "scripted" and verdict.profile == "reference":
        return verdict
    if verdict.verdict != "broken" or baseline is None or verdict.set != baseline.set:
        return verdict
    trial = baseline.trial(verdict.cell)
    if trial is None or not trial.cassette_digest or trial.cassette_digest != verdict.cassette_digest:
        return verdict
    broken = verdict.broken
    if not broken or not set(broken) <= set(trial.broken):
        return verdict
    return msgspec.structs.replace(verdict, known=True)


def accept(reports: Path, record: RunRecord, *, reason: str) -> Accepted:
    """
    Make the verdicts of *record* the baseline of the cells that it covers; every other cell stays as it is.

    A case whose verdicts and recordings are what the baseline already has keeps its reason, and a file whose content
    does not change is not written.

    Raises:
        UsageError: No *reason*, or a scripted case of a reference profile is broken.
        NothingComparedError: The run has no verdict.
        CouldNotCheckError: The run has trials without a verdict.
        BadFileError: A baseline that is there cannot be read.
    """
    if not reason.strip():
        raise UsageError("no-reason", "a baseline needs a reason", hint='say why: `harness accept --reason "…"`')
    _refuse(record)
    by_set: dict[str, list[CaseVerdict]] = {}
    for verdict in record.results:
        by_set.setdefault(verdict.set, []).append(verdict)
    written = []
    for name, verdicts in sorted(by_set.items()):
        path = baseline_path(reports, name)
        old = load_baseline(path) or Baseline(set=name)
        content = dump_baseline(merge(old, verdicts, reason=" ".join(reason.split())))
        if not path.is_file() or path.read_bytes() != content:
            _write(path, content)
            written.append(path)
    return Accepted(
        written=tuple(str(path) for path in written),
        cells=len(record.results),
        known=sum(verdict.verdict == "broken" for verdict in record.results),
    )


def merge(baseline: Baseline, verdicts: Iterable[CaseVerdict], *, reason: str) -> Baseline:
    """Put *verdicts* into *baseline*, in place of what it has for the same cells."""
    agents = {
        agent: {model: dict(cell.cases) for model, cell in models.items()} for agent, models in baseline.agents.items()
    }
    for verdict in verdicts:
        cases = agents.setdefault(verdict.agent, {}).setdefault(verdict.model, {})
        cases[verdict.case] = _with_trial(cases.get(verdict.case), verdict, reason)
    return Baseline(
        set=baseline.set,
        agents={
            agent: {
                model: BaselineModel(totals=_totals(cases.values()), cases=cases) for model, cases in models.items()
            }
            for agent, models in agents.items()
        },
    )


def dump_baseline(baseline: Baseline) -> bytes:
    """Write *baseline* as JSON: sorted, one line a case. Equal baselines give equal bytes."""
    lines = ["{", f'  "format": {baseline.format},', f'  "set": {_json(baseline.set)},', '  "agents": {']
    for agent, models in sorted(baseline.agents.items()):
        lines.append(f"    {_json(agent)}: {{")
        for model, cell in sorted(models.items()):
            lines.append(f'      {_json(model)}: {{\n        "totals": {_json(cell.totals)},\n        "cases": {{')
            lines += [f"          {_json(case)}: {_json(cell.cases[case])}," for case in sorted(cell.cases)]
            lines[-1] = lines[-1].removesuffix(",")
            lines.append("        }\n      },")
        lines[-1] = lines[-1].removesuffix(",")
        lines.append("    },")
    lines[-1] = lines[-1].removesuffix(",")
    return ("\n".join([*lines, "  }", "}"]) + "\n").encode()


def figures_of(verdict: CaseVerdict) -> Figures:
    """What the trial of *verdict* took."""
    return Figures(
        llm_calls=verdict.llm_calls, tool_calls=verdict.tool_calls, tokens=verdict.tokens.input + verdict.tokens.output,
        cost_usd=verdict.cost_usd, recorded_ms=verdict.recorded_ms,
    )  # fmt: skip


def triggered_in(verdict: CaseVerdict) -> set[str]:
    """Blocking contracts that had something to check in the trial."""
    return {f.contract for f in verdict.findings if f.state in {"kept", "broken"} and not f.advisory}


class _Format(msgspec.Struct):
    format: int


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


def must_be_kept(verdict: CaseVerdict) -> bool:
    """Whether the trial is a scripted one of a reference profile, whose failures are never known."""
    return verdict.profile == "reference" and "scripted" in (verdict.provenance, verdict.model)


def _named(verdicts: Sequence[CaseVerdict]) -> str:
    shown = [f"{v.agent} × {v.model} on {v.set}/{v.case}.{v.trial}" for v in verdicts[:3]]
    return ", ".join(shown) + (f" and {len(verdicts) - 3} more" if len(verdicts) > 3 else "")


def _with_trial(old: BaselineCase | None, verdict: CaseVerdict, reason: str) -> BaselineCase:
    trials = {trial.n: trial for trial in old.trials} if old else {}
    trials[verdict.trial] = BaselineTrial(
        n=verdict.trial,
        cassette_digest=verdict.cassette_digest,
        verdict=verdict.verdict,
        broken=verdict.broken,
        figures=figures_of(verdict),
    )
    new = BaselineCase(
        provenance=verdict.provenance,
        reason=reason,
        trials=tuple(trials[n] for n in sorted(trials)),
        contracts=tuple(sorted(triggered_in(verdict) | _of_other_trials(old, verdict))),
        lock=verdict.lock,
    )
    return msgspec.structs.replace(new, reason=old.reason) if old and _judged_alike(new, old) else new


def _of_other_trials(old: BaselineCase | None, verdict: CaseVerdict) -> set[str]:
    """Contracts that trials beside the one of *verdict* triggered, in the same state of the case."""
    if old is None or old.lock != verdict.lock or all(trial.n == verdict.trial for trial in old.trials):
        return set()
    return set(old.contracts)


def _judged_alike(new: BaselineCase, old: BaselineCase) -> bool:
    """Whether verdicts and recordings are the same: what only the files around them changed needs no new reason."""
    return new.provenance == old.provenance and [
        (trial.n, trial.cassette_digest, trial.verdict, trial.broken) for trial in new.trials
    ] == [(trial.n, trial.cassette_digest, trial.verdict, trial.broken) for trial in old.trials]


def _totals(cases: Iterable[BaselineCase]) -> Totals:
    verdicts = [trial.verdict for case in cases for trial in case.trials]
    broken = verdicts.count("broken")
    return Totals(trials=len(verdicts), kept=verdicts.count("kept"), broken=broken, known=broken)


def _json(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.new")
    whole.write_bytes(content)
    whole.replace(path)
