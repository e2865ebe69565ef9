"""`harness gate` on the reference project: what it prints, and that its policy is read."""

from __future__ import annotations

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.reports.documents import schema_of


@pytest.fixture
def run(project, harness):
    """A run that was accepted; its id."""
    run = harness("run", "--json").document["run"]
    harness("accept", "--reason", "first")
    return run


def test_an_accepted_run_passes(run, harness):
    """The decision is one line on stdout, and nothing on stderr."""
    ended = harness("gate", run)

    assert (ExitCode.PASS, "PASS  2 trials compared (exit 0)\n", "") == (ended.code, ended.out, ended.err)


def test_the_document_is_what_its_schema_says(run, harness):
    """Real output against the published schema."""
    document = harness("gate", run, "--json").document

    jsonschema.validate(document, schema_of("gate"))
    assert ("pass", 0, 2, run) == (
        document["decision"], document["exit_code"], document["compared"], document["run"],
    )  # fmt: skip


def test_an_unknown_key_of_the_policy_is_refused(run, project, harness):
    """A misspelt key would be a policy that nobody has."""
    pyproject = project / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + "\n[tool.harness.gate]\nadvisroy = ['CX*']\n")

    ended = harness("gate", run)
    assert ExitCode.USAGE == ended.code
    assert ended.err == (
        "error[bad-policy]: pyproject.toml:9: the policy has no key `advisroy`\n\nhint: did you mean `advisory`?\n"
    )


def test_a_run_that_is_not_there_is_a_usage_error(run, harness):
    """Naming no run is no way to pass."""
    assert ExitCode.USAGE == harness("gate", "nothing-of-that-name").code


def test_the_page_is_among_the_reports_where_it_can_be_drawn(run, harness, tmp_path, monkeypatch):
    """Without the packages every other report is written, and a note says what is missing."""
    harness("gate", run, "--report-dir", str(tmp_path / "with"))
    monkeypatch.setattr("harness.cli.html_report.missing_packages", lambda: ["matplotlib"])
    ended = harness("gate", run, "--report-dir", str(tmp_path / "without"))

    assert ExitCode.PASS == ended.code
    assert (True, False) == ((tmp_path / "with/report.html").is_file(), (tmp_path / "without/report.html").exists())
    assert 'report.html is left out: it needs matplotlib; pip install "tapegate[reports]"' in ended.err
    assert (tmp_path / "without/junit.xml").is_file()


def test_a_report_folder_that_cannot_be_written_names_its_own_flag(run, harness, tmp_path):
    """The gate has no `--out`."""
    (tmp_path / "taken").write_text("")
    ended = harness("gate", run, "--report-dir", str(tmp_path / "taken"))

    assert ExitCode.COULD_NOT_CHECK == ended.code
    assert "error[cannot-write-report]: the report cannot be written to " in ended.err
    assert "hint: make room, or name another place with `--report-dir DIR`\n" in ended.err
