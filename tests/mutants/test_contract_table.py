"""The table of contracts and mutants is computed from what the tests run."""

from __future__ import annotations

from types import SimpleNamespace

from harness.agents.load import list_agents, load_agent
from harness.records.finding import Finding
from harness.records.run import Cell

from . import MUTANTS, contract_table
from .ground import AGENTS


def test_mutants_stand_where_they_break_something():
    """A mutant stands beside its own contract, and beside every other one that it breaks."""
    mutants = [mutant for mutant in MUTANTS if mutant.id.startswith("two-phase-")]
    broken = contract_table.broken_by(mutants)

    assert {(one.contract, one.id) for one in mutants} <= {(id, name) for id, names in broken.items() for name in names}
    assert {"two-phase-boasts"} == broken["CG8"]
    assert "two-phase-evaluates" in broken["CG2"]


def test_every_letter_is_tested():
    """Each design with a literal profile has a file of tests of its own, where the table looks for it."""
    literal = [name for name in list_agents(AGENTS) if "seed_literal" in load_agent(AGENTS, name).profiles]

    assert sorted(f"test_seed_literal_{name}.py" for name in literal) == sorted(
        path.name for path in contract_table.HERE.glob("test_seed_literal*.py")
    )


def test_letters_are_heard():
    """What a literal profile breaks in a test is remembered, what a reference breaks is not; the test sees it all."""
    found = (Finding(contract="CX1", state="broken"), Finding(contract="CX2", state="kept"))
    module = SimpleNamespace(findings=lambda case, ran: found)
    letters = contract_table.Letters()
    letters.pytest_collection_modifyitems([SimpleNamespace(module=module)] * 2)
    runs = [SimpleNamespace(cell=Cell(name, "scripted", "tests", "case")) for name in ("a", "b@seed_literal")]

    assert [found, found] == [module.findings(None, ran) for ran in runs]
    assert {"CX1": {"b@seed_literal"}} == letters.broken
