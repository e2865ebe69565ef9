"""How wide text is on a terminal, held against a table of strings and a small terminal that places them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.columns import clusters, display_width

DRAWN = {
    "": 0,
    "abc": 3,
    "北京": 4,
    "한국": 4,
    "ａ": 2,
    "а": 1,
    "é": 1,
    "e\u0301": 1,
    "각": 2,
    "\u1100\u1161\u11a8": 2,
    "กำ": 2,
    "नमस्ते": 4,
    "שָׁלוֹם": 4,
    "a\u200bb": 2,
    "a\u00adb": 3,
    "👍": 2,
    "👍🏽": 2,
    "🏽": 2,
    "👨‍👩‍👧": 2,
    "👩🏽‍💻": 2,
    "🏳️‍🌈": 2,
    "❤": 1,
    "❤️": 2,
    "❤️‍🔥": 2,
    "1️⃣": 2,
    "1": 1,
    "🇩🇪": 2,
    "🇩🇪🇫🇷": 4,
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f": 2,
    "™️": 2,
    "a\u200db": 2,
    "½ – “x” … ×": 11,
}
"""Strings and the columns that current terminals draw them in."""

pieces = st.sampled_from([*filter(None, DRAWN), "\u0301", "\u200d", "\ufe0f", "x", " "])
texts = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.lists(pieces).map("".join))


class Terminal:
    """A row of cells: what takes a column gets a cell, a wide one two, and a mark goes to the cell before it."""

    def __init__(self, text: str) -> None:
        self.cells: list[str] = []
        joined = False
        for char in text:
            marks = unicodedata.category(char) in {"Mn", "Me", "Cf"} or "\U0001f3fb" <= char <= "\U0001f3ff"
            if self.cells and (marks or joined):
                owner = len(self.cells) - 1 if self.cells[-1] else len(self.cells) - 2
                self.cells[owner] += char
            else:
                self.cells += [char, ""] if unicodedata.east_asian_width(char) in "WF" else [char]
            joined = char == "\u200d"


@pytest.mark.parametrize(("text", "columns"), DRAWN.items())
def test_text_is_as_wide_as_it_is_drawn(text, columns):
    """Scripts of the world, and what emoji are made of."""
    assert columns == display_width(text)


@pytest.mark.parametrize("text", ["北京 – été 👍🏽", "👨‍👩‍👧 x 👩🏽‍💻", "e\u0301한국", "abc"])
def test_a_terminal_places_text_in_as_many_cells(text):
    """Counted by another, simpler model of a screen."""
    assert len(Terminal(text).cells) == display_width(text)


@given(texts)
def test_clusters_are_the_text(text):
    """Nothing is left out or moved, and no cluster is empty."""
    found = [cluster for cluster, _ in clusters(text)]

    assert text == "".join(found)
    assert all(found)


@given(texts, texts)
def test_text_side_by_side_is_as_wide_as_its_parts(first, second):
    """A blank between two texts keeps what is drawn as one from reaching over."""
    assert display_width(first) + 1 + display_width(second) == display_width(f"{first} {second}") + _joins(second)


def _joins(text: str) -> int:
    """Columns of marks at the start of *text*, which belong to the blank before them."""
    return display_width(text) + 1 - display_width(f" {text}")


@given(texts)
def test_no_text_is_wider_than_two_columns_a_character(text):
    """A bound that layouts can count on."""
    assert 0 <= display_width(text) <= 2 * len(text)
