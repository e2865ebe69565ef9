"""`harness judge calibrate`: what it takes, and what it refuses."""

from __future__ import annotations

import json

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.reports.documents import schema_of

ITEMS = [
    {"id": label, "criterion": "It is warm.", "answer": f"{label} 7", "label": label, "evidence": ["warm"]}
    for label in ("pass", "fail")
]


def labels(project, **head):
    path = project / "labels.yaml"
    path.write_text(json.dumps({"format": 1, "model": "scripted", "items": ITEMS} | head), encoding="utf-8")
    return str(path)


def test_what_is_not_recorded_could_not_be_checked(project, harness):
    """Nothing is asked without --record, and every answer is told to have no verdict."""
    ended = harness("judge", "calibrate", labels(project), "--json")

    assert ended.code == ExitCode.COULD_NOT_CHECK
    jsonschema.validate(ended.document, schema_of("judge-calibrate"))
    assert [answer["verdict"] for answer in ended.document["answers"]] == ["none", "none"]
    assert ended.document["exit_code"] == 3


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("--base-url", "http://127.0.0.1:1/v1"), "--base-url goes with --record"),
        (
            ("--record", "--model", "nobody", "--base-url", "http://127.0.0.1:1/v1"),
            "`nobody` at http://127.0.0.1:1/v1 is not declared",
        ),
        (("--record",), "no script for case `labels` and agent `_judge`"),
    ],
)
def test_mistakes_are_named_before_anything_is_asked(project, harness, words, because):
    """Flags that do not go together, a judge that nobody declared, a script that is not there."""
    ended = harness("judge", "calibrate", labels(project), *words, "--json")

    assert ended.code == ExitCode.USAGE
    assert because in ended.document["error"]["message"]


def test_a_file_that_names_no_judge_needs_one(project, harness):
    """The command has to."""
    ended = harness("judge", "calibrate", labels(project, model=""), "--json")

    assert (ended.code, "names no judge" in ended.document["error"]["message"]) == (ExitCode.USAGE, True)


def test_ci_records_no_judge(project, harness, monkeypatch):
    """Recordings are made where they are reviewed."""
    monkeypatch.setenv("CI", "true")

    assert harness("judge", "calibrate", labels(project), "--record", "--json").document["error"]["code"] == "ci-write"


def test_a_wrong_file_is_told_with_its_code(project, harness):
    """`harness explain` knows the code."""
    ended = harness("judge", "calibrate", labels(project, votes=2), "--json")

    assert (ended.code, ended.document["error"]["code"]) == (ExitCode.USAGE, "bad-labels")
    assert harness("explain", "bad-labels").code == ExitCode.PASS
