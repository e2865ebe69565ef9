"""Tables line up in any script and fit any terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.reports.columns import display_width
from harness.reports.screen import ansi, neutralise
from harness.reports.table import table

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def test_numbers_stand_right_and_text_left():
    """Fractions and thousands count as numbers."""
    found = table(["agent", "kept", "tokens"], [["lean_react", "19/20", "12,034"], ["x", "3/20", "7"]])

    assert found == (
        "agent        kept  tokens\n"
        "----------  -----  ------\n"
        "lean_react  19/20  12,034\n"
        "x            3/20       7"
    )  # fmt: skip


def test_wide_characters_line_up():
    """A column starts at the same place in every line, in Chinese too."""
    found = table(["case", "state"], [["北京", "kept"], ["abc", "broken"]])

    assert found == (
        "case  state\n"
        "----  ------\n"
        "北京  kept\n"
        "abc   broken"
    )  # fmt: skip


def test_a_narrow_terminal_gets_short_headers_then_blocks():
    """Nothing is cut off, and no line wraps by itself."""
    rows = [["lean_react", 3], ["plan_execute", 12]]

    assert table(["agent", "could not check"], rows, short=["agent", "?"], width=20) == (
        "agent          ?\n"
        "------------  --\n"
        "lean_react     3\n"
        "plan_execute  12"
    )  # fmt: skip
    names = [["lean_react_with_a_long_name", 3], ["plan_execute", 12]]
    assert table(["agent", "could not check"], names, short=["agent", "?"], width=30) == (
        "agent\n"
        "  lean_react_with_a_long_name\n"
        "could not check  3\n"
        "\n"
        "agent            plan_execute\n"
        "could not check  12"
    )  # fmt: skip
    assert table(["agent"], [["one two three four"]], width=17) == (
        "agent  one two\n"
        "       three four"
    )  # fmt: skip


def test_the_last_column_can_give_way():
    """Prose at the end of a row is cut to what fits."""
    found = table(
        ["name", "about"], [["CX13", "a simple question is answered without planning"]], width=30, clipped=True
    )

    assert found.split("\n")[2] == "CX13  a simple question is an…"


def test_colour_does_not_move_anything():
    """Cells are painted after they were laid out."""
    rows, colours = [["a", 1], ["b", 22]], [["", "red"], ["", ""]]

    plain = table(["x", "y"], rows, colours=colours)
    painted = table(["x", "y"], rows, colours=colours, paint=ansi)
    assert painted == plain.replace(" 1", " \x1b[31m1\x1b[0m")


def test_empty_cells_and_no_rows_are_tables_too():
    """Nothing to show is no crash."""
    assert table(["a", "b"], [["", "x"]]) == "a  b\n-  -\n   x"
    assert table(["a", "b"], []) == "a  b\n-  -"
    assert table(["a"], [], clipped=True) == "a\n-"


def test_a_cell_that_nobody_would_see_is_written_out():
    """A mark alone takes no column, and would let the cells after it slip into the wrong place."""
    found = table(["a", "b"], [["\u200b", "x"], ["", "y"]])

    assert found == (
        "a       b\n"
        "------  -\n"
        "\\u200b  x\n"
        "        y"
    )  # fmt: skip


def test_sequences_of_emoji_line_up():
    """A family, a flag, a keycap and a heart are two columns each, however many code points they have."""
    cells = ["👨‍👩‍👧", "🇩🇪", "1️⃣", "❤️", "👍🏽", "ab"]

    lines = table(["xy", "z"], [[cell, "|"] for cell in cells]).split("\n")
    assert ["xy  z", "--  -", *(f"{cell}  |" for cell in cells)] == lines


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.integers(20, 100))
def test_no_line_of_a_table_is_wider_than_the_terminal(rows, width):
    """Whatever cells hold, every line fits, laid out or in blocks."""
    found = table(["first", "second"], rows, width=width)

    assert all(display_width(line) <= width for line in found.split("\n"))
    assert "\x1b" not in found


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.integers(20, 100))
def test_nothing_in_a_table_is_lost(rows, width):
    """Every character of every cell is there in its order, in columns and in blocks."""
    found = "".join(table(["first", "second"], rows, width=width).split())

    at = 0
    for text in [part for row in rows for cell in row for part in neutralise(cell).split()]:
        at = found.index(text, at) + len(text)
