"""Finding runs by what a person types."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reports.runs import find_run, list_runs, runs_folder


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
