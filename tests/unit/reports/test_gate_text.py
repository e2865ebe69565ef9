"""What a person reads of a decision, word for word."""

from __future__ import annotations

import msgspec
import pytest

from harness.records.comparison import Interval
from harness.records.decision import TRAJECTORY, Change, Rate, Sampled, Statistic, decide
from harness.reports.gate_text import render_decision
from harness.reports.screen import display_width

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

REGRESSED  2 trials compared, 1 blocking, 1 new (exit 1)

hint: `harness report r1 --format html` shows every step
      `harness run shared --agent lean_react --model scripted --case S1-en` runs the first again"""

    assert expected == render_decision(decide("r1", 2, [NEW, BROKEN]))


def test_a_quarantined_change_is_shown() -> None:
    """It blocks nothing, and is never out of sight."""
    quarantined = msgspec.structs.replace(BROKEN, exit_code=0, quarantined="vera, until 2026-12-01: flaky tool")
    text = render_decision(decide("r1", 1, [quarantined]))

    assert text.startswith("QUARANTINED REGRESSION  lean_react")
    assert "    vera, until 2026-12-01: flaky tool" in text
    assert text.endswith("PASS  1 trials compared, 1 quarantined (exit 0)")


def test_what_is_still_broken_counts_contracts_and_trials() -> None:
    """Several contracts break in one trial; the figure beside the trials that were compared is none of trials."""
    known = [
        msgspec.structs.replace(BROKEN, change="still_broken", exit_code=0, contract=contract, trial=trial)
        for contract, trial in [("facts", 0), ("tools", 0), ("facts", 1)]
    ]

    assert render_decision(decide("r1", 4, known)) == (
        "PASS  4 trials compared, 3 contracts still broken in 2 trials (exit 0)"
    )
    assert "1 contract still broken in 1 trial (" in render_decision(decide("r1", 4, known[:1]))


def test_what_the_policy_only_wants_reported_is_counted() -> None:
    """It blocks nothing, and a pass says that it is there."""
    told = msgspec.structs.replace(BROKEN, exit_code=0)

    assert "PASS  4 trials compared, 1 broken contract that only reports (exit 0)" == render_decision(
        decide("r1", 4, [told])
    )


def test_an_expired_entry_alone_has_no_trial_to_run_again() -> None:
    """What stands in the policy is mended there, at the line that is shown."""
    expired = msgspec.structs.replace(BROKEN, agent="", model="", set="", case="", trial=None, at="pyproject.toml:9")

    assert render_decision(decide("r1", 4, [expired])).endswith("REGRESSED  4 trials compared, 1 blocking (exit 1)")


def test_what_is_inconclusive_says_what_would_settle_it() -> None:
    """The number of recordings stands in the last line."""
    flaky = msgspec.structs.replace(BROKEN, change="flaky", exit_code=5)

    assert render_decision(decide("r1", 1, [flaky], 3), width=120).endswith(
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


def test_trajectories_that_are_new_are_told_and_counted() -> None:
    """Three in full, the others as a number with the command that shows them; none of them blocks."""
    many = [msgspec.structs.replace(NEW, contract=TRAJECTORY, case=f"S{n}", because="it parts") for n in range(5)]
    text = render_decision(decide("r1", 5, many))

    assert text == (
        "\n\n".join(
            f"NEW  lean_react × scripted shared/S{n} trial 1 (cause: golden)\n  trajectory: it parts\n    at goldensets/shared.yaml:14"
            for n in range(3)
        )
        + "\n\nand 2 more trajectories that were not accepted; `harness diff RUN` shows them\n\n"
        "PASS  5 trials compared, 5 new trajectories (exit 0)\n\n"
        'hint: `harness accept r1 --reason "…"` makes what is new or fixed part of the baseline'
    )


def test_a_trajectory_that_blocks_names_both_ways_out() -> None:
    """See what differs, or accept it beside the old one."""
    text = render_decision(decide("r1", 1, [msgspec.structs.replace(BROKEN, contract=TRAJECTORY)]))

    assert text.endswith("hint: `harness diff r1` shows what differs; `harness accept --also` accepts both ways")


def statistic(**changes: object) -> Statistic:
    """A test over four cases of three families, two of which were lost."""
    rate = [Rate(kept=kept, trials=4, interval=Interval(0.15, 0.85)) for kept in (4, 2)]
    fields = {
        "agent": "lean_react", "model": "small", "provenance": "local", "set": "shared", "test": "mcnemar", "cases": 4,
        "families": 3, "before": rate[0], "after": rate[1], "lost": 2, "gained": 0, "effect": -0.5, "p_value": 0.25,
        "interval": Interval(-0.9, 0.1), "standard_error": 0.29, "smallest_detectable": 0.9, "needs_trials": 6,
        "outcome": "inconclusive",
    }  # fmt: skip
    return Statistic(**(fields | changes))


def test_samples_are_told_with_what_they_can_and_cannot_see() -> None:
    """Rates with Wilson's intervals, the test, what would have been seen, figures, and how much cases flicker."""
    grown = statistic(
        figure="tokens",
        test="bca",
        effect=1.25,
        interval=Interval(1.02, 1.6),
        before=None,
        after=None,
        lost=None,
        p_value=None,
    )
    rate = Rate(kept=2, trials=3, interval=Interval(0.21, 0.94))
    case = Sampled(
        agent="lean_react",
        model="small",
        provenance="local",
        set="shared",
        case="S1",
        before=rate,
        after=rate,
        flakiness=2 / 3,
    )
    decision = decide("r1", 4, [], statistics=(statistic(), grown), samples=(case,))

    assert render_decision(decision, width=200).startswith(
        "SAMPLES  lean_react × small on shared, answered by: local; 4 cases in 3 families recorded anew\n"
        "  all blocking contracts: kept 2 of 4 (95 % 15–85 %) recordings, accepted 4 of 4 (95 % 15–85 %); change -50 points "
        "(95 % -90 to +10, standard error 29)\n"
        "  McNemar's exact test: 2 cases lost, 0 gained, p = 0.25, could not have been significant: inconclusive\n"
        "  the smallest loss seen with 80 % power is 90 points of the rate; about 6 recordings of each case, on each side, "
        "would show this one\n"
        "  tokens ×1.25 (95 % ×1.02–×1.60, BCa): inconclusive\n"
        "  the smallest growth seen with 80 % power is 90 %; about 6 recordings of each case, on each side, would show this one\n"
        "  S1: 2 of 3 (95 % 21–94 %), accepted 2 of 3 (95 % 21–94 %), flakiness 0.67\n\nPASS"
    )


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Samples and summary wrap as everything else does; a name is never cut, and a hint stays one line to copy."""
    broken = msgspec.structs.replace(BROKEN, case="名前" * 30, at="goldensets/" + "a" * 90)
    decision = decide("r1", 4, [broken], statistics=(statistic(agent="名前" * 20, contract="a" * 90),))
    text, hint = render_decision(decision, width=width).split("\n\nhint: ")

    assert [] == [line for line in text.split("\n") if display_width(line) > width]
    assert "名前" * 30 in text.replace("\n", "").replace(" ", "")
    assert 2 == len(hint.split("\n"))
