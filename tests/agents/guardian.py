"""The two-phase design on its own world, for its tests: what the model says is given, everything else is real."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.agents.load import load_agent
from harness.records.case import GoldenCase
from harness.records.messages import ModelReply
from harness.testing.fakes import Ran, Said, run_agent, says
from harness.worlds import World, find_world

ROOT = Path(__file__).parents[2]
GUARDIAN = load_agent(ROOT / "agents", "two_phase")
WORLD = find_world(ROOT / "goldensets", "guardian")
HAPPY = 'update_current_feeling("vera", "Happy")'


def part(name: str) -> ModuleType:
    """A module of the design's folder."""
    return importlib.import_module(f"{GUARDIAN.build.__module__}.{name}")


def thinks(*code: str, text: str = "Подумаю.") -> ModelReply:
    """A thought with one block, a line for each piece of *code*."""
    return says(f"{text}\n\n```tool_code\n" + "\n".join(code) + "\n```")


@contextmanager
def opened() -> Iterator[World]:
    """The world of one trial, closed afterwards."""
    world = WORLD.open()
    try:
        yield world
    finally:
        world.close()


def ask(*replies: Said | str, question: str = "Привет!", name: str = "", world: Any = None, **fields: Any) -> Ran:
    """Run the design on one question, or on the `turns` among *fields*."""
    options = fields.pop("options", None)
    if "turns" not in fields:
        fields["question"] = question
    case = GoldenCase(id="case", lang=fields.pop("lang", "ru"), class_="any", **fields)
    said = [says(reply) if isinstance(reply, str) else reply for reply in replies]
    if world is not None:
        return run_agent(GUARDIAN, said, world=world, case=case, options=options, name=name)
    with opened() as own:
        return run_agent(GUARDIAN, said, world=own, case=case, options=options, name=name)


def lines(ran: Ran) -> list[str]:
    """The result lines that the call that answers was shown, those about the user left out."""
    system = ran.requests[-1].messages[0].text
    told = system.partition("РЕЗУЛЬТАТЫ ИНСТРУМЕНТОВ:\n")[2].partition("\n\nПРАВИЛА:")[0]
    return told.splitlines()


def results(ran: Ran) -> list[Any]:
    """The results of the calls that stand in blocks, in order."""
    asked = {event.data.call_id for event in ran.events("tool_call") if event.data.source == "tool_code"}
    return [event.data for event in ran.events("tool_result") if event.data.call_id in asked]


def stored(ran: Ran) -> dict[str, Any]:
    """What the store holds after the run and did not hold before: each changed row under its kind and key."""
    diffs = (trace.events[-1].data.store_diff for trace in ran.trial.traces)
    return {f"{change.kind} {change.key}": change.after for diff in diffs for change in diff}
