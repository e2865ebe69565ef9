"""The letter of the deep-thinking design's document, run beside the reference: what it breaks, and nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.agents.load import load_agent
from harness.records.case import GoldenCase
from harness.testing.fakes import Ran, Said, run_agent, says
from harness.testing.mutants import broken_in, findings

from .deep_think import CORRECTED, DEEP, FAIL, HEDGED, KNOWING, SHEEP, SOLVED, SUMMARY, THREE
from .ground import AGENTS

LITERAL = load_agent(AGENTS, "deep_think@seed_literal")
YES = says("yes: the count is right.")
PLAN = says("1. Count. 2. Check.")
BROKEN_BY_THE_LETTER = {
    "CD1": "one pass leads to the summary, and a correction back to solving",
    "CD2": "one pass ends the run, whatever is required",
    "CD3": "a correction is not shown the issues, and another solution is verified in its place",
    "CD7": "“yes” anywhere in a reply is a pass, and nothing else is",
    "CD8": "the plan is asked for without its instruction, and nobody is shown it",
}
ALSO = {
    "CD4": "the first pass counts twice",
    "CD5": "a run whose rounds are used up ends as one that passed, without an error",
    "CD14": "the prompts have no place for background knowledge",
}
PASSED = {"CD1", "CD2", "CD4", "CD7"}


def both(
    reference: Sequence[Said], literal: Sequence[Said], case: GoldenCase, options: Mapping[str, Any]
) -> tuple[Ran, Ran]:
    """The reference and the letter, each on the replies to what it asks."""
    own = {"enable_self_improvement": False, **options}
    return (
        run_agent(DEEP, reference, case=case, options=own),
        run_agent(LITERAL, literal, case=case, name="deep_think@seed_literal", options=own),
    )


@pytest.mark.parametrize(
    ("reference", "literal", "case", "options", "expected"),
    [
        pytest.param((SOLVED, *THREE, SUMMARY), (SOLVED, YES, SUMMARY), SHEEP, {}, PASSED, id="it passes"),
        pytest.param(
            (SOLVED, HEDGED, CORRECTED, *THREE, SUMMARY), (SOLVED, HEDGED, SUMMARY), SHEEP, {}, PASSED, id="it is unclear"
        ),
        pytest.param(
            (SOLVED, FAIL, CORRECTED, *THREE, SUMMARY), (SOLVED, FAIL, CORRECTED, CORRECTED, YES, SUMMARY), SHEEP, {},
            PASSED | {"CD3"}, id="it fails and is corrected",
        ),
        pytest.param(
            (PLAN, SOLVED, *THREE, SUMMARY), (PLAN, SOLVED, YES, SUMMARY), SHEEP, {"enable_planning": True},
            PASSED | {"CD8"}, id="it is planned",
        ),
        pytest.param(
            (SOLVED, FAIL, SUMMARY), (SOLVED, FAIL, CORRECTED, SUMMARY), SHEEP, {"max_iterations": 1},
            {"CD1", "CD2", "CD5", "CD7"}, id="it fails to the end",
        ),
        pytest.param(
            (SOLVED, *THREE, SUMMARY), (SOLVED, YES, SUMMARY), KNOWING, {}, PASSED | {"CD14"}, id="something is known"
        ),
    ],
)  # fmt: skip
def test_what_the_letter_breaks(
    reference: Sequence[Said],
    literal: Sequence[Said],
    case: GoldenCase,
    options: Mapping[str, Any],
    expected: set[str],
) -> None:
    """The reference keeps every contract on the same question; the letter breaks these alone."""
    sound, letter = both(reference, literal, case, options)

    assert ("", "") == (sound.trial.code, letter.trial.code)
    assert set() == broken_in(findings(case, sound))
    assert expected == broken_in(findings(case, letter))
    assert expected <= {*BROKEN_BY_THE_LETTER, *ALSO}


@pytest.mark.parametrize(
    ("literal", "options", "contract", "because"),
    [
        ((SOLVED, YES, SUMMARY), {}, "CD1", "the summary comes after 2 passes in a row"),
        ((SOLVED, FAIL, CORRECTED, SOLVED, YES, SUMMARY), {}, "CD1", "solve follows correct"),
        ((SOLVED, YES, SUMMARY), {}, "CD2", "completed after 1 verdicts, required are 3"),
        (
            (SOLVED, FAIL, CORRECTED, CORRECTED, YES, SUMMARY), {}, "CD3",
            "the correction is not shown the issues of the verdict",
        ),
        ((SOLVED, HEDGED, SUMMARY), {}, "CD7", "the reply states unparsable, the verdict is pass"),
        ((PLAN, SOLVED, YES, SUMMARY), {"enable_planning": True}, "CD8", "the call for solve is not shown the plan"),
    ],
)  # fmt: skip
def test_the_finding_says_why(literal: Sequence[Said], options: Mapping[str, Any], contract: str, because: str) -> None:
    """Each finding names the fault in the words of its contract, with a witness."""
    letter = both((), literal, SHEEP, options)[1]
    found = [finding for finding in findings(SHEEP, letter) if finding.contract == contract]

    assert because in [finding.because for finding in found]
    assert all(finding.witness for finding in found)
