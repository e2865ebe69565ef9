"""`harness report --format html`: one page with every trace, and what it is held against."""

from __future__ import annotations

import importlib.util
import json
import re
import sys

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.reports.documents import schema_of


@pytest.fixture
def ran(project, harness):
    """The id of a run of two cases."""
    return harness("run", "--json").document["run"]


def index_of(html: str) -> dict:
    """The index in a page."""
    return json.loads(re.search(r'<script type="application/json" id="index">(.*?)</script>', html)[1])


def test_the_page_lies_in_the_folder_of_its_run(ran, harness, project):
    """Its path is all that stdout gets."""
    ended = harness("report", "--format", "html")

    assert (ExitCode.PASS, f"reports/runs/{ran}/report.html\n", "") == (ended.code, ended.out, ended.err)
    html = (project / "reports" / "runs" / ran / "report.html").read_text(encoding="utf-8")
    assert ["S1-en", "S2-en"] == [case["case"] for case in index_of(html)["cases"]]
    assert "A trace starts with its one trial_started" in html


def test_another_file_may_be_named(ran, harness, project, tmp_path):
    """Its folder is made."""
    ended = harness("report", ran, "--format", "html", "--out", str(tmp_path / "new" / "page.html"))

    assert (ExitCode.PASS, f"{tmp_path / 'new' / 'page.html'}\n") == (ended.code, ended.out)
    assert (tmp_path / "new" / "page.html").is_file()


def test_the_document_names_the_file(ran, harness):
    """As its schema says."""
    document = harness("report", "--format", "html", "--json").document

    jsonschema.validate(document, schema_of("report"))
    assert {"run": ran, "format": "html", "text": "", "written": [f"reports/runs/{ran}/report.html"]} == document


def test_two_runs_are_held_against_each_other(ran, harness, project):
    """The earlier run is on the left, and each trial meets itself."""
    later = harness("run", "--json").document["run"]
    harness("report", later, "--format", "html", "--against", ran)
    (diffs,) = index_of((project / "reports" / "runs" / later / "report.html").read_text())["diffs"]

    assert ("run", ran, later) == (diffs["kind"], diffs["a"], diffs["b"])
    assert [("S1-en", "S1-en", True), ("S2-en", "S2-en", True)] == [
        (pair["a"]["case"], pair["b"]["case"], pair["same"]) for pair in diffs["pairs"]
    ]


def test_a_run_is_not_held_against_itself(ran, harness):
    """That would only be slow."""
    ended = harness("report", ran, "--format", "html", "--against", ran)

    assert ended.code == ExitCode.USAGE
    assert f"error[bad-arguments]: run `{ran}` is the same on both sides" in ended.err


def test_designs_that_never_met_cannot_be_compared(ran, harness):
    """It says so instead of showing nothing."""
    ended = harness("report", "--format", "html", "--agent", "lean_react", "--agent", "two_phase")

    assert ended.code == ExitCode.USAGE
    assert "`lean_react` and `two_phase` have no case in common that was answered alike" in ended.err


@pytest.mark.parametrize("agents", [["--agent", "a"], ["--agent", "a", "--agent", "a"], ["--agent", "a"] * 3])
def test_two_designs_are_two(ran, harness, agents):
    """Neither one, nor the same twice, nor three."""
    ended = harness("report", "--format", "html", *agents)

    assert ended.code == ExitCode.USAGE
    assert "--agent stands twice, for two designs" in ended.err


@pytest.mark.parametrize(("option", "value"), [("--against", "r"), ("--agent", "a")])
def test_other_formats_compare_nothing(ran, harness, option, value):
    """An option that would do nothing is refused."""
    ended = harness("report", option, value)

    assert ended.code == ExitCode.USAGE
    assert f"{option} goes with --format html" in ended.err
    assert "hint: `harness diff` compares on a terminal" in ended.err


def test_without_the_extra_it_says_what_to_install(ran, harness, monkeypatch):
    """What is missing, and the one command that brings it."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "jinja2" else find(name))
    ended = harness("report", "--format", "html")

    assert ended.code == ExitCode.USAGE
    assert "error[no-reports]: the HTML report needs jinja2" in ended.err
    assert 'hint: install it with `pip install "tapegate[reports]"`' in ended.err


def test_a_page_that_cannot_be_written_is_no_verdict(ran, harness, project):
    """Exit 3, with what the system said."""
    (project / "reports" / "runs" / ran / "report.html").mkdir()
    ended = harness("report", "--format", "html")

    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert f"the report cannot be written to reports/runs/{ran}/report.html: Is a directory" in ended.err


def test_a_run_loads_nothing_of_it(ran, harness, project):
    """`harness run` starts as fast as before: none of what draws the page is imported."""
    import subprocess

    code = (
        "import sys; from harness.cli.main import main; main(['run']);"
        "print([m for m in ('jinja2', 'matplotlib', 'nh3', 'numpy', 'harness.reports.html') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "[]" == told.splitlines()[-1]


def test_a_damaged_trace_keeps_nobody_from_the_page(ran, harness, project):
    """The page is written, and says on that case's page what is wrong."""
    traces = project / "reports" / "runs" / ran / "traces"
    damaged = min(traces.iterdir())
    damaged.write_bytes(damaged.read_bytes()[:50])
    ended = harness("report", "--format", "html")

    assert (ExitCode.PASS, "") == (ended.code, ended.err)
