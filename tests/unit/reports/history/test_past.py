"""What is kept of a run folder."""

from __future__ import annotations

import json

import pytest

from harness.errors import BadFileError
from harness.records.messages import Usage
from harness.reports.history.past import Who, read_past

from .made import verdict, write_run

NAME = "20260310-090102345-beef"


def test_a_run_is_kept_as_figures(tmp_path):
    """Verdicts, figures and digests; no answer and no finding."""
    told = [verdict("S2", "broken", known=True), verdict("S1", cost_usd=0.5, tokens=Usage(input=3, output=4, cached=1))]
    past = read_past(write_run(tmp_path, NAME, told))

    assert (NAME, "2026-03-10T09:01:02.345Z", "whole", 0, "0.1.0") == (
        past.run, past.began, past.state, past.exit_code, past.version
    )  # fmt: skip
    first, second = past.trials
    assert ("S1", 3, 4, 1, 0.5) == (
        first.case,
        first.input_tokens,
        first.output_tokens,
        first.cached_tokens,
        first.cost_usd,
    )
    assert ("S2", "broken", True, ("CX13",)) == (second.case, second.verdict, second.known, second.broken)
    assert Who("lean_react", "scripted", "scripted") == first.who
    assert {
        "golden": "g1",
        "prompt": "p1",
        "tool_schema": "t1",
        "model": "m1",
        "world": "w1",
        "code": "c1",
        "contracts": "k1",
    } == first.lock


@pytest.mark.parametrize(
    ("how", "state", "code"),
    [({}, "whole", 0), ({"partial": True}, "partial", 0), ({"finished": False}, "unfinished", None)],
)
def test_a_run_says_how_far_it_is(tmp_path, how, state, code):
    """What flags narrowed, and what goes on or was cut off, is marked."""
    past = read_past(write_run(tmp_path, NAME, [verdict()], **how))

    assert (state, code) == (past.state, past.exit_code)


def test_a_run_of_another_name_began_when_its_file_was_written(tmp_path):
    """`--out` and tests name runs as they like."""
    folder = write_run(tmp_path, "mine", [verdict()])

    assert read_past(folder).began[:2] == "20"
    assert read_past(write_run(tmp_path, "99999999-999999999-x", [verdict()])).began[:2] == "20"


def test_a_torn_last_line_is_left_out(tmp_path):
    """A run that was killed has the verdicts that it had."""
    folder = write_run(tmp_path, NAME, [verdict("S1")], finished=False)
    with (folder / "results.jsonl").open("ab") as file:
        file.write(b'{"agent": "le')

    assert ["S1"] == [trial.case for trial in read_past(folder).trials]


def test_text_is_kept_without_what_no_store_takes(tmp_path):
    """PostgreSQL has no character 0, and a terminal no use for the others."""
    past = read_past(write_run(tmp_path, NAME, [verdict("a\x00b\x1b[2Jc", agent="x" * 900)]))

    assert "a\\x00b\\x1b[2Jc" == past.trials[0].case
    assert 500 == len(past.trials[0].agent)


@pytest.mark.parametrize(
    ("field", "value", "because"),
    [
        ("llm_calls", 2**63, "Expected `int` <= 4611686018427387904 - at `$.llm_calls`"),
        ("recorded_ms", -1, "Expected `int` >= 0 - at `$.recorded_ms`"),
        ("cost_usd", -0.5, "Expected `float` >= 0.0 - at `$.cost_usd`"),
        ("cost_usd", 1e308, "Expected `float` <= 1000000000000.0 - at `$.cost_usd`"),
    ],
)
def test_a_number_that_no_run_has_is_refused(tmp_path, field, value, because):
    """No figure of a stranger overflows a table or a drawing."""
    folder = write_run(tmp_path, NAME, [verdict(**{field: value})])

    with pytest.raises(BadFileError, match="a trial that cannot be") as caught:
        read_past(folder)
    assert because in caught.value.message
    assert str(folder / "results.jsonl") == caught.value.at


def test_a_manifest_that_says_odd_things_of_its_version_is_read(tmp_path):
    """Versions may be anything; the run is no less a run for it."""
    folder = write_run(tmp_path, NAME, [verdict()])
    manifest = json.loads((folder / "run.json").read_text())
    for odd in (3, {"tapegate": [1]}, None):
        manifest["manifest"]["versions"] = odd
        (folder / "run.json").write_text(json.dumps(manifest))

        assert "" == read_past(folder).version
