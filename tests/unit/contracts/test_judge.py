"""Holding a trial to its contracts."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts import broken, builtin, contract, contracts_for, judge, triggered, verdict_of
from harness.contracts.judge import MOST_FINDINGS
from harness.records.case import Fact, Facts, Leg, ToolRule, ToolRules
from harness.records.finding import Finding
from harness.records.trace import (
    Effect,
    ErrorRaised,
    LlmChunk,
    PhaseStarted,
    StateLoaded,
    StateSaved,
    Thought,
    Trace,
)
from harness.testing.builders import answer, make_case, make_trace, make_trial, model_turn, plan_updated, tool_use

TRACE = make_trace(model_turn("hi"), answer("hi"))
KEPT = Finding(contract="a", state="kept")
BROKEN = Finding(contract="b", state="broken")
ADVISED = Finding(contract="b", state="broken", advisory=True)
UNCHECKED = Finding(contract="c", state="could_not_check")


@contract("always broken")
def always_broken(view):
    """Every event is one too many."""
    for event in view.events:
        yield broken(event, f"{event.type} is one too many")


@contract("crashes")
def crashes(view):
    """A contract with a mistake in it."""
    yield triggered()
    yield view.no_such_thing


@contract("asked once", over="trial")
def asked_once(view):
    """A contract over all legs."""
    yield broken(view.legs[0].events[0], f"{len(view.legs)} legs", leg=0)


def test_kept_and_vacuous():
    """An untroubled trial has one finding for each contract, kept or vacuous."""
    findings = judge(make_case(), make_trial(TRACE), contracts_for(make_case(), "design", builtin()))

    assert {"kept", "vacuous"} == {finding.state for finding in findings}
    assert len(findings) == len({finding.contract for finding in findings})


def test_many_breaks_are_cut():
    """A contract that breaks often is shown a few times, and the last one says how many more there are."""
    findings = judge(make_case(), make_trial(make_trace([answer("x")] * 8)), [always_broken])

    assert MOST_FINDINGS == len(findings)
    assert "final_answer is one too many (and 5 more)" == findings[-1].because
    assert "set.yaml:1" == findings[0].at


def test_a_crash_is_not_a_break():
    """A contract that raises is reported as such, and never as broken."""
    findings = judge(make_case(), make_trial(TRACE), [crashes])

    assert ["could_not_check"] == [finding.state for finding in findings]
    line = Path(__file__).read_text(encoding="utf-8").splitlines().index("    yield view.no_such_thing") + 1
    assert (
        "the contract itself failed: AttributeError: 'TrialView' object has no attribute 'no_such_thing'"
        f" (test_judge.py:{line})" == findings[0].because
    )


@contract("yields a truth value")
def yields_a_truth_value(view):
    """A contract whose author thought of an assertion."""
    yield not view.events


def test_a_contract_that_yields_something_else_is_not_kept():
    """What is neither broken nor triggered would otherwise count as held, whatever it means."""
    findings = judge(make_case(), make_trial(TRACE), [yields_a_truth_value])

    assert ["could_not_check"] == [finding.state for finding in findings]
    assert "it yielded bool, and may yield only broken(…) and triggered(…)" in findings[0].because


def test_advisory():
    """A case can make a contract advisory for a design, for a profile of it, or for all."""
    for key, agent in (("design", "design@x"), ("*", "other"), ("design@x", "design@x")):
        case = make_case(advisory={key: ("always broken",)})
        findings = judge(case, make_trial(TRACE, agent=agent), [always_broken])

        assert findings[0].advisory
        assert "kept" == verdict_of(findings, make_trial(TRACE))
    assert not judge(make_case(advisory={"else": ("always broken",)}), make_trial(TRACE), [always_broken])[0].advisory


def test_legs():
    """A contract over legs is asked for each, one over the trial once; findings know their leg."""
    short = make_trace()
    trial = make_trial(short, short)

    assert {0, 1} == {finding.leg for finding in judge(make_case(), trial, [always_broken])}
    assert [("2 legs", 0)] == [(f.because, f.leg) for f in judge(make_case(), trial, [asked_once])]


def test_verdicts():
    """Could-not-check before broken before kept, as exit code 3 goes before 1; what is advisory does not count."""
    trial = make_trial(TRACE)

    assert "could_not_check" == verdict_of([KEPT, UNCHECKED, BROKEN], trial)
    assert "could_not_check" == verdict_of([BROKEN, UNCHECKED], trial)
    assert "broken" == verdict_of([KEPT, BROKEN], trial)
    assert "could_not_check" == verdict_of([KEPT, UNCHECKED, ADVISED], trial)
    assert "kept" == verdict_of([KEPT, ADVISED], trial)


def test_a_trial_without_a_verdict():
    """A trial that could not be checked has no findings and no verdict, whatever its trace says."""
    trial = make_trial(TRACE, could_not_check="a miss")

    assert () == judge(make_case(), trial, [always_broken])
    assert "could_not_check" == verdict_of([], trial)
    assert "could_not_check" == verdict_of([], make_trial())


RICH = make_trace(
    model_turn("I plan.", calls=[("manage_plan", {"action": "create_plan", "tasks": ["a", "b"]})], purpose="plan"),
    tool_use("manage_plan", {"action": "create_plan", "tasks": ["a", "b"]}, effect="none"),
    plan_updated("create_plan", "a", "b"),
    PhaseStarted(name="fast"),
    PhaseStarted(name="replan"),
    StateLoaded(session_id="s", digest="d", parts={}),
    model_turn(calls=[("search_docs", {"query": "x"})], purpose="step", embeds={"plan": "d"}),
    tool_use("search_docs", {"query": "x"}, error="timeout"),
    tool_use("update", {"id": 1}, effect="write", effects=[Effect("row", "1", 1, 2)]),
    StateSaved(session_id="s", digest="d", parts={"messages": "m", "plan": "p"}),
    plan_updated("replan", "a", statuses=["failed"]),
    model_turn(error="overloaded"),
    Thought(text="A long thought that nobody but the agent itself should ever have to read, or even to hear of."),
    LlmChunk(call_span="llm-1", index=0, text="13 °C", visible=True),
    model_turn("**13** °C"),
    ErrorRaised(kind="max_steps", message="x"),
    answer("**13** °C"),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(RICH) - 1), max_size=40), st.sampled_from(["lean_react", "plan_execute", "own"]))
def test_no_contract_stumbles_over_a_strange_trace(places, design):
    """Whatever events stand in whatever order, twice or not at all: every contract comes to a finding of its own."""
    strange = Trace(tuple(RICH.events[place] for place in places))
    case = make_case(
        class_="complex", plan="required", writes=1, facts=Facts(all=(Fact(number=7),)),
        tools=ToolRules(required=(ToolRule(tool="t"),), allowed=("x",)), legs=(Leg(), Leg(resume=True)),
    )  # fmt: skip

    for traces in ((strange,), (RICH, strange), (strange, RICH)):
        findings = judge(case, make_trial(*traces, agent=design), contracts_for(case, design, builtin()))

        assert [] == [finding for finding in findings if finding.state == "could_not_check"]
