"""Which cases hang together."""

from __future__ import annotations

import pytest

from harness.goldensets.families import family_of
from harness.records.case import GoldenCase


@pytest.mark.parametrize(
    ("id", "lang", "tags", "family"),
    [
        ("S1-de", "de", (), "S1"),
        ("S1-de", "en", (), "S1-de"),
        ("wake-up", "en", (), "wake-up"),
        ("S1-de", "de", ("slow", "family:weather"), "weather"),
        ("S1", "en", ("family:",), "S1"),
        ("-en", "en", (), "-en"),
    ],
)
def test_a_tag_or_the_id_without_its_own_language(id: str, lang: str, tags: tuple[str, ...], family: str) -> None:
    """A declared family wins; only the suffix of the case's own language is taken off."""
    assert family == family_of(GoldenCase(id=id, question="?", lang=lang, tags=tags))
