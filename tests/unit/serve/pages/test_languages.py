"""The languages of the pages: all of them say the same things."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.stages import STAGES
from harness.serve.pages.languages import FOLDER, LANGUAGES, chosen, words_of

OTHERS = sorted(set(LANGUAGES) - {"en"})
SAME_IN = {"token", "plan", "phase", "pause", "error", "cost"}
"""Words that some languages share with English."""


def holes(text: str) -> list[str]:
    """The places of a text where values go."""
    return sorted(re.findall(r"\{(\w+)\}", text))


def test_a_file_for_each_language():
    """And none that nobody can choose."""
    assert sorted(LANGUAGES) == sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_every_word(language):
    """None is missing, empty or left over, and the values stand in each."""
    words, english = words_of(language), words_of("en")

    assert list(english) == list(words)
    assert [] == [key for key, text in words.items() if not text.strip()]
    assert {key: holes(text) for key, text in english.items()} == {key: holes(text) for key, text in words.items()}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_is_one(language):
    """A text that was forgotten would stand there in English."""
    words, english = words_of(language), words_of("en")
    same = {key for key, text in words.items() if text == english[key]}

    assert len(same) <= len(english) // 20
    assert [] == [key for key in same if len(english[key].split()) > 2]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_names_the_four_stages(language):
    """Each by another word."""
    assert 4 == len({words_of(language)[stage] for stage in STAGES})


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"), ("de-AT,de;q=0.9,en;q=0.5", "de"), ("fr, pt-BR;q=0.8", "pt"), ("ru", "ru"), ("zh-Hans-CN", "zh"),
        ("xx", "en"), ("de;q=0, ru;q=0.1", "ru"), ("de;q=much, pt", "pt"), ("en;q=0.2, DE;q=0.3", "de"),
    ],
)  # fmt: skip
def test_the_heaviest_language_that_is_there(accepted, language):
    """By its weight, then by its place; a weight of nothing, or none at all, chooses nothing."""
    assert language == chosen("", accepted)


def test_what_was_chosen_goes_before_what_the_browser_says():
    """As long as it is a language that is there."""
    assert ("de", "ru") == (chosen("de", "ru"), chosen("xx", "ru"))


@given(st.text(max_size=200) | st.text(alphabet="dept-;q=0.19, ", max_size=60), st.text(max_size=10))
def test_whatever_is_sent_there_is_a_language(accepted, cookie):
    """No header and no cookie leaves a page without words."""
    assert chosen(cookie, accepted) in LANGUAGES
