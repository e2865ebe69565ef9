"""The table of contracts and mutants is computed from what the tests run."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import MUTANTS, contract_table


def test_mutants_stand_where_they_break_something():
    """A mutant stands beside its own contract, and beside every other one that it breaks."""
    mutants = [mutant for mutant in MUTANTS if mutant.id.startswith("two-phase-")]
    broken = contract_table.broken_by(mutants)

    assert {(one.contract, one.id) for one in mutants} <= {(id, name) for id, names in broken.items() for name in names}
    assert {"two-phase-evaluates"} == broken["CG3"]
    assert "two-phase-evaluates" in broken["CG2"]


def test_every_letter_breaks_something():
    """Each test of a design's letter runs a literal profile, which breaks a contract there."""
    broken = contract_table.broken_by_letters()
    found = {name for names in broken.values() for name in names}

    assert len(list(Path(__file__).parent.glob("test_seed_literal*.py"))) == len(found)
    assert {"two_phase@seed_literal"} == broken["CG2"]


def test_arguments_of_a_test():
    """Single and several parameters, plain and with an id, one mark and two."""

    @pytest.mark.parametrize("c", [1, 2])
    @pytest.mark.parametrize(("a", "b"), [pytest.param("x", (3,), id="named")])
    def test(a, b, c):
        """Nothing."""

    assert [{"a": "x", "b": (3,), "c": 1}, {"a": "x", "b": (3,), "c": 2}] == list(contract_table.arguments_of(test))
