"""A comparison of designs on a terminal, as a person reads it."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.comparison import Comparison
from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.trajectory import Divergence
from harness.reports.columns import display_width
from harness.reports.comparison_text import render_comparison
from harness.reports.screen import ansi, neutralise

from .ci_runs import hostile_runs, printable
from .comparisons import compared, local, outcomes, verdict


def differ(a, b):
    """They part in every case but the first."""
    return None if a.case == "S1" else Divergence(step=2, a=None, b=None, because=f"`look` fails on {a.case}")


SCRIPTED = compared(
    *outcomes("lean", [True, True]), verdict("deep", "S1", tokens=Usage(1500, 30, thinking=10, cached=7), recorded_ms=1234),
    verdict("deep", "S2", kept=False, llm_calls=9, turns=9), verdict("deep", "S3"), divergence=differ,
)  # fmt: skip


def test_a_comparison_of_scripts():
    """The whole text: figures, contracts, counts, the case that differs, why, what was left out, and what to do next."""
    expected = """\
shared: 2 designs answered by scripts, 2 cases that all of them ran

#  design  trials kept  rate   95 % interval  front
-  ------  -----------  -----  -------------  -----------
1  deep            1/2  50 %   –              beaten by 2
2  lean            2/2  100 %  –              on it

#  LLM calls  tool calls  turns  at once  input  output  cached  thinking  US$  ms
-  ---------  ----------  -----  -------  -----  ------  ------  --------  ---  -----
1        5.5         1.0    5.5     2.17    800      25       4         5  –      642
2        2.0         1.0    2.0     1.00    100      20       0         0  –       50

figures are means of a trial; the front weighs rate, tokens, LLM calls

contract    1    2
--------  ---  ---
CX3       1/2  2/2
and 0 contracts kept wherever triggered

pair   wins  losses  ties
-----  ----  ------  ----
1 – 2     0       1     1

1 pair without a test (scripted: each reply was written by hand, so no chance is in it); 0 pairs the same on every
  case

case  1           2
----  ----------  ----
S2    broken CX3  kept

every design kept 1 case

why they differ, the earliest parting of a case:
  S2: 1 and 2 part at turn 2: `look` fails on S2

shared: S3 left out: deep × scripted alone ran it

COMPARED  2 designs on 2 cases, 1 pair; run r1

hint: `harness diff r1 --agent deep --agent lean --model scripted --case S2` shows both trajectories of a case"""

    assert _without_rule(expected) == _without_rule(render_comparison(SCRIPTED, width=120))


def test_samples_are_told_with_their_chances():
    """The pair's figures of chance, what they leave open, and how many trials would tell."""
    text = render_comparison(
        compared(*local("lean", [True] * 4 + [False]), *local("deep", [False] * 4 + [True])), width=120
    )

    assert "shared: 2 designs × small answered by a model served on loopback, 5 cases that all of them ran\n" in text
    assert (
        "1  deep            1/5  20 %  4 to 62 %      beaten by 2\n2  lean            4/5  80 %  38 to 96 %     on it\n"
        in text
    )
    assert "the front weighs rate, tokens, LLM calls, ms" in text
    row = next(line for line in text.splitlines() if line.startswith("1 – 2  "))
    assert ["1", "–", "2", "1", "4", "0", "McNemar", "0.38", "0.38", "-60", "-93", "to", "+25", "–", "2"] == row.split()
    assert (
        "1 – 2: inconclusive: p = 0.38 after Holm's adjustment, and not even the utmost difference would show\n" in text
    )
    assert (
        "INCONCLUSIVE  2 designs on 5 cases: 1 pair left to chance; about 2 trials of each case would tell; run r1\n\n"
        "hint: `harness record shared --model small --trials 2` makes more samples" in text
    )


def test_designs_with_several_models_are_named_whole():
    """The model is no part of the title there."""
    text = render_comparison(
        compared(*local("a", [True]), *outcomes("a", [False], model="big", provenance="local")), width=120
    )

    assert text.startswith("shared: 2 designs answered by a model served on loopback, 1 case that all of them ran\n")
    assert "1  a × big" in text
    assert "2  a × small" in text


def test_several_sets_are_named_at_each_case():
    """The same id may stand in two sets."""
    both = [verdict(agent, "S1", set=name, kept=agent == "a") for agent in "ab" for name in ("one", "two")]

    assert ["one/S1  kept  broken CX3", "two/S1  kept  broken CX3"] == [
        line for line in render_comparison(compared(*both)).splitlines() if "/S1" in line
    ]


def test_long_comparisons_are_cut_to_a_screen():
    """Twelve cases, eight partings, and counts of the others."""
    many = compared(
        *outcomes("lean", [True] * 30), *outcomes("deep", [False] * 15 + [True] * 15),
        divergence=lambda a, b: Divergence(step=1, a=None, b=None, because="they do"),
    )  # fmt: skip
    text = render_comparison(many)

    assert "every design kept 15 cases; 3 more cases were not kept by all" in text
    assert "S12   broken CX3  kept" in text
    assert "\nS13 " not in text
    assert 8 == text.count("1 and 2 part at turn 1: they do")
    assert "  and on 7 cases more; `--json` has all" in text


def test_a_cell_names_three_contracts_and_its_trials():
    """The others are an ellipsis; a trial without a verdict says so, and a design that did not run has a dash."""
    broken = tuple(Finding(contract=name, state="broken") for name in ("A1", "B2", "C3", "D4"))
    text = render_comparison(
        compared(
            verdict("a", "S1", findings=broken, kept=False), verdict("a", "S1", 1), verdict("b", "S1"),
            verdict("c", "S1", kept=None), verdict("c", "S9"), verdict("a", "S9"), verdict("b", "S9"),
            verdict("a", "S8"), verdict("b", "S8"),
        )
    )  # fmt: skip
    rows = [line for line in text.splitlines() if line.startswith(("S1 ", "S8 "))]

    assert ["S1    1/2 broken A1 B2 C3 …  kept  unchecked", "S8    kept                   kept  –"] == rows


@pytest.mark.parametrize(
    ("comparison", "ends"),
    [
        (
            compared(*outcomes("a", [True])),
            (
                "NOTHING COMPARED  no two designs of one provenance answered the same case; run r1\n\nhint: `harness compare "
                "AGENT AGENT --set SET` replays two designs on the same questions"
            ),
        ),
        (
            compared(*outcomes("a", [True, True]), *outcomes("b", [True, None], code="cassette-missing")),
            (
                "COULD NOT CHECK  1 trial without a verdict; otherwise 2 designs on 1 case; run r1\n\n"
                "hint: `harness run` says of each trial what could not be checked, and which command mends it"
            ),
        ),
        (
            compared(*outcomes("a", [True, True]), verdict("b", "S1", fault="timeout"), verdict("b", "S2")),
            (
                "COULD NOT CHECK  1 case not the same for all; otherwise 2 designs on 1 case; run r1\n\n"
                "hint: `harness run` says of each trial what could not be checked, and which command mends it"
            ),
        ),
        (compared(*outcomes("a", [True]), *outcomes("b", [True])), "COMPARED  2 designs on 1 case, 1 pair; run r1"),
        (
            compared(*local("a", [True] * 8), *local("b", [False] * 8), *local("c", [False] * 8)),
            "COMPARED  3 designs on 8 cases, 3 pairs (1 left to chance); run r1",
        ),
    ],
)
def test_the_verdict_and_what_to_do_next(comparison, ends):
    """The last lines of each kind of end."""
    assert render_comparison(comparison, width=120).endswith(ends)


def test_without_a_common_case_there_is_no_front():
    """Pairs and cases are shown; the figures are of nothing."""
    text = render_comparison(
        compared(
            verdict("a", "S1"),
            verdict("b", "S1"),
            verdict("b", "S2"),
            verdict("c", "S2"),
            verdict("c", "S3"),
            verdict("a", "S3"),
        )
    )

    assert "no front: no case was answered by all of them" in text
    assert "1  a               0/0  0 %   –              –" in text


def test_colour_decorates_and_says_nothing():
    """Who is beaten is dim, and who is on the front is green; taken away, the words are the same."""
    painted = render_comparison(SCRIPTED, width=120, paint=ansi)

    assert "\x1b[32mCOMPARED\x1b[0m" in painted
    assert "\x1b[2mdeep\x1b[0m" in painted
    assert "\x1b[32mon it\x1b[0m" in painted
    assert render_comparison(SCRIPTED, width=120) == re.sub(r"\x1b\[\d+m", "", painted)


@given(hostile_runs, st.integers(20, 140), printable)
def test_no_text_steers_the_terminal_or_breaks_its_width(run, width, because):
    """Whatever an agent, a case or a model is called and says."""
    results = [msgspec.structs.replace(one, provenance="scripted", model="m") for one in run.results]
    twin = [msgspec.structs.replace(one, agent=one.agent + "'") for one in results]
    found = compared(*results, *twin, divergence=lambda a, b: Divergence(step=1, a=None, b=None, because=because))
    text = render_comparison(msgspec.structs.replace(found, run=run.run), width=width)

    assert text == neutralise(text, keep_lines=True)
    assert all(display_width(line) <= width for line in text.splitlines() if not line.startswith("hint: "))


def test_an_empty_comparison_is_no_crash():
    """A run without any verdict."""
    empty = Comparison(run="", sets=(), designs=(), pairs=(), matrix=(), exit_code=4)

    assert render_comparison(empty).startswith("NOTHING COMPARED  no two designs")
    assert ((), 4) == (compared().designs, compared().exit_code)


def _without_rule(text):
    """*text* without the lines below headers and without the blanks that lay columns out."""
    return [line.split() for line in text.splitlines() if set(line) - set("- ")]
