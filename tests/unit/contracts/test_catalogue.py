"""The catalogue, a project's own contracts, and the choice for a case."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import harness.contracts
from harness.contracts import Contract, builtin, contracts_for, load_modules
from harness.contracts.catalogue import EVERY_DESIGN, OF_DESIGN
from harness.errors import BadFileError
from harness.records.case import GoldenCase
from harness.testing.builders import make_case

OWN = '''
from harness.contracts import broken, contract, triggered

@contract("polite")
def polite(view):
    """The answer says please."""
    yield triggered()
    if "please" not in view.answer:
        yield broken(view.finals, "no please")
'''


def ids(case: GoldenCase, design: str = "design", catalogue=None) -> list[str]:
    """The ids of the contracts for a case."""
    return [contract.id for contract in contracts_for(case, design, catalogue or builtin())]


def test_every_contract_is_there():
    """The common contracts, those of each design and the rules of cases, in this order, each with a sentence."""
    common = [f"CX{n}" for n in range(1, 16)]
    families = {"CL": 13, "CP": 5, "CU": 12, "CD": 14, "CE": 13, "CG": 13}
    own = [f"{family}{n}" for family, last in families.items() for n in range(1, last + 1)]
    found = [id for id in builtin() if id[:2] in ("CX", *families)]

    assert sorted([*common, *own]) == sorted(found)
    assert common == found[:15]
    assert {"facts", "tools", "plan", "writes", "ending", "format"} <= set(builtin())
    assert all(contract.about.endswith(".") for contract in builtin().values())


def test_a_design_gets_its_own():
    """Each design is held to the common contracts and to its own."""
    assert "CL1" in ids(make_case(), "lean_react@seed_literal")
    assert "CL1" not in ids(make_case(), "plan_execute")
    assert "CP1" in ids(make_case(), "plan_execute")
    assert not [id for id in ids(make_case()) if id[:2] in ("CL", "CP") or id.startswith("answer_")]


def test_named_and_stated_contracts_are_added_once():
    """What a case names comes after the rest, once; contracts of other designs are left out."""
    case = make_case(contracts=("CX13", "CL1", "answer_language", {"never": "delete_*"}))

    assert [*ids(make_case()), "answer_language", "never (tool: delete_*)"] == ids(case)


def test_stated_contracts_know_their_line():
    """A contract that a case states knows the line of the case's contracts."""
    case = make_case(contracts=({"never": "x"},), at="sets/a.yaml:7", lines={"contracts": 12})

    assert "sets/a.yaml:12" == contracts_for(case, "design", builtin())[-1].at


def test_unknown_contract():
    """A name that no contract has is refused with the nearest that exists."""
    with pytest.raises(BadFileError) as caught:
        ids(make_case(contracts=("CX55",), id="weather"))

    assert (
        "error[unknown-contract]: set.yaml:1: case `weather`: no contract named `CX55`\n\n"
        "hint: did you mean `CX5`? `harness list contracts` names every one"
    ) == str(caught.value)


def test_own_contracts(tmp_path):
    """A project's own file adds contracts that its cases can name."""
    path = tmp_path / "own.py"
    path.write_text(OWN)
    catalogue = load_modules([path])

    assert "polite" not in ids(make_case(), catalogue=catalogue)
    assert "polite" in ids(make_case(contracts=("polite",)), catalogue=catalogue)


def test_own_contracts_that_cannot_be_used(tmp_path):
    """A missing file, one that does not import, and an id that is taken are the user's to mend."""
    bad, taken = tmp_path / "bad.py", tmp_path / "taken.py"
    bad.write_text("import no_such_module_at_all")
    taken.write_text(OWN.replace("polite", "CX1", 1))

    for path, message in (
        (tmp_path / "none.py", "there is no such Python file"),
        (bad, "does not load: ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        (taken, "the contract id `CX1` is taken"),
    ):
        with pytest.raises(BadFileError, match=message):
            load_modules([path])


def test_contracts_stand_where_their_design_looks_for_them() -> None:
    """Modules for every design hold contracts for every design, and those of one design are for that one alone."""
    misplaced = []
    for design, names in {"": EVERY_DESIGN, **OF_DESIGN}.items():
        for name in names:
            module = importlib.import_module(f"harness.contracts.{name}")
            found = [value for value in vars(module).values() if isinstance(value, Contract)]
            misplaced += [contract.id for contract in found if contract.designs != ((design,) if design else ())]

    assert [] == misplaced


def test_every_module_with_contracts_is_listed() -> None:
    """No file of contracts is forgotten."""
    folder = Path(harness.contracts.__file__).parent
    written = {path.stem for path in folder.glob("*.py") if '\n@contract("' in path.read_text(encoding="utf-8")}

    assert written <= {*EVERY_DESIGN, *(name for names in OF_DESIGN.values() for name in names)}


def test_a_run_imports_the_contracts_of_its_own_designs() -> None:
    """Choosing for one design leaves the others' modules alone."""
    program = (
        "import sys\n"
        "from harness.contracts.catalogue import builtin, contracts_for, load_modules\n"
        "from harness.records.case import GoldenCase\n"
        "contracts_for(GoldenCase(id='c', contracts=('CX13',)), 'lean_react', load_modules([]))\n"
        "print([name for name in ('lean', 'legacy', 'newsdesk') if f'harness.contracts.{name}' in sys.modules])"
    )

    assert (
        "['lean']\n"
        == subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    )
