"""Runs on disk, read while they grow."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.records.run import CaseVerdict, Cell, RunRecord, Totals
from harness.records.trace import FinalAnswer
from harness.reports.runs import RESULTS
from harness.reports.store import RunStore
from harness.serve import run_folders
from harness.serve.run_folders import STILL_SECONDS, Following, RunFolders
from harness.testing.builders import make_trace

CELL = Cell("example", "scripted", "smoke", "weather")


def verdict() -> CaseVerdict:
    """A kept one."""
    return CaseVerdict(
        agent="example", profile="reference", model="scripted", provenance="scripted", set="smoke", case="weather",
        trial=0, verdict="kept",
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path):
    """A run that has begun."""
    with RunStore.create(tmp_path, run="r", manifest={"trials": 3}) as begun:
        yield begun


def followed(folder: Path, meanwhile: list[Any]) -> list[dict[str, Any]]:
    """All lines of a run, where each wait does one of *meanwhile*."""

    async def sleep(_seconds: float) -> None:
        step = meanwhile.pop(0)
        if step is not None:
            step()

    async def reading() -> list[dict[str, Any]]:
        return [json.loads(line) async for line in Following(folder, sleep).lines()]

    return asyncio.run(reading())


def finish(store: RunStore, trials: int) -> None:
    """Write the end of the run."""
    store.finish(RunRecord(run="r", results=(), totals=Totals(trials=trials), exit_code=1, partial=True))


def test_what_comes_while_nobody_looks_is_read_at_the_next_look(store):
    """One verdict, then two at once, then the end; none is told twice."""

    def two() -> None:
        store.append(verdict())
        store.append(verdict())

    lines = followed(store.folder, [lambda: store.append(verdict()), None, two, lambda: finish(store, 3)])

    assert ["run", "verdict", "verdict", "verdict", "finished"] == [line["type"] for line in lines]
    assert (3, 1, True) == (lines[0]["planned"], lines[-1]["exit_code"], lines[-1]["partial"])


def test_the_last_verdict_and_the_end_at_once(store):
    """The end is told after whatever was written before it."""

    def both() -> None:
        store.append(verdict())
        finish(store, 1)

    assert ["run", "verdict", "finished"] == [line["type"] for line in followed(store.folder, [both])]


def test_a_silent_run_is_still_watched(store):
    """Now and then a line says for how long nothing came."""
    looks = [None] * int(STILL_SECONDS / run_folders.POLL_SECONDS)
    lines = followed(store.folder, [*looks, lambda: finish(store, 0)])

    assert [("still", STILL_SECONDS)] == [
        (line["type"], line["silent_seconds"]) for line in lines if line["type"] == "still"
    ]


def test_a_large_file_is_read_in_pieces(store, monkeypatch):
    """Lines that lie across two pieces are whole."""
    monkeypatch.setattr(run_folders, "_PIECE_BYTES", 100)
    for _ in range(5):
        store.append(verdict())
    finish(store, 5)

    assert ["run", *["verdict"] * 5, "finished"] == [line["type"] for line in followed(store.folder, [None] * 200)]


def test_a_trace_is_found_by_its_cell(store, tmp_path):
    """And by nothing that is not a run of exactly that name."""
    store.append(verdict(), [make_trace(FinalAnswer(text="7"))])
    folders = RunFolders(tmp_path)

    assert "7" in [event.data.text for event in folders.events("r", CELL) if event.type == "final_answer"]
    for name in ("", "R", "../r", str(store.folder), "r/"):
        with pytest.raises(UsageError, match="there is no such run"):
            folders.events(name, CELL)


def test_a_trace_that_is_too_large_is_not_read(store, tmp_path, monkeypatch):
    """The page is told so, and the server keeps its memory."""
    store.append(verdict(), [make_trace(FinalAnswer(text="7"))])
    monkeypatch.setattr(run_folders, "MOST_TRACE_BYTES", 10)

    with pytest.raises(UsageError) as refused:
        RunFolders(tmp_path).events("r", CELL)

    assert "trace-too-large" == refused.value.code


def test_silence_is_counted_from_the_last_verdict(store, tmp_path):
    """By the clock of the file."""
    store.append(verdict())
    written = (store.folder / "results.jsonl").stat().st_mtime
    (item,) = RunFolders(tmp_path).listed(written + 42)

    assert ("unfinished", 1, 3, 42.0) == (item.state, item.done, item.planned, item.silent_seconds)


def test_a_line_without_end_is_not_kept(store, monkeypatch):
    """What grows beyond any verdict is let go of, told as unreadable, and what follows it is read again."""
    monkeypatch.setattr(run_folders, "MOST_LINE_BYTES", 100)
    monkeypatch.setattr(run_folders, "_PIECE_BYTES", 64)
    path = store.folder / RESULTS
    path.write_bytes(b"x" * 1000 + b"\n{}\n")
    following = Following(store.folder)
    kept = []

    for _ in range(10):
        following._more()
        kept.append(len(following._rest))
    told = followed(store.folder, [lambda: finish(store, 0)])

    assert max(kept) <= 100
    assert [1, 2] == [line["line"] for line in told if line["type"] == "unreadable"]
    assert "finished" == told[-1]["type"]


def test_a_device_in_place_of_the_verdicts_is_not_read(tmp_path):
    """A link out of an unpacked archive may lead anywhere: the list of runs ends, and so does following it up to now."""
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / RESULTS).symlink_to("/dev/zero")
    (listed,) = RunFolders(tmp_path).listed(0.0)

    assert (0, None) == (listed.done, Following(folder)._more())
