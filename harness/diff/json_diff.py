"""Where two JSON values differ, and the way from one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.diff.words import word_diff
from harness.records.digest import canonical_json
from harness.records.messages import Json
from harness.records.trajectory import Change

LONG_TEXT = 60
"""Characters from which two texts are compared by words as well."""
_DEEPEST = 40
"""Levels that are walked; what differs below counts as one change."""
_Path = tuple[str | int, ...]


def json_diff(before: Json, after: Json) -> tuple[Change, ...]:
    """
    Name each place where *after* differs from *before*; 1, 1.0 and true are three values.

    Lists are compared place by place between their common start and end.
    """
    return tuple(_changes(before, after, ()))


def patched(value: Json, changes: Sequence[Change]) -> Json:
    """Make of *value*, the first argument of `json_diff`, the second one by its *changes*; *value* stays as it is."""
    if not changes:
        return value
    if not changes[0].path:
        return changes[0].after
    result: Json = dict(value) if isinstance(value, dict) else list(value)
    for key in dict.fromkeys(change.path[0] for change in changes):
        deeper = [_shorter(change) for change in changes if change.path[0] == key and _is_inside(change)]
        if deeper:
            result[key] = patched(result[key], deeper)
    removed = [change.path[0] for change in changes if change.kind == "remove" and len(change.path) == 1]
    for key in reversed(removed):
        del result[key]
    for change in changes:
        if change.kind == "add" and len(change.path) == 1:
            _add(result, change)
    return result


def _add(result: Json, change: Change) -> None:
    if isinstance(result, dict):
        result[change.path[0]] = change.after
    else:
        result.insert(change.path[0], change.after)


def _is_inside(change: Change) -> bool:
    """Whether the key itself stands in both values."""
    return len(change.path) > 1 or change.kind == "change"


def _shorter(change: Change) -> Change:
    return Change(path=change.path[1:], kind=change.kind, before=change.before, after=change.after)


def _changes(before: Json, after: Json, path: _Path) -> Iterator[Change]:
    if len(path) < _DEEPEST:
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _in_objects(before, after, path)
            return
        if isinstance(before, list) and isinstance(after, list):
            yield from _in_lists(before, after, path)
            return
    if canonical_json(before) != canonical_json(after):
        long = isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > LONG_TEXT
        yield Change(
            path=path, kind="change", before=before, after=after, words=word_diff(before, after) if long else ()
        )


def _in_objects(before: dict[str, Json], after: dict[str, Json], path: _Path) -> Iterator[Change]:
    for key in [*before, *(key for key in after if key not in before)]:
        if key not in after:
            yield Change(path=(*path, key), kind="remove", before=before[key])
        elif key not in before:
            yield Change(path=(*path, key), kind="add", after=after[key])
        else:
            yield from _changes(before[key], after[key], (*path, key))


def _in_lists(before: list[Json], after: list[Json], path: _Path) -> Iterator[Change]:
    old, new = [canonical_json(item) for item in before], [canonical_json(item) for item in after]
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    until_old, until_new = len(old) - end, len(new) - end
    both = min(until_old, until_new)
    for place in range(start, both):
        yield from _changes(before[place], after[place], (*path, place))
    for place in range(both, until_old):
        yield Change(path=(*path, place), kind="remove", before=before[place])
    for place in range(both, until_new):
        yield Change(path=(*path, place), kind="add", after=after[place])
