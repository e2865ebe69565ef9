"""Golden lint: what is refused although its form is right."""

from __future__ import annotations

import pytest

from harness.errors import BadFileError
from harness.goldensets.lint import can_fail, lint
from harness.goldensets.read import read_set
from harness.records.case import Fact, Facts, GoldenCase, GoldenSet, Limits, ToolRule, ToolRules

SET = "cases:\n  - id: a\n    question: Hi?\n"


def refusal(text: str) -> str:
    with pytest.raises(BadFileError) as caught:
        read_set(text.encode(), name="set", shown="set.yaml")
    return str(caught.value)


def found(text: str, **known: list[str]) -> list[str]:
    return [str(problem) for problem in lint(read_set(text.encode(), name="set", shown="set.yaml"), **known)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SET + "    plan: none\n  - {id: a, question: Hi?, plan: none}\n",
         "error[duplicate-case]: set.yaml:5: case `a`: stands twice, first in line 2"),
        (SET + "    plan: none\n  - {id: A, question: Hi?, plan: none}\n",
         "error[duplicate-case]: set.yaml:5: case `A`: differs from another id in upper and lower case only"),
        (SET + "    turns: [x]\n    plan: none\n",
         ("error[bad-golden]: set.yaml:2: case `a`: has `question` and `turns`; give exactly one of `question`, `turns`, "
         "`content`")),
        ("cases: [{id: a, plan: none}]",
         "error[bad-golden]: set.yaml:1: case `a`: has no question; give exactly one of `question`, `turns`, `content`"),
        (SET + "    plan: none\n    trials: 0\n", "error[bad-golden]: set.yaml:5: case `a`: `trials` must be at least 1"),
        (SET + "    plan: none\n    limits: {llm_calls: -1}\n",
         "error[bad-golden]: set.yaml:5: case `a`: limit `llm_calls` is below 0"),
        (SET + "    plan: none\n    legs: [{resume: true}, {}]\n",
         "error[bad-golden]: set.yaml:5: case `a`: the first leg cannot resume, and the last cannot stop"),
        (SET + "    plan: none\n    legs: [{stop_after: {state_save: 1}}, {resume: true}]\n",
         "error[bad-golden]: set.yaml:5: case `a`: no leg stops after 1 `state_save`\n\nhint: did you mean `state_saved`?"),
        (SET + "    plan: none\n    legs: [{stop_after: {state_saved: 0}}, {resume: true}]\n",
         "error[bad-golden]: set.yaml:5: case `a`: no leg stops after 0 `state_saved`\n\nhint: count from 1"),
        (SET + "    plan: none\n    faults: [{kind: timeout}]\n",
         "error[bad-golden]: set.yaml:5: case `a`: a fault has exactly one of `call` and `tool`"),
        (SET + "    plan: none\n    faults: [{kind: rate_limit, tool: t}]\n",
         ("error[bad-golden]: set.yaml:5: case `a`: no fault `rate_limit` of a tool\n\n"
         "hint: there are: timeout, not_found, denied, crash")),
        (SET + "    plan: none\n    history: [{role: system, text: x}]\n",
         "error[bad-golden]: set.yaml:5: case `a`: a turn of `history` is {role: user or assistant, text: …}"),
        ("cases: [{id: a, content: [{image: ../x.png}], plan: none}]",
         "error[bad-golden]: set.yaml:1: case `a`: image `../x.png` must lie beside the golden set"),
        ("cases: [{id: a, content: [{image: 'C:\\x.png'}], plan: none}]",
         "error[bad-golden]: set.yaml:1: case `a`: image `C:\\x.png` must lie beside the golden set"),
        (SET + "    facts:\n      all: [{regex: '('}]\n",
         "error[bad-regex]: set.yaml:4: case `a`: fact `(`: missing ), unterminated subpattern at position 0"),
        (SET + "    plan: none\n    volatile: ['[']\n",
         "error[bad-regex]: set.yaml:5: case `a`: volatile pattern `[`: unterminated character set at position 0"),
        (SET + "    facts:\n      all: [{regex: 'x*'}]\n",
         "error[case-never-fails]: set.yaml:4: case `a`: fact `x*` matches every answer"),
        (SET + "    facts: {all: ['']}\n",
         "error[case-never-fails]: set.yaml:4: case `a`: an empty text in `facts.all` stands in every answer"),
        (SET + "    facts: {all: [{text: x, number: 7}]}\n",
         "error[bad-golden]: set.yaml:4: case `a`: a fact has exactly one of `text`, `number`, `regex`"),
        (SET + "    facts: {all: [{text: x, tolerance: 1}]}\n",
         "error[bad-golden]: set.yaml:4: case `a`: `tolerance` is at least 0, and only for a `number`"),
        (SET + "    tools: {required: [{tool: t, at_least: 3, at_most: 2}]}\n",
         "error[bad-golden]: set.yaml:4: case `a`: no number of calls of `t` fits"),
        (SET + "    tools: {required: [t], forbidden: [t]}\n",
         "error[bad-golden]: set.yaml:4: case `a`: `t` is required and forbidden"),
        (SET + "    writes: 1\n",
         "error[bad-golden]: set.yaml:4: case `a`: expects writes, but its intent is `read`\n\nhint: set `intent: edit`"),
    ],
)  # fmt: skip
def test_mistakes_that_have_the_right_form(text, said):
    """Each is refused when the set is loaded, with file, line and case."""
    assert said == refusal(text)


def test_unknown_contracts_are_told_with_the_nearest():
    """Contract names are checked where the caller knows them, in cases, policies and `advisory`."""
    text = SET + "    contracts:\n      - CX1\n      - tool_orders\n    advisory: {lean: [plann]}\n"

    assert [
        (
            "error[unknown-contract]: set.yaml:6: case `a`: no contract named `tool_orders`\n\n"
            "hint: did you mean `tool_order`?"
        ),
        "error[unknown-contract]: set.yaml:7: case `a`: no contract named `plann`\n\nhint: did you mean `plan`?",
    ] == found(text, contracts=["CX1", "tool_order", "plan"])


def test_contracts_that_a_case_names_itself_can_be_advisory():
    """A contract in the operator language is known by its `name`, in its own case."""
    text = SET + "    contracts: [{name: no errors, never: error}]\n    advisory: {lean: [no errors, no error]}\n"

    assert [
        "error[unknown-contract]: set.yaml:5: case `a`: no contract named `no error`\n\nhint: did you mean `no errors`?"
    ] == found(text, contracts=["CX1"])


def test_unknown_worlds_are_told_with_those_that_exist():
    """A variant is looked up in its world, so only the folder's name is checked here."""
    text = "world: newsroom/x\n" + SET + "    plan: none\n  - {id: b, question: Hi?, world: office, plan: none}\n"

    assert [
        "error[unknown-world]: set.yaml:6: case `b`: no world named `office`\n\nhint: there are: newsroom"
    ] == found(text, worlds=["newsroom"])


@pytest.mark.parametrize(
    ("expects", "able"),
    [
        ({}, False),
        ({"limits": Limits(llm_calls=1)}, False),
        ({"tools": ToolRules(required=(ToolRule(tool="t", at_least=0),))}, False),
        ({"tools": ToolRules(required=(ToolRule(tool="t", at_least=0, at_most=1),))}, True),
        ({"tools": ToolRules(allowed=())}, True),
        ({"tools": ToolRules(forbidden=("t",))}, True),
        ({"facts": Facts(none=(Fact(text="x"),))}, True),
        ({"plan": "none"}, True),
        ({"writes": 0}, True),
        ({"status": "failed"}, True),
        ({"contracts": ("CX1",)}, True),
        ({"format": "json"}, True),
    ],
)
def test_a_case_must_be_able_to_fail(expects, able):
    """Limits alone expect nothing: every design has its own."""
    assert able == can_fail(GoldenCase(id="a", question="Hi?", **expects))


def test_lint_of_a_clean_set_says_nothing():
    """A set that expects something has no findings."""
    case = GoldenCase(id="a", question="Hi?", plan="none", at="set.yaml:1")

    assert [] == list(lint(GoldenSet(name="s", path="set.yaml", cases=(case,))))
