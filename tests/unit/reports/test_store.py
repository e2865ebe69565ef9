"""Run folders: what is written is what is read, and a killed run can be resumed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError, CouldNotCheckError
from harness.records.finding import Finding
from harness.records.run import CaseVerdict, Cell, RunRecord, Totals
from harness.records.trace import Event, FinalAnswer, Trace, TrialStarted
from harness.reports.runs import load_run, read_manifest, read_partial, read_results, read_traces, trace_name
from harness.reports.store import RunStore, new_run_id


def verdict(case: str = "S1", state: str = "kept", **changes) -> CaseVerdict:
    """Make a verdict."""
    fields = {
        "agent": "lean_react", "profile": "reference", "model": "scripted", "provenance": "scripted", "set": "shared",
        "case": case, "trial": 0, "verdict": state,
    }  # fmt: skip
    return CaseVerdict(**(fields | changes))


def leg(number: int) -> Trace:
    """Make a trace of two events."""
    started = TrialStarted(system="lean_react", profile="reference", case_id="S1", question="?", leg=number)
    answer = FinalAnswer(text=f"leg {number}", complete=True)
    return Trace((Event("t", 0, 0, "trial_started", started), Event("t", 1, 5, "final_answer", answer)))


def record(store: RunStore, *verdicts: CaseVerdict) -> RunRecord:
    """Make the record of a run of these verdicts."""
    totals = Totals(trials=len(verdicts), kept=len(verdicts))
    return RunRecord(run=store.run, results=verdicts, totals=totals, exit_code=0, partial=True, manifest={"jobs": 1})


def test_run_ids_sort_by_time():
    """A later run has a greater id, down to the millisecond."""
    assert new_run_id(now=1795301840.4171, suffix="3f9a") == "20261121-225720417-3f9a"
    assert new_run_id(now=1795301840.417, suffix="ffff") < new_run_id(now=1795301840.4185, suffix="0000")


def test_run_ids_of_one_moment_differ():
    """Two runs that start together get two folders."""
    assert len({new_run_id(now=0) for _ in range(20)}) > 1


def test_a_finished_run_is_read_as_it_was_written(tmp_path: Path):
    """Verdicts, totals, exit code and manifest come back whole."""
    finding = Finding(
        contract="CX13", state="broken", because="asked twice", witness=(4, 9), at="goldensets/shared.yaml:14"
    )
    verdicts = (verdict("S1"), verdict("S2", "broken", findings=(finding,), answer="北京\n\x1b[31m", cost_usd=0.25))
    with RunStore.create(tmp_path, run="r1") as store:
        for each in verdicts:
            store.append(each)
        store.finish(record(store, *verdicts))

    assert record(store, *verdicts) == load_run(tmp_path / "r1")


def test_each_verdict_is_on_disk_as_soon_as_it_is_appended(tmp_path: Path):
    """A run that is killed loses no trial that ended."""
    store = RunStore.create(tmp_path, run="r1")
    store.append(verdict("S1"))

    assert (verdict("S1"),) == read_results(store.folder)
    store.close()


def test_traces_come_back_one_a_leg(tmp_path: Path):
    """The legs of a trial share a file and come back apart."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(verdict("S1"), [leg(0), leg(1)])

    assert (leg(0), leg(1)) == read_traces(store.folder, verdict("S1").cell)
    assert read_traces(store.folder, verdict("S2").cell) == ()


def test_an_unfinished_run_is_refused_with_the_command_that_goes_on(tmp_path: Path):
    """Verdicts of a killed run are not taken for those of a whole one."""
    with RunStore.create(tmp_path, run="r1", manifest={"code": "abc"}) as store:
        store.append(verdict())

    with pytest.raises(BadFileError) as refused:
        load_run(store.folder)
    assert (
        f"error[unfinished-run]: {store.folder}: run `r1` was never finished\n\n"
        "hint: `harness run --resume r1` goes on with it"
    ) == str(refused.value)
    assert read_manifest(store.folder).manifest == {"code": "abc"}
    assert read_partial(store.folder).results == (verdict(),)


def test_resuming_keeps_what_was_written_and_cuts_a_torn_line(tmp_path: Path):
    """A write that was cut off half-way is as if it had never been."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(verdict("S1"))
        store.append(verdict("S2"))
    results = store.folder / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-20])

    with RunStore.reopen(store.folder) as resumed:
        assert {verdict("S1").cell: verdict("S1")} == resumed.done
        resumed.append(verdict("S2"))
    assert (verdict("S1"), verdict("S2")) == read_results(store.folder)


@given(st.integers(min_value=0))
def test_a_run_can_be_cut_anywhere(tmp_path_factory, cut):
    """Wherever the file ends, what is read is a prefix of what was written."""
    folder = tmp_path_factory.mktemp("runs")
    verdicts = tuple(verdict(f"S{number}", answer="ü" * number) for number in range(4))
    with RunStore.create(folder, run="r1") as store:
        for each in verdicts:
            store.append(each)
    results = store.folder / "results.jsonl"
    os.truncate(results, cut % (results.stat().st_size + 1))

    found = read_results(store.folder)
    assert verdicts[: len(found)] == found


def test_the_last_verdict_of_a_cell_counts(tmp_path: Path):
    """A trial that was run again in a resumed run has its newer verdict."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(verdict("S1", "could_not_check"))
        store.append(verdict("S2"))
        store.append(verdict("S1"))

    assert (verdict("S2"), verdict("S1")) == read_results(store.folder)


def test_a_damaged_line_in_the_middle_is_refused(tmp_path: Path):
    """Only the last line can be torn by a kill; anything else is damage, named by file and line."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(verdict("S1"))
        store.append(verdict("S2"))
    results = store.folder / "results.jsonl"
    results.write_bytes(b'{"agent":' + results.read_bytes()[20:])

    with pytest.raises(BadFileError) as refused:
        read_results(store.folder)
    assert ("bad-run", f"{results}:1") == (refused.value.code, refused.value.at)


def test_newer_formats_are_refused(tmp_path: Path):
    """A verdict and a manifest of a newer version are named as such."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(verdict("S1", format=2))
        store.finish(record(store))

    with pytest.raises(BadFileError) as refused:
        load_run(store.folder)
    assert (
        f"error[unknown-format]: {store.folder / 'results.jsonl'}:1: run format 2 is not known to this version (it reads 1)"
        "\n\nhint: update tapegate, or run again"
    ) == str(refused.value)


def test_a_damaged_manifest_is_refused(tmp_path: Path):
    """`run.json` that is no JSON names the file."""
    with RunStore.create(tmp_path, run="r1") as store:
        (store.folder / "run.json").write_text("{")

    with pytest.raises(BadFileError) as refused:
        load_run(store.folder)
    assert ("bad-run", str(store.folder / "run.json")) == (refused.value.code, refused.value.at)


def test_a_folder_without_results_is_no_run(tmp_path: Path):
    """The error says what is missing."""
    with pytest.raises(BadFileError) as refused:
        read_results(tmp_path)

    assert f"no results.jsonl in {tmp_path}" == refused.value.message


def test_a_folder_that_cannot_be_written_is_no_verdict(tmp_path: Path):
    """No infrastructure condition looks like a regression: it is exit 3, with a way out."""
    (tmp_path / "runs").write_text("a file")

    with pytest.raises(CouldNotCheckError) as refused:
        RunStore.create(tmp_path / "runs", run="r1")
    assert refused.value.code == "cannot-write"


def test_trace_names_are_flat_and_plain():
    """Odd characters are encoded, so that no case can leave its folder."""
    assert trace_name(Cell("a", "m", "s", "c")) == "a~m~s~c.0.jsonl"
    assert trace_name(Cell("a", "m", "s", "../~ü", 2)) == "a~m~s~..%2F%7E%C3%BC.2.jsonl"


@given(st.lists(st.tuples(*[st.text("ab~/.%ü", max_size=80)] * 4), unique=True, min_size=2, max_size=8))
def test_different_cells_have_different_trace_names(cells):
    """Names are safe, short enough for any file system, and never shared."""
    found = {trace_name(Cell(*cell)) for cell in cells}

    assert len(cells) == len(found)
    assert all(len(name.encode()) <= 220 and "/" not in name for name in found)


def test_appending_is_cheap(tmp_path: Path):
    """A verdict costs far less than the trial that it is about: 15 µs of CPU, with room for a slow machine."""
    with RunStore.create(tmp_path, run="r1") as store:
        each = verdict(answer="x" * 300, findings=tuple(Finding(contract=f"CX{n}", state="kept") for n in range(15)))
        costs = []
        for _ in range(5):
            start = time.process_time_ns()
            for _ in range(200):
                store.append(each)
            costs.append((time.process_time_ns() - start) / 200_000)

    assert min(costs) < 45


def test_results_are_compact(tmp_path: Path):
    """A kept verdict with 15 findings takes less than 2 KB."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(
            verdict(answer="x" * 300, findings=tuple(Finding(contract=f"CX{n}", state="kept") for n in range(15)))
        )
        size = (store.folder / "results.jsonl").stat().st_size

    assert size < 2000


def test_a_verdict_on_disk_is_one_json_object_a_line(tmp_path: Path):
    """Other tools can read the file line by line."""
    with RunStore.create(tmp_path, run="r1") as store:
        store.append(verdict("S1", answer="two\nlines"))
        lines = (store.folder / "results.jsonl").read_text().splitlines()

    assert [msgspec.json.decode(line)["case"] for line in lines] == ["S1"]
