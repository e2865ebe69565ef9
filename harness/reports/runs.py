"""Run folders again: finding them by what a person types, and reading them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from harness.errors import BadFileError, UsageError
from harness.records.digest import digest
from harness.records.run import RUN_FORMAT, CaseVerdict, Cell, RunRecord, Totals
from harness.records.trace import Trace
from harness.records.trace_file import decode_events

Json = Any
RESULTS = "results.jsonl"
MANIFEST = "run.json"
TRACES = "traces"
_NO_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What is raised for a file that is no JSON, not of the kind that is expected, or nested without end."""
_NAME_BYTES = 200
_plain = re.compile(r"[\w@=+,.-]+", re.ASCII).fullmatch


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`run.json`: everything about a run but its verdicts."""

    run: str
    totals: Totals = Totals()
    exit_code: int | None = None
    """None while the run goes on, and for ever where it was killed."""
    partial: bool = False
    manifest: dict[str, Json] = {}
    format: int = RUN_FORMAT


def runs_folder(reports: Path) -> Path:
    """Where runs stand in the folder *reports*."""
    return reports / "runs"


def list_runs(runs: Path) -> list[str]:
    """Ids of all runs in *runs*, oldest first, unfinished ones included."""
    if not runs.is_dir():
        return []
    return sorted(path.parent.name for path in runs.glob("*/results.jsonl"))


def find_run(runs: Path, name: str | None = None) -> Path:
    """
    Find the folder of a run: the newest where *name* is None, else the one with that id, unique part of an id, or path.

    Raises:
        UsageError: There is none, or more than one.
    """
    ids = list_runs(runs)
    if name is None:
        if not ids:
            raise UsageError("no-such-run", f"no run in {runs}", hint="`harness run` makes one")
        return runs / ids[-1]
    if name in ids:
        return runs / name
    if (Path(name) / "results.jsonl").is_file():
        return Path(name)
    matches = [run for run in ids if name and name in run]
    if len(matches) == 1:
        return runs / matches[0]
    raise _no_such_run(name, ids, matches)


def trace_name(cell: Cell) -> str:
    """Name the trace file of *cell*: its parts joined by `~`, odd characters percent-encoded, cut to 200 bytes."""
    joined = f"{cell.agent}{cell.model}{cell.set}{cell.case}"
    parts = (cell.agent, cell.model, cell.set, cell.case)
    name = "~".join(parts) if _plain(joined) else "~".join(_encoded(part) for part in parts)
    if len(name) > _NAME_BYTES:
        name = f"{name[: _NAME_BYTES - 17]}-{digest(parts)}"
    return f"{name}.{cell.trial}.jsonl"


def read_results(folder: Path) -> tuple[CaseVerdict, ...]:
    """
    Read the verdicts of a run, the last one of each cell, in the order they were written. A torn last line is left out.

    Raises:
        BadFileError: Another line is no verdict, or has a newer format.
    """
    path = folder / RESULTS
    try:
        lines = _content(path).split(b"\n")
    except FileNotFoundError:
        raise BadFileError("bad-run", f"no {RESULTS} in {folder}", hint="`harness run` writes run folders") from None
    decoder = msgspec.json.Decoder(CaseVerdict)
    verdicts: dict[Cell, CaseVerdict] = {}
    whole = lines[:-1]
    for number, line in enumerate(whole, start=1):
        try:
            verdict = decoder.decode(line)
        except _NO_JSON as error:
            raise BadFileError("bad-run", f"not a verdict: {error}", at=f"{path}:{number}") from None
        _check_format(verdict.format, f"{path}:{number}")
        verdicts.pop(verdict.cell, None)
        verdicts[verdict.cell] = verdict
    return tuple(verdicts.values())


def read_traces(folder: Path, cell: Cell) -> tuple[Trace, ...]:
    """
    Read the traces of one trial, one a leg; empty where none was kept.

    Raises:
        BadFileError: The file is no trace.
    """
    path = folder / TRACES / trace_name(cell)
    try:
        content = _content(path)
    except FileNotFoundError:
        return ()
    legs: list[list[Any]] = []
    for event in decode_events(content, path=str(path)):
        if event.seq == 0 or not legs:
            legs.append([])
        legs[-1].append(event)
    return tuple(Trace(tuple(leg)) for leg in legs)


def read_manifest(folder: Path) -> RunManifest:
    """
    Read `run.json`.

    Raises:
        BadFileError: It is not there, not readable, or of a newer format.
    """
    path = folder / MANIFEST
    try:
        content = msgspec.json.decode(_content(path), type=RunManifest)
        msgspec.convert(content.manifest, _Stated)
    except FileNotFoundError:
        raise _unfinished(folder) from None
    except _NO_JSON as error:
        raise BadFileError("bad-run", f"not a run: {error}", at=str(path)) from None
    _check_format(content.format, str(path))
    return content


def load_run(folder: Path) -> RunRecord:
    """
    Read a finished run.

    Raises:
        BadFileError: It was never finished, or a file of it is damaged or of a newer format.
    """
    manifest = read_manifest(folder)
    if manifest.exit_code is None:
        raise _unfinished(folder)
    return RunRecord(
        run=manifest.run,
        results=read_results(folder),
        totals=manifest.totals,
        exit_code=manifest.exit_code,
        partial=manifest.partial,
        manifest=manifest.manifest,
    )


def read_partial(folder: Path) -> RunRecord:
    """
    Read a run that may have been cut off: the verdicts that it has, and the manifest that it began with.

    Raises:
        BadFileError: A file of it is damaged or of a newer format.
    """
    results = read_results(folder)
    begun = read_manifest(folder) if (folder / MANIFEST).exists() else RunManifest(run=folder.name)
    return RunRecord(run=folder.name, results=results, totals=begun.totals, exit_code=0, manifest=begun.manifest)


class _Stated(msgspec.Struct):
    """What the gate takes from a manifest, where it is there."""

    cases: dict[str, list[str]] = {}
    families: dict[str, dict[str, str]] = {}
    contracts: dict[str, int] = {}


def _content(path: Path) -> bytes:
    """
    The bytes of a file of a run; a folder, a pipe or a device in its place would be read without end.

    Raises:
        FileNotFoundError: There is nothing at *path*.
        BadFileError: It is no file, or cannot be read.
    """
    if path.exists() and not path.is_file():
        raise BadFileError("bad-run", "it is no file", at=str(path))
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadFileError("bad-run", f"it cannot be read: {error.strerror}", at=str(path)) from None


def _no_such_run(name: str, ids: list[str], matches: list[str]) -> UsageError:
    import difflib

    if matches:
        return UsageError("no-such-run", f"{len(matches)} runs match `{name}`", hint=f"say which: {', '.join(matches)}")
    close = difflib.get_close_matches(name, ids, n=1)
    newest = f"the newest is `{ids[-1]}`" if ids else "there are none; `harness run` makes one"
    return UsageError(
        "no-such-run", f"no run named `{name}`", hint=f"did you mean `{close[0]}`? {newest}" if close else newest
    )


def _encoded(part: str) -> str:
    return quote(part, safe="@=+,", errors="surrogatepass").replace("~", "%7E")


def _unfinished(folder: Path) -> BadFileError:
    return BadFileError(
        "unfinished-run",
        f"run `{folder.name}` was never finished",
        hint=f"`harness run --resume {folder.name}` goes on with it",
        at=str(folder),
    )


def _check_format(found: int, at: str) -> None:
    if found != RUN_FORMAT:
        raise BadFileError(
            "unknown-format",
            f"run format {found} is not known to this version (it reads {RUN_FORMAT})",
            hint="update tapegate, or run again",
            at=at,
        )
