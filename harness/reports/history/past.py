"""What history keeps of a run: its verdicts as figures and digests, without answers, findings and traces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from harness.errors import BadFileError
from harness.records.run import CaseVerdict, Provenance, VerdictState
from harness.reports.runs import MANIFEST, RESULTS, RunManifest, read_manifest, read_results
from harness.reports.screen import clip, one_line

State = Literal["whole", "partial", "unfinished"]
"""*partial*: flags narrowed the matrix. *unfinished*: the run goes on, or was cut off."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""What a store takes as a whole number; no count of anything is greater."""
_MOST_COLUMNS = 500
_stamp = re.compile(r"(\d{8}-\d{6})(\d{3})-").match


class Who(NamedTuple):
    """A design with a model, and who really answered."""

    agent: str
    model: str
    provenance: Provenance


class Place(NamedTuple):
    """Where in the matrix a trial stands."""

    agent: str
    model: str
    set: str
    case: str
    trial: int


class PastTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of a past run."""

    agent: str
    model: str
    provenance: Provenance
    set: str
    case: str
    trial: Count
    verdict: VerdictState
    known: bool
    llm_calls: Count
    tool_calls: Count
    input_tokens: Count
    output_tokens: Count
    cached_tokens: Count
    thinking_tokens: Count
    cost_usd: Annotated[float, msgspec.Meta(ge=0, le=1e12)] | None
    recorded_ms: Count
    cassette_digest: str
    """The identity of the sample; empty where there was no recording."""
    code: str
    """Error code of a trial that could not be checked."""
    broken: tuple[str, ...]
    """Blocking contracts that broke, sorted."""
    lock: dict[str, str]
    """Digests of what the verdict follows from beside the recording; those that are not known are left out."""

    @property
    def who(self) -> Who:
        """Whose it is."""
        return Who(self.agent, self.model, self.provenance)

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.agent, self.model, self.set, self.case, self.trial)


class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """One past run; its trials are in the order of their places."""

    run: str
    began: str
    """UTC, as `2026-11-22T04:29:14.196Z`."""
    state: State
    exit_code: int | None
    version: str
    """Of tapegate; empty where the run does not say."""
    trials: tuple[PastTrial, ...]


def read_past(folder: Path) -> PastRun:
    """
    Read what history keeps of the run in *folder*, which may still go on.

    Raises:
        BadFileError: A file of it is damaged, of a newer format, or holds a number that no store takes.
    """
    manifest = read_manifest(folder) if (folder / MANIFEST).exists() else RunManifest(run=folder.name)
    trials = [_past_trial(verdict, folder) for verdict in read_results(folder)]
    versions = manifest.manifest.get("versions")
    version = versions.get("tapegate") if isinstance(versions, dict) else None
    return PastRun(
        run=_text(folder.name),
        began=_began(folder),
        state="unfinished" if manifest.exit_code is None else "partial" if manifest.partial else "whole",
        exit_code=manifest.exit_code,
        version=_text(version) if isinstance(version, str) else "",
        trials=tuple(sorted(trials, key=lambda trial: trial.place)),
    )


def past_trial(told: Mapping[str, Any], *, at: str) -> PastTrial:
    """
    Make a trial of *told*, which comes from a file or a table.

    Raises:
        BadFileError: A value is of the wrong kind, or out of range.
    """
    try:
        return msgspec.convert(told, PastTrial)
    except msgspec.ValidationError as error:
        raise BadFileError("bad-run", f"a trial that cannot be: {error}", at=at) from None


def _past_trial(verdict: CaseVerdict, folder: Path) -> PastTrial:
    lock = {name: getattr(verdict.lock, name) for name in verdict.lock.__struct_fields__}
    told = {
        "agent": _text(verdict.agent), "model": _text(verdict.model), "provenance": verdict.provenance,
        "set": _text(verdict.set), "case": _text(verdict.case), "trial": verdict.trial, "verdict": verdict.verdict,
        "known": verdict.known, "llm_calls": verdict.llm_calls, "tool_calls": verdict.tool_calls,
        "input_tokens": verdict.tokens.input, "output_tokens": verdict.tokens.output,
        "cached_tokens": verdict.tokens.cached, "thinking_tokens": verdict.tokens.thinking,
        "cost_usd": verdict.cost_usd, "recorded_ms": verdict.recorded_ms,
        "cassette_digest": _text(verdict.cassette_digest), "code": _text(verdict.code),
        "broken": tuple(_text(name) for name in verdict.broken),
        "lock": {name: _text(digest) for name, digest in lock.items() if digest},
    }  # fmt: skip
    return past_trial(told, at=str(folder / RESULTS))


def _began(folder: Path) -> str:
    """When the run began, by its id; by its file where the id says nothing."""
    if found := _stamp(folder.name):
        try:
            moment = datetime.strptime(found[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            pass
        else:
            return f"{moment:%Y-%m-%dT%H:%M:%S}.{found[2]}Z"
    moment = datetime.fromtimestamp((folder / RESULTS).stat().st_mtime, tz=UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _text(text: str) -> str:
    """*text* as any store takes it: without control characters, and no novel."""
    return clip(one_line(text), _MOST_COLUMNS)
