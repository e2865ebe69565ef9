"""Differences in few words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.difference import differences, shown, word_changes

NUMBERED = " ".join(f"w{n}" for n in range(1, 301))
word_lists = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=60)


def test_a_changed_word_is_shown_with_its_surroundings():
    """Six words on either side, the position, and dots where the text goes on."""
    assert ["…w144 w145 w146 w147 w148 w149 [-w150-]{+X+} w151 w152 w153 w154 w155 w156… (word 150 of 300)"] == (
        word_changes(NUMBERED, NUMBERED.replace("w150 ", "X "))
    )


def test_a_word_that_came_and_one_that_went():
    """Nothing stands on the side where nothing was; at the ends of a text there are no dots."""
    assert ["Never promise a [--]{+refund+} date. (word 4 of 5)"] == word_changes(
        "Never promise a date.", "Never promise a refund date."
    )
    assert ["Never [-ever-]{++} promise. (word 2 of 2)"] == word_changes("Never ever promise.", "Never promise.")


def test_words_that_repeat_are_not_counted_twice():
    """The common start and the common end of two texts never overlap."""
    assert ["a b a [--]{+b a+} (word 4 of 5)"] == word_changes("a b a", "a b a b a")
    assert ["a b a [-b a-]{++} (word 4 of 3)"] == word_changes("a b a b a", "a b a")


def test_blanks_alone_are_told_as_such():
    """A reformatted prompt is a difference, and says which."""
    assert ["only blanks or line breaks differ"] == word_changes("a b\nc", "a  b c")


def test_many_changes_are_counted():
    """Three are shown; the rest is a number."""
    new = re.sub(r"w(\d)0 ", r"X\g<1> ", NUMBERED)
    changes = word_changes(NUMBERED, new)

    assert 4 == len(changes)
    assert "… and 6 more changes" == changes[-1]


@given(word_lists, word_lists)
def test_no_change_shows_more_than_it_may(old, new):
    """At most 12 words around a change and 12 on each side of it, whatever the texts."""
    for change in word_changes(" ".join(old), " ".join(new)):
        if "word" in change:
            gone, come = re.search(r"\[-(.*?)-\]\{\+(.*?)\+\}", change).groups()
            around = re.sub(r"\[-.*?-\]\{\+.*?\+\}|\(word .*\)|…", " ", change).split()

            assert len(around) <= 12
            assert len(gone.split()) <= 13
            assert len(come.split()) <= 13


def test_leaves_are_named_by_their_path():
    """What is new, what is gone, what has another type or length."""
    old = {"a": {"type": "integer"}, "b": [1, 2], "c": 1, "same": [{}]}
    new = {"a": {"type": "string"}, "b": [1, 3], "d": [1], "same": [{}]}

    assert [
        "p.a.type: 'integer' -> 'string'",
        "p.b[1]: 2 -> 3",
        "p.c: 1 -> absent",
        "p.d: absent -> [1]",
    ] == list(differences(old, new, "p"))
    assert ["b: true -> 1"] == list(differences({"b": True}, {"b": 1}, ""))


def test_long_values_are_cut():
    """One line stays one line."""
    assert 60 == len(shown("x" * 200)) == len(shown(["x" * 200]))
