"""Every built-in contract, the contracts of a project's own files, and the choice of those that hold a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from harness.contracts import (
    answer,
    case_rules,
    common,
    conversation,
    deep_think,
    effects,
    grounding,
    leaks,
    lean,
    lean_plan,
    legacy,
    markdown,
    newsdesk,
    searching,
    two_phase,
    ultrathink,
)
from harness.contracts.base import Contract
from harness.errors import BadFileError
from harness.modules import load_module
from harness.records.case import GoldenCase
from harness.records.digest import canonical_json
from harness.records.messages import Json

Catalogue = Mapping[str, Contract]

_MOST_READ = 4096
_read: dict[tuple[int, bytes, str, str], tuple[Catalogue, Contract]] = {}
"""Contracts that golden sets state in full, read once; each keeps its catalogue alive, so that its id stays its own."""

_MODULES = (
    common, effects, conversation, leaks, grounding, searching, markdown, lean, lean_plan, legacy, ultrathink,
    deep_think, newsdesk, two_phase, case_rules, answer,
)  # fmt: skip


@lru_cache(maxsize=1)
def builtin() -> Catalogue:
    """The contracts of this product by id, in the order in which they are asked."""
    found = {contract.id: contract for module in _MODULES for contract in _contracts_in(module)}
    return MappingProxyType({id: found[id] for id in sorted(found, key=_place)})


def load_modules(paths: Sequence[Path], *, over: Catalogue | None = None) -> Catalogue:
    """
    Add the contracts of a project's own Python files to *over* (the built-in ones by default).

    Raises:
        BadFileError: A file is missing, cannot be imported, or states an id that is taken.
    """
    catalogue = dict(builtin() if over is None else over)
    for path in paths:
        for contract in _contracts_in(load_module(path, kind="contracts", code="bad-contract")):
            if contract.id in catalogue:
                raise BadFileError("bad-contract", f"the contract id `{contract.id}` is taken", at=str(path))
            catalogue[contract.id] = contract
    return MappingProxyType(catalogue)


def contracts_for(case: GoldenCase, design: str, catalogue: Catalogue) -> tuple[Contract, ...]:
    """
    The contracts that hold a trial of *case* by *design*: every built-in one that is for the design, then those that
    the case and its set's policies name.

    Raises:
        BadFileError: The case names a contract that does not exist, or states one that cannot be read.
    """
    automatic, ids = _automatic(design.partition("@")[0])
    if all(isinstance(stated, str) and stated in ids for stated in case.contracts):
        return automatic
    chosen = {contract.id: contract for contract in automatic}
    for stated in case.contracts:
        contract = _named(stated, case, catalogue)
        if contract.applies_to(design):
            chosen[contract.id] = contract
    return tuple(chosen.values())


def _named(stated: str | dict[str, Json], case: GoldenCase, catalogue: Catalogue) -> Contract:
    if isinstance(stated, str) and stated in catalogue and not catalogue[stated].needs_options:
        return catalogue[stated]
    key = (id(catalogue), canonical_json(stated), case.at, case.id)
    known = _read.get(key)
    if known is None:
        from harness.contracts.yaml_form import read_contract  # most runs state no contract in full

        if len(_read) >= _MOST_READ:
            _read.clear()
        known = _read[key] = (catalogue, read_contract(stated, catalogue, at=_line(case), where=f"case `{case.id}`"))
    return known[1]


def _line(case: GoldenCase) -> str:
    """`file:line` of the case's contracts, or of the case where they come from a policy."""
    line = case.lines.get("contracts")
    file, colon, _ = case.at.rpartition(":")
    return f"{file}:{line}" if line and colon else case.at


def _place(id: str) -> tuple[int, str, int]:
    """Common contracts first, by number, then those of single designs, then the rules of cases."""
    family, number = id.rstrip("0123456789"), id[len(id.rstrip("0123456789")) :]
    order = {"CX": 0, "CL": 1, "CP": 1, "CU": 1, "CD": 1, "CE": 1, "CG": 1}.get(family, 2)
    return (order, family if order == 1 else "", int(number or 0))


@lru_cache(maxsize=256)
def _automatic(design: str) -> tuple[tuple[Contract, ...], frozenset[str]]:
    chosen = tuple(c for c in builtin().values() if c.applies_to(design) and not c.on_request)
    return chosen, frozenset(c.id for c in chosen)


def _contracts_in(module: ModuleType) -> list[Contract]:
    found: dict[int, Contract] = {}
    for value in vars(module).values():
        if isinstance(value, Contract):
            found[id(value)] = value
    return list(found.values())
