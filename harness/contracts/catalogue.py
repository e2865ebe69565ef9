"""Every built-in contract, the contracts of a project's own files, and the choice of those that hold a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType

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

EVERY_DESIGN = (
    "common", "effects", "conversation", "leaks", "grounding", "searching", "markdown", "case_rules", "answer", "rubric",
)  # fmt: skip
"""Modules of this package whose contracts are for every design."""
OF_DESIGN: dict[str, tuple[str, ...]] = {
    "lean_react": ("lean", "lean_plan"),
    "plan_execute": ("legacy",),
    "ultrathink": ("ultrathink", "ultrathink_switches", "ultrathink_thoughts"),
    "deep_think": ("deep_think", "deep_think_calls", "deep_think_answer"),
    "newsdesk": ("newsdesk", "newsdesk_store", "newsdesk_answer"),
    "two_phase": ("two_phase", "two_phase_tools"),
}
"""Modules whose contracts are for one design: a run imports those of the designs that it runs."""


def builtin() -> Catalogue:
    """The contracts of this product by id, in the order in which they are asked; imported at the first look inside."""
    return _BUILTIN


class _Builtin(Mapping[str, Contract]):
    """Every contract of this product, read when somebody asks for one that a design's own choice does not hold."""

    def __getitem__(self, id: str) -> Contract:
        return _all()[id]

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


_BUILTIN: Catalogue = _Builtin()


@lru_cache(maxsize=1)
def _all() -> dict[str, Contract]:
    return _of(dict.fromkeys((*EVERY_DESIGN, *(name for names in OF_DESIGN.values() for name in names))))


def _of(names: Iterable[str]) -> dict[str, Contract]:
    """The contracts of these modules by id, in the order in which they are asked."""
    modules = [import_module(f"harness.contracts.{name}") for name in names]
    found = {contract.id: contract for module in modules for contract in _contracts_in(module)}
    return {id: found[id] for id in sorted(found, key=_place)}


def load_modules(paths: Sequence[Path], *, over: Catalogue | None = None) -> Catalogue:
    """
    Add the contracts of a project's own Python files to *over* (the built-in ones by default).

    Raises:
        BadFileError: A file is missing, cannot be imported, or states an id that is taken.
    """
    if over is None and not paths:
        return builtin()
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
    automatic, near = _automatic(design.partition("@")[0])
    chosen = {contract.id: contract for contract in automatic}
    if all(isinstance(stated, str) and stated in chosen for stated in case.contracts):
        return automatic
    for stated in case.contracts:
        known = near.get(stated) if isinstance(stated, str) else None
        contract = known if known is not None and not known.needs_options else _named(stated, case, catalogue)
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
def _automatic(design: str) -> tuple[tuple[Contract, ...], dict[str, Contract]]:
    """The contracts that hold every trial of *design*, and all that its modules have, those on request included."""
    found = _of((*EVERY_DESIGN, *OF_DESIGN.get(design, ())))
    return tuple(contract for contract in found.values() if not contract.on_request), found


def _contracts_in(module: ModuleType) -> list[Contract]:
    found: dict[int, Contract] = {}
    for value in vars(module).values():
        if isinstance(value, Contract):
            found[id(value)] = value
    return list(found.values())
