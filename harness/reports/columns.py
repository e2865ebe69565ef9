"""
How many columns text takes on a terminal, and where it may be cut: never inside of what is drawn as one character.

The model is that of current terminals, by Unicode's East Asian Width (UAX #11) and emoji sequences (UTS #51): wide
characters take two columns, combining marks none, and a sequence of emoji (joined by U+200D, with a skin tone, a flag
of two letters, a keycap) two as a whole. Terminals that draw the parts of a sequence apart show it wider than counted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_JOINER, _AS_EMOJI, _KEYCAP, _BLACK_FLAG = "\u200d", "\ufe0f", "\u20e3", "\U0001f3f4"
_NO_COLUMN = frozenset({"Mn", "Me", "Cf"})
_FORMATS_WITH_A_COLUMN = frozenset("\u00ad\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Characters of the category Cf that are drawn all the same: the soft hyphen, and signs that stand around numbers."""


def display_width(text: str) -> int:
    """Columns that *text* takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(columns for _, columns in clusters(text))


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """Take *text* apart into what is drawn as one, each with the columns that it takes."""
    start, size = 0, len(text)
    while start < size:
        end, columns = _end_of_cluster(text, start)
        yield text[start:end], columns
        start = end


def _end_of_cluster(text: str, start: int) -> tuple[int, int]:
    """Where the cluster that begins at *start* ends, and how wide it is."""
    first = text[start]
    columns = _columns(first)
    end = start + 1
    if _is_letter_of_a_flag(first) and text[end : end + 1] and _is_letter_of_a_flag(text[end]):
        end, columns = end + 1, 2
    while end < len(text):
        char = text[end]
        if char == _JOINER and _is_emoji(first) and text[end + 1 : end + 2] and _is_emoji(text[end + 1]):
            end += 2
        elif char == _AS_EMOJI and (_is_emoji(first) or text[end + 1 : end + 2] == _KEYCAP):
            end, columns = end + 1, 2
        elif _belongs(char, first):
            end += 1
        else:
            break
    return end, columns


def _belongs(char: str, first: str) -> bool:
    """Whether *char* is drawn with the cluster that begins with *first*, in no column of its own."""
    if _is_skin_tone(char):
        return _is_emoji(first)
    return _columns(char) == 0


def _columns(char: str) -> int:
    """Columns of *char* alone."""
    if char.isascii():
        return 1
    if unicodedata.category(char) in _NO_COLUMN:
        return 1 if char in _FORMATS_WITH_A_COLUMN else 0
    if "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff":  # vowels and finals of a Hangul syllable
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _is_emoji(char: str) -> bool:
    """Whether *char* can begin or go on a sequence of emoji: pictures, and the older symbols and arrows among them."""
    return char >= "\U0001f000" or "\u2190" <= char <= "\u2bff" or char in "©®‼⁉™ℹ〰〽㊗㊙"


def _is_skin_tone(char: str) -> bool:
    return "\U0001f3fb" <= char <= "\U0001f3ff"


def _is_letter_of_a_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
