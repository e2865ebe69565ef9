"""The languages of the pages: one file of words each, and the choice of one for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent / "words"
LANGUAGES = {"en": "English", "de": "Deutsch", "pt": "Português", "ru": "Русский", "zh": "中文"}
"""What there is, by what its readers call it."""
COOKIE = "tapegate-language"
_LONGEST_HEADER = 1000


@cache
def words_of(language: str) -> Mapping[str, str]:
    """The words of one of `LANGUAGES`, by key."""
    return msgspec.json.decode((FOLDER / f"{language}.json").read_bytes(), type=dict[str, str])


def chosen(cookie: str, accepted: str) -> str:
    """
    The language to speak.

    Args:
        cookie: What the reader chose before; empty for nothing.
        accepted: The header `Accept-Language`.
    """
    if cookie in LANGUAGES:
        return cookie
    ranked = sorted(_ranges(accepted[:_LONGEST_HEADER]), key=lambda pair: -pair[1])
    return next((language for language, weight in ranked if weight > 0 and language in LANGUAGES), "en")


def _ranges(accepted: str) -> list[tuple[str, float]]:
    """Primary languages with their weights, in the order in which they stand (RFC 9110, 12.5.4)."""
    found = []
    for each in accepted.split(","):
        tag, *parameters = (part.strip() for part in each.split(";"))
        weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        try:
            found.append((tag.lower().partition("-")[0], float(weight)))
        except ValueError:
            continue
    return found
