"""The rules that a case states itself."""

from __future__ import annotations

from harness.contracts.case_rules import RULES, carries, ending, format_, plan, tools, writes
from harness.contracts.catalogue import builtin
from harness.records.case import ToolRule, ToolRules
from harness.records.trace import ErrorRaised
from harness.testing.builders import answer, check, make_case, make_trace, model_turn, plan_updated, reasons, tool_use

BERLIN = make_trace(model_turn(), tool_use("get_weather", {"city": "Berlin"}), answer("7"))


def judged(trace, **rules):
    """The rule `tools` with these rules."""
    return reasons(check(tools, trace, make_case(tools=ToolRules(**rules))))


def test_rules_are_built_in():
    """Every rule of a case stands in the catalogue under its key."""
    assert set(RULES) <= set(builtin())


def test_required_tools():
    """A required tool is found by glob, arguments and count."""
    rule = ToolRule(tool="get_*", args={"city": "berlin"})

    assert ["kept"] == judged(BERLIN, required=(rule,))
    assert ['get_*{"city":"Rome"} is called 0 times, expected at least 1'.replace("{", " with {", 1)] == judged(
        BERLIN, required=(ToolRule(tool="get_*", args={"city": "Rome"}),)
    )
    assert ["vacuous"] == judged(BERLIN)


def test_required_counts():
    """Too few, too many and too few different calls are told apart."""
    again = make_trace(model_turn(), [tool_use("search", {"q": "a"})] * 2, answer("x"))

    assert ["kept"] == judged(again, required=(ToolRule(tool="search", at_least=2),))
    assert ["search is called 2 times, expected at most 1"] == judged(
        again, required=(ToolRule(tool="search", at_most=1),)
    )
    assert ["search is called 1 different times, expected at least 2"] == judged(
        again, required=(ToolRule(tool="search", at_least=2, different=True),)
    )


def test_forbidden_and_allowed_tools():
    """A forbidden call, and one outside of those allowed, break the rule; tools of the agent's own are free."""
    planned = make_trace(model_turn(), tool_use("manage_plan", effect="none"), answer("x"))

    assert ["get_weather is called, which the case forbids"] == judged(BERLIN, forbidden=("get_*",))
    assert ["get_weather is called, which is not among the allowed tools"] == judged(BERLIN, allowed=("calculate",))
    assert ["kept"] == judged(BERLIN, allowed=("get_weather",), forbidden=("update_*",))
    assert ["kept"] == judged(planned, allowed=())
    assert ["manage_plan is called, which the case forbids"] == judged(planned, forbidden=("manage_plan",))


def test_carries():
    """A call carries what is wanted if it has at least those values."""
    assert carries({"city": "Berlin ", "days": 2}, {"city": "berlin"})
    assert not carries({"city": "Berlin"}, {"days": 2})
    assert not carries(None, {})


def test_plan():
    """A plan is seen in a tool call, a model call and an update alike."""
    none, required = make_case(plan="none"), make_case(plan="required")
    by_tool = make_trace(model_turn(), tool_use("manage_plan", effect="none"), answer("x"))
    by_call = make_trace(model_turn(purpose="plan"), answer("x"))
    by_update = make_trace(plan_updated("create", "a"), answer("x"))

    for trace in (by_tool, by_call, by_update):
        assert ["kept"] == reasons(check(plan, trace, required))
        assert ["a plan is made, the case says none"] == reasons(check(plan, trace, none))
    assert ["no plan is made, which the case requires"] == reasons(check(plan, BERLIN, required))
    assert ["vacuous"] == reasons(check(plan, BERLIN))


def test_writes():
    """Good writes are counted; refused ones, and results that are told again, are not."""
    trace = make_trace(
        model_turn(),
        tool_use("update", effect="write"),
        tool_use("update", effect="write", error="denied"),
        tool_use("update", effect="write", cached=True),
        answer("x"),
    )

    assert ["kept"] == reasons(check(writes, trace, make_case(writes=1)))
    assert ["1 writes, expected 0"] == reasons(check(writes, trace, make_case(writes=0)))
    assert ["0 writes, expected 1"] == reasons(check(writes, BERLIN, make_case(writes=1)))
    assert ["vacuous"] == reasons(check(writes, trace))


def test_ending():
    """Status and reason are those that the case expects."""
    failed = make_trace(
        ErrorRaised(kind="max_steps", message="x"), finished={"status": "failed", "reason": "max_steps"}
    )

    assert ["kept"] == reasons(check(ending, BERLIN))
    assert ["kept"] == reasons(check(ending, failed, make_case(status="failed", reason="max_steps")))
    assert ["status failed (max_steps), expected completed"] == reasons(check(ending, failed))
    assert ["reason `max_steps`, expected `llm_errors`"] == reasons(
        check(ending, failed, make_case(status="failed", reason="llm_errors"))
    )


def test_only_the_last_leg_s_ending_counts():
    """A first leg that was cut off does not break the ending of the trial."""
    first = make_trace(finished={"status": "cancelled"})

    assert ["kept"] == reasons(check(ending, [first, BERLIN]))


def test_format():
    """Text has no markup, JSON decodes, Markdown is left to CX15."""
    text, json = make_case(format="text"), make_case(format="json")

    assert ["kept"] == reasons(check(format_, make_trace(answer("It is 7 * 1 °C. #wet")), text))
    assert ["the answer has markup: `**7**`"] == reasons(check(format_, make_trace(answer("It is **7**")), text))
    assert ["kept"] == reasons(check(format_, make_trace(answer('{"a": 1}')), json))
    assert reasons(check(format_, make_trace(answer("{a}")), json))[0].startswith("the answer is no JSON: ")
    assert ["vacuous"] == reasons(check(format_, make_trace(answer("**7**"))))
