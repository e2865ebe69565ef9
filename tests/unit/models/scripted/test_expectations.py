"""What a request must hold, and what is said when it does not."""

import pytest

from harness.models.scripted.expectations import unmet
from harness.models.scripted.script import Expect, ToolResultExpected
from harness.records.messages import Message, ModelRequest, ToolCall, ToolSpec

CALLS = (
    ToolCall("c1", "get_weather", '{"city":"Berlin"}'),
    ToolCall("c2", "get_weather", '{"city":"Rome"}'),
    ToolCall("c3", "read_doc", "{}"),
)
REQUEST = ModelRequest(
    model="gpt-4.1-mini",
    messages=(
        Message("system", "You are helpful.\nPLAN:\n1. Look"),
        Message("user", "Weather?"),
        Message("assistant", "I will ask for Lisbon", (ToolCall("c0", "read_doc", "{}"),)),
        Message("tool", "an old result", (), "c0"),
        Message("assistant", "", CALLS),
        Message("tool", '{"temperature_c": 19}', (), "c2"),
        Message("tool", '{"temperature_c": 7}', (), "c1"),
        Message("tool", "timeout: no such doc", (), "c3"),
    ),
    tools=(ToolSpec("get_weather", "", {}), ToolSpec("read_doc", "", {})),
)


def result(contains, *, name=None, nth=None):
    return ToolResultExpected(name=name, nth=nth, contains=contains)


@pytest.mark.parametrize(
    "expect",
    [
        Expect(),
        Expect(model="gpt-4.1-mini", last_role="tool", n_messages=8),
        Expect(system_contains=("PLAN:", "helpful"), contains=("Weather?", "old result"), not_contains="Atlantis"),
        Expect(tools=("read_doc", "get_weather")),
        Expect(tool_result=result("7", name="get_weather")),
        Expect(tool_result=(result("7", name="get_weather"), result("19", name="get_weather"))),
        Expect(tool_result=(result("7", nth=1), result(("timeout", "doc"), nth=3), result("19", name="get_weather"))),
    ],
)
def test_what_holds_is_not_complained_about(expect):
    """Results are found by name or by the position of their call, in whatever order they came back."""
    assert [] == unmet(expect, REQUEST)


@pytest.mark.parametrize(
    ("expect", "complaint"),
    [
        (Expect(model="gpt-5"), "expected model `gpt-5`, got `gpt-4.1-mini`"),
        (Expect(n_messages=2), "expected 2 messages, got 8"),
        (Expect(last_role="user"), "expected the last message from `user`, got one from `tool`"),
        (
            Expect(system_contains="ISSUES"),
            "expected 'ISSUES' in the system messages, which are 'You are helpful.\\nPLAN:\\n1. Look'",
        ),
        (Expect(contains="Paris"), "expected 'Paris' in a message; the last one is 'timeout: no such doc'"),
        (Expect(contains="Lisbon"), "expected 'Lisbon' in a message; the last one is 'timeout: no such doc'"),
        (Expect(not_contains="timeout"), "expected no 'timeout', got it in 'timeout: no such doc'"),
        (
            Expect(tools=("get_weather", "calculate")),
            "expected the tools `calculate` to be offered, got `get_weather`, `read_doc`",
        ),
        (
            Expect(tool_result=result("8", nth=1)),
            "expected result 1 with '8', got '{\"temperature_c\": 7}'",
        ),
        (
            Expect(tool_result=result("old", name="read_doc")),
            "expected a result of `read_doc` with 'old', got 'timeout: no such doc'",
        ),
        (
            Expect(tool_result=result("x", nth=4)),
            "expected result 4 of the last tool calls, got results of `get_weather`, `get_weather`, `read_doc`",
        ),
        (
            Expect(tool_result=result("x", name="calculate")),
            (
                "expected a result of `calculate` of the last tool calls, got results of `get_weather`, `get_weather`, "
                "`read_doc`"
            ),
        ),
        (
            Expect(tool_result=(result("19", name="get_weather"), result("19", name="get_weather"))),
            "expected one more result of `get_weather` with '19'",
        ),
    ],
)
def test_what_does_not_hold_is_told(expect, complaint):
    """Each complaint names what was expected and what came; the model's own words never satisfy `contains`."""
    assert [complaint] == unmet(expect, REQUEST)


def test_all_complaints_are_told_at_once():
    """One recording shows everything that is wrong with a step."""
    assert 3 == len(unmet(Expect(model="x", n_messages=1, contains=("a b c", "PLAN")), REQUEST))


def test_long_texts_are_cut():
    """A complaint stays readable whatever the request holds."""
    request = ModelRequest(model="m", messages=(Message("user", "x" * 5000),))

    assert len(unmet(Expect(contains="y"), request)[0]) < 300


def test_results_without_a_call_before_them_are_none():
    """A request without tool calls has no results."""
    request = ModelRequest(model="m", messages=(Message("user", "hi"),))

    assert ["expected result 1 of the last tool calls, got results of none"] == unmet(
        Expect(tool_result=result("x", nth=1)), request
    )
