"""Plans as the trace tells them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.plans import apply, plan_at_start, render
from harness.contracts.view import TrialView
from harness.records.trace import PlanStep, StateLoaded, StateSaved
from harness.testing.builders import make_case, make_trace, make_trial, plan_updated

TWO = (PlanStep(1, "read Alpha", "DONE"), PlanStep(2, "read Beta", "PENDING"))


def test_render():
    """One line a step: box, number, text."""
    assert "[x] 1. read Alpha\n[ ] 2. read Beta" == render(TWO)


def test_actions():
    """Each action does to a plan what the tool says of itself."""
    created = apply((), {"action": "create_plan", "tasks": ["read  Alpha", "read Beta"]})
    marked = apply(created, {"action": "mark_done", "step_index": 1})
    changed = apply(marked, {"action": "update_plan", "remove_indices": [2, 9], "add_steps": ["ask"], "position": 1})

    assert TWO == marked
    assert (PlanStep(1, "ask", "PENDING"), PlanStep(2, "read Alpha", "DONE")) == changed
    assert marked == apply(marked, {"action": "read_plan"})
    assert marked == apply(marked, {"action": "mark_done", "step_index": 0})


@given(st.lists(st.text(alphabet="abc", min_size=1), max_size=5), st.integers(-2, 7))
def test_marking_keeps_numbers_and_texts(tasks, number):
    """Marking a step never adds, removes, renames or moves one."""
    plan = apply((), {"action": "create_plan", "tasks": tasks})
    marked = apply(plan, {"action": "mark_done", "step_index": number})

    assert [(s.n, s.text) for s in plan] == [(s.n, s.text) for s in marked]
    assert (1 if 1 <= number <= len(tasks) else 0) == sum(s.status == "DONE" for s in marked)


def test_plan_of_a_resumed_leg():
    """A leg that loads a state starts with the plan as it was when the state was last saved; others with none."""
    saved = StateSaved(session_id="s", digest="d", parts={})
    first = make_trace(plan_updated("create_plan", "a"), saved, plan_updated("mark_done", "a", done=[1]))
    loaded = make_trace(StateLoaded(session_id="s", digest="d", parts={}))
    trial = make_trial(first, loaded)
    view = TrialView(make_case(), trial, 1, earlier=(TrialView(make_case(), trial, 0),))

    assert (PlanStep(1, "a", "PENDING"),) == plan_at_start(view)
    assert () == plan_at_start(TrialView(make_case(), trial, 0))
