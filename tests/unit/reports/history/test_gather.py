"""From run folders to a document, with a store and without."""

from __future__ import annotations

import msgspec

from harness.records.history import SkippedRun
from harness.reports.history.address import address
from harness.reports.history.gather import Choice, document, read_all, take_in
from harness.reports.history.store import HistoryStore
from harness.reports.runs import runs_folder

from .made import run, series_of, trial, verdict, write_run

NAMES = [f"20260310-09{minute:02}00000-beef" for minute in range(4)]


def folders(tmp_path):
    """A whole run, a partial one, one that goes on, and one that is damaged."""
    runs = runs_folder(tmp_path)
    write_run(runs, NAMES[0], [verdict("S1")])
    write_run(runs, NAMES[1], [verdict("S1")], partial=True)
    write_run(runs, NAMES[2], [verdict("S1")], finished=False)
    (write_run(runs, NAMES[3], [verdict("S1")]) / "results.jsonl").write_text('{"agent": 3}\n')
    return runs


def test_folders_are_taken_in_once(tmp_path):
    """What is finished is not read again; what goes on is; what is damaged is said each time, and stops nothing."""
    runs = folders(tmp_path)
    seen = []
    with HistoryStore(address("h.sqlite", root=tmp_path)) as store:
        taken, skipped = take_in(store, runs, lambda place, name: seen.append((place, name)))
        assert (3, [NAMES[3]]) == (taken, [one.run for one in skipped])
        assert "Expected `str`, got `int`" in skipped[0].because
        assert list(enumerate(NAMES)) == seen

        again: list[str] = []
        assert 0 == take_in(store, runs, lambda _, name: again.append(name))[0]
        assert NAMES[2:] == again

        write_run(runs, NAMES[3].replace("beef", "cafe"), [verdict("S1")])
        assert 1 == take_in(store, runs)[0]


def test_runs_outlive_their_folders(tmp_path):
    """That is what a store is for."""
    runs = folders(tmp_path)
    with HistoryStore(address("h.sqlite", root=tmp_path)) as store:
        take_in(store, runs)
        before = store.load()
        (runs / NAMES[0] / "results.jsonl").unlink()

        assert (0, [NAMES[3]]) == (take_in(store, runs)[0], [one.run for one in take_in(store, runs)[1]])
        assert before == store.load()


def test_folders_and_store_tell_the_same(tmp_path):
    """Reading directly keeps nothing, and says nothing else."""
    runs = folders(tmp_path)
    past, skipped = read_all(runs)
    with HistoryStore(address("h.sqlite", root=tmp_path)) as store:
        take_in(store, runs)

        assert store.load(states=("whole", "partial", "unfinished")) == past
    assert [NAMES[3]] == [one.run for one in skipped]
    assert ((), ()) == read_all(tmp_path / "nothing")


def test_partial_runs_are_no_part_of_a_trend_unless_asked():
    """They are counted among what is left out."""
    past = [run(1, trial("S1")), run(2, trial("S1"), state="partial"), run(3, trial("S1"), state="unfinished")]
    known = [one.state for one in past]
    whole = document(past, choice=Choice(), known=known)
    asked = document(past, choice=Choice(states=("whole", "partial")), known=known)

    assert (series_of(past[:1]), 2) == (series_of(whole.runs), whole.left_out)
    assert (series_of(past[:2]), 1) == (series_of(asked.runs), asked.left_out)
    assert [1, 2] == [len(found.series[0].points) for found in (whole, asked)]


def test_globs_choose_agents_sets_and_cases():
    """A run without any of them is no point, and an empty one only counts where nothing is asked for."""
    past = [run(1, trial("S1"), trial("S2", agent="two_phase")), run(2, trial("S1", set="other")), run(3)]
    known = ["whole"] * 3

    def chosen(**how):
        found = document(past, choice=Choice(**how), known=known)
        return [(one.run[-1], one.trials) for one in found.runs]

    assert [("1", 2), ("2", 1), ("3", 0)] == chosen()
    assert [("1", 1)] == chosen(agents=("two_*",))
    assert [("1", 2)] == chosen(sets=("shared",))
    assert [("1", 1), ("2", 1)] == chosen(cases=("S1", "none"))
    assert [("2", 1)] == chosen(cases=("S1",), last=1)


def test_a_list_of_runs_looks_for_no_trend():
    """It says of each run what came of it."""
    past = [run(1, trial("S1", "broken", known=True), trial("S2", "could_not_check"))]
    found = document(
        past, choice=Choice(), known=["whole"], store="h.sqlite", taken=1, skipped=[SkippedRun(run="x", because="y")],
        trend=False,
    )  # fmt: skip

    assert ((), (), ()) == (found.series, found.unsteady, found.cases)
    assert {
        "trials": 2,
        "kept": 0,
        "broken": 1,
        "known": 1,
        "could_not_check": 1,
        "state": "whole",
        "exit_code": 0,
    }.items() <= (msgspec.to_builtins(found.runs[0]).items())
    assert ("h.sqlite", 1, "x") == (found.store, found.taken, found.skipped[0].run)
