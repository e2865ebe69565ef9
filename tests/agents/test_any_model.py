"""Both designs under models that say anything: every run ends, within its limits, and keeps each structural contract."""

from __future__ import annotations

import json
from itertools import cycle, islice
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent
from harness.contracts.catalogue import builtin
from harness.contracts.judge import judge
from harness.records.case import GoldenCase, Leg, Limits
from harness.records.messages import ModelReply, ThinkingBlock, ToolCall
from harness.testing.fakes import Said, call, calls, fails, run_agent, says

from .any_model import SHARES, many

MOST = 20
NUMBERS = st.integers(-1, 4)
TEXTS = st.lists(st.sampled_from(["lesen", "rechnen", ""]), max_size=3)
WORDS = st.sampled_from(["", " ", "Fertig.", "Es regnet in Berlin."])


def planner_calls() -> st.SearchStrategy[ToolCall]:
    """Calls of the planner, sensible and not."""
    return st.one_of(
        st.builds(lambda tasks: call("manage_plan", action="create_plan", tasks=tasks), TEXTS),
        st.builds(lambda n: call("manage_plan", action="mark_done", step_index=n), NUMBERS),
        st.builds(
            lambda add, remove, at: call(
                "manage_plan", action="update_plan", add_steps=add, remove_indices=remove, position=at
            ),
            TEXTS,
            st.lists(NUMBERS, max_size=2),
            NUMBERS,
        ),
        st.sampled_from([call("manage_plan", action="read_plan"), call("manage_plan", action="drop")]),
    )


def tool_calls() -> st.SearchStrategy[ToolCall]:
    """Calls that work, fail, write, break off in the middle, or name no tool."""
    return st.sampled_from(
        [
            call("get_weather", city="Berlin"),
            call("get_weather", city="Atlantis"),
            call("get_weather", '{"city": "Ber'),
            call("get_weather", '["Berlin"]'),
            call("write_note", text="7 °C"),
            call("write_note", text=7),
            call("broken_tool"),
            call("delete_everything"),
        ]
    )


BLOCKS = st.sampled_from(
    [(), (ThinkingBlock("thinking", "hm", "sig"),), (ThinkingBlock("redacted", data="eA=="), ThinkingBlock("thinking"))]
)
NATIVE: st.SearchStrategy[Said] = st.one_of(
    st.builds(says, WORDS),
    st.builds(fails, st.sampled_from(["server_error", "timeout", "bad_request", "broken_stream"])),
    st.builds(
        lambda asked, text, thinking: calls(*asked, text=text, thinking=thinking),
        st.lists(planner_calls() | tool_calls(), min_size=1, max_size=4),
        WORDS,
        BLOCKS,
    ),
)
OBJECTS = st.one_of(
    st.fixed_dictionaries({"thought": WORDS, "steps": TEXTS}),
    st.fixed_dictionaries(
        {
            "thought": WORDS,
            "action": st.sampled_from(["get_weather", "write_note", "broken_tool", "delete_everything", "none"]),
            "args": st.sampled_from([{}, {"city": "Berlin"}, {"city": "Atlantis"}, {"text": "7 °C"}, None, "Berlin"]),
            "answer": st.sampled_from(["", "Es sind {temperature_c} °C.", "Fertig."]),
            "if_it_fails": st.sampled_from(["", "Das ging nicht."]),
        }
    ),
    st.fixed_dictionaries({"action": st.sampled_from(["finish", "fail"]), "result": st.sampled_from(["", "7 °C"])}),
)


def says_object(found: object) -> ModelReply:
    """A reply that is one JSON object."""
    return says(json.dumps(found))


SENSIBLE = st.sampled_from(
    [
        {"thought": "Erst messen.", "steps": ["messen", "notieren"]},
        {"action": "get_weather", "args": {"city": "Berlin"}, "answer": "{temperature_c} °C", "if_it_fails": "Nein."},
        {"action": "write_note", "args": {"text": "7 °C"}, "answer": "Notiert.", "if_it_fails": "Nein."},
        {"action": "finish", "result": "7 °C"},
    ]
)
BY_PROMPT: st.SearchStrategy[Said] = st.one_of(
    SENSIBLE.map(says_object),
    OBJECTS.map(says_object),
    OBJECTS.map(lambda found: says(json.dumps(found)[:-3])),
    OBJECTS.map(lambda found: says(f"Also:\n{json.dumps(found)}", finish_reason="length")),
    st.builds(says, WORDS),
    st.builds(fails),
)
STOPS = st.none() | st.integers(1, 8)


def check(agent: LoadedAgent, replies: list[Said], world: Any, question: str, stop: int | None) -> None:
    """Run *agent*, stopped and resumed where *stop* says so, and hold the run to every structural contract."""
    legs = (Leg(stop_after={"state_saved": stop}), Leg(resume=True)) if stop else ()
    case = GoldenCase(id="case", question=question, class_="complex", limits=Limits(llm_calls=MOST), legs=legs)
    ran = run_agent(agent, islice(cycle(replies), MOST + 1), world=world, case=case)
    SHARES.count(ran)
    held = [
        contract
        for contract in builtin().values()
        if contract.kind == "S"
        and contract.applies_to(agent.name)
        and contract.id != "CX8"
        and not contract.needs_options
    ]
    broken = [
        f"{f.contract}: {f.because}" for f in judge(case, ran.judged(), held) if f.state not in ("kept", "vacuous")
    ]

    assert [] == broken
    assert "" == ran.trial.code
    assert len(ran.requests) <= MOST
    assert ran.ending[1] in (
        "",
        "max_steps",
        "llm_errors",
        "empty_reply",
        "no_answer",
        "unreadable",
        "no_session",
        "stopped",
    )


@many
@given(replies=st.lists(NATIVE, min_size=1, max_size=8), stop=STOPS)
def test_lean_react_under_any_model(lean: LoadedAgent, new_world: Any, replies: list[Said], stop: int | None) -> None:
    """Random calls, errors, thinking and silence, stopped anywhere: the loop keeps its contracts and ends."""
    check(lean, replies, new_world(), "Miss und notiere.", stop)


@many
@given(
    question=st.sampled_from(["Wie warm ist es?", "Miss, dann notiere."]),
    replies=st.lists(BY_PROMPT, min_size=1, max_size=8),
    stop=STOPS,
)
def test_plan_execute_under_any_model(
    old: LoadedAgent, new_world: Any, question: str, replies: list[Said], stop: int | None
) -> None:
    """Random objects, prose, errors and cut replies on both paths: the lists move forward and the run ends."""
    check(old, replies, new_world(), question, stop)
