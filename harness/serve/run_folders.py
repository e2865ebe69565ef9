"""
Runs as they stand on disk, watched while they grow: `harness run` appends a verdict a line, and each can be read at once.

Nothing that a client names becomes a path: a run is looked up among those that are there, and the name of a trace file
is made of a cell by `harness.reports.runs`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.errors import HarnessError, UsageError
from harness.records.messages import Usage
from harness.records.react_lines import one_line
from harness.records.run import CaseVerdict, Cell, Provenance, Totals, VerdictState
from harness.records.trace import Event
from harness.reports.runs import (
    RESULTS,
    TRACES,
    RunManifest,
    list_runs,
    read_manifest,
    read_traces,
    trace_name,
)

MOST_RUNS = 50
"""Runs that are listed, the newest ones."""
MOST_TRACE_BYTES = 64 * 1024 * 1024
POLL_SECONDS = 0.25
"""Wall-clock time between two looks at a file that may grow."""
STILL_SECONDS = 10.0
"""After so long without a verdict a line says that the run is still watched."""
MOST_LINE_BYTES = 16 * 1024 * 1024
"""A line that is longer is no verdict; what is kept of it while it grows is not more."""
_PIECE_BYTES = 1024 * 1024
_LONGEST_TEXT = 600
_TORN = b"\0"
"""Stands for the beginning of a line that is too long: no verdict begins so."""


class RunItem(msgspec.Struct, frozen=True, kw_only=True):
    """One run; `unfinished` ones go on, or were killed."""

    run: str
    state: Literal["finished", "unfinished", "unreadable"]
    done: int
    planned: int | None
    """Trials that there will be; None where the run did not say."""
    totals: Totals
    exit_code: int | None
    partial: bool
    silent_seconds: float
    """Wall-clock time since the last verdict was written."""


class BrokenItem(msgspec.Struct, frozen=True, kw_only=True):
    """One contract that was not kept."""

    contract: str
    state: str
    because: str
    advisory: bool
    judged_by: str
    witness: tuple[int, ...]


class VerdictLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="verdict"):
    """What a table shows of a verdict, and where its trace is."""

    agent: str
    model: str
    set: str
    case: str
    trial: int
    provenance: Provenance
    verdict: VerdictState
    known: bool
    broken: tuple[BrokenItem, ...]
    because: str
    at: str
    llm_calls: int
    tool_calls: int
    tokens: Usage
    cost_usd: float | None
    recorded_ms: int


class RunFolders:
    """The runs in the folder *runs*."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._counted: dict[str, tuple[int, int]] = {}
        """Bytes and verdicts of each run that was not finished when somebody looked."""

    def listed(self, now: float) -> list[RunItem]:
        """The newest runs, newest first; *now* is the time in seconds since the epoch."""
        names = list_runs(self._runs)[-MOST_RUNS:]
        self._counted = {name: counted for name, counted in self._counted.items() if name in names}
        return [self._item(name, now) for name in reversed(names)]

    def folder(self, run: str) -> Path:
        """
        The folder of *run*.

        Raises:
            UsageError: There is no run of exactly that name.
        """
        if run not in list_runs(self._runs):
            raise UsageError("no-such-run", "there is no such run", hint="GET /api/runs lists what there is")
        return self._runs / run

    def events(self, run: str, cell: Cell) -> Iterator[Event]:
        """
        What happened in the trial of *cell*, leg after leg.

        Raises:
            HarnessError: There is no such trial, its trace was not kept, or it cannot be read.
        """
        folder = self.folder(run)
        try:
            size = (folder / TRACES / trace_name(cell)).stat().st_size
        except (OSError, ValueError):
            raise UsageError(
                "no-such-trace", "the run has no trace of that trial", hint="take one of the list"
            ) from None
        if size > MOST_TRACE_BYTES:
            raise UsageError("trace-too-large", f"the trace is larger than {MOST_TRACE_BYTES // 1024**2} MiB")
        return (event for trace in read_traces(folder, cell) for event in trace.events)

    def _item(self, name: str, now: float) -> RunItem:
        folder = self._runs / name
        manifest = _manifest(folder)
        finished = manifest is not None and manifest.exit_code is not None
        done = manifest.totals.trials if manifest and finished else self._count(name)
        return RunItem(
            run=name, state="unreadable" if manifest is None else "finished" if finished else "unfinished", done=done,
            planned=_planned(manifest), totals=manifest.totals if manifest else Totals(),
            exit_code=manifest.exit_code if manifest else None, partial=manifest.partial if manifest else False,
            silent_seconds=max(0.0, round(now - _written(folder), 1)),
        )  # fmt: skip

    def _count(self, name: str) -> int:
        """Verdicts of a run so far; only what came since the last look is read."""
        size, done = self._counted.get(name, (0, 0))
        path = self._runs / name / RESULTS
        try:
            if not path.is_file():
                return done
            with path.open("rb") as file:
                file.seek(size)
                while piece := file.read(_PIECE_BYTES):
                    size, done = size + len(piece), done + piece.count(b"\n")
        except OSError:
            return done
        self._counted[name] = (size, done)
        return done


class Following:
    """
    Follows one run folder: the verdicts that are there, and each that comes, until the run is finished.

    Args:
        folder: The folder of the run.
        sleep: Waits for a number of seconds.
    """

    def __init__(self, folder: Path, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._folder = folder
        self._sleep = sleep
        self._offset = 0
        self._rest = b""

    async def lines(self) -> AsyncIterator[str]:
        """
        NDJSON: first a line `run`, then a `verdict` each, `still` where none comes for long, at last `finished`.

        A line that is no verdict becomes `unreadable`, with its number.
        """
        yield _encoded({"type": "run", "run": self._folder.name, "planned": _planned(_manifest(self._folder))})
        number, silent = 0, 0.0
        while True:
            manifest = await asyncio.to_thread(_manifest, self._folder)  # first: what is read next is then all of it
            content = await asyncio.to_thread(self._more)
            for line in content or ():
                number += 1
                yield _verdict_line(line, number)
            if content is not None:
                silent = 0.0
            elif manifest is not None and manifest.exit_code is not None:
                yield _encoded({
                    "type": "finished", "totals": manifest.totals, "exit_code": manifest.exit_code,
                    "partial": manifest.partial,
                })  # fmt: skip
                return
            else:
                await self._sleep(POLL_SECONDS)
                silent += POLL_SECONDS
                if silent % STILL_SECONDS < POLL_SECONDS:
                    yield _encoded({"type": "still", "silent_seconds": silent})

    async def close(self) -> None:
        """Nothing goes on behind it: whoever reads no further has ended it."""

    def _more(self) -> list[bytes] | None:
        """The whole lines of the next piece, a torn last one kept for later; None where nothing has come."""
        path = self._folder / RESULTS
        try:
            if not path.is_file():
                return None
            with path.open("rb") as file:
                file.seek(self._offset)
                piece = file.read(_PIECE_BYTES)
        except OSError:
            return None
        if not piece:
            return None
        self._offset += len(piece)
        *whole, rest = (self._rest + piece).split(b"\n")
        self._rest = rest if len(rest) <= MOST_LINE_BYTES else _TORN
        return [line for line in whole if line.strip()]


def _manifest(folder: Path) -> RunManifest | None:
    """What `run.json` says; None where it is not there or damaged."""
    try:
        return read_manifest(folder)
    except (HarnessError, OSError):
        return None


def _planned(manifest: RunManifest | None) -> int | None:
    planned: Any = manifest.manifest.get("trials") if manifest else None
    return planned if isinstance(planned, int) else None


def _written(folder: Path) -> float:
    """When the last verdict was written, in seconds since the epoch."""
    try:
        return (folder / RESULTS).stat().st_mtime
    except OSError:
        return 0.0


def _verdict_line(line: bytes, number: int) -> str:
    try:
        verdict = msgspec.json.decode(line, type=CaseVerdict)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _encoded({"type": "unreadable", "line": number})
    return _encoded(_shown(verdict))


def _shown(verdict: CaseVerdict) -> VerdictLine:
    broken = tuple(
        BrokenItem(
            contract=finding.contract, state=finding.state, because=finding.because[:_LONGEST_TEXT],
            advisory=finding.advisory, judged_by=finding.judged_by, witness=tuple(finding.witness),
        )
        for finding in verdict.findings
        if finding.state in ("broken", "could_not_check")
    )  # fmt: skip
    return VerdictLine(
        agent=verdict.agent, model=verdict.model, set=verdict.set, case=verdict.case, trial=verdict.trial,
        provenance=verdict.provenance, verdict=verdict.verdict, known=verdict.known, broken=broken,
        because=verdict.because[:_LONGEST_TEXT], at=verdict.at, llm_calls=verdict.llm_calls,
        tool_calls=verdict.tool_calls, tokens=verdict.tokens, cost_usd=verdict.cost_usd, recorded_ms=verdict.recorded_ms,
    )  # fmt: skip


def _encoded(document: object) -> str:
    return one_line(msgspec.json.encode(document).decode()) + "\n"
