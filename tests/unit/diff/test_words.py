"""Texts compared by words."""

from __future__ import annotations

import time

from hypothesis import given

from harness.diff.words import word_diff
from harness.records.trajectory import Words

from .strategies import texts


@given(texts, texts)
def test_nothing_of_either_text_is_lost(before, after):
    """What did not come is the old text, what did not go is the new one."""
    words = word_diff(before, after)

    assert before == "".join(stretch.text for stretch in words if stretch.kind != "come")
    assert after == "".join(stretch.text for stretch in words if stretch.kind != "gone")


@given(texts)
def test_a_text_is_the_same_as_itself(text):
    """One stretch, or none for an empty text."""
    assert word_diff(text, text) == ((Words("same", text),) if text else ())


def test_only_the_words_that_changed_are_named():
    """A word goes with the blanks behind it."""
    assert word_diff("They rose in May.", "They fell in May.") == (
        Words("same", "They "),
        Words("gone", "rose "),
        Words("come", "fell "),
        Words("same", "in May."),
    )


def test_scripts_without_blanks_go_by_characters():
    """A Chinese sentence would else be one word."""
    assert word_diff("还剩九只。", "还剩八只。") == (
        Words("same", "还剩"),
        Words("gone", "九"),
        Words("come", "八"),
        Words("same", "只。"),
    )


def test_texts_with_nothing_in_common_take_no_longer():
    """Past the most edits a part counts as replaced whole, within a time that does not grow with the texts."""
    before, after = "a b " * 2_500, "c d " * 2_500
    began = time.perf_counter()

    assert [stretch.kind for stretch in word_diff(before, after)] == ["gone", "come"]
    assert time.perf_counter() - began < 5
