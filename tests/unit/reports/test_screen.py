"""Text for a terminal is harmless, and as wide as it says."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.columns import display_width
from harness.reports.screen import ansi, clip, neutralise, one_line, plain, wrap

hostile = st.text(st.characters(), max_size=60)
"""Any text that Python can hold: control characters, lone surrogates, marks that turn the reading direction."""


@given(hostile)
def test_nothing_that_steers_a_terminal_survives(text):
    """No control character, lone surrogate or direction mark is left, whatever an agent answered."""
    found = neutralise(text)

    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in found)
    assert not any(
        char in found for char in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )
    found.encode()


@given(hostile)
def test_neutralising_twice_changes_nothing_more(text):
    """What is written out is plain text."""
    assert neutralise(text) == neutralise(neutralise(text))


@given(hostile)
def test_lines_are_kept_only_on_request(text):
    """A line feed is the one control character that may stay."""
    assert "\n" not in one_line(text)
    assert neutralise(text, keep_lines=True).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("北京 – été 👍🏽", "北京 – été 👍🏽"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u2028b", "a\\u2028b"),
        ("go\U000e0067\U000e006f", "go\\U000e0067\\U000e006f"),
        (
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
        ("e" + "\u0301" * 10, "e" + "\u0301" * 8 + "\\u0301" * 2),
    ],
)
def test_what_is_taken_out_is_written_out(text, expected):
    """A reader sees that something was there; other scripts stay as they are."""
    assert neutralise(text) == expected


@given(hostile, st.integers(1, 40))
def test_clipped_text_fits(text, width):
    """Whatever is cut ends in an ellipsis, and the result is never wider than asked for."""
    found = clip(text, width)

    assert display_width(found) <= width
    assert found == text or found.endswith("…")


words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Mn", "Me", "Cf"]), max_size=80)


@given(words, st.integers(6, 40))
def test_wrapped_lines_fit_and_lose_nothing(text, width):
    """Every line fits the terminal, and every character but blanks is still there."""
    found = wrap(text, width, indent="  ", later="    ")

    assert all(display_width(line) <= width for line in found.split("\n"))
    assert "".join(found.split()) == "".join(text.split())


def test_what_is_drawn_as_one_is_never_cut_apart():
    """A family is there whole or not at all, and so is an accent with its letter."""
    assert "a…" == clip("a👨‍👩‍👧👨‍👩‍👧", 3)
    assert "a👨‍👩‍👧…" == clip("a👨‍👩‍👧👨‍👩‍👧", 4)
    assert "e\u0301…" == clip("e\u0301e\u0301e\u0301", 2)
    assert "🇩🇪\n🇫🇷" == wrap("🇩🇪🇫🇷", 3)


def test_wrapping_breaks_at_blanks():
    """Words stay whole where they fit."""
    assert wrap("one two three four", 10, indent="- ", later="  ") == "- one two\n  three\n  four"


def test_paint_decorates_and_plain_does_not():
    """Colour is a decoration around the same text."""
    assert plain("x", "red") == "x"
    assert ansi("x", "red") == "\x1b[31mx\x1b[0m"
