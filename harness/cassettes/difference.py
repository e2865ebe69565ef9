"""What differs between two JSON values or two texts, said in few words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

import msgspec

from harness.records.messages import Json

WORDS_AROUND = 6
"""Words shown before a change, and as many after it."""
MOST_CHANGED_WORDS = 12
"""Words shown of a change itself, on each side."""
MOST_CHANGES = 3
"""Changes shown of one text."""
_MOST_COMPARED = 2_000
"""Words beyond the common start and end that are compared one by one; more count as replaced whole."""
_LONGEST_VALUE = 60
_ABSENT = object()


def differences(old: Json, new: Json, path: str) -> Iterator[str]:
    """One line for each leaf that differs, as `path: old -> new`; long texts are compared by words."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from differences(old.get(key, _ABSENT), new.get(key, _ABSENT), f"{path}.{key}" if path else str(key))
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and len(old) == len(new):
        for position, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{path}[{position}]")
    elif old == new and type(old) is type(new):
        return
    elif isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _LONGEST_VALUE:
        yield from (f"{path}: {change}" for change in word_changes(old, new))
    else:
        yield f"{path}: {shown(old)} -> {shown(new)}"


def shown(value: Json) -> str:
    """A value in at most 60 characters; `absent` where there is none."""
    if value is _ABSENT:
        return "absent"
    text = repr(value) if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def word_changes(old: str, new: str) -> list[str]:
    """
    The words that changed, each change with at most 12 words of its surroundings.

    `[-gone-]{+come+}` marks a change; the number in brackets counts words of *new* from 1.
    """
    before, after = old.split(), new.split()
    changes = [_change(before, after, *place) for place in _places(before, after)]
    if not changes:
        return ["only blanks or line breaks differ"]
    rest = len(changes) - MOST_CHANGES
    return changes[:MOST_CHANGES] + ([f"… and {rest} more {'change' if rest == 1 else 'changes'}"] if rest > 0 else [])


def _places(before: list[str], after: list[str]) -> list[tuple[int, int, int, int]]:
    """Where the two differ, as start and end in each; common start and end are cut off first."""
    start = 0
    least = min(len(before), len(after))
    while start < least and before[start] == after[start]:
        start += 1
    end = 0
    while end < least - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle, other = before[start : len(before) - end], after[start : len(after) - end]
    if not middle and not other:
        return []
    if max(len(middle), len(other)) > _MOST_COMPARED or not middle or not other:
        return [(start, start + len(middle), start, start + len(other))]
    codes = SequenceMatcher(None, middle, other, autojunk=False).get_opcodes()
    return [(start + a, start + b, start + c, start + d) for tag, a, b, c, d in codes if tag != "equal"]


def _change(before: list[str], after: list[str], a: int, b: int, c: int, d: int) -> str:
    left = " ".join(after[max(0, c - WORDS_AROUND) : c])
    right = " ".join(after[d : d + WORDS_AROUND])
    marked = f"[-{_few(before[a:b])}-]{{+{_few(after[c:d])}+}}"
    lead = "…" if c > WORDS_AROUND else ""
    trail = "…" if d + WORDS_AROUND < len(after) else ""
    text = " ".join(part for part in (lead + left, marked, right + trail) if part)
    return f"{text} (word {c + 1} of {len(after)})"


def _few(words: list[str]) -> str:
    text = " ".join(words[:MOST_CHANGED_WORDS])
    return re.sub(r"\s+", " ", text) + (" …" if len(words) > MOST_CHANGED_WORDS else "")
