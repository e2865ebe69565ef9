"""What the page of a trial shows: its events as steps, whatever is left of its trace."""

from __future__ import annotations

import pytest

from harness.records.trace import LlmChunk
from harness.reports.html.trials import legible_legs, question_of, trial_view
from harness.reports.runs import TRACES, trace_name
from harness.testing.builders import answer, make_trace, model_turn, tool_use

from .pages import verdict, write_run

TRIAL = verdict("S1", answer="**7**")
TRACE = make_trace(
    model_turn("I look.", calls=[("get_weather", {"city": "Berlin"})]), tool_use("get_weather", {"city": "Berlin"}, text="7"),
    model_turn("7"), answer("**7**"), started={"question": "How warm?", "lang": "en"},
)  # fmt: skip


def trace_file(folder):
    """Where the trace of `TRIAL` lies."""
    return folder / TRACES / trace_name(TRIAL.cell)


def test_a_trial_shows_question_answer_and_steps(tmp_path):
    """The answer is safe HTML; each event is a step; digests of messages are left out."""
    legs = legible_legs(write_run(tmp_path, {TRIAL: (TRACE,)}), TRIAL)
    view = trial_view(TRIAL, legs)

    assert ("How warm?", "en") == question_of(legs.traces)
    assert ("How warm?", "<p><strong>7</strong></p>\n", "") == (view["question"], view["answer"], view["trouble"])
    (steps,) = view["legs"]
    assert [event.type for event in TRACE] == [step["type"] for step in steps]
    asked = next(step for step in steps if step["type"] == "llm_call")
    assert () == asked["data"].prefix_digests


def test_each_leg_has_its_steps(tmp_path):
    """Steps are counted anew in each leg."""
    view = trial_view(TRIAL, legible_legs(write_run(tmp_path, {TRIAL: (TRACE, TRACE)}), TRIAL))

    assert [0, 0] == [steps[0]["seq"] for steps in view["legs"]]


def test_pieces_of_a_stream_are_one_step(tmp_path):
    """Pieces of one call that follow one another stand together, each with its number and time."""
    pieces = [LlmChunk(call_span="s1", index=n, text=text, visible=True) for n, text in enumerate(("a", "b"))]
    other = LlmChunk(call_span="s1", index=0, text="{", channel="tool_args")
    trace = make_trace(model_turn("ab"), *pieces, other, answer("ab"))
    view = trial_view(TRIAL, legible_legs(write_run(tmp_path, {TRIAL: (trace,)}), TRIAL))
    streams = [step for step in view["legs"][0] if step["type"] == "stream"]

    first = streams[0]["seq"]
    assert [[first, "a", True], [first + 1, "b", True]] == [[p[0], p[2], p[3]] for p in streams[0]["data"]["pieces"]]
    assert ["text", "tool_args"] == [step["data"]["channel"] for step in streams]


def test_a_missing_trace_is_told(tmp_path):
    """There is a page, and it says what is not there."""
    view = trial_view(TRIAL, legible_legs(tmp_path, TRIAL))

    name = f"traces/{trace_name(TRIAL.cell)}"
    assert f"No trace of this trial was kept: there is no {name} in the run's folder." == view["trouble"]
    assert ([], "") == (view["legs"], view["question"])


def test_a_damaged_trace_shows_what_stood_before(tmp_path):
    """The events up to the damage are shown, with the line where it begins."""
    folder = write_run(tmp_path, {TRIAL: (TRACE,)})
    content = trace_file(folder).read_bytes()
    lines = content.splitlines(keepends=True)
    trace_file(folder).write_bytes(b"".join(lines[:3]) + lines[3][:20])
    view = trial_view(TRIAL, legible_legs(folder, TRIAL))

    assert view["trouble"].startswith(f"The trace traces/{trace_name(TRIAL.cell)}:4: not an event: ")
    assert view["trouble"].endswith("; the 3 events before the damage are shown.")
    assert 3 == len(view["legs"][0])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty."),
        (b"\xff\xfe\n", "nothing of it can be shown."),
        (b'{"v": 99}\n', "nothing of it can be shown."),
    ],
)
def test_a_trace_that_is_none_is_told(tmp_path, content, told):
    """Empty, no text, or something else."""
    folder = write_run(tmp_path, {TRIAL: (TRACE,)})
    trace_file(folder).write_bytes(content)
    legs = legible_legs(folder, TRIAL)

    assert () == legs.traces
    assert legs.trouble.endswith(told)


def test_a_trace_that_cannot_be_read_is_told(tmp_path):
    """A folder in its place, for one."""
    trace_file(tmp_path).mkdir(parents=True)

    assert legible_legs(tmp_path, TRIAL).trouble.endswith("cannot be read: Is a directory.")
