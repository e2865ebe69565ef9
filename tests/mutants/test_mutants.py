"""Each contract of every run is kept by sound agents and broken by a mutant made for it, and by nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.contracts.catalogue import builtin
from harness.testing.mutants import FAMILIES, Mutant, broken_in, findings

from . import MUTANTS

BEYOND_CODE = {
    "CX1": "an empty trace, and a trial id that changes: the writer opens every trace, and has one id",
    "CX3": "a refused call with effects: what is refused never reaches a function that could have any",
    "CX6": "rounds, tool calls and writes over their limits: models ask for them, and no loop here counts them",
    "CX7": "thinking streamed to the user: the client shows no channel but text",
    "CX8": "a trial with a miss: it has no verdict at all, so that no contract is asked",
    "CG9": "a link that leads out of the file area: the path that stands in the trace is inside",
    "CL7": "another state than the one saved last: the store has no older ones",
}
"""Parts of contracts that no agent can break while the runtime stands; hand-made traces beside the contracts break them."""

by_id = pytest.mark.parametrize("mutant", [pytest.param(mutant, id=mutant.id) for mutant in MUTANTS])


@by_id
def test_the_sound_twin_keeps_it(mutant: Mutant) -> None:
    """Without the change the contract is asked and kept, and no other one breaks."""
    ran = mutant.run_sound()
    found = findings(mutant.case, ran)

    assert "" == ran.trial.code, ran.trial.because
    assert set() == broken_in(found)
    assert ["kept"] == [finding.state for finding in found if finding.contract == mutant.contract]


@by_id
def test_the_mutant_breaks_it(mutant: Mutant) -> None:
    """With the change the contract breaks, and beside it those alone that are explained."""
    ran = mutant.run()

    assert "" == ran.trial.code, ran.trial.because
    assert {mutant.contract, *mutant.also} == broken_in(findings(mutant.case, ran))


@by_id
def test_the_finding_shows_it(mutant: Mutant) -> None:
    """The finding names what is wrong, and the events of the trace that show it."""
    ran = mutant.run()
    found = [finding for finding in findings(mutant.case, ran) if finding.contract == mutant.contract]

    assert any(mutant.because in finding.because for finding in found), [finding.because for finding in found]
    for finding in found:
        events = {event.seq for event in ran.trial.traces[finding.leg].events}
        assert finding.witness
        assert set(finding.witness) <= events


def test_every_contract_has_a_mutant() -> None:
    """No contract of every run goes without code that breaks it."""
    wanted = {id for id in builtin() if id.rstrip("0123456789") in FAMILIES}

    assert wanted == {mutant.contract for mutant in MUTANTS}


def test_what_code_cannot_break_is_a_part_only() -> None:
    """Where a part of a contract is beyond code, the rest of it has mutants."""
    assert set(BEYOND_CODE) <= {mutant.contract for mutant in MUTANTS}


def test_each_mutant_is_told_apart() -> None:
    """Every mutant has a name of its own, and says why it breaks what it breaks beside."""
    assert [] == [id for id, number in Counter(mutant.id for mutant in MUTANTS).items() if number > 1]
    assert [] == [mutant.id for mutant in MUTANTS if not mutant.about or not all(mutant.also.values())]
