"""`harness report`: a stored run in the formats of CI."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.records.run import RunRecord, Totals
from harness.reports.documents import full, schema_of
from harness.reports.markdown import MARKER
from harness.reports.runs import load_run, runs_folder
from harness.reports.store import RunStore


@pytest.fixture
def ran(project, harness):
    """A run of two cases, one of which wants a fact that the answer does not say and one that has no recording."""
    path = project / "goldensets" / "shared.yaml"
    text = path.read_text()
    start = text.index("id: S1-en")
    path.write_text(text[:start] + text[start:].replace("number: 7", "number: 8642", 1))
    (project / "cassettes" / "lean_react" / "scripted" / "shared" / "S2-en.0.yaml").unlink()
    ended = harness("run", "--json")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    return ended.document


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch):
    """No machine of GitHub's, whatever these tests run on."""
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


def test_the_newest_run_is_shown_in_markdown(ran, harness):
    """Without words, for people; the exit code is that of the writing."""
    ended = harness("report")

    assert (ended.code, ended.err) == (ExitCode.PASS, "")
    assert ended.out.startswith("## tapegate: COULD NOT CHECK\n\n0 of 2 trials kept, 1 broken, 0 known, 1 could not")
    assert "- `facts` `lean_react × scripted on shared/S1-en, trial 0`, answered by: scripted" in ended.out
    assert "  - rule: `The answer says all of the facts" in ended.out
    assert "- `cassette-missing` `lean_react × scripted on shared/S2-en, trial 0`, answered by: none" in ended.out


def test_junit_and_sarif_name_the_line_of_the_golden_case(ran, harness, project):
    """The file is there, and the line is that of the case."""
    root = ET.fromstring(harness("report", ran["run"], "--format", "junit").out)
    case = next(one for one in root.iter("testcase") if one.get("name") == "S1-en[0]")
    line = (project / case.get("file")).read_text().splitlines()[int(case.get("line")) - 1]
    assert "id: S1-en" in line

    document = json.loads(harness("report", "--format", "sarif").out)
    (broken,) = [one for one in document["runs"][0]["results"] if one["properties"]["state"] == "broken"]
    place = broken["locations"][0]["physicalLocation"]
    assert (case.get("file"), "facts") == (place["artifactLocation"]["uri"], broken["ruleId"])
    helped = {rule["id"]: rule["help"]["text"] for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert helped["facts"].startswith("The answer says all of the facts")
    assert "to mend it: " in helped["cassette-missing"]


def test_json_is_the_document_of_the_run(ran, harness, project):
    """The same schema, the same verdicts."""
    document = json.loads(harness("report", "--format", "json").out)

    jsonschema.validate(document, schema_of("run"))
    stored = json.loads(json.dumps(full(load_run(runs_folder(project / "reports") / ran["run"]))))
    assert stored == document


def test_github_gets_annotations_a_summary_and_a_comment(ran, harness, project, monkeypatch, tmp_path):
    """The log, the summary of the job, which is appended to, and the body of a comment with its marker."""
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.parent))
    ended = harness("report", "--format", "github", "--out", str(tmp_path / "new" / "comment.md"))

    lines = ended.out.splitlines()
    assert ["::error file=project/goldensets/shared.yaml"] * 2 == [line.partition(",")[0] for line in lines]
    assert ended.err == f"wrote {summary}\nwrote {tmp_path / 'new' / 'comment.md'}\n"
    assert summary.read_text().startswith("before\n## tapegate: COULD NOT CHECK\n")
    assert (tmp_path / "new" / "comment.md").read_text().startswith(f"{MARKER}\n## tapegate: COULD NOT CHECK\n")


@pytest.mark.parametrize("form", ["markdown", "junit", "sarif", "json", "otlp"])
def test_out_takes_the_report(ran, harness, tmp_path, form):
    """What would be printed is in the file, and stdout stays empty."""
    printed = harness("report", "--format", form).out
    ended = harness("report", "--format", form, "--out", str(tmp_path / "report"))

    assert ("", f"wrote {tmp_path / 'report'}\n") == (ended.out, ended.err)
    assert printed == (tmp_path / "report").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["markdown", "junit", "sarif", "github", "json", "otlp"])
def test_the_document_is_what_its_schema_says(ran, harness, form):
    """With `--json`, the report stands in one document."""
    document = harness("report", "--format", form, "--json").document

    jsonschema.validate(document, schema_of("report"))
    assert (ran["run"], form, []) == (document["run"], document["format"], document["written"])
    assert document["text"]


def test_a_run_without_verdicts_is_no_report(project, harness):
    """An empty report would look green."""
    with RunStore.create(runs_folder(project / "reports"), run="r1") as store:
        store.finish(RunRecord(run="r1", results=(), totals=Totals(), exit_code=4))

    ended = harness("report", "--format", "junit")
    assert ended.code == ExitCode.NOTHING_COMPARED
    assert ended.err.startswith("error[nothing-run]: run `r1` has no verdict to report\n")


def test_an_unfinished_run_is_no_report(project, harness):
    """Trials that never ran would be missing without a word."""
    with RunStore.create(runs_folder(project / "reports"), run="r1"):
        pass

    assert harness("report").err.startswith("error[unfinished-run]: ")


def test_no_run_at_all_names_the_command_that_makes_one(project, harness):
    """Exit 2 and nothing on stdout."""
    ended = harness("report")

    assert (ended.code, ended.out) == (ExitCode.USAGE, "")
    assert "`harness run` makes one" in ended.err


def test_a_report_that_cannot_be_written_is_told(ran, harness, tmp_path):
    """A full disk is no pass."""
    ended = harness("report", "--out", str(tmp_path))

    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert ended.err == (
        f"error[cannot-write-report]: the report cannot be written to {tmp_path}: Is a directory\n\n"
        "hint: make room, or name another place with `--out FILE`\n"
    )


def test_a_broken_contract_file_hides_only_its_own_help(ran, harness, project):
    """A report is about yesterday's run, whatever the project looks like today."""
    (project / "pyproject.toml").write_text(
        (project / "pyproject.toml")
        .read_text()
        .replace("[tool.harness]\n", '[tool.harness]\ncontract_modules = ["own.py"]\n', 1)
    )
    (project / "own.py").write_text("raise RuntimeError\n")

    ended = harness("report")
    assert ended.code == ExitCode.PASS
    assert "  - rule: `The answer says all of the facts" in ended.out
