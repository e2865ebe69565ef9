"""
Run folders: `runs/<run>/` with `results.jsonl`, appended and flushed as trials end, one compact trace a trial in
`traces/`, and `run.json` at the end. What was written when a run was killed can be resumed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import msgspec

from harness.errors import BadFileError, CouldNotCheckError
from harness.records.digest import digest
from harness.records.run import RUN_FORMAT, CaseVerdict, Cell, RunRecord, Totals
from harness.records.trace import Trace, decode_events, encode_events

Json = Any
_RESULTS = "results.jsonl"
_MANIFEST = "run.json"
_TRACES = "traces"
_NAME_BYTES = 200
_plain = re.compile(r"[\w@=+,.-]+", re.ASCII).fullmatch
_encoder = msgspec.json.Encoder()
_verdict_decoder = msgspec.json.Decoder(CaseVerdict)


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`run.json`: everything about a run but its verdicts."""

    run: str
    finished: bool = False
    """False while the run goes on, and for ever where it was killed."""
    totals: Totals = Totals()
    exit_code: int | None = None
    partial: bool = False
    manifest: dict[str, Json] = {}
    format: int = RUN_FORMAT


def new_run_id(*, now: float | None = None, suffix: str | None = None) -> str:
    """
    Make the id of a run: UTC time to the millisecond, then four random hex characters; ids sort by time.

    Args:
        now: Seconds since the epoch; None asks the clock.
        suffix: What stands in for the random characters.
    """
    moment = time.time() if now is None else now
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(moment))
    return f"{stamp}{int(moment * 1000) % 1000:03d}-{os.urandom(2).hex() if suffix is None else suffix}"


class RunStore:
    """
    Writes one run, cheaply: the results file stays open, and each verdict is one write that reaches the file at once.

    Make one with `create` or `reopen`; it is a context manager that closes the file and finishes nothing by itself.
    """

    def __init__(self, folder: Path, done: Mapping[Cell, CaseVerdict]) -> None:
        self.folder = folder
        self.run = folder.name
        self.done = dict(done)
        """Verdicts that stood in the folder when it was reopened."""
        self._traces = f"{folder / _TRACES}{os.sep}"
        self._results = os.open(folder / _RESULTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    @classmethod
    def create(cls, runs: Path, *, run: str | None = None, manifest: Mapping[str, Json] | None = None) -> Self:
        """
        Make the folder of a new run in *runs*, named *run* or by time.

        With *manifest* a `run.json` that says *unfinished* is written at once, so that a resumed run can see what
        it goes on with.

        Raises:
            CouldNotCheckError: The folder cannot be written.
        """
        name = run or new_run_id()
        folder = runs / name
        try:
            (folder / _TRACES).mkdir(parents=True)
            if manifest is not None:
                _write(folder / _MANIFEST, RunManifest(run=name, manifest=dict(manifest)))
            return cls(folder, {})
        except OSError as error:
            raise _cannot_write(folder, error) from None

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """
        Go on with the run in *folder*: its verdicts are in `done`, a torn last line is cut off.

        Raises:
            BadFileError: A line that is not the last is no verdict, or has a newer format.
            CouldNotCheckError: The folder cannot be written.
        """
        done = {verdict.cell: verdict for verdict in read_results(folder)}
        try:
            (folder / _TRACES).mkdir(exist_ok=True)
            _cut_torn_line(folder / _RESULTS)
            return cls(folder, done)
        except OSError as error:
            raise _cannot_write(folder, error) from None

    def append(self, verdict: CaseVerdict, traces: Sequence[Trace] = ()) -> None:
        """
        Write the *traces* of a trial (one a leg), then its *verdict*: a verdict on disk always has its trace.

        Raises:
            CouldNotCheckError: The disk is full, or the folder is gone.
        """
        try:
            if traces:
                self._write_traces(verdict.cell, traces)
            os.write(self._results, _encoder.encode(verdict) + b"\n")
        except OSError as error:
            raise _cannot_write(self.folder, error) from None

    def finish(self, record: RunRecord) -> None:
        """
        Write `run.json`: by rename, so that it is there whole or not at all.

        Raises:
            CouldNotCheckError: It cannot be written.
        """
        content = RunManifest(
            run=record.run,
            finished=True,
            totals=record.totals,
            exit_code=record.exit_code,
            partial=record.partial,
            manifest=record.manifest,
        )
        try:
            _write(self.folder / _MANIFEST, content)
        except OSError as error:
            raise _cannot_write(self.folder, error) from None

    def close(self) -> None:
        """Close the results file; a second time does nothing."""
        if self._results >= 0:
            os.close(self._results)
            self._results = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _write_traces(self, cell: Cell, traces: Iterable[Trace]) -> None:
        content = b"".join(encode_events(trace.events) for trace in traces)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        file = os.open(self._traces + trace_name(cell), flags, 0o644)
        try:
            os.write(file, content)
        finally:
            os.close(file)


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
    path = folder / _RESULTS
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise BadFileError("bad-run", f"no {_RESULTS} in {folder}", hint="`harness run` writes run folders") from None
    verdicts: dict[Cell, CaseVerdict] = {}
    whole = lines[:-1]
    for number, line in enumerate(whole, start=1):
        try:
            verdict = _verdict_decoder.decode(line)
        except msgspec.MsgspecError as error:
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
    path = folder / _TRACES / trace_name(cell)
    try:
        content = path.read_bytes()
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
    path = folder / _MANIFEST
    try:
        content = msgspec.json.decode(path.read_bytes(), type=RunManifest)
    except FileNotFoundError:
        raise _unfinished(folder) from None
    except msgspec.MsgspecError as error:
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
    if not manifest.finished or manifest.exit_code is None:
        raise _unfinished(folder)
    return RunRecord(
        run=manifest.run,
        results=read_results(folder),
        totals=manifest.totals,
        exit_code=manifest.exit_code,
        partial=manifest.partial,
        manifest=manifest.manifest,
    )


def _encoded(part: str) -> str:
    return quote(part, safe="@=+,", errors="surrogatepass").replace("~", "%7E")


def read_partial(folder: Path) -> RunRecord:
    """
    Read a run that may have been cut off: the verdicts that it has, and the manifest that it began with.

    Raises:
        BadFileError: A file of it is damaged or of a newer format.
    """
    results = read_results(folder)
    begun = read_manifest(folder) if (folder / _MANIFEST).exists() else RunManifest(run=folder.name)
    return RunRecord(run=folder.name, results=results, totals=begun.totals, exit_code=0, manifest=begun.manifest)


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


def _write(path: Path, content: RunManifest) -> None:
    whole = path.with_name(f".{path.name}.new")
    whole.write_bytes(msgspec.json.format(_encoder.encode(content), indent=2) + b"\n")
    whole.replace(path)


def _cut_torn_line(path: Path) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)


def _cannot_write(folder: Path, error: OSError) -> CouldNotCheckError:
    return CouldNotCheckError(
        "cannot-write",
        f"the run folder {folder} cannot be written: {error.strerror or error}",
        hint="make room or change its permissions; `--out DIR` writes elsewhere",
    )
