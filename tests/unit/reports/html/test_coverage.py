"""Contract coverage: counted by contract and design."""

from __future__ import annotations

from harness.records.finding import Finding
from harness.reports.html.coverage import Count, coverage
from harness.reports.problems import Rule

from .pages import verdict

SCRIPTED, SMALL = ("lean_react", "scripted", "scripted"), ("lean_react", "small", "local")


def finding(contract: str, state: str, **changes) -> Finding:
    """One finding."""
    return Finding(contract=contract, state=state, **changes)


def test_states_are_counted_by_contract_and_design():
    """Triggered is kept and broken; vacuous stands apart."""
    rows = coverage(
        [
            verdict("S1", findings=(finding("CX1", "kept"), finding("CX2", "vacuous"))),
            verdict("S2", findings=(finding("CX1", "broken"), finding("CX2", "vacuous", advisory=True))),
            verdict("S1", model="small", provenance="local", findings=(finding("CX1", "could_not_check"),)),
        ],
        {"CX1": Rule("First.")},
    )

    assert [("CX1", "First.", False), ("CX2", "", False)] == [(row.contract, row.about, row.advisory) for row in rows]
    assert Count(kept=1, broken=1, could_not_check=1) == rows[0].total
    assert (2, 3) == (rows[0].total.triggered, rows[0].total.held)
    assert {SCRIPTED: Count(kept=1, broken=1), SMALL: Count(could_not_check=1)} == rows[0].designs
    assert (0, 2) == (rows[1].total.triggered, rows[1].total.vacuous)


def test_advisory_is_what_never_blocks():
    """A contract that is advisory in each trial is marked as such."""
    (row,) = coverage([verdict("S1", findings=(finding("a", "kept", advisory=True),))], {})

    assert row.advisory
