"""YAML that may have been made to do harm, as plain values: no objects, no explosion, no fatal depth."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

from harness.errors import CassetteError
from harness.records.messages import Json

MOST_NODES = 1_000_000
"""So many values may a file hold, aliases counted as often as they are used."""
MOST_DEPTH = 200
"""So deep may values nest."""
MOST_OPENINGS = 2_000
"""A file with more brackets or list marks than this is checked for its depth before it is read."""


def read_yaml(text: str, path: str, *, loader: Any = None) -> Json:
    """
    Read *text* with a safe loader (`safe_loader` by default) and bound how deep it goes and what aliases unfold to.

    Raises:
        CassetteError: `cassette-unreadable`, with the line.
    """
    import yaml

    loader = loader or safe_loader()
    try:
        if _may_be_deep(text):
            _check_depth(text, path)
        document = yaml.load(text, loader)  # noqa: S506 - a safe loader, or one made of it
        nodes = _count(document, {})
    except yaml.MarkedYAMLError as error:
        if "\n<<<<<<< " in text:
            line = text.count("\n", 0, text.index("\n<<<<<<< ")) + 2
            unreadable(f"{path}:{line}", "a merge left its markers in the file")
        mark = error.problem_mark
        unreadable(f"{path}:{mark.line + 1}" if mark else path, f"not valid YAML: {error.problem}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # RecursionError: it contains itself
        unreadable(path, f"not valid YAML: {' '.join(str(error).split())}")
    if nodes > MOST_NODES:
        unreadable(path, f"more than {MOST_NODES:,} values")
    return document


@lru_cache(maxsize=1)
def safe_loader() -> Any:
    """The safe loader of libyaml, without merge keys (they copy, and copies of copies fill any memory) and repeated keys."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def flatten_mapping(_loader: Any, node: Any) -> None:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if "<<" in keys:
            raise yaml.constructor.ConstructorError(None, None, "merge keys are not read", node.start_mark)
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise yaml.constructor.ConstructorError(None, None, f"key `{twice}` stands twice", node.start_mark)

    return type("_SafeLoader", (base,), {"flatten_mapping": flatten_mapping})


def unreadable(at: str, because: str) -> NoReturn:
    """Refuse a file that is no cassette, or a damaged one."""
    hint = "restore the file from git, or record the case again"
    raise CassetteError("cassette-unreadable", because, hint=hint, at=at)


def _may_be_deep(text: str) -> bool:
    """Whether *text* has as many openings as a document needs to nest beyond the depth that is read."""
    if "\n" + " " * MOST_DEPTH in text:
        return True
    return any(text.count(opening) > MOST_OPENINGS for opening in ("[", "{", "- ", "? "))


def _check_depth(text: str, path: str) -> None:
    """Refuse nesting that libyaml's recursion would end the process on; its events come without recursion."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MOST_DEPTH:
                line = f":{event.start_mark.line + 1}" if event.start_mark else ""
                unreadable(path + line, f"nested deeper than {MOST_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _count(value: Json, sizes: dict[int, int]) -> int:
    """The values in *value* with aliases unfolded; what was counted once is not walked again."""
    if not isinstance(value, (dict, list)):
        return 1
    if id(value) not in sizes:
        items = value.values() if isinstance(value, dict) else value
        sizes[id(value)] = 1 + sum(_count(item, sizes) for item in items)
    return sizes[id(value)]
