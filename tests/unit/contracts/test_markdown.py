"""CX15: valid Markdown, with codes and positions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.markdown import CODES, lint, valid_markdown
from harness.testing.builders import answer, check, make_case, make_trace, model_turn, reasons

VALID = [
    "In Berlin sind es 7 °C und Regen.",
    "**Alpha**: 120 000\n- a\n* b\n\n`x|y` und `**kwargs`",
    "# A\n\n## B\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 \\| x | 4 |\n",
    "17 * 23 = 391 and 2**3 and 5 *3",
    "```python\nx = a[0][1]\n**no <b>\n```\nafter",
    "~~~\n```\n~~~",
    "````\n```\n````",
    "See [1], [docs](https://x.org) and <https://a.b>.",
    "1. a\n2. b\n   - c",
    "> quote\n> ```\n> x\n> ```",
    "~~no~~ *yes* __strong__ _it_ snake_case a_b_c",
    "a \\*\\* b \\` c \\[x\\]\\[y\\]",
    "a < b and c > d",
    "[ref]: https://x\n\nsee [a][ref] and [ref][]",
    "*Note: incl. VAT",
    "a<br>b, H<sub>2</sub>O",
    "#1 choice #hashtag",
    "A note[^1].\n\n[^1]: The source",
    "- [ ] todo\n- [x] done",
    "| a |\n|---|\n| `x \\| y` |",
    "Title\n=====\n\nSub\n---\n",
    "![a cat](cat.png)",
    "# A\n\n## B\n\n# C\n\n## D",
]
INVALID = [
    ("```python\nx = 1", "unclosed-fence", 1, 1),
    ("text\n\n> ```\n> x", "unclosed-fence", 3, 3),
    ("- ```\n  x\n\nafter", "unclosed-fence", 1, 3),
    ("# A\n\n### C", "heading-jump", 3, 1),
    ("| a | b |\n|---|---|\n| 1 |", "ragged-table", 3, 1),
    ("| a | b |\n|---|\n| 1 | 2 |", "ragged-table", 2, 1),
    ("| a | b |\n| 1 | 2 |", "ragged-table", 1, 1),
    ("x [a][nope] y", "broken-reference", 1, 3),
    ("as said[^1]", "broken-reference", 1, 8),
    ("[x] (https://a.b)", "broken-reference", 1, 1),
    ("a [x]()", "empty-link", 1, 3),
    ("[](https://x.org)", "empty-link", 1, 1),
    ("[x](#)", "empty-link", 1, 1),
    ("![cat]()", "empty-link", 1, 1),
    ("<div>x</div>", "raw-html", 1, 1),
    ("hi <b>x</b>", "raw-html", 1, 4),
    ("**bold text", "unterminated-emphasis", 1, 1),
    ("a\n\ntext **b\n\nnext", "unterminated-emphasis", 3, 6),
    ("a ~~b", "unterminated-emphasis", 1, 3),
    ("x *abc d", "unterminated-emphasis", 1, 3),
    ("some `code", "unterminated-code", 1, 6),
    ("##Heading", "broken-heading", 1, 1),
    ('{"answer": 1}', "leaked-json", 1, 1),
    ("Text\n<think>hm</think>", "leaked-reasoning", 2, 1),
    ("```tool_code\nf()\n```", "leaked-tool-syntax", 1, 1),
]


@pytest.mark.parametrize("text", VALID)
def test_valid(text):
    """Well-formed Markdown, and prose with the same characters, has no problem."""
    assert [] == lint(text)


@pytest.mark.parametrize(("text", "code", "line", "column"), INVALID)
def test_invalid(text, code, line, column):
    """Each kind of problem is found with its code, at its place."""
    first = lint(text)[0]

    assert (code, line, column) == first[:3]


def test_every_code_is_tested():
    """No code stands in the list without a text that shows it."""
    assert set(CODES) == {code for _, code, _, _ in INVALID}


def test_cx15_tells_code_and_place():
    """A broken answer is told with code, place and words; other formats are not held to Markdown."""
    trace = make_trace(answer("# A\n\n**open"))

    assert ["unterminated-emphasis at line 3, column 1: emphasis is opened and never closed (`**open`)"] == reasons(
        check(valid_markdown, trace)
    )
    assert ["vacuous"] == reasons(check(valid_markdown, trace, make_case(format="text")))
    assert ["vacuous"] == reasons(check(valid_markdown, make_trace(answer("**open", format="text"))))


def test_cx15_knows_the_trial_s_tools():
    """A line that calls a tool of the trial is leaked syntax; the same line of another function is text."""
    called = make_trace(model_turn(tools=["get_weather"]), answer("So:\nget_weather('Berlin')"))

    assert reasons(check(valid_markdown, called))[0].startswith("leaked-tool-syntax at line 2, column 1")
    assert [] == lint("So:\nget_weather('Berlin')")


@given(st.text(alphabet="ab `*_[]()<>|~#-\n\\!:^", max_size=60))
def test_lint_never_fails(text):
    """Whatever stands in an answer, looking at it ends, and every position lies in the text."""
    lines = text.splitlines() or [""]

    for problem in lint(text):
        assert 1 <= problem.line <= len(lines) + 1
        assert problem.column >= 1
        assert problem.code in CODES


@given(st.lists(st.text(alphabet="abc 12,.äß", min_size=1, max_size=20), max_size=6))
def test_fenced_text_is_always_valid(lines):
    """Any text in a closed fence is valid Markdown."""
    assert [] == lint("```\n" + "\n".join(lines) + "\n```")


@pytest.mark.parametrize("piece", ["`", "*", "[", "<", "1", "|", "**a ", "[a][", "~~a ", "_a", "# a\n", "```\n", "{"])
def test_lint_of_hostile_text_is_quick(piece):
    """A long run of any mark is looked at in time that grows with its length, and never raises."""
    lint(piece * 200)
    began = time.process_time()
    lint(piece * 5_000)

    assert time.process_time() - began < 2
