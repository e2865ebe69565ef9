"""Trajectory diffs as a person reads them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.diff.trajectories import diff
from harness.records.messages import Usage
from harness.records.run import Cell
from harness.records.trajectory import Call, Trajectory, Turn
from harness.reports.columns import display_width
from harness.reports.documents import DiffDocument, TrialDiff
from harness.reports.screen import ansi
from harness.reports.trajectories import MOST_SHOWN, code_span, fenced, render_diff, render_diff_markdown


def turn(*calls, text="", **fields):
    """A turn that calls tools, each given as (tool, args)."""
    made = tuple(Call(tool=tool, args=args, ok=True, result=f"did {tool}") for tool, args in calls)
    return Turn(purpose="agent", text=text, calls=made, **fields)


def document(a, b, *, case="S1", **fields):
    """The diff of two trajectories, as the only trial of two runs."""
    found = diff(a, b)
    cell = Cell("lean", "scripted", "shared", case)
    trial = TrialDiff(a=cell, b=cell, provenance_a="scripted", provenance_b="scripted", same=found.same, diff=found)
    return DiffDocument(
        **({"a": "r1", "b": "r2", "trials": (trial,), "only_a": (), "only_b": (), "untraced": ()} | fields)
    )


GET, SET = ("get", {"city": "Berlin"}), ("set", {"n": 1})
A = Trajectory(
    turns=(turn(("look", {})), turn(("look", {"deep": True})), turn(GET), turn(SET), turn(("add", {})), turn(text="It is 7 degrees.")),
    answer="It is 7 degrees.",
    setup={"config": {"x": 1}},
)  # fmt: skip
B = Trajectory(
    turns=(
        turn(("look", {})),
        turn(("look", {"deep": True}), usage=Usage(0, 3)),
        turn(("get", {"city": "Bern"}), usage=Usage(1200, 3)),
        turn(SET, ("add", {})),
        turn(("log", {}), cost_usd=0.5),
        turn(text="It is 5 degrees."),
    ),
    answer="It is 5 degrees.",
    setup={"config": {"x": 2}},
)
TEXT = """\
DIFFERS lean × scripted shared/S1
  steps: 2 match, 2 replaced, 1 inserted, 1 regrouped, tokens +1,200 input +6 output
  they part at step 3: `get` with `city` "Berlin", against "Bern"
! config.x: 1 → 2
  steps 1–2 match, tokens +3 output
! step 3 replaced (agent), tokens +1,200 input +3 output
!   get
!     args.city: "Berlin" → "Bern"
* steps 4–5 regrouped into step 4 (agent)
-   was set({"n":1}) | add({})
+   now set({"n":1}), add({})
+ step 5 inserted (agent), cost +$0.500000
+   log({}) → did log
! step 6 replaced (agent)
!   text: "It is 7 degrees." → "It is 5 degrees."
! answer: It is [-7-] {+5+} degrees."""


def test_the_whole_view():
    """Each kind of edit with its sign, equal stretches in one line, what each step costs more or less."""
    assert render_diff(document(A, B), width=100) == f"{TEXT}\n\n1 trial compared: 0 the same, 1 different"


def test_markdown_is_the_same_view():
    """In a fence that colours what came and what went."""
    _, _, lines = TEXT.partition("\n")

    assert render_diff_markdown(document(A, B)) == (
        "## Trajectories: `r1` → `r2`\n\n### `lean × scripted shared/S1`\n\n"
        f"```diff\n{lines}\n```\n\n1 trial compared: 0 the same, 1 different"
    )


def test_what_is_the_same_is_counted_only():
    """With those that were given something else, and what could not be compared."""
    other = Trajectory(turns=A.turns, answer=A.answer, setup={"config": {"x": 9}})
    cells = tuple(Cell("lean", "scripted", "shared", f"S{n}") for n in range(2, 7))

    assert render_diff(document(A, other, only_a=cells[:1], only_b=cells, untraced=cells[:2]), width=100) == (
        "only in r1: lean × scripted shared/S2\n"
        "only in r2: lean × scripted shared/S2; lean × scripted shared/S3; lean × scripted shared/S4 and 2\n"
        "  more\n"
        "without a trace, so not compared: lean × scripted shared/S2; lean × scripted shared/S3\n"
        "1 trial compared: 1 the same (1 of them given other options, tools or prompts), 0 different"
    )


def test_an_inserted_turn_says_what_it_does():
    """It fails, speaks, or is silent."""
    came = Trajectory(turns=(Turn(error="timeout"), Turn(text="Well."), Turn(purpose="agent")))

    text = render_diff(document(Trajectory(turns=()), came))
    assert [line for line in text.split("\n") if line.startswith("+")] == [
        "+ step 1 inserted (no model call)",
        "+   fails: timeout",
        "+ step 2 inserted (no model call)",
        "+   says: Well.",
        "+ step 3 inserted (agent)",
        "+   says nothing",
    ]


def test_who_answered_is_told_where_it_is_not_the_same():
    """A scripted run says nothing about a model."""
    trial = document(A, B).trials[0]
    local = TrialDiff(a=trial.a, b=Cell("lean", "small", "shared", "S1"), provenance_a="scripted", provenance_b="local", same=False, diff=trial.diff)  # fmt: skip

    text = render_diff(document(A, B, trials=(local,)))
    assert text.startswith("DIFFERS lean × scripted shared/S1 → lean × small (local) shared/S1\n")


def test_no_more_trials_than_a_person_reads():
    """The others are counted."""
    trials = document(A, B).trials * (MOST_SHOWN + 3)

    text = render_diff(document(A, B, trials=trials), width=100)
    assert text.count("DIFFERS") == MOST_SHOWN
    assert "and 3 more trials that differ; `--case` shows one, `--json` all" in text


def test_no_more_lines_of_a_trial_than_a_person_reads():
    """A run-away loop does not fill the screen."""
    long = Trajectory(turns=tuple(turn((f"t{n}", {})) for n in range(300)))

    lines = render_diff(document(A, long)).split("\n")
    assert len(lines) < 210
    assert "  … and more; `--json` has all" in lines


def test_colour_is_decoration():
    """Without the escapes it is the same text."""
    painted = render_diff(document(A, B), paint=ansi)

    assert "\x1b[32m+ step 5 inserted" in painted
    assert re.sub(r"\x1b\[\d+m", "", painted) == render_diff(document(A, B))


hostile = st.text(st.sampled_from("ab`~<>|\\*_[]()!#-+\n\r\t\x1b\x07\u202e@ 天🙂"), max_size=40)


@given(hostile, hostile, st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal(one, other, width):
    """Wide characters count as two; nothing steers the terminal."""
    a = Trajectory(turns=(turn(text=one), turn((one or "x", {"q": one}))), answer=one)
    b = Trajectory(turns=(turn((other or "x", {"q": other})), turn(text=other)), answer=other)

    text = render_diff(document(a, b, case=one), width=width)
    assert [] == [line for line in text.split("\n") if display_width(line) > width]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)


@given(hostile, hostile)
def test_no_output_of_a_model_leaves_its_fence(one, other):
    """Whatever it writes, Markdown sees headings, code and our own sentences only."""
    a = Trajectory(turns=(turn(text=one),), answer=one, outcome={"reason": one})
    b = Trajectory(
        turns=(turn((other or "x", {other: other})),), answer=f"``` {other}\n```\n# loud", outcome={"reason": other}
    )

    tokens = MarkdownIt().parse(render_diff_markdown(document(a, b, case=one, only_a=(Cell(other, "m", "s", one),))))
    inline = {child.type for token in tokens for child in token.children or ()}
    assert {"heading_open", "inline", "heading_close", "fence", "paragraph_open", "paragraph_close"} >= {
        t.type for t in tokens
    }
    assert {"text", "code_inline"} >= inline
    assert 1 == sum(token.type == "fence" for token in tokens)


@pytest.mark.parametrize(
    ("text", "span"), [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("", "` `"), ("a\n\nb", "`a b`")]
)
def test_code_spans_hold_whatever_they_are_given(text, span):
    """One more backtick than there is inside, and one line."""
    assert code_span(text) == span


def test_fences_are_longer_than_any_inside():
    """Three at least."""
    assert fenced("x", "diff") == "```diff\nx\n```"
    assert fenced("````") == "`````\n````\n`````"
