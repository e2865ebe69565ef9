"""`harness accept`: what becomes the baseline, and what never does."""

from __future__ import annotations

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.gate.baseline import baseline_path, load_baseline
from harness.records.finding import Finding
from harness.records.run import CaseVerdict, RunRecord, Totals
from harness.reports.documents import schema_of
from harness.reports.runs import runs_folder
from harness.reports.store import RunStore


def test_the_newest_run_becomes_the_baseline(project, harness):
    """What was written is said, relative to the project, with the next step on stderr."""
    run = harness("run", "--json").document["run"]

    ended = harness("accept", "--reason", "first baseline")
    assert (ended.code, ended.out, ended.err) == (
        ExitCode.PASS,
        (
            f"accepted 2 cells of run {run}; 2 new trajectories\n"
            "  wrote reports/baselines/shared.json\n  wrote reports/baselines/trajectories/shared.json\n"
        ),
        "\nhint: commit reports/baselines\n",
    )
    cases = load_baseline(baseline_path(project / "reports", "shared")).agents["lean_react"]["scripted"].cases
    assert {"S1-en": "first baseline", "S2-en": "first baseline"} == {name: case.reason for name, case in cases.items()}


def test_accepting_again_writes_nothing(project, harness):
    """A baseline that already says so is left alone."""
    harness("run")
    harness("accept", "--reason", "first")
    path = baseline_path(project / "reports", "shared")
    before = path.stat().st_mtime_ns

    harness("run")
    document = harness("accept", "--reason", "second", "--json").document
    assert document == {"written": [], "cells": 2, "known": 0, "trajectories": 0}
    assert before == path.stat().st_mtime_ns


def test_the_document_is_what_its_schema_says(project, harness):
    """Real output against the published schema."""
    harness("run")

    jsonschema.validate(harness("accept", "--reason", "first", "--json").document, schema_of("accept"))


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_ci_does_not_write_baselines(project, harness, monkeypatch, value):
    """A run could else approve itself."""
    harness("run")
    monkeypatch.setenv("CI", value)

    ended = harness("accept", "--reason", "x")
    assert ended.code == ExitCode.USAGE
    assert ended.err == (
        "error[ci-write]: baselines are not written in CI: a run could then approve itself\n\n"
        "hint: run this where you can review and commit the change, or pass `--allow-ci-write`\n"
    )
    assert not baseline_path(project / "reports", "shared").exists()
    assert harness("accept", "--reason", "x", "--allow-ci-write").code == ExitCode.PASS


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_an_unset_ci_is_no_ci(project, harness, monkeypatch, value):
    """Some machines set `CI=false`."""
    harness("run")
    monkeypatch.setenv("CI", value)

    assert harness("accept", "--reason", "x").code == ExitCode.PASS


@pytest.mark.parametrize(
    "what", ["golden set `shared`", "agent `lean_react`", "`cassettes/lean_react/scripted/shared/S1-en.0.yaml`"]
)
def test_a_run_on_other_files_is_refused(project, harness, what):
    """A verdict on files that are no longer there says nothing about those that are."""
    harness("run")
    edits = {
        "golden set `shared`": (project / "goldensets" / "shared.yaml", "\n# a comment\n"),
        "agent `lean_react`": (project / "agents" / "lean_react" / "agent.py", "\n# a comment\n"),
    }
    if what in edits:
        path, text = edits[what]
        path.write_text(path.read_text() + text)
    else:
        (project / what.strip("`")).unlink()

    ended = harness("accept", "--reason", "x")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert f"was made before these changed: {what}" in ended.err


def test_a_run_that_could_not_be_checked_is_refused(project, harness):
    """Nothing is known of such a trial, so nothing can be accepted."""
    (project / "cassettes" / "lean_react" / "scripted" / "shared" / "S2-en.0.yaml").unlink()
    harness("run")

    assert harness("accept", "--reason", "x", "--json").document["error"]["code"] == "unchecked-run"


def test_known_failures_of_a_local_model_are_counted(project, harness):
    """A small model's honest failures can be committed and held."""
    verdict = CaseVerdict(
        agent="lean_react", profile="reference", model="small", provenance="local", set="shared", case="S1-en", trial=0,
        verdict="broken", findings=(Finding(contract="facts", state="broken", because="not said"),),
    )  # fmt: skip
    with RunStore.create(runs_folder(project / "reports"), run="r1") as store:
        store.append(verdict)
        store.finish(
            RunRecord(
                run="r1",
                results=(verdict,),
                totals=Totals(trials=1, broken=1),
                exit_code=1,
                manifest={"agents": {}, "golden_sets": {}},
            )
        )

    out = harness("accept", "--reason", "small models are small").out
    assert out.startswith("accepted 1 cells of run r1, 1 of them known failures\n")


def test_a_run_of_an_agent_that_is_gone_is_refused(project, harness):
    """Gone is changed."""
    harness("run")
    (project / "agents" / "lean_react").rename(project / "agents" / "leaner")

    assert "was made before these changed: agent `lean_react`" in harness("accept", "--reason", "x").err


def test_no_run_is_no_baseline(project, harness):
    """The hint names the command that makes one."""
    assert "`harness run` makes one" in harness("accept", "--reason", "x").err
