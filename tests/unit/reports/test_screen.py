"""Text for a terminal is harmless, and as wide as it says."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.columns import display_width
from harness.reports.screen import _perhaps_marks, ansi, clip, neutralise, one_line, only_colours, plain, titled, wrap

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


@given(
    st.lists(
        st.sampled_from(
            ["\u0301", "\u20dd", "\u200b", "\u2060", "\u3099", "\ua66f", "\u0951", "\U000e0101", "e", "北", "か"]
        )
    )
)
def test_marks_never_pile_up(parts):
    """Whatever the script of the marks is, no more than eight follow each other."""
    found = neutralise("".join(parts))
    stretches = "".join("m" if unicodedata.category(char) in {"Mn", "Me", "Cf"} else " " for char in found).split()

    assert all(len(stretch) <= 8 for stretch in stretches)


def test_every_script_that_is_not_looked_at_has_no_marks():
    """The stretches that may be full of marks are found by their complement; nothing in it is one."""
    skipped = [chr(code) for code in range(0x300, 0xD800) if not _perhaps_marks.match(chr(code) * 9)]

    assert 40_000 < len(skipped)
    assert [] == [char for char in skipped if unicodedata.category(char) in {"Mn", "Me", "Cf"}]


def test_our_own_colours_pass_the_last_door():
    """And nothing else does, colours of ours included where there are none."""
    painted = f"{ansi('red', 'red')} \x1b[2J\x9b2J\u202e\r\t|\n\x1b[38;5;1m"

    assert "\x1b[31mred\x1b[0m \\x1b[2J\\x9b2J\\u202e\\r    |\n\\x1b[38;5;1m" == only_colours(painted, colours=True)
    assert "\\x1b[31mred\\x1b[0m" == only_colours(ansi("red", "red"), colours=False)


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


def test_a_title_stands_beside_its_word_or_below_it():
    """Below it where the word takes more than half of the terminal; colour counts for nothing."""
    assert "\x1b[31mBROKEN\x1b[0m  one two\n  three" == titled("BROKEN", "one two three", 16, paint=ansi, colour="red")
    assert "BROKEN\n  one two" == titled("BROKEN", "one two", 15)


def test_paint_decorates_and_plain_does_not():
    """Colour is a decoration around the same text."""
    assert plain("x", "red") == "x"
    assert ansi("x", "red") == "\x1b[31mx\x1b[0m"
