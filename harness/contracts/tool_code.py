"""
What a model asks for in its tool_code blocks, read independently of any agent, so that a wrong parser is caught.

    ```tool_code
    update_current_feeling("vera", feeling="Happy")
    ```

Blocks are data: they are parsed, and never run. A statement counts as a call where it is a plain name with literal
arguments, `print(…)` around it apart; everything else asks for nothing that may be run.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.records.messages import Json

if TYPE_CHECKING:
    import ast

MOST_BLOCKS = 64
MOST_CHARS = 20_000
"""A block that is longer is not read."""
MOST_STATEMENTS = 64
TAG = "tool_code"
_WHOLE_MOST = 2**63


class Asked(NamedTuple):
    """One statement of a block. *tool* is empty where it is no plain call; *wrong* says why it may not be run."""

    tool: str
    args: tuple[Json, ...] = ()
    named: dict[str, Json] = {}  # noqa: RUF012  # never written to
    wrong: str = ""

    def bound(self, parameters: Mapping[str, str] | None, required: Sequence[str]) -> dict[str, Json] | None:
        """The arguments by name, for a tool with *parameters* in their order; None where they do not fit it."""
        if parameters is None:
            return None if self.args else self.named
        names = list(parameters)
        if len(self.args) > len(names):
            return None
        found = dict(zip(names, self.args, strict=False))
        if found.keys() & self.named.keys() or self.named.keys() - parameters.keys():
            return None
        found |= self.named
        return found if all(name in found for name in required) else None


class Block(NamedTuple):
    """One block, as it stands between its fences; *asked* is None where it is no Python or too long."""

    text: str
    asked: tuple[Asked, ...] | None
    closed: bool
    start: int
    end: int
    """Where it begins and ends in the reply, fences included."""


def blocks_in(text: str) -> list[Block]:
    """
    The tool_code blocks of *text*, in order, at most `MOST_BLOCKS`.

    A block ends at the first closing fence behind which it can be read, so that a fence inside a string does not end
    it; where none does, it ends at the first. It may stand on one line.
    """
    found: list[Block] = []
    place = 0
    for start, end in _fences(text):
        inside = _after_tag(text, end) if start >= place else None
        if inside is None:
            continue
        found.append(_block(text, start, inside, end - start))
        place = found[-1].end
        if len(found) == MOST_BLOCKS:
            break
    return found


def without_blocks(text: str) -> str:
    """*text* without its tool_code blocks."""
    kept, place = [], 0
    for block in blocks_in(text):
        kept.append(text[place : block.start])
        place = block.end
    return "".join((*kept, text[place:]))


def same_value(first: Json, second: Json) -> bool:
    """Whether two JSON values are equal, kinds included: 1 is neither 1.0 nor true."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def statements(source: str) -> tuple[Asked, ...] | None:
    """The statements of a block's *source*; None where it is no Python, or holds too much."""
    body = _parsed(source)
    return None if body is None or len(body) > MOST_STATEMENTS else tuple(_asked(statement) for statement in body)


def _fences(text: str, place: int = 0) -> Iterator[tuple[int, int]]:
    """Beginning and end of each run of three or more backticks from *place* on."""
    while (start := text.find("```", place)) >= 0:
        place = start
        while text[place : place + 1] == "`":
            place += 1
        yield start, place


def _after_tag(text: str, place: int) -> int | None:
    """Where the content of a block begins whose fence ends at *place*; None where it is no tool_code."""
    place = _after_blanks(text, place)
    end = place + len(TAG)
    word_goes_on = text[end : end + 1].isalnum() or text[end : end + 1] == "_"
    return _after_blanks(text, end) if text[place:end].lower() == TAG and not word_goes_on else None


def _after_blanks(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t"):
        place += 1
    return place


def _block(text: str, start: int, inside: int, ticks: int) -> Block:
    """The block whose fence of *ticks* marks begins at *start*, and whose content begins at *inside*."""
    ending: tuple[int, int] | None = None
    closing = ((first, last) for first, last in _fences(text, inside) if last - first >= ticks)
    for tries, fence in enumerate(closing):
        if _parsed(text[inside : fence[0]]) is not None:
            ending = fence
            break
        ending = ending or fence
        if fence[0] - inside > MOST_CHARS or tries == MOST_BLOCKS:
            break
    content, end = ending or (len(text), len(text))
    code = text[inside:content]
    return Block(code, statements(code), ending is not None, start, end)


def _parsed(source: str) -> list[ast.stmt] | None:
    """*source* as Python reads it; None where it cannot, or where there is too much of it."""
    if len(source) > MOST_CHARS:
        return None
    import ast  # needed for one design alone

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash too many in a string is no business of ours
            return ast.parse(_dedented(source.strip("\n").rstrip())).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _dedented(lines: str) -> str:
    import textwrap

    return textwrap.dedent(lines) if "\n" in lines else lines.strip()


def _asked(statement: ast.stmt) -> Asked:
    import ast

    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and _is_print(call):
        call = call.args[0]
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return Asked("", wrong="it is no call of a plain name")
    args: list[Json] = []
    named: dict[str, Json] = {}
    for name, value in _arguments(call):
        known, literal = _literal(value)
        if name is None or not known or name in named:
            return Asked("", wrong=f"the arguments of {call.func.id} are no literals")
        if name:
            named[name] = literal
        else:
            args.append(literal)
    return Asked(call.func.id, tuple(args), named)


def _is_print(call: ast.Call) -> bool:
    import ast

    named = isinstance(call.func, ast.Name) and call.func.id == "print"
    return named and len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Call)


def _arguments(call: ast.Call) -> Iterator[tuple[str | None, ast.expr]]:
    """Each argument with its name: empty for a positional one, None for `*` and `**`."""
    import ast

    for value in call.args:
        yield (None if isinstance(value, ast.Starred) else ""), value
    for keyword in call.keywords:
        yield keyword.arg, keyword.value


def _literal(node: ast.expr) -> tuple[bool, Json]:
    """Whether *node* is a literal that JSON has a form for, and its value."""
    import ast

    try:
        value = _as_json(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False, None
    return True, value


def _as_json(value: Any) -> Json:
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
        case int() if -_WHOLE_MOST <= value < 2 * _WHOLE_MOST:
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_as_json(one) for one in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {_as_json(key): _as_json(one) for key, one in value.items()}
    raise ValueError(f"JSON has no form for {type(value).__name__}")
