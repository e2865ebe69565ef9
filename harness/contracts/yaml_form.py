"""
Contracts as golden sets state them: a name, an operator over selectors, or a contract with options.

    contracts:
      - CX13
      - never: {tool: "delete_*"}
      - name: search before answering
        precedes: {first: {tool: search_docs, ok: true}, then: final_answer}
      - responds: {to: {tool: search_docs, ok: false}, with: search_docs, within: {turns: 2}}
        after: {phase: execute}
      - answer_language: {lang: de}
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.contracts import operators as op
from harness.contracts.base import Contract
from harness.contracts.selectors import selector
from harness.errors import BadFileError
from harness.records.messages import Json

_SCOPES = ("before", "after", "between")
_BESIDE = ("name", *_SCOPES)
"""Keys that may stand beside the operator."""


def read_contract(stated: Json, catalogue: Mapping[str, Contract], *, at: str = "", where: str = "") -> Contract:
    """
    Read one entry of `contracts`.

    Args:
        stated: A name, or a mapping with one operator or one contract's name, and keys beside it.
        catalogue: The contracts that can be named.
        at: `file:line` of the entry, for errors and findings.
        where: Whose entry it is, such as ``case `weather` ``, for errors.

    Raises:
        BadFileError: It names what does not exist, or cannot be read.
    """
    where = f"{where}: " if where else ""
    if isinstance(stated, str):
        if stated not in catalogue:
            raise _unknown(stated, catalogue, at, where)
        contract = catalogue[stated]
        return contract.with_options(at=at) if contract.needs_options else contract
    if not isinstance(stated, dict):
        raise BadFileError("bad-contract", f"{where}a contract is a name or a mapping, not `{stated}`", at=at)
    heads = [key for key in stated if key not in _BESIDE]
    if len(heads) != 1:
        named = ", ".join(f"`{key}`" for key in heads) or "none"
        raise BadFileError("bad-contract", f"{where}a contract states exactly one operator, this one {named}", at=at)
    head, id = heads[0], str(stated.get("name", ""))
    if head in _OPERATORS:
        return _OPERATORS[head](stated[head], {"scope": _scope(stated, at), "id": id, "at": at})
    if head not in catalogue:
        raise _unknown(head, catalogue, at, where)
    options = stated[head] or {}
    if not isinstance(options, dict) or any(key in stated for key in _SCOPES):
        raise BadFileError("bad-contract", f"{where}`{head}` takes options and no scope", at=at)
    return catalogue[head].with_options(id=id, at=at, **options)


def _unknown(name: str, catalogue: Iterable[str], at: str, where: str) -> BadFileError:
    close = difflib.get_close_matches(name, [*catalogue, *_OPERATORS], n=1, cutoff=0.5)
    nearest = f"did you mean `{close[0]}`? " if close else ""
    message = f"{where}no contract named `{name}`"
    return BadFileError("unknown-contract", message, hint=f"{nearest}`harness list contracts` names every one", at=at)


def _scope(stated: dict[str, Json], at: str) -> op.Scope:
    given = [key for key in _SCOPES if key in stated]
    if len(given) > 1:
        raise BadFileError("bad-contract", f"a contract has one scope, this one {', '.join(given)}", at=at)
    if not given:
        return op.GLOBALLY
    value = stated[given[0]]
    if given[0] != "between":
        return op.Scope(given[0], selector(value, at=at))  # type: ignore[arg-type]
    first, second = _pair(value, ("from", "to"), "between", at)
    return op.between(selector(first, at=at), selector(second, at=at))


def _pair(value: Json, keys: tuple[str, str], head: str, at: str) -> tuple[Json, Json]:
    """Two selectors, as a list or under their keys."""
    if isinstance(value, list) and len(value) == 2:
        return value[0], value[1]
    if isinstance(value, dict) and set(value) == set(keys):
        return value[keys[0]], value[keys[1]]
    raise BadFileError("bad-contract", f"`{head}` takes {{{keys[0]}: …, {keys[1]}: …}}, not `{value}`", at=at)


def _one(make: Callable[..., Contract]) -> Callable[[Json, dict[str, Any]], Contract]:
    return lambda value, place: make(selector(value, at=place["at"]), **place)


def _two(make: Callable[..., Contract], head: str, keys: tuple[str, str]) -> Callable[[Json, dict[str, Any]], Contract]:
    def read(value: Json, place: dict[str, Any]) -> Contract:
        first, second = _pair(value, keys, head, place["at"])
        return make(selector(first, at=place["at"]), selector(second, at=place["at"]), **place)

    return read


def _number(make: Callable[..., Contract], head: str) -> Callable[[Json, dict[str, Any]], Contract]:
    def read(value: Json, place: dict[str, Any]) -> Contract:
        n, what = _pair(value, ("n", "of"), head, place["at"])
        if not isinstance(n, int) or isinstance(n, bool) or n < 0:
            raise BadFileError("bad-contract", f"`n` of `{head}` is a count, not `{n}`", at=place["at"])
        return make(n, selector(what, at=place["at"]), **place)

    return read


def _responds(value: Json, place: dict[str, Any]) -> Contract:
    at = place["at"]
    if not isinstance(value, dict) or not {"to", "with"} <= set(value) <= {"to", "with", "within"}:
        raise BadFileError("bad-contract", f"`responds` takes {{to: …, with: …, within: …}}, not `{value}`", at=at)
    within = value.get("within", {})
    if (
        not isinstance(within, dict)
        or not set(within) <= {"events", "turns"}
        or not all(map(_is_count, within.values()))
    ):
        message = f"`within` takes {{events: n}} or {{turns: n}}, not `{within}`"
        raise BadFileError("bad-contract", message, at=at)
    limits = {f"within_{name}": count for name, count in within.items()}
    return op.responds(selector(value["to"], at=at), selector(value["with"], at=at), **limits, **place)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_OPERATORS: dict[str, Callable[[Json, dict[str, Any]], Contract]] = {
    "never": _one(op.never),
    "eventually": _one(op.eventually),
    "at_least": _number(op.at_least, "at_least"),
    "at_most": _number(op.at_most, "at_most"),
    "exactly": _number(op.exactly, "exactly"),
    "always": _two(op.always, "always", ("each", "is")),
    "precedes": _two(op.precedes, "precedes", ("first", "then")),
    "responds": _responds,
    "same_turn": _two(op.same_turn, "same_turn", ("this", "that")),
    "not_same_turn": _two(op.not_same_turn, "not_same_turn", ("this", "that")),
}
OPERATORS = tuple(_OPERATORS)
"""The names of the operators."""
