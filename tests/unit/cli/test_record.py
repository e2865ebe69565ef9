"""`harness record`, against the scripted model: what is written, previewed, refused."""

from __future__ import annotations

import jsonschema
import pytest

from harness.cli.record import render
from harness.errors import ExitCode
from harness.reports.documents import RecordDocument, schema_of

S2 = "cassettes/lean_react/scripted/shared/S2-en.0.yaml"


def test_what_is_missing_is_recorded_and_then_replays(project, harness):
    """The whole loop: exit 3, record, exit 0."""
    (project / S2).unlink()
    assert harness("run").code == ExitCode.COULD_NOT_CHECK

    ended = harness("record", "--json")
    document = ended.document
    assert ended.err.startswith("1 of 2 trials to record: about ")
    jsonschema.validate(document, schema_of("record"))
    assert (document["cassettes"], document["refused"], document["planned"]) == ([S2], [], 2)
    assert harness("run").code == ExitCode.PASS


def test_a_dry_run_says_what_it_would_record_and_writes_nothing(project, harness):
    """The bill comes first; in CI it is allowed, as nothing is written."""
    (project / S2).unlink()

    ended = harness("record", "--dry-run")
    assert ended.code == ExitCode.PASS
    assert ended.out.splitlines()[0].startswith("would record 1 of 2 trials: ")
    assert not (project / S2).exists()


def test_ci_does_not_write_cassettes(project, harness, monkeypatch):
    """Recordings are made where they are reviewed; a preview and a comparison write none."""
    monkeypatch.setenv("CI", "true")

    assert harness("record", "--json").document["error"]["code"] == "ci-write"
    assert harness("record", "--dry-run").code == ExitCode.PASS
    assert harness("record", "--allow-ci-write").code == ExitCode.PASS


@pytest.mark.parametrize("budget", ["0", "-1", "nan", "inf", "much"])
def test_a_budget_is_an_amount_above_0(project, harness, budget):
    """Anything else is a mistake, not no budget."""
    ended = harness("record", f"--budget={budget}", "--json")

    assert ended.document["error"]["message"] == f"argument --budget: `{budget}` is no amount above 0"


def test_what_was_recorded_is_said_with_the_next_step():
    """Calls, cost, files; and a hint."""
    document = RecordDocument(
        calls=7, cost_usd=0.125, cassettes=("cassettes/a.yaml",), refused=(), planned=3, dry_run=False
    )

    assert render(document) == (
        "recorded 1 of 3 trials: 7 model calls, about 0.12 USD\n"
        "  cassettes/a.yaml\n"
        "\n"
        "hint: `harness run` replays them; commit them with what they were recorded for"
    )


def test_what_was_refused_is_said_with_the_reason():
    """Old cassettes stay; a reason may hold anything."""
    document = RecordDocument(
        calls=7, cost_usd=None, cassettes=(), refused=("S1-en: \x1b[2J",), planned=3, dry_run=False
    )

    assert render(document) == (
        "recorded 0 of 3 trials: 7 model calls\n"
        "\n"
        "REFUSED  1 trials; their old cassettes are untouched\n"
        "  S1-en: \\x1b[2J"
    )


def test_many_files_stay_on_one_screen():
    """Twenty, then a number."""
    paths = tuple(f"cassettes/{number}.yaml" for number in range(50))
    document = RecordDocument(calls=7, cost_usd=None, cassettes=paths, refused=(), planned=50, dry_run=True)

    assert "\n  and 30 more; `--json` has all" in render(document)
