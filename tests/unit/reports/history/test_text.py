"""A history on one screen, word for word."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.history import SkippedRun
from harness.reports.columns import display_width
from harness.reports.history.gather import Choice, document
from harness.reports.history.spark import PLAIN_BARS
from harness.reports.history.text import render_history, render_runs
from harness.reports.screen import ansi

from .made import local, past_trials, run, trial


def told(*runs, **how):
    """The document of *runs*."""
    return document(runs, choice=Choice(states=("whole", "partial")), known=[one.state for one in runs], **how)


def test_a_case_that_fell_is_the_verdict():
    """What fell, each design's figures, the case's marks, what changed, and the command that shows why."""
    runs = (
        run(1, trial("S1"), trial("S2")),
        run(2, trial("S1"), trial("S2"), state="partial"),
        run(3, trial("S1", llm_calls=6), trial("S2", "broken", lock={"prompt": "new"})),
    )

    assert (
        render_history(told(*runs), width=110)
        == """\
FELL  1 case no longer kept since run 20260310-090200000-0002 (3 runs from 2026-03-10 09:01 to 2026-03-10
  09:03 UTC)

design                 kept     calls/trial  tokens/trial  recorded ms/trial
---------------------  -------  -----------  ------------  -----------------
lean_react × scripted  ██▁ 1/2  ▁▁█ 4.0      ▄▄▄ 618       ▄▄▄ 8

changed its verdict    case       runs
---------------------  ---------  ----
lean_react × scripted  shared/S2  ..x
  . kept x broken k known ? not checked - not run

changed before
  20260310-090300000-0003 prompts of lean_react

A recording is a sample: runs that replay the same recordings show what changed in prompts, code, cases and
  contracts, never the luck of a model. Scripted models show the agent's code alone.

hint: `harness diff 20260310-090200000-0002 20260310-090300000-0003 --case S2` shows what the agent did otherwise"""
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("kept", "kept", "STEADY  the newest of 2 runs keeps what the one before kept: 1 of 1 ("),
        ("broken", "kept", "ROSE  1 case kept again since run 20260310-090100000-0001 ("),
        ("kept", "could_not_check", "FELL  1 case no longer kept since run 20260310-090100000-0001 ("),
        ("broken", "broken", "STEADY  the newest of 2 runs keeps what the one before kept: 0 of 1 ("),
    ],
)
def test_the_verdict_is_about_the_newest_run(before, after, expected):
    """Held against the run before it."""
    found = render_history(told(run(1, trial("S1", before)), run(2, trial("S1", after))), width=200)

    assert found.startswith(expected)


def test_one_run_is_no_trend():
    """It says so, and shows what there is."""
    found = render_history(told(run(1, trial("S1"))), width=100)

    assert found.startswith("ONE RUN  1 of 1 trials kept; a trend needs another run (1 run from 2026-03-10 09:01 to ")
    assert "lean_react × scripted  ▄ 1/1" in found


def test_cases_that_flicker_are_named_with_the_reason():
    """Those that do so by themselves, and those of a model's luck; then the command that shows where two runs part."""
    runs = (
        run(1, trial("S1"), local("S2"), local("S2", "broken", trial=1, cassette_digest="b")),
        run(2, trial("S1", "broken"), local("S2"), local("S2", "broken", trial=1, cassette_digest="b")),
        run(3, trial("S1"), local("S2"), local("S2", "broken", trial=1, cassette_digest="b")),
    )
    found = render_history(told(*runs), width=100)

    assert (
        """\
NONDETERMINISTIC  lean_react × scripted shared/S1
  the same recording and the same files, but the verdict changed 2 times, last from broken (CX13)
    to kept: the agent, a contract or tapegate itself differs from run to run

FLAKY  lean_react × qwen (local) shared/S2
  kept in 1 of 2 recordings that differ in nothing but the model's answers
"""
        in found
    )
    assert "kept in none of these runs: 1 case of lean_react × qwen (local)" in found
    assert (
        "hint: `harness diff 20260310-090200000-0002 20260310-090300000-0003 --case S1` shows where the two part"
        in found
    )


def test_what_is_left_out_and_what_cannot_be_read_is_said():
    """A partial run is no part of the trend, and a damaged folder is not silence."""
    whole, narrowed = run(1, trial("S1")), run(2, trial("S1"), state="partial")
    past = document(
        [whole, narrowed],
        choice=Choice(),
        known=["whole", "partial", "unfinished"],
        skipped=[SkippedRun(run="odd", because="not a verdict: Expected `str`")],
    )
    found = render_history(past, width=100)

    assert "09:01 UTC; 2 partial or unfinished left out)" in found
    assert "could not be read: odd: not a verdict: Expected `str`" in found


def test_a_cost_is_shown_where_there_is_one():
    """Dollars for each trial; a run without a price leaves a gap, not a zero."""
    runs = (run(1, local("S1", cost_usd=0.01)), run(2, local("S1")), run(3, local("S1", cost_usd=0.0301)))

    assert "cost/trial" not in render_history(told(run(1, local("S1"))), width=120)
    assert "▁ █ $0.0301" in render_history(told(*runs), width=120)


def test_many_cases_stay_on_a_screen():
    """Eight rows, then how many more."""
    runs = [run(number, *(_moved(number, case) for case in range(30))) for number in (0, 1)]
    found = render_history(told(*runs), width=100)

    assert 8 == found.count("shared/S")
    assert "  and 22 more; `--json` has all" in found


def _moved(number: int, case: int):
    """A case that a new prompt mended."""
    return trial(f"S{case:02}", "kept" if number else "broken", lock={"prompt": str(number)})


def test_a_terminal_without_blocks_has_other_bars():
    """ASCII in place of what it cannot show."""
    found = render_history(told(run(1, trial("S1")), run(2, trial("S1", llm_calls=3))), bars=PLAIN_BARS, width=100)

    assert "_# 3.0" in found


def test_runs_are_listed_the_newest_first():
    """With what a person needs to find the one that is meant."""
    runs = (
        run(1, trial("S1"), trial("S2", "broken", known=True)),
        run(2, trial("S1"), state="unfinished", exit_code=None),
        run(3, trial("S1", "broken"), trial("S2", "could_not_check"), state="partial", exit_code=3),
    )
    past = document(runs, choice=Choice(states=("whole", "partial", "unfinished")), known=[], trend=False)

    assert (
        render_runs(past, width=100)
        == """\
run                      began (UTC)       state       kept  known  broken  could not check  exit
-----------------------  ----------------  ----------  ----  -----  ------  ---------------  ----
20260310-090300000-0003  2026-03-10 09:03  partial      0/2      0       1                1  3
20260310-090200000-0002  2026-03-10 09:02  unfinished   1/1      0       0                0  –
20260310-090100000-0001  2026-03-10 09:01  whole        1/2      1       0                0  0

hint: a unique part of a name is enough: `harness report RUN`, `harness diff RUN RUN`"""
    )


def test_colour_changes_no_word():
    """Without the escape sequences the painted screen is the plain one."""
    past = told(run(1, trial("S1")), run(2, trial("S1", "broken")))
    painted = render_history(past, paint=ansi)

    assert "\x1b[31mFELL\x1b[0m  1 case" in painted
    assert render_history(past) == painted.replace("\x1b[31m", "").replace("\x1b[33m", "").replace("\x1b[0m", "")


hostile = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(past_trials(), min_size=1, max_size=4, unique_by=lambda one: one.place), hostile, st.integers(20, 130))
def test_every_line_fits_and_steers_nothing(trials, text, width):
    """Names come from files that people send; a terminal may be 20 columns wide."""
    renamed = [msgspec.structs.replace(one, agent=one.agent + text, case=one.case + text) for one in trials]
    changed = (msgspec.structs.replace(one, verdict="kept", cassette_digest="new") for one in renamed)
    runs = [run(1, *renamed), run(2, *changed)]
    past = told(*runs, skipped=[SkippedRun(run=text, because=text)])

    for found in (render_history(past, width=width), render_runs(past, width=width)):
        assert not any((ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0 for char in found)
        assert not set("\u202a\u202b\u202d\u202e\u2066\u2028") & set(found)
        assert [] == [line for line in found.split("\n")[:-1] if display_width(line) > width]
