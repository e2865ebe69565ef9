"""The four stages: told by what designs say of themselves, and by what happens where they say nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.stages import STAGES, Stages
from harness.records.trace import FinalAnswer, LlmCall, PhaseStarted, Progress, ToolCalled, TrialStarted
from harness.testing.builders import make_event

STARTED = TrialStarted(system="example", profile="reference", case_id="weather", question="?")
CALL = LlmCall(purpose="agent", model="m", messages_digest="0", n_messages=1, cassette_key="k")
ASKED = ToolCalled(call_id="c", tool="search", args={}, effect="read")
PLANNED = ToolCalled(call_id="c", tool="update_plan", args={}, effect="none")
ANSWER = FinalAnswer(text="7")


def stages_of(*events: Any) -> list[str]:
    """The stages that begin with *events*, each an event's data or `(phase, data)`."""
    stages = Stages()
    made = [make_event(each[1], phase=each[0]) if isinstance(each, tuple) else make_event(each) for each in events]
    return [stage for stage in map(stages.after, made) if stage is not None]


def test_a_loop_without_words_of_its_own():
    """A question is understood, a first call plans, a tool queries, the call after it puts together."""
    assert list(STAGES) == stages_of(STARTED, CALL, ASKED, CALL, ANSWER)


def test_a_second_search_is_a_query_again():
    """A stage may come again; what was done is told, not what somebody hoped for."""
    assert ["understanding", "planning", "querying", "synthesising", "querying", "synthesising"] == stages_of(
        STARTED, CALL, ASKED, CALL, ASKED, CALL, ANSWER
    )


def test_a_plan_kept_by_a_tool_is_no_query():
    """A tool with no effect at all asks nobody anything."""
    assert ["understanding", "planning", "synthesising"] == stages_of(STARTED, CALL, PLANNED, CALL, ANSWER)


def test_the_phases_of_two_phases():
    """Thinking plans, also after a tool; responding puts together."""
    assert ["understanding", "planning", "querying", "planning", "synthesising"] == stages_of(
        STARTED, PhaseStarted(name="think"), ("think", CALL), ("think", ASKED), ("think", CALL),
        PhaseStarted(name="respond"), ("respond", CALL), ANSWER,
    )  # fmt: skip


def test_the_phases_of_deep_thinking():
    """Solving, improving and correcting plan, verifying queries, the summary puts together; its progress agrees."""
    phases = ["init", "solve", "improve", "verify", "correct", "verify", "summary"]
    said = [
        each
        for name in phases
        for each in (PhaseStarted(name=name), (name, CALL), (name, Progress(stage=WORDS.get(name, ""), value=0.5)))
    ]

    assert ["understanding", "planning", "querying", "planning", "querying", "synthesising"] == stages_of(
        STARTED, *said, ANSWER
    )


WORDS = {"init": "initializing", "solve": "thinking", "verify": "verifying", "summary": "summarizing"}


@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("entendendo", "understanding"), ("planejando", "planning"), ("consultando", "querying"),
        ("sintetizando", "synthesising"), ("querying", "querying"), ("metrics", None), ("", None),
    ],
)  # fmt: skip
def test_an_agent_may_say_it_itself(said, stage):
    """In its own language where a table knows it, or with the stage's own name; other words say nothing of it."""
    assert ([stage] if stage else []) == stages_of(Progress(stage=said, value=0.5))


def test_the_next_leg_begins_anew():
    """What was queried before a stop does not count after it."""
    assert ["understanding", "querying", "understanding", "planning"] == stages_of(STARTED, ASKED, STARTED, CALL)


EVENTS = st.sampled_from(
    [STARTED, CALL, ASKED, PLANNED, ANSWER, *(PhaseStarted(name=n) for n in ("think", "agent", "answer"))]
)


@given(st.lists(EVENTS, max_size=30))
def test_a_stage_is_told_when_it_begins_and_not_again(events):
    """No stage follows itself, and each is one of the four."""
    told = stages_of(*events)

    assert [] == [stage for stage, after in pairwise(told) if stage == after]
    assert set(told) <= set(STAGES)
