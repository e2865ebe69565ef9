"""Selectors."""

from __future__ import annotations

import pytest

from harness.contracts.selectors import Selector, selector
from harness.contracts.view import TrialView
from harness.errors import BadFileError
from harness.testing.builders import answer, make_case, make_event, make_trace, make_trial, model_turn, tool_use

TRACE = make_trace(
    make_event(model_turn(purpose="plan")[0], phase="plan"),
    model_turn(calls=[("update", {"id": 120, "to": "P2"})]),
    tool_use("update", {"id": 120, "to": "P2"}, effect="write"),
    tool_use("search_docs", {"query": "Gamma"}, error="timeout"),
    answer("Sorry, nothing."),
)
VIEW = TrialView(make_case(), make_trial(TRACE))


def chosen(stated):
    """The numbers of the events that a selector chooses."""
    return [event.seq for event in selector(stated).find(VIEW)]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("update", [4]),
        ("final_answer", [8]),
        ({"tool": "*"}, [4, 6]),
        ({"type": "tool_result", "tool": "search_*"}, [7]),
        ({"tool": "*", "ok": False}, [6]),
        ({"type": "tool_result", "ok": True}, [5]),
        ({"tool": "*", "error": "time*"}, [6]),
        ({"effect": "write"}, [4]),
        ({"args": {"id": 120}}, [4]),
        ({"args": {"id": {"ge": 100, "lt": 121}}}, [4]),
        ({"args": {"id": {"gt": 120}}}, []),
        ({"args": {"id": {"le": 119}}}, []),
        ({"args": {"to": {"in": ["p1", "p2"]}}}, [4]),
        ({"args": {"to": {"not": "P2"}}}, []),
        ({"args": {"query": {"matches": "^Gam"}}}, [6]),
        ({"args": {"query": {"contains": "amm"}}}, [6]),
        ({"args": {"query": {"exists": False}}}, [4]),
        ({"args": {"query": {"equals": "gamma"}}}, [6]),
        ({"purpose": "plan"}, [1]),
        ({"phase": "pl*"}, [1]),
        ({"turn": 2, "type": "llm_result"}, [3]),
        ({"type": "final_answer", "text": "(?i)sorry"}, [8]),
        ({"status": "completed"}, [9]),
        ({"type": "llm_result", "ok": True}, [3]),
    ],
)
def test_choice(stated, expected):
    """Each key narrows the choice as it says."""
    assert expected == chosen(stated)


def test_own_predicate():
    """In Python a predicate of one's own may choose."""
    assert [8] == [event.seq for event in Selector(where=lambda event: event.seq == 8).find(VIEW)]


def test_names():
    """A selector is named by what it states."""
    assert "tool: up*, ok: True" == str(selector({"tool": "up*", "ok": True}))
    assert "type: final_answer" == str(selector("final_answer"))
    assert "any event" == str(Selector())


@pytest.mark.parametrize(
    ("stated", "message", "hint"),
    [
        ({"tol": "x"}, "a selector has no key `tol`", "did you mean `tool`?"),
        ({"type": "tool_cal"}, "no event type `tool_cal`", "did you mean `tool_call`?"),
        ({"ok": "yes"}, "`ok` of a selector cannot be `yes`", ""),
        ({"turn": True}, "`turn` of a selector cannot be `True`", ""),
        ({"args": {"id": {"over": 3}}}, "argument `id`: no comparison `over`", "known: equals"),
        ({"args": {"id": {"ge": "3"}}}, "argument `id`: `ge` needs a number, not `3`", ""),
        ({"args": {"id": {"in": 3}}}, "argument `id`: `in` needs a list, not `3`", ""),
        ({"text": "("}, "not a regular expression: (", ""),
        (3, "a selector is a mapping such as `{tool: search_docs}`, not `3`", ""),
    ],
)
def test_mistakes(stated, message, hint):
    """A selector that cannot be read says what is wrong and what would be right."""
    with pytest.raises(BadFileError) as caught:
        selector(stated, at="set.yaml:4")

    assert caught.value.message.startswith(message)
    assert caught.value.hint.startswith(hint)
    assert "set.yaml:4" == caught.value.at
