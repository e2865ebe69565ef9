"""The lines of a run, as a trace file has them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from harness.errors import CouldNotCheckError
from harness.records.run import Cell, Trial
from harness.records.trace import Event, FinalAnswer, TrialFinished
from harness.records.trace_file import decode_events
from harness.serve.streams import trace_lines
from harness.serve.workers import Workers

TRIAL = Trial(cell=Cell("a", "m", "s", "c"), traces=())


def lines_of(*events: Any, error: Exception | None = None) -> list[str]:
    """What is streamed of a run that gives *events* and then ends, or fails with *error*."""

    async def work(tell: Any) -> Trial:
        for number, data in enumerate(events):
            tell(Event("t", number, 10 * number, data.type, data))
        if error:
            raise error
        return TRIAL

    async def reading() -> list[str]:
        workers = Workers(1)
        lines = [line async for line in trace_lines(workers.start(work))]
        await workers.close()
        return lines

    return asyncio.run(reading())


def test_each_line_is_an_event():
    """A reader of trace files reads the stream."""
    lines = lines_of(FinalAnswer(text="7 °C\nand rain"), TrialFinished(status="completed"))

    assert ["final_answer", "trial_finished"] == [e.type for e in decode_events("".join(lines).encode())]
    assert [1, 1] == [line.count("\n") for line in lines]


def test_an_event_is_one_line_for_every_reader():
    """Some readers end a line at marks that JSON leaves as they are; none of them cuts an event in two."""
    (line,) = lines_of(FinalAnswer(text="one\u2028two\u2029three\x85four"))

    assert 1 == len(line.splitlines())
    assert "one\u2028two\u2029three\x85four" == json.loads(line)["data"]["text"]


def test_a_failure_is_the_last_line():
    """Numbered on, so that the stream stays a trace."""
    *_, last = lines_of(FinalAnswer(text="7"), error=CouldNotCheckError("bad-world", "no such table"))

    assert {
        "trial_id": "t", "seq": 1, "ts": 0, "type": "error", "v": 1,
        "data": {"kind": "bad-world", "message": "no such table", "where": "harness"},
    } == {"v": 1, **json.loads(last)}  # fmt: skip


def test_a_failure_before_anything_else_is_the_only_line():
    """Its number is 0."""
    (only,) = lines_of(error=CouldNotCheckError("bad-world", "no such table"))

    assert (0, "error") == (json.loads(only)["seq"], json.loads(only)["type"])


def test_half_a_character_costs_its_event_alone():
    """The event is told as lost, and the stream goes on."""
    lines = lines_of(FinalAnswer(text="\ud800"), TrialFinished(status="completed"))

    assert [("error", "bad-text"), ("trial_finished", "")] == [
        (line["type"], line["data"].get("kind", "")) for line in map(json.loads, lines)
    ]
