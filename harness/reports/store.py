"""
Run folders: `runs/<run>/` with `results.jsonl`, appended and flushed as trials end, one compact trace a trial in
`traces/`, and `run.json` at the end. What was written when a run was killed can be resumed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from harness.errors import CouldNotCheckError
from harness.records.run import CaseVerdict, Cell, RunRecord
from harness.records.trace import Trace
from harness.records.trace_file import encode_events
from harness.reports.runs import MANIFEST, RESULTS, TRACES, RunManifest, read_results, trace_name

Json = Any
_encoder = msgspec.json.Encoder()
_verdict_decoder = msgspec.json.Decoder(CaseVerdict)


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
        self.scrub: Callable[[str], str] | None = None
        """Takes secrets out of everything that is appended, if set."""
        self.run = folder.name
        self.done = dict(done)
        """Verdicts that stood in the folder when it was reopened."""
        self._traces = f"{folder / TRACES}{os.sep}"
        self._results = os.open(folder / RESULTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

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
            (folder / TRACES).mkdir(parents=True)
            if manifest is not None:
                _write(folder / MANIFEST, RunManifest(run=name, manifest=dict(manifest)))
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
            (folder / TRACES).mkdir(exist_ok=True)
            _cut_torn_line(folder / RESULTS)
            return cls(folder, done)
        except OSError as error:
            raise _cannot_write(folder, error) from None

    def append(self, verdict: CaseVerdict, traces: Sequence[Trace] = ()) -> CaseVerdict:
        """
        Write the *traces* of a trial (one a leg), then its *verdict*: a verdict on disk always has its trace.

        Returns:
            The verdict as it was written, without secrets.

        Raises:
            CouldNotCheckError: The disk is full, or the folder is gone.
            UnicodeEncodeError: A text holds half a character; nothing was written.
        """
        line = _encoder.encode(verdict)
        clean = self._clean(line)
        if clean != line:
            verdict = _verdict_decoder.decode(clean)
        try:
            if traces:
                self._write_traces(verdict.cell, traces)
            os.write(self._results, clean + b"\n")
        except OSError as error:
            raise _cannot_write(self.folder, error) from None
        return verdict

    def _clean(self, content: bytes) -> bytes:
        return content if self.scrub is None else self.scrub(content.decode()).encode()

    def finish(self, record: RunRecord) -> None:
        """
        Write `run.json`: by rename, so that it is there whole or not at all.

        Raises:
            CouldNotCheckError: It cannot be written.
        """
        content = RunManifest(
            run=record.run,
            totals=record.totals,
            exit_code=record.exit_code,
            partial=record.partial,
            manifest=record.manifest,
        )
        try:
            _write(self.folder / MANIFEST, content)
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
        content = self._clean(b"".join(encode_events(trace.events) for trace in traces))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        file = os.open(self._traces + trace_name(cell), flags, 0o644)
        try:
            os.write(file, content)
        finally:
            os.close(file)


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
