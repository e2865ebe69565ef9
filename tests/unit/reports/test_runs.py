"""Finding runs by what a person types."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import BadFileError, UsageError
from harness.records.run import Cell
from harness.reports.runs import (
    find_run,
    list_runs,
    read_manifest,
    read_results,
    read_traces,
    runs_folder,
    trace_name,
)

CELL = Cell("lean_react", "small", "shared", "S1", 0)
DEEP = b'{"manifest":{"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_002

READERS = [
    ("run.json", read_manifest),
    ("results.jsonl", read_results),
    (f"traces/{trace_name(CELL)}", lambda folder: read_traces(folder, CELL)),
]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs, and a folder that is none."""
    folder = runs_folder(tmp_path)
    for name in ("20261120-080000000-aa11", "20261121-090000000-bb22", "20261121-100000000-cc33"):
        (folder / name).mkdir(parents=True)
        (folder / name / "results.jsonl").touch()
    (folder / "other").mkdir()
    return folder


def test_runs_are_listed_oldest_first(runs: Path):
    """Folders without results are no runs."""
    assert list_runs(runs) == ["20261120-080000000-aa11", "20261121-090000000-bb22", "20261121-100000000-cc33"]
    assert list_runs(runs / "nowhere") == []


@pytest.mark.parametrize("name", [None, "20261121-100000000-cc33", "cc33"])
def test_a_run_is_found_by_id_or_a_part_of_it_or_as_the_newest(runs: Path, name):
    """Four characters are enough where they are unique."""
    assert runs / "20261121-100000000-cc33" == find_run(runs, name)


def test_a_run_is_found_by_path(runs: Path, tmp_path: Path):
    """A run written elsewhere with `--out` is named by its folder."""
    elsewhere = tmp_path / "elsewhere" / "x"
    elsewhere.mkdir(parents=True)
    (elsewhere / "results.jsonl").touch()

    assert elsewhere == find_run(runs, str(elsewhere))


def test_an_ambiguous_name_lists_what_it_could_mean(runs: Path):
    """The hint names every match."""
    with pytest.raises(UsageError) as refused:
        find_run(runs, "20261121")

    assert str(refused.value) == (
        "error[no-such-run]: 2 runs match `20261121`\n\nhint: say which: 20261121-090000000-bb22, 20261121-100000000-cc33"
    )


def test_an_unknown_name_suggests_the_nearest(runs: Path):
    """The hint names the nearest and the newest."""
    with pytest.raises(UsageError) as refused:
        find_run(runs, "20261121-090000000-bb23")

    assert str(refused.value) == (
        "error[no-such-run]: no run named `20261121-090000000-bb23`\n\n"
        "hint: did you mean `20261121-090000000-bb22`? the newest is `20261121-100000000-cc33`"
    )


@pytest.mark.parametrize("name", [None, "x"])
def test_no_run_at_all_names_the_command_that_makes_one(tmp_path: Path, name):
    """An empty folder is the first minute of a user."""
    with pytest.raises(UsageError) as refused:
        find_run(tmp_path / "runs", name)

    assert "`harness run` makes one" in refused.value.hint


@pytest.mark.parametrize(
    "content", [b'{"run":"\xff"}\n', DEEP + b"\n", b"[]\n", b"\0\n"], ids=["utf-8", "deep", "list", "zero"]
)
@pytest.mark.parametrize(("name", "read"), READERS, ids=["manifest", "results", "trace"])
def test_a_damaged_file_is_named(tmp_path: Path, name, read, content):
    """Whatever stands in it, it is a bad file and no defect of the reader."""
    (tmp_path / "traces").mkdir()
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BadFileError, match="not a") as caught:
        read(tmp_path)
    assert name in (caught.value.at or caught.value.message)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop"])
@pytest.mark.parametrize(("name", "read"), READERS, ids=["manifest", "results", "trace"])
def test_what_is_no_file_is_not_read(tmp_path: Path, name, read, kind):
    """A pipe or a device in its place, as a link of an unpacked archive may be, would be read for ever."""
    (tmp_path / "traces").mkdir()
    path = tmp_path / name
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)

    with pytest.raises(BadFileError, match=r"it is no file|it cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize("stated", ['"cases":{"shared":3}', '"families":[]', '"contracts":{"CX1":"1"}'])
def test_a_manifest_that_states_nonsense_is_named(tmp_path: Path, stated):
    """The gate reads cases, families and versions of contracts from it."""
    (tmp_path / "run.json").write_text('{"run":"r1","manifest":{' + stated + "}}")

    with pytest.raises(BadFileError, match="not a run"):
        read_manifest(tmp_path)
