"""
The accepted verdicts: `baselines/<set>.json`, sorted, one line a case, so that a change of it reads well in a diff.

A failure is *known* where the baseline records the same contract as broken, for the same trial of the same recording.
`harness.gate.accepting` writes these files, `harness.gate.older` reads what earlier versions wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.errors import BadFileError
from harness.records.run import CaseVerdict, Cell, Lock, Provenance, Totals, VerdictState

BASELINE_FORMAT = 2


class Figures(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a trial took: calls, tokens of its input and output, US dollars (null: not priced), recorded milliseconds."""

    llm_calls: int
    tool_calls: int
    tokens: int
    cost_usd: float | None
    recorded_ms: int


class BaselineTrial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The accepted verdict on trial *n*, of the recording that *cassette_digest* names."""

    n: int
    cassette_digest: str
    verdict: VerdictState
    broken: tuple[str, ...] = ()
    vacuous: tuple[str, ...] = ()
    """Contracts of the case that other trials triggered and this one did not."""
    recording: str = ""
    """Digest of the bytes of the cassette's file; empty where it was not known, or the case's lock is not the trial's."""
    judge: str = ""
    """Digest of what judges answered about it; empty where nobody was asked."""
    figures: Figures | None = None
    """None in what was accepted before the gate compared figures."""


class Held(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one contract came to over the trials that triggered it, and its version; `[passes, trials, version]`."""

    passes: int
    trials: int
    version: int
    """0: accepted before versions were kept."""


class BaselineCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """
    The accepted trials of one case, in order, with who answered in them, why they were accepted and by which *versions*.

    *contracts* are the blocking ones that some trial triggered, *lock* is that of the last run that was accepted.
    """

    provenance: Provenance
    reason: str
    trials: tuple[BaselineTrial, ...]
    contracts: dict[str, Held] = {}
    lock: Lock | None = None
    versions: dict[str, str] = {}
    """Of the programs that judged it, by name: `tapegate`."""


class BaselineModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One design with one model: its cases by id. *totals* are there for the reader; they follow from the cases."""

    totals: Totals
    cases: dict[str, BaselineCase]


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was accepted for one golden set: by agent, then by model."""

    set: str
    agents: dict[str, dict[str, BaselineModel]] = {}
    source: str = ""
    """The tapegate that judged all of it, where that ran from its sources, which a version does not name; else empty."""
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
    except OSError as error:
        raise BadFileError("bad-baseline", f"it cannot be read: {error.strerror}", at=str(path)) from None
    try:
        found = msgspec.json.decode(content, type=_Format).format
        if not 1 <= found <= BASELINE_FORMAT:
            raise BadFileError(
                "unknown-format",
                f"baseline format {found} is not known to this version (it reads 1 to {BASELINE_FORMAT})",
                hint="update tapegate, or take the file back to an older commit",
                at=str(path),
            )
        if found < BASELINE_FORMAT:
            from harness.gate.older import migrated

            baseline = msgspec.convert(migrated(msgspec.json.decode(content)), Baseline)
        else:
            baseline = msgspec.json.decode(content, type=Baseline)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(
            "bad-baseline",
            f"not a baseline: {error}",
            hint=f"`git checkout -- {path}` brings the committed one back",
            at=str(path),
        ) from None
    if baseline.set != path.stem and not any_name:
        raise BadFileError("bad-baseline", f"it is the baseline of the set `{baseline.set}`", at=str(path))
    _refuse_twice(baseline, path)
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


def figures_of(verdict: CaseVerdict) -> Figures:
    """What the trial of *verdict* took."""
    return Figures(
        llm_calls=verdict.llm_calls, tool_calls=verdict.tool_calls, tokens=verdict.tokens.input + verdict.tokens.output,
        cost_usd=verdict.cost_usd, recorded_ms=verdict.recorded_ms,
    )  # fmt: skip


def triggered_in(verdict: CaseVerdict) -> set[str]:
    """Blocking contracts that had something to check in the trial."""
    return {f.contract for f in verdict.findings if f.state in {"kept", "broken"} and not f.advisory}


def must_be_kept(verdict: CaseVerdict) -> bool:
    """Whether the trial is a scripted one of a reference profile, whose failures are never known."""
    return verdict.profile == "reference" and "scripted" in (verdict.provenance, verdict.model)


def _refuse_twice(baseline: Baseline, path: Path) -> None:
    """Of two entries for one trial, as a merge by hand leaves them, nobody knows which was accepted."""
    for agent, models in baseline.agents.items():
        for model, accepted in models.items():
            for case, of_case in accepted.cases.items():
                if len({trial.n for trial in of_case.trials}) < len(of_case.trials):
                    raise BadFileError(
                        "bad-baseline",
                        f"a trial of {agent} × {model} on {case} stands there twice",
                        hint="`harness accept` writes each trial once; keep the entry that was accepted",
                        at=str(path),
                    )


class _Format(msgspec.Struct):
    format: int
