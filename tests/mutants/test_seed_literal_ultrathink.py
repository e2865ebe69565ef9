"""The letter of the reasoning layer's document, run beside the reference: what it breaks, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.records.case import GoldenCase
from harness.testing.fakes import Ran, Said, call, calls, run_agent, says
from harness.testing.mutants import broken_in, findings

from .ground import BERLIN, CREATE, World, done
from .ultrathink import ANY, CLAUDE, RAINY, TURNS

BROKEN_BY_THE_LETTER = {
    "CU1": "models that take a budget are known by four prefixes, and newer ones with such a name take none",
    "CU2": "tools and section are asked for without a model, so that they are the fallback's for every model",
    "CU3": "for the same reason they do not follow the mode; and the section stands while nothing is on",
    "CU6": "the section stands while nothing is on, and models that always think are not known to",
    "CU7": "a model that no prefix knows does not think when it is switched on",
}
ENABLE = call("enable_ultrathink", budget_tokens=4000)
ON = {"ultrathink": True}
OFF: dict[str, Any] = {}


def both(model: str, replies: Sequence[Said], case: GoldenCase, options: dict[str, Any]) -> tuple[Ran, Ran]:
    """The reference and the letter on the same replies."""
    agent = replace(CLAUDE, default_model=model)
    name = "ultrathink@seed_literal"
    return (
        run_agent(agent, replies, world=World(), case=case, options=options),
        run_agent(agent, replies, world=World(), case=case, options=options, name=name),
    )


ONE = (calls(BERLIN), RAINY)
PLANNED = (calls(CREATE), calls(BERLIN), calls(done(1)), RAINY)
SWITCHED = (calls(ENABLE), RAINY, RAINY)


@pytest.mark.parametrize(
    ("model", "replies", "case", "options", "expected"),
    [
        pytest.param("claude-opus-4-7", ONE, ANY, ON, {"CU1", "CU2"}, id="a name with the prefix, no budget"),
        pytest.param("claude-opus-4-8", ONE, ANY, ON, {"CU1", "CU2"}, id="another one"),
        pytest.param("claude-sonnet-4-5", ONE, ANY, ON, {"CU2"}, id="a model that it knows"),
        pytest.param("claude-sonnet-4-5", ONE, ANY, OFF, {"CU2", "CU6"}, id="a model that it knows, off"),
        pytest.param("claude-opus-5-5", ONE, ANY, ON, {"CU2", "CU7"}, id="a model that no prefix knows"),
        pytest.param("claude-opus-5-5", ONE, ANY, OFF, {"CU2", "CU6"}, id="one that always thinks, off"),
        pytest.param("claude-sonnet-5", SWITCHED, TURNS, OFF, {"CU2", "CU6", "CU7"}, id="one that is switched on"),
        pytest.param("gpt-4o", ONE, ANY, ON, set(), id="a fallback with both"),
        pytest.param("gpt-4o", PLANNED, ANY, ON, set(), id="a loop that is not the letter's"),
        pytest.param("gpt-4o", ONE, ANY, OFF, {"CU3", "CU6"}, id="a fallback, off"),
        pytest.param("gpt-4o", ONE, ANY, {**ON, "fallback_mode": "tool"}, {"CU3"}, id="a fallback with a tool"),
        pytest.param("gpt-4o", ONE, ANY, {**ON, "fallback_mode": "prompt"}, {"CU3"}, id="a fallback with a prompt"),
        pytest.param("gpt-4o", ONE, ANY, {"layer": False}, set(), id="no layer"),
    ],
)
def test_what_the_letter_breaks(
    model: str, replies: Sequence[Said], case: GoldenCase, options: dict[str, Any], expected: set[str]
) -> None:
    """The reference keeps every contract on the same replies; the letter breaks these alone."""
    reference, letter = both(model, replies, case, options)

    assert set() == broken_in(findings(case, reference))
    assert expected == broken_in(findings(case, letter))
    assert expected <= set(BROKEN_BY_THE_LETTER)


@pytest.mark.parametrize(
    ("model", "options", "contract", "because"),
    [
        ("claude-opus-4-7", ON, "CU1", "claude-opus-4-7 (adaptive): thinking `enabled` with 10000 tokens is sent"),
        ("claude-opus-4-7", ON, "CU2", "claude-opus-4-7 thinks natively, and is offered think_step_by_step"),
        ("claude-opus-5-5", ON, "CU2", "claude-opus-5-5 thinks natively, and its prompt has the fallback's section"),
        ("gpt-4o", {**ON, "fallback_mode": "prompt"}, "CU3", "mode prompt: think_step_by_step is offered"),
        ("gpt-4o", OFF, "CU6", "not on, and the fallback's section is in the prompt"),
        ("claude-opus-5-5", OFF, "CU6", "not on, and claude-opus-5-5 is not told to use its lowest effort"),
    ],
)
def test_the_finding_says_why(model: str, options: dict[str, Any], contract: str, because: str) -> None:
    """Each finding names the fault in the words of its contract, with a witness."""
    letter = both(model, ONE, ANY, options)[1]
    found = [finding for finding in findings(ANY, letter) if finding.contract == contract]

    assert because in [finding.because for finding in found]
    assert all(finding.witness for finding in found)


def test_the_letter_claims_to_think_without_a_tool_as_well() -> None:
    """The thinking tool that the letter offers to every model does work; it is only not wanted there."""
    thought = call("think_step_by_step", problem="?", reasoning_steps=["a", "b"], conclusion="c")
    letter = both("claude-sonnet-4-5", (calls(thought), says("c")), ANY, ON)[1]

    assert letter.events("tool_result")[0].data.ok
