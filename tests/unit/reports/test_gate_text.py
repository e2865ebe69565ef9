"""What a person reads of a decision, word for word."""

from __future__ import annotations

import msgspec
import pytest

from harness.records.decision import Change, decide
from harness.reports.gate_text import render_decision

BROKEN = Change(
    agent="lean_react", model="scripted", set="shared", case="S1-en", contract="facts", change="regression",
    cause="code", because="the answer does not say 7", at="goldensets/shared.yaml:14", trial=1, exit_code=1,
)  # fmt: skip
NEW = msgspec.structs.replace(BROKEN, contract="", change="new", cause="golden", because="new", exit_code=0)


def test_a_regression_with_its_cause_and_place() -> None:
    """The contract, the reason, the line, the cause; what was only noticed is counted."""
    expected = """\
REGRESSION  lean_react × scripted shared/S1-en trial 1 (cause: code)
  facts: the answer does not say 7
    at goldensets/shared.yaml:14

REGRESSED  2 trials compared, 1 blocking, 1 new (exit 1)"""

    assert expected == render_decision(decide("r1", 2, [NEW, BROKEN]))


def test_a_quarantined_change_is_shown() -> None:
    """It blocks nothing, and is never out of sight."""
    quarantined = msgspec.structs.replace(BROKEN, exit_code=0, quarantined="vera, until 2026-12-01: flaky tool")
    text = render_decision(decide("r1", 1, [quarantined]))

    assert text.startswith("QUARANTINED REGRESSION  lean_react")
    assert "    vera, until 2026-12-01: flaky tool" in text
    assert text.endswith("PASS  1 trials compared, 1 quarantined (exit 0)")


def test_what_is_inconclusive_says_what_would_settle_it() -> None:
    """The number of recordings stands in the last line."""
    flaky = msgspec.structs.replace(BROKEN, change="flaky", exit_code=5)

    assert render_decision(decide("r1", 1, [flaky], 3)).endswith(
        "INCONCLUSIVE  1 trials compared, 1 blocking (exit 5); about 3 recordings of each case, on each side, would settle it"
        '\n\nhint: record more trials of what is open, or, where it is as you want it: `harness accept r1 --reason "…"`'
    )


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"change": "missing"}, "hint: bring back what is missing; "),
        ({"change": "stale", "exit_code": 3}, "hint: `harness run` says for each trial what could not be checked"),
        ({"cause": "baseline", "exit_code": 4}, 'hint: `harness accept r1 --reason "…"` makes a baseline'),
        ({"change": "new", "exit_code": 0}, 'hint: `harness accept r1 --reason "…"` makes what is new'),
    ],
)
def test_the_next_step_is_named(change: dict[str, object], hint: str) -> None:
    """Each decision ends with what to do, where there is something to do."""
    assert hint in render_decision(decide("r1", 1, [msgspec.structs.replace(BROKEN, **change)]))


def test_nothing_that_a_model_said_steers_the_terminal() -> None:
    """Control characters are written out, and lines stay lines."""
    text = render_decision(decide("r1", 1, [msgspec.structs.replace(BROKEN, because="a\x1b[2Jb\nPASS")]))

    assert ("\x1b" in text, "\nPASS" in text) == (False, False)


def test_many_changes_are_cut() -> None:
    """A screen holds twenty; the rest is counted."""
    many = [msgspec.structs.replace(BROKEN, case=f"S{n}") for n in range(25)]

    assert "and 5 more; `harness gate --json` has them all" in render_decision(decide("r1", 25, many))
