"""The letter of the lean design's document, run beside the reference: what it breaks, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from harness.records.case import GoldenCase, Limits
from harness.testing.fakes import Ran, Said, calls, fails, run_agent, says
from harness.testing.mutants import broken_in, findings

from .ground import BERLIN, COMPLEX, CREATE, LEAN, LITERAL, NOTE, SIMPLE, World, done

BROKEN_BY_THE_LETTER = {
    "CX6": "errors and empty replies cost no step, so that the loop runs into the limit of the trial",
    "CX10": "the plan stands in the system prompt, which changes whenever the plan does",
    "CL12": "errors and empty replies cost no step, and no number of errors ends the run",
}
ALSO = {"CL1": "the call at which the trial's limit stops it is one more than max_steps, which is the same number here"}
LIMITED = msgspec.structs.replace(COMPLEX, limits=Limits(llm_calls=20))
DOWN = (fails(),) * 20
SILENT = (says(""),) * 20
PLANNED = (calls(CREATE), calls(BERLIN), calls(done(1)), calls(NOTE), calls(done(2)), says("Noted."))


def both(replies: Sequence[Said], case: GoldenCase) -> tuple[Ran, Ran]:
    """The reference and the letter on the same replies; the reference is not given those that it never asks for."""
    asked = len(run_agent(LEAN, replies, world=World(), case=case).requests)
    return (
        run_agent(LEAN, replies[:asked], world=World(), case=case),
        run_agent(LITERAL, replies, world=World(), case=case, name="lean_react@seed_literal"),
    )


@pytest.mark.parametrize(
    ("replies", "case", "expected"),
    [
        pytest.param(DOWN, LIMITED, {"CX6", "CL12", "CL1"}, id="the provider is down"),
        pytest.param(SILENT, LIMITED, {"CX6", "CL12", "CL1"}, id="the model says nothing"),
        pytest.param(PLANNED, LIMITED, {"CX10"}, id="a plan is worked off"),
        pytest.param((fails(), calls(BERLIN), says("7 °C")), SIMPLE, {"CL12"}, id="one error"),
        pytest.param((calls(BERLIN), says("7 °C")), SIMPLE, set(), id="nothing special"),
    ],
)
def test_what_the_letter_breaks(replies: Sequence[Said], case: GoldenCase, expected: set[str]) -> None:
    """The reference keeps every contract on the same replies; the letter breaks these alone."""
    reference, letter = both(replies, case)

    assert set() == broken_in(findings(case, reference))
    assert expected == broken_in(findings(case, letter))
    assert expected <= {*BROKEN_BY_THE_LETTER, *ALSO}


@pytest.mark.parametrize(
    ("replies", "contract", "because"),
    [
        (DOWN, "CX6", "21 model calls, the limit is 20"),
        (DOWN, "CL12", "a model call did not count: step 1 again"),
        (SILENT, "CL12", "a model call did not count: step 1 again"),
        (PLANNED, "CX10", "the system prompt changed inside a tool loop"),
    ],
)
def test_the_finding_says_why(replies: Sequence[Said], contract: str, because: str) -> None:
    """Each finding names the fault in the words of its contract, with a witness."""
    found = [finding for finding in findings(LIMITED, both(replies, LIMITED)[1]) if finding.contract == contract]

    assert because in [finding.because for finding in found]
    assert all(finding.witness for finding in found)
