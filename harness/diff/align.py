"""
Which items of two sequences belong together: the cheapest way from one to the other (Needleman and Wunsch, 1970),
where an item may also be replaced by one like it, stand elsewhere, or have its parts grouped in another way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from harness.records.trajectory import EditKind

INSERT = 1000
"""Cost of an item that comes, and of one that goes."""
_MOVED = 450
"""The same for an item that the other side has too: it may have moved. Twice this is more than what replacing an item
by one that does the same may cost, so that only what crosses another item counts as moved."""
_REGROUPED = 300
"""Cost of an item in a regrouped stretch."""
_MOST_GROUPED = 4
_MOST_CELLS = 20_000
"""Pairs of items that are weighed; beyond, only equal items are paired."""

Cost = Callable[[int, int], int | None]


class Item(NamedTuple):
    """What is aligned: *key* is equal for equal items, *act* for those that do the same; *parts* may be regrouped."""

    key: bytes
    act: bytes = b""
    """Empty for an item that does nothing; it counts as moved only if all of it is equal."""
    parts: tuple[bytes, ...] = ()


class Link(NamedTuple):
    """Items of one side, as start and end, that belong to those of the other; none for what came, or went."""

    kind: EditKind
    a: tuple[int, int]
    b: tuple[int, int]


class _Step(NamedTuple):
    cost: int
    a: int
    b: int
    kind: EditKind


def align(a: Sequence[Item], b: Sequence[Item], cost: Cost) -> list[Link]:
    """
    Pair the items of *a* and *b*, in the order of *b*; what went stands where it was, before what came in its place.

    `align(b, a)` pairs the same items.

    Args:
        a: Items of one side.
        b: Items of the other.
        cost: What it costs to replace an item of *a* by one of *b*, from 1 to 2 × `INSERT`, and less than 900 where
            both do the same; None where they have nothing in common. It must not depend on which side is which.
    """
    if [item.key for item in a] > [item.key for item in b]:
        links = [Link(kind, of_a, of_b) for kind, of_b, of_a in _links(b, a, lambda i, j: cost(j, i))]
    else:
        links = _links(a, b, cost)
    return list(_script(links, len(a), len(b)))


def shared(a: Sequence[bytes], b: Sequence[bytes]) -> float:
    """How much two bags have in common, from 0 to 1 (Dice); two empty ones have all."""
    if not a and not b:
        return 1.0
    return 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b))


def _script(links: Sequence[Link], length_a: int, length_b: int) -> Iterator[Link]:
    moved_a = {link.a[0] for link in links if link.kind == "reorder"}
    moved_b = {link.b[0]: link for link in links if link.kind == "reorder"}
    stayed = sorted((link for link in links if link.kind != "reorder"), key=lambda link: link.a)
    i = j = 0
    for link in [*stayed, None]:
        until_a, until_b = (link.a[0], link.b[0]) if link is not None else (length_a, length_b)
        yield from (Link("delete", (n, n + 1), (j, j)) for n in range(i, until_a) if n not in moved_a)
        for n in range(j, until_b):
            yield moved_b.get(n) or Link("insert", (until_a, until_a), (n, n + 1))
        if link is not None:
            yield link
            i, j = link.a[1], link.b[1]


def _links(a: Sequence[Item], b: Sequence[Item], cost: Cost) -> list[Link]:
    start, end = _common_ends(a, b)
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    links = [Link("match", (n, n + 1), (n, n + 1)) for n in range(start)]
    found = (
        _cheapest(middle_a, middle_b, lambda i, j: cost(start + i, start + j))
        if len(middle_a) * len(middle_b) <= _MOST_CELLS
        else _equal_only(middle_a, middle_b)
    )
    found += _moved(middle_a, middle_b, found)
    links += [Link(kind, (i + start, p + start), (j + start, q + start)) for kind, (i, p), (j, q) in found]
    for n in range(end, 0, -1):
        links.append(Link("match", (len(a) - n, len(a) - n + 1), (len(b) - n, len(b) - n + 1)))
    return links


def _common_ends(a: Sequence[Item], b: Sequence[Item]) -> tuple[int, int]:
    least = min(len(a), len(b))
    start = 0
    while start < least and a[start].key == b[start].key:
        start += 1
    end = 0
    while end < least - start and a[-1 - end].key == b[-1 - end].key:
        end += 1
    return start, end


def _equal_only(a: Sequence[Item], b: Sequence[Item]) -> list[Link]:
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, [x.key for x in a], [x.key for x in b], autojunk=False).get_matching_blocks()
    return [
        Link("match", (i + n, i + n + 1), (j + n, j + n + 1)) for i, j, size in blocks for n in range(size)
    ]  # fmt: skip


def _cheapest(a: Sequence[Item], b: Sequence[Item], cost: Cost) -> list[Link]:
    going, coming = _single_costs(a, b), _single_costs(b, a)
    best: list[list[_Step]] = []
    for i in range(len(a) + 1):
        best.append([])
        for j in range(len(b) + 1):
            steps = [_Step(0, 0, 0, "match")] if i == j == 0 else []
            if i and j:
                steps += _paired(best, a, b, i, j, cost)
                steps += _regrouped(best, a, b, i, j)
            if i:
                steps.append(_Step(best[i - 1][j].cost + going[i - 1], 1, 0, "delete"))
            if j:
                steps.append(_Step(best[i][j - 1].cost + coming[j - 1], 0, 1, "insert"))
            best[i].append(min(steps, key=lambda step: step.cost))
    return _walked_back(best)


def _single_costs(items: Sequence[Item], others: Sequence[Item]) -> list[int]:
    keys = {item.key for item in others} | {item.act for item in others if item.act}
    return [_MOVED if item.key in keys or item.act in keys else INSERT for item in items]


def _paired(best: list[list[_Step]], a: Sequence[Item], b: Sequence[Item], i: int, j: int, cost: Cost) -> list[_Step]:
    before = best[i - 1][j - 1].cost
    if a[i - 1].key == b[j - 1].key:
        return [_Step(before, 1, 1, "match")]
    price = cost(i - 1, j - 1)
    return [] if price is None or price >= 2 * INSERT else [_Step(before + price, 1, 1, "replace")]


def _regrouped(best: list[list[_Step]], a: Sequence[Item], b: Sequence[Item], i: int, j: int) -> list[_Step]:
    steps = []
    for p in range(1, min(i, _MOST_GROUPED) + 1):
        if not a[i - p].parts:
            break
        for q in range(1, min(j, _MOST_GROUPED) + 1):
            if not b[j - q].parts:
                break
            if p + q > 2 and _same_parts(a[i - p : i], b[j - q : j]):
                steps.append(_Step(best[i - p][j - q].cost + _REGROUPED * (p + q), p, q, "regroup"))
    return steps


def _same_parts(a: Sequence[Item], b: Sequence[Item]) -> bool:
    """Whether both hold the same parts, in groups that are not the same."""
    if sum(len(item.parts) for item in a) != sum(len(item.parts) for item in b):
        return False
    groups_a, groups_b = sorted(sorted(item.parts) for item in a), sorted(sorted(item.parts) for item in b)
    return groups_a != groups_b and sorted(chain.from_iterable(groups_a)) == sorted(chain.from_iterable(groups_b))


def _walked_back(best: list[list[_Step]]) -> list[Link]:
    i, j = len(best) - 1, len(best[0]) - 1
    links = []
    while i or j:
        step = best[i][j]
        if step.kind in ("match", "replace", "regroup"):
            links.append(Link(step.kind, (i - step.a, i), (j - step.b, j)))
        i, j = i - step.a, j - step.b
    return links[::-1]


def _moved(a: Sequence[Item], b: Sequence[Item], links: Sequence[Link]) -> list[Link]:
    """Items that both have and nothing links yet: first those that are equal, then those that do the same."""
    free_a = set(range(len(a))) - {n for link in links for n in range(*link.a)}
    free_b = set(range(len(b))) - {n for link in links for n in range(*link.b)}
    moved = []
    for sought in ("key", "act"):
        places: dict[bytes, list[int]] = defaultdict(list)
        for i in sorted(free_a, reverse=True):
            places[getattr(a[i], sought)].append(i)
        places.pop(b"", None)
        for j in sorted(free_b):
            if places[getattr(b[j], sought)]:
                i = places[getattr(b[j], sought)].pop()
                moved.append(Link("reorder", (i, i + 1), (j, j + 1)))
                free_a.remove(i)
                free_b.remove(j)
    return moved
