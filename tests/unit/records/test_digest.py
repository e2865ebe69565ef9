"""Digests, and what has none."""

from __future__ import annotations

import json

import pytest

from harness.records.digest import can_be_written, digest


@pytest.mark.parametrize(
    ("text", "expected"), [('"\\ud83d\\ude00"', True), ('{"a": ["\\ud800"]}', False), ('{"\\udc00": 1}', False)]
)
def test_half_a_character_cannot_be_written(text: str, expected: bool) -> None:
    """JSON can spell half of a surrogate pair; no file and no digest can hold it."""
    assert expected == can_be_written(json.loads(text))


def test_a_digest_depends_on_the_value_alone() -> None:
    """The order of keys makes no difference; a value does."""
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
