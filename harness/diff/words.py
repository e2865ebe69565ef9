"""How one text became another, by words: Myers, "An O(ND) Difference Algorithm and Its Variations" (1986)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.records.trajectory import WordKind, Words

MOST_EDITS = 400
"""Words that may come and go beyond the common start and end; where more do, that part counts as replaced whole."""
MOST_WORDS = 20_000
"""Words of both texts together, beyond the common start and end, that are compared one by one."""
_KINDS: tuple[WordKind, ...] = ("same", "gone", "come")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f"
_words = re.compile(rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*|\s+").findall


def word_diff(before: str, after: str) -> tuple[Words, ...]:
    """
    Compare two texts by words, a word with the blanks behind it; scripts that write no blanks go by characters.

    Nothing is lost: all but `come` joined is *before*, all but `gone` joined is *after*.
    """
    old, new = _words(before), _words(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = old[start : len(old) - end], new[start : len(new) - end]
    steps: list[tuple[WordKind, str]] = [("same", word) for word in old[:start]]
    steps += _compared(*middle)
    steps += [("same", word) for word in old[len(old) - end :]]
    return tuple(_joined(steps))


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Words at the start that both share."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _compared(old: list[str], new: list[str]) -> list[tuple[WordKind, str]]:
    path = _shortest(old, new) if old and new and len(old) + len(new) <= MOST_WORDS else None
    if path is None:
        return [*(("gone", word) for word in old), *(("come", word) for word in new)]
    return path


def _shortest(old: list[str], new: list[str]) -> list[tuple[WordKind, str]] | None:
    """The fewest edits from *old* to *new*, or None where they are too many."""
    reached = {1: 0}
    rounds: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), MOST_EDITS) + 1):
        rounds.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(reached, diagonal, edits)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _walked_back(old, new, rounds)
    return None


def _step(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """How far in the old text one edit leads onto *diagonal*."""
    come = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
    return reached[diagonal + 1] if come else reached[diagonal - 1] + 1


def _walked_back(old: list[str], new: list[str], rounds: list[dict[int, int]]) -> list[tuple[WordKind, str]]:
    x, y = len(old), len(new)
    steps: list[tuple[WordKind, str]] = []
    for edits in range(len(rounds) - 1, -1, -1):
        reached, diagonal = rounds[edits], x - y
        come = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
        from_x = reached[diagonal + 1] if come else reached[diagonal - 1] if edits else 0
        from_y = from_x - (diagonal + 1 if come else diagonal - 1) if edits else 0
        edge = from_x if come or not edits else from_x + 1
        while x > edge:
            x, y = x - 1, y - 1
            steps.append(("same", old[x]))
        if edits:
            steps.append(("come", new[from_y]) if come else ("gone", old[from_x]))
        x, y = from_x, from_y
    return steps[::-1]


def _joined(steps: list[tuple[WordKind, str]]) -> Iterator[Words]:
    """Neighbours of one kind as one stretch, with what is gone before what has come."""
    place = 0
    while place < len(steps):
        until = place
        while until < len(steps) and (steps[until][0] == "same") == (steps[place][0] == "same"):
            until += 1
        for kind in _KINDS:
            text = "".join(word for of, word in steps[place:until] if of == kind)
            if text:
                yield Words(kind, text)
        place = until
