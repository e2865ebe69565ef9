"""`harness doctor`: each check, ok and not."""

from __future__ import annotations

import importlib.util

import jsonschema
import pytest

from harness.cli import doctor
from harness.cli.output import Output
from harness.errors import ExitCode
from harness.reports.documents import Check, schema_of


@pytest.fixture
def checks(harness):
    """Run the doctor and return its checks by name."""

    def run():
        ended = harness("doctor", "--json")
        jsonschema.validate(ended.document, schema_of("doctor"))
        return ended.code, {check["name"]: check for check in ended.document["checks"]}

    return run


def test_a_sound_project_has_nothing_to_mend(project, checks):
    """Every check is there, and none fails."""
    code, found = checks()

    assert code == ExitCode.PASS
    assert list(found) == [
        "python", "extra `record`", "extra `newsdesk`", "extra `reports`", "extra `serve`", "extra `stats`", "libyaml", "network guard", "keys", "project", "folder goldensets", "folder agents",
        "folder cassettes", "folder reports", "folder .cache", "golden sets", "cassettes",
    ]  # fmt: skip
    assert {check["state"] for check in found.values()} <= {"ok", "warn"}
    assert found["cassettes"]["because"] == "each of 2 declared cells has one"


def test_what_is_missing_comes_with_what_to_do(project, checks):
    """A declared cell without its cassette fails the check: exit 3, never 1."""
    (project / "cassettes" / "lean_react" / "scripted" / "shared" / "S2-en.0.yaml").unlink()

    code, found = checks()
    assert code == ExitCode.COULD_NOT_CHECK
    assert found["cassettes"] == {
        "name": "cassettes",
        "state": "fail",
        "because": "1 of 2 declared cells have none, cassettes/lean_react/scripted/shared/S2-en.0.yaml first",
        "fix": "harness record --mode missing",
    }


def test_a_damaged_golden_set_is_named_by_file_and_line(project, checks):
    """One damaged file does not hide the other checks."""
    path = project / "goldensets" / "lean_react.yaml"
    path.write_text(path.read_text().replace("- id: L-G1", "- idd: L-G1", 1))

    _, found = checks()
    assert found["golden sets"]["state"] == "fail"
    assert found["golden sets"]["because"].startswith("goldensets/lean_react.yaml:")


def test_folders_that_are_not_there_are_named(project, checks):
    """What is made when needed is no failure."""
    (project / "agents").rename(project / "agentz")

    _, found = checks()
    assert found["folder agents"]["because"] == f"{project / 'agents'} is not there"
    assert found["folder .cache"]["state"] == "ok"


def test_no_project_is_the_last_thing_said(tmp_path, monkeypatch, checks):
    """The machine is still looked at."""
    monkeypatch.chdir(tmp_path)

    code, found = checks()
    assert code == ExitCode.COULD_NOT_CHECK
    assert list(found)[-1] == "project"
    assert found["project"]["state"] == "fail"


def test_keys_are_named_but_never_shown(project, harness, monkeypatch):
    """A replay needs none."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-value")

    ended = harness("doctor")
    assert "a replay needs none; set but not used by a replay: OPENAI_API_KEY" in ended.out
    assert "very-secret" not in ended.out + ended.err


def test_the_text_has_one_line_a_check_and_a_fix_below_what_is_not_ok(project, harness, monkeypatch):
    """State first, so that it can be read down the margin."""
    monkeypatch.setenv("COLUMNS", "400")
    (project / "cassettes").rename(project / "kassetten")

    lines = harness("doctor").out.splitlines()
    assert lines[0].startswith("ok    python ")
    place = next(number for number, line in enumerate(lines) if line.startswith("fail  folder cassettes"))
    assert lines[place + 1].strip() == f"fix: make {project / 'cassettes'} readable"


def test_a_narrow_terminal_gets_each_check_in_lines_of_its_own(monkeypatch, capsys):
    """Nothing is cut off, and what to do can still be copied from one line."""
    monkeypatch.setenv("COLUMNS", "24")
    checks = [
        Check(name="python", state="ok", because="3.11.7"),
        Check(name="folder cassettes", state="fail", because="/a/b is not readable", fix="make /a/b/c/d/e/f readable"),
    ]

    assert (
        "ok  python\n  3.11.7\nfail  folder cassettes\n  /a/b is not readable\n  fix: make /a/b/c/d/e/f readable"
        == doctor.render(checks, Output())
    )


def test_a_missing_extra_says_what_does_not_work_without_it(monkeypatch):
    """An extra that is not installed is a warning with its command, never a failure: most jobs do without."""
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else there(name))
    found = {check.name: check for check in doctor.extras()}

    assert ("warn", "not installed: uvicorn; `harness serve` does not start", "pip install 'tapegate[serve]'") == (
        found["extra `serve`"].state, found["extra `serve`"].because, found["extra `serve`"].fix,
    )  # fmt: skip
    assert "ok" == found["extra `record`"].state
