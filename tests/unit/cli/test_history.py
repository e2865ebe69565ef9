"""`harness history`, on runs that were really made in a scratch project."""

from __future__ import annotations

import re
import sys

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.reports.documents import schema_of
from harness.reports.runs import list_runs, runs_folder

SECRET = "s3cret-word"


@pytest.fixture
def runs(project, harness, monkeypatch):
    """Two whole runs and a partial one; the folder that they stand in."""
    monkeypatch.delenv("HARNESS_HISTORY", raising=False)
    for words in ([], [], ["--case", "S1-en"]):
        assert harness("run", *words).code == ExitCode.PASS
    return runs_folder(project / "reports")


def test_a_history_is_shown_and_kept(project, runs, harness):
    """Whole runs only; what was taken in outlives the folders."""
    first = harness("history")
    for folder in runs.iterdir():
        (folder / "results.jsonl").unlink()
    second = harness("history")

    assert (ExitCode.PASS, "") == (first.code, first.err)
    assert first.out.startswith("STEADY  the newest of 2 runs keeps what the one before kept: 2 of 2 (2 runs from ")
    assert "; 1 partial or unfinished left out)" in first.out.replace("\n ", "")
    assert re.search(r"lean_react × scripted +▄▄ 2/2 +▄▄ 2.0", first.out)
    assert first.out == second.out
    assert (project / "reports" / "history.sqlite").is_file()


def test_run_folders_can_be_read_without_a_store(project, runs, harness, monkeypatch):
    """Nothing is written, and SQLAlchemy is not needed."""
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)

    ended = harness("history", "--no-store")
    assert ended.code == ExitCode.PASS
    assert ended.out.startswith("STEADY")
    assert not (project / "reports" / "history.sqlite").exists()


def test_a_store_without_sqlalchemy_is_exit_2(runs, harness, monkeypatch):
    """With the command that installs it, and the way without."""
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)

    ended = harness("history")
    assert ended.code == ExitCode.USAGE
    assert (
        'hint: pip install "tapegate[reports]"; `harness history --no-store` reads the run folders alone' in ended.err
    )


def test_the_document_is_what_its_schema_says(runs, harness):
    """Real output, with and without a store, and as a list of runs."""
    for words in ([], ["--no-store"], ["--runs"], ["--partial", "--last", "1"], ["--case", "none"]):
        jsonschema.validate(harness("history", "--json", *words).document, schema_of("history"))

    document = harness("history", "--json", "--partial").document
    assert 3 == len(document["runs"])
    assert [2, 2, 1] == [point["trials"] for point in document["series"][0]["points"]]
    assert [2, 0, 0] == [point["new_recordings"] for point in document["series"][0]["points"]]
    assert [[], [], ["cases"]] == [point["changed"] for point in document["series"][0]["points"]]


def test_what_is_taken_in_is_counted_once(runs, harness):
    """The second time there is nothing new."""
    assert [3, 0] == [harness("history", "--json").document["taken"] for _ in range(2)]
    assert 0 == harness("history", "--json", "--read-only").document["taken"]


def test_a_store_that_is_only_read_takes_nothing_in(project, runs, harness):
    """A person who looks at the team's store does not put runs of their own into it."""
    ended = harness("history", "--store", "empty.sqlite", "--read-only")

    assert (ExitCode.NOTHING_COMPARED, "") == (ended.code, ended.out)
    assert (
        "error[no-history]: no run is known that could show a trend\n\nhint: `harness run` makes a run\n" == ended.err
    )


def test_runs_are_listed_with_their_state(runs, harness):
    """All of them, the newest first, so that RUN is easily found."""
    ended = harness("history", "--runs")
    rows = [line.split() for line in ended.out.splitlines()[2:5]]

    assert list_runs(runs)[::-1] == [row[0] for row in rows]
    assert ["partial", "whole", "whole"] == [row[3] for row in rows]
    assert ["1/1", "2/2", "2/2"] == [row[4] for row in rows]


def test_markdown_and_a_page_can_be_written(project, runs, harness):
    """Markdown to stdout or a file, a page to its place in reports/ or another."""
    assert harness("history", "--format", "markdown").out.startswith("## tapegate history: STEADY\n")
    for words, path in (
        (["--format", "markdown", "--out", "new/trend.md"], "new/trend.md"),
        (["--format", "html", "--out", "trend.html"], "trend.html"),
        (["--format", "html"], str(project / "reports" / "history.html")),
    ):
        ended = harness("history", *words)

        assert (ExitCode.PASS, "", f"wrote {path}\n") == (ended.code, ended.out, ended.err)
    assert (project / "new" / "trend.md").read_text().startswith("## tapegate history: STEADY\n")
    assert (project / "trend.html").read_text().startswith("<!doctype html>\n")
    assert (project / "trend.html").read_text() == (project / "reports" / "history.html").read_text()


def test_a_report_that_cannot_be_written_is_exit_3(project, runs, harness):
    """The path and the reason."""
    ended = harness("history", "--format", "markdown", "--out", "goldensets")

    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "error[cannot-write-report]: the report cannot be written to goldensets: Is a directory" in ended.err


def test_the_store_is_named_by_flag_environment_or_project(project, runs, harness, monkeypatch):
    """In this order; a path in pyproject.toml is relative to it."""
    (project / "pyproject.toml").write_text(
        (project / "pyproject.toml").read_text().replace("[tool.harness]", '[tool.harness]\nhistory = "kept/h.sqlite"')
    )
    monkeypatch.chdir(project / "agents")
    assert str(project / "kept" / "h.sqlite") == harness("history", "--json").document["store"]
    monkeypatch.setenv("HARNESS_HISTORY", f"sqlite:///{project}/by-environment.sqlite")
    assert str(project / "by-environment.sqlite") == harness("history", "--json").document["store"]
    assert str(project / "flag.sqlite") == harness("history", "--json", "--store", "../flag.sqlite").document[
        "store"
    ].replace("agents/../", "")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@127.0.0.1:1/runs",
        f"postgresql://127.0.0.1:1/runs?password={SECRET}",
        f"postgresql://ada:{SECRET}@127.0.0.1:port/runs",
        f"oracle://ada:{SECRET}@127.0.0.1/runs",
    ],
)
def test_no_word_of_a_password_is_ever_printed(runs, harness, monkeypatch, url):
    """Not in errors, not in the document, wherever the URL comes from."""
    monkeypatch.setenv("HARNESS_HISTORY", url)
    for words in ([], ["--json"], ["--store", url]):
        ended = harness("history", *words)

        assert ended.code in {ExitCode.USAGE, ExitCode.COULD_NOT_CHECK}
        assert SECRET not in ended.out + ended.err


def test_a_password_in_pyproject_is_refused(project, runs, harness):
    """That file is committed."""
    (project / "pyproject.toml").write_text(f'[tool.harness]\nhistory = "postgresql://ada:{SECRET}@db/runs"\n')

    ended = harness("history")
    assert ended.code == ExitCode.USAGE
    assert "error[history-password]: `history` in [tool.harness] holds a password" in ended.err
    assert SECRET not in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--no-store", "--store", "x"], "--no-store goes with neither --store nor --read-only"),
        (["--no-store", "--read-only"], "--no-store goes with neither --store nor --read-only"),
        (["--runs", "--format", "html"], "--runs is for a terminal, not html"),
        (["--last", "0"], "argument --last: `0` is no whole number of at least 1"),
    ],
)
def test_flags_that_do_not_go_together_are_exit_2(project, harness, words, message):
    """The message says which."""
    document = harness("history", "--json", *words).document

    assert ("bad-arguments", message, 2) == (
        document["error"]["code"],
        document["error"]["message"],
        document["exit_code"],
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ([], "`harness run` makes a run"),
        (["--case", "x"], "`harness history` without --set, --agent and --case shows what there is"),
    ],
)
def test_no_run_is_exit_4(project, harness, words, hint):
    """Nothing is no steady trend."""
    ended = harness("history", *words)

    assert ended.code == ExitCode.NOTHING_COMPARED
    assert f"error[no-history]: no run is known that could show a trend\n\nhint: {hint}\n" == ended.err
    assert ExitCode.NOTHING_COMPARED == harness("history", "--json", *words).code


def test_only_partial_runs_say_how_to_look_at_them(project, harness):
    """They are there, and left out."""
    harness("run", "--case", "S1-en")

    ended = harness("history")
    assert ended.code == ExitCode.NOTHING_COMPARED
    assert (
        "hint: 1 partial or unfinished runs are left out; `--partial` looks at those that flags narrowed" in ended.err
    )


def test_bars_fit_the_encoding_of_the_terminal(project, runs, process):
    """A terminal without blocks gets ASCII bars, and no escapes in their place."""
    ended = process("history", "--no-store", PYTHONIOENCODING="ascii:backslashreplace")

    assert (0, "") == (ended.code, ended.err)
    assert re.search(r"\.\. |-- |== |__ ", ended.out)
    assert "\\u258" not in ended.out
