"""
Calls in the tool_code blocks of a reply: read as data by Python's parser, and never run.

    ```tool_code
    update_current_feeling("vera", "Happy", context="said so")
    print(read_user_profile("vera"))
    ```

A statement is a call where it is a plain name with literal arguments; one `print(…)` around it is taken off. Everything
else is handed back with the reason why it is not run, and so is what goes beyond the limits.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.records.messages import Json

if TYPE_CHECKING:
    import ast

MOST_BLOCKS = 64
MOST_CHARS = 20_000
"""Length of a block."""
MOST_STATEMENTS = 64
"""Statements of a block."""
MOST_CALLS = 16
"""Calls of a reply that are run."""
MOST_DEPTH = 8
"""Lists and dicts inside each other in one argument."""
MOST_NODES = 2000
"""Nodes of the syntax tree of one statement."""
NO_NAME = "tool_code"
"""Stands for the tool's name where a statement has none."""

OPENING = re.compile(r"(?<!`)(?P<ticks>`{3,})[ \t]*tool_code\b[ \t]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One statement of a block. *problem* says why it is not run; *args* is None where the arguments cannot be named."""

    name: str
    source: str
    block: int
    """The number of its block, from 0."""
    args: dict[str, Json] | None = None
    problem: str = ""


class _RefusedError(ValueError):
    """A statement is no call that may be run."""


def calls_in(text: str, parameters: Mapping[str, Sequence[str]], *, default_api: bool = False) -> list[Asked]:
    """
    What *text* asks for, block by block and line by line.

    Args:
        text: A model's reply.
        parameters: Names of the parameters of each tool, in order.
        default_api: Whether `default_api.name(…)` is read as `name(…)`.
    """
    asked: list[Asked] = []
    for number, (_, start, end, _) in enumerate(_blocks(text)):
        asked.extend(_statements(text[start:end], number, parameters, default_api=default_api))
    return [one if place < MOST_CALLS else _too_many(one) for place, one in enumerate(asked)]


def without_blocks(text: str) -> str:
    """*text* without its blocks, fences included."""
    kept, place = [], 0
    for opening, _, _, end in _blocks(text):
        kept.append(text[place:opening])
        place = end
    return "".join((*kept, text[place:]))


def block_end(text: str, start: int, ticks: int, *, whole: bool = True) -> tuple[int, int] | None:
    """
    Where the block whose content begins at *start* ends: the end of its content, and that of its closing fence.

    It ends at the first fence of at least *ticks* marks behind which it can be read as Python, so that a fence inside a
    string does not end it; where there is none such, at the first fence. None: it is not closed, or, where the text is
    not yet *whole*, that cannot be told.
    """
    first: tuple[int, int] | None = None
    for tries, fence in enumerate(re.compile(f"`{{{ticks},}}").finditer(text, start)):
        if not whole and fence.end() == len(text):
            return None
        if first is not None and (fence.start() - start > MOST_CHARS or tries > MOST_BLOCKS):
            return first
        if _parsed(text[start : fence.start()]) is not None:
            return fence.span()
        first = first or fence.span()
    return first if whole else None


def _blocks(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Where each block begins, where its content begins and ends, and where it ends itself."""
    place = 0
    for _ in range(MOST_BLOCKS):
        opening = OPENING.search(text, place)
        if opening is None:
            return
        content, place = block_end(text, opening.end(), len(opening["ticks"])) or (len(text), len(text))
        yield opening.start(), opening.end(), content, place


def _parsed(source: str) -> tuple[str, list[ast.stmt]] | None:
    """*source* without common indentation, and its statements; None where it is no Python, or too long."""
    import ast
    import textwrap

    if len(source) > MOST_CHARS:
        return None
    source = source.strip("\n").rstrip()
    source = textwrap.dedent(source) if "\n" in source else source.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash too many in a string is the model's own affair
            return source, ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _statements(
    source: str, block: int, parameters: Mapping[str, Sequence[str]], *, default_api: bool
) -> Iterator[Asked]:
    import ast

    parsed = _parsed(source)
    if parsed is None or len(parsed[1]) > MOST_STATEMENTS:
        yield Asked(name=NO_NAME, source=source.strip(), block=block, problem=_unreadable(source))
        return
    text, statements = parsed
    for statement in statements:
        shown = ast.get_source_segment(text, statement) or ""
        yield _read(statement, shown, block, parameters, default_api=default_api)


def _unreadable(source: str) -> str:
    if len(source) > MOST_CHARS:
        return f"the block has {len(source)} characters, at most {MOST_CHARS} are read"
    if _parsed(source) is not None:
        return f"the block has more than {MOST_STATEMENTS} statements"
    return "the block is not valid Python: check quotes, brackets and line breaks inside strings"


def _too_many(asked: Asked) -> Asked:
    return replace(asked, problem=asked.problem or f"at most {MOST_CALLS} calls of one reply are run")


def _read(
    statement: ast.stmt, source: str, block: int, parameters: Mapping[str, Sequence[str]], *, default_api: bool
) -> Asked:
    name, args, problem = NO_NAME, None, ""
    try:
        call = _call(statement)
        name = _name(call, default_api=default_api)
        args = _arguments(call, name, parameters)
        _check_size(statement, args)
    except _RefusedError as refused:
        problem = str(refused)
    return Asked(name=name, source=source, block=block, args=args, problem=problem)


def _call(statement: ast.stmt) -> ast.Call:
    import ast

    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print":
        inner = call.args[0] if len(call.args) == 1 and not call.keywords else None
        call = inner if isinstance(inner, ast.Call) else call
    if not isinstance(call, ast.Call):
        raise _RefusedError(f"{_kind(statement)} is not run: write plain calls, one a line")
    return call


def _name(call: ast.Call, *, default_api: bool) -> str:
    import ast

    match call.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="default_api"), attr=name) if default_api:
            return name
        case ast.Attribute():
            raise _RefusedError("a call with a dot in its name is not run: use the tool's plain name")
    raise _RefusedError("what is called has no plain name")


def _arguments(call: ast.Call, name: str, parameters: Mapping[str, Sequence[str]]) -> dict[str, Json] | None:
    """The arguments of *call* by name; None where there is no such tool."""
    import ast

    if any(isinstance(value, ast.Starred) for value in call.args) or any(not key.arg for key in call.keywords):
        raise _RefusedError("arguments with * or ** are not read")
    given = [_literal(value) for value in call.args]
    known = parameters.get(name)
    named: dict[str, Json] = {}
    for place, value in enumerate(given):
        if known is not None and place >= len(known):
            raise _RefusedError(f"{name} takes {len(known)} arguments, {len(given)} were given")
        named[known[place] if known is not None else ""] = value
    for keyword in call.keywords:
        if keyword.arg in named:
            raise _RefusedError(f"the argument {keyword.arg} is given twice")
        named[str(keyword.arg)] = _literal(keyword.value)
    return named if known is not None else None


def _literal(node: ast.expr) -> Json:
    import ast

    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise _RefusedError(f"an argument must be a literal, not {_kind(node)}") from None
    try:
        return _as_json(value)
    except ValueError:
        raise _RefusedError("an argument is a text, a number, a list, or a dict whose keys are texts") from None


def _as_json(value: object) -> Json:
    """
    *value* with lists for tuples.

    Raises:
        ValueError: JSON has no form for it.
    """
    match value:
        case None | bool():
            return value
        case str():
            value.encode()  # half a character is none
            return value
        case int() if -(2**63) <= value < 2**64:
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_as_json(one) for one in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {_as_json(key): _as_json(one) for key, one in value.items()}
    raise ValueError


def _check_size(statement: ast.stmt, args: dict[str, Json] | None) -> None:
    import ast

    if sum(1 for _ in ast.walk(statement)) > MOST_NODES:
        raise _RefusedError(f"the call has more than {MOST_NODES} parts")
    if any(_depth(value) > MOST_DEPTH for value in (args or {}).values()):
        raise _RefusedError(f"an argument has more than {MOST_DEPTH} lists or dicts inside each other")


def _depth(value: Json) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max((_depth(one) for one in value), default=0) if isinstance(value, list) else 0


def _kind(node: ast.AST) -> str:
    """What *node* is, in the words of somebody who writes Python."""
    value = getattr(node, "value", None)
    name = type(value if type(node).__name__ == "Expr" else node).__name__
    words = {
        "Call": "a call inside a call", "Name": "a name", "Attribute": "an attribute", "JoinedStr": "an f-string",
        "ListComp": "a comprehension", "SetComp": "a comprehension", "DictComp": "a comprehension",
        "GeneratorExp": "a comprehension", "Lambda": "a lambda", "Assign": "an assignment", "AnnAssign": "an assignment",
        "BinOp": "an expression", "Import": "an import", "ImportFrom": "an import", "Constant": "a value", "List": "a list",
        "Dict": "a dict", "Set": "a set", "Tuple": "a tuple",
    }  # fmt: skip
    return words.get(name, f"a statement of the kind {name}")
