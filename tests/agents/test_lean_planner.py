"""`manage_plan`: what each action does, what it refuses, and what stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent
from harness.records.tool import Tool, ToolError, as_tool


@pytest.fixture(scope="session")
def planner_module(lean: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType]) -> ModuleType:
    """The module of the tool."""
    return part(lean, "planner")


@pytest.fixture
def planner(planner_module: ModuleType) -> Any:
    """A planner without a plan."""
    return planner_module.Planner()


@pytest.fixture
def planned(planner: Any) -> Any:
    """A planner with the steps a, b, c, of which b is done."""
    planner.manage_plan("create_plan", tasks=["a", "b", "c"])
    planner.manage_plan("mark_done", step_index=2)
    return planner


def refusal(planner: Any, action: str, **args: Any) -> str:
    """The message with which an action is refused; the plan must stay as it was."""
    before = planner.render()
    with pytest.raises(ToolError) as caught:
        planner.manage_plan(action, **args)

    assert before == planner.render()
    assert "invalid_args" == caught.value.kind
    return caught.value.message


def test_create_answers_with_the_whole_list(planner: Any) -> None:
    """A new plan comes back step by step, numbered from 1, all open."""
    assert "Plan mit 2 Schritten angelegt.\n[ ] 1. lesen\n[ ] 2. antworten" == planner.manage_plan(
        "create_plan", tasks=["lesen", " antworten \n"]
    )


def test_create_overwrites(planned: Any) -> None:
    """A second plan takes the place of the first, done steps included."""
    planned.manage_plan("create_plan", tasks=["neu"])

    assert "[ ] 1. neu" == planned.render()


@pytest.mark.parametrize("tasks", [[], [""], ["a", "  "]])
def test_create_needs_texts(planned: Any, tasks: list[str]) -> None:
    """No task, or a blank one, is refused."""
    assert "tasks muss eine Liste nicht leerer Texte sein" == refusal(planned, "create_plan", tasks=tasks)


@pytest.mark.parametrize("tasks", ["a, b", None, 3, [1]])
def test_tasks_that_are_no_list_do_not_reach_the_planner(planned: Any, tasks: Any) -> None:
    """The tool's schema refuses tasks that are no list of texts."""
    with pytest.raises(ToolError, match="invalid arguments for manage_plan"):
        as_tool(planned.manage_plan).check({"action": "create_plan", "tasks": tasks})


def test_mark_done_counts_from_one(planned: Any) -> None:
    """Step 1 is the first one, and the answer says how many are open."""
    assert "Schritt 1 erledigt, 1 offen.\n[x] 1. a\n[x] 2. b\n[ ] 3. c" == planned.manage_plan(
        "mark_done", step_index=1
    )


def test_mark_done_twice_changes_nothing(planned: Any) -> None:
    """A step that is done stays done, and the answer says so."""
    before = planned.steps

    assert planned.manage_plan("mark_done", step_index=2).startswith("Schritt 2 war schon erledigt.")
    assert before == planned.steps


@pytest.mark.parametrize("number", [0, -1, 4])
def test_mark_done_outside_the_plan(planned: Any, number: int) -> None:
    """A number that no step has is refused with the numbers that there are."""
    assert f"step_index {number} gibt es nicht; der Plan hat die Schritte 1 bis 3" == refusal(
        planned, "mark_done", step_index=number
    )


@pytest.mark.parametrize(("action", "args"), [("mark_done", {"step_index": 1}), ("update_plan", {"add_steps": ["x"]})])
def test_changes_need_a_plan(planner: Any, action: str, args: dict[str, Any]) -> None:
    """Without a plan nothing can be ticked off or changed."""
    assert "Kein aktiver Plan. Lege zuerst mit create_plan einen an" == refusal(planner, action, **args)


def test_read(planner: Any, planned: Any) -> None:
    """Reading gives the list, or says that there is none."""
    assert "[ ] 1. a\n[x] 2. b\n[ ] 3. c" == planned.manage_plan("read_plan")
    planned.set_state(None)

    assert "Kein aktiver Plan." == planned.manage_plan("read_plan")
    assert "" == planned.render()


def test_update_removes_then_adds(planned: Any) -> None:
    """Numbers are those of the plan before the change; new steps go to the end."""
    said = planned.manage_plan("update_plan", add_steps=["d"], remove_indices=[3, 1])

    assert "1 Schritte ergänzt, 2 gestrichen.\n[x] 1. b\n[ ] 2. d" == said


def test_update_inserts_at_a_position(planned: Any) -> None:
    """The first new step gets the number that is asked for."""
    planned.manage_plan("update_plan", add_steps=["x", "y"], position=2)

    assert "[ ] 1. a\n[ ] 2. x\n[ ] 3. y\n[x] 4. b\n[ ] 5. c" == planned.render()


def test_update_reports_numbers_that_it_ignores(planned: Any) -> None:
    """Numbers that no step has do no harm, and are named."""
    assert planned.manage_plan("update_plan", remove_indices=[7, 0, 2]).startswith(
        "0 Schritte ergänzt, 1 gestrichen. Ignoriert: 0, 7."
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "update_plan braucht add_steps oder remove_indices"),
        ({"add_steps": [" "]}, "add_steps muss eine Liste nicht leerer Texte sein"),
        ({"add_steps": ["x"], "position": 5}, "position 5 gibt es nicht; möglich sind 1 bis 4, oder 0 für das Ende"),
        ({"add_steps": ["x"], "position": -1}, "position -1 gibt es nicht; möglich sind 1 bis 4, oder 0 für das Ende"),
    ],
)
def test_update_refuses_as_a_whole(planned: Any, args: dict[str, Any], message: str) -> None:
    """A change that cannot be made in full is not begun."""
    assert message == refusal(planned, "update_plan", **args)


def test_unknown_action_names_the_known_ones(planned: Any) -> None:
    """The refusal lists what there is."""
    assert "unbekannte Aktion 'finish'; möglich sind create_plan, mark_done, read_plan, update_plan" == refusal(
        planned, "finish"
    )


def test_schema(planner: Any) -> None:
    """The model sees one required parameter with its four values, and no parameter that may be null."""
    tool: Tool = as_tool(planner.manage_plan)
    properties = tool.spec.parameters["properties"]

    assert ("manage_plan", "none", ["action"]) == (tool.name, tool.effect, tool.spec.parameters["required"])
    assert ["create_plan", "mark_done", "read_plan", "update_plan"] == properties["action"]["enum"]
    assert "anyOf" not in str(tool.spec.parameters)


def test_state_is_a_copy(planned: Any, planner_module: ModuleType) -> None:
    """What `get_state` gave can be changed without changing the plan, and restores it elsewhere."""
    state = planned.get_state()
    restored = planner_module.Planner(state)
    state[0]["description"] = "spoilt"
    state.clear()

    assert "[ ] 1. a\n[x] 2. b\n[ ] 3. c" == planned.render() == restored.render()


TEXTS = st.lists(st.sampled_from(["lesen", "rechnen", "", " ", "zwei\nZeilen"]), max_size=4)
NUMBERS = st.integers(-1, 6)
ACTIONS = st.one_of(
    st.fixed_dictionaries({"action": st.just("create_plan"), "tasks": TEXTS}),
    st.fixed_dictionaries({"action": st.just("mark_done"), "step_index": NUMBERS}),
    st.fixed_dictionaries({"action": st.sampled_from(["read_plan", "nonsense"])}),
    st.fixed_dictionaries(
        {
            "action": st.just("update_plan"),
            "add_steps": TEXTS,
            "remove_indices": st.lists(NUMBERS, max_size=4),
            "position": NUMBERS,
        }
    ),
)


def expected_after(plan: list[tuple[str, bool]], args: dict[str, Any]) -> list[tuple[str, bool]]:
    """The plan after an action, in the plainest words there are."""
    texts = [" ".join(text.split()) for text in args.get("tasks", args.get("add_steps", []))]
    match args["action"]:
        case "create_plan" if texts and all(texts):
            return [(text, False) for text in texts]
        case "mark_done" if 1 <= args["step_index"] <= len(plan):
            return [(text, done or n == args["step_index"]) for n, (text, done) in enumerate(plan, 1)]
        case "update_plan" if plan and all(texts) and (texts or args["remove_indices"]):
            kept = [step for n, step in enumerate(plan, 1) if n not in args["remove_indices"]]
            at = args["position"]
            if not 0 <= at <= len(kept) + 1:
                return plan
            at = at - 1 if at else len(kept)
            return kept[:at] + [(text, False) for text in texts] + kept[at:]
    return plan


@given(st.lists(ACTIONS, max_size=12))
def test_any_sequence_of_actions(planner_module: ModuleType, actions: list[dict[str, Any]]) -> None:
    """Whatever is asked for, the plan is what the plain model says, and survives its own state."""
    planner = planner_module.Planner()
    plan: list[tuple[str, bool]] = []
    for args in actions:
        plan = expected_after(plan, args)
        try:
            said = planner.manage_plan(**args)
        except ToolError:
            pass
        else:
            assert said.endswith(planner.render() or "Kein aktiver Plan.")

        assert plan == [(step.text, step.status == "DONE") for step in planner.steps]
        assert planner.render() == planner_module.Planner(planner.get_state()).render()
