"""What the mutants stand on: the two designs, a world with a notebook and an archive, and replies that they share."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from harness.agents.load import load_agent
from harness.records.case import GoldenCase, Leg
from harness.records.messages import ModelReply, ToolCall
from harness.records.tool import ToolAnswer, ToolError, tool
from harness.records.trace import Effect
from harness.testing.fakes import FakeWorld, call, says_json

AGENTS = Path(__file__).parent.parent.parent / "agents"
LEAN = load_agent(AGENTS, "lean_react")
LITERAL = load_agent(AGENTS, "lean_react@seed_literal")
LEGACY = load_agent(AGENTS, "plan_execute")
lean: Any = sys.modules[LEAN.build.__module__]
legacy: Any = sys.modules[LEGACY.build.__module__]

SIMPLE = GoldenCase(id="case", question="What is the weather in Berlin?")
COMPLEX = GoldenCase(id="case", question="What is the weather in Berlin?", class_="complex")
FULL = GoldenCase(id="case", question="Look Rome up, then Oslo, then compare.", class_="complex")
"""A question that the older design sends down its full path."""
STOPPED = GoldenCase(
    id="case", question="Note the weather.", class_="complex", legs=(Leg(stop_after={"state_saved": 2}), Leg(resume=True))
)  # fmt: skip
"""Cut off after the second round, and resumed."""

CREATE = call("manage_plan", action="create_plan", tasks=["look", "write"])
BERLIN = call("get_weather", city="Berlin")
NOTE = call("write_note", text="7 °C")
GAMMA = call("search", query="gamma")
ARCHIVE = call("search", query="archive")
LOOK = says_json(action="get_weather", args={"city": "Berlin"})


def done(number: int) -> ToolCall:
    """The call that ticks a step of the plan off."""
    return call("manage_plan", action="mark_done", step_index=number)


def plan(*steps: str) -> ModelReply:
    """The reply that makes a plan of the older design."""
    return says_json(steps=list(steps))


def finish(result: str) -> ModelReply:
    """The reply that ends an item of the older design well."""
    return says_json(action="finish", result=result)


def give_up(result: str) -> ModelReply:
    """The reply that ends an item of the older design badly."""
    return says_json(action="fail", result=result)


def fast(answer: str, action: str = "get_weather", **args: Any) -> ModelReply:
    """The reply on the fast path of the older design."""
    return says_json(action=action, args=args, answer=answer, if_it_fails="That did not work.")


class World(FakeWorld):
    """The weather, an archive with one entry, a tool that breaks, and a notebook to write to."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = (
            self.get_weather,
            self.list_notes,
            self.search,
            self.slow_look,
            self.broken_tool,
            self.write_note,
            self.append_note,
        )

    @tool(effect="read", ms=5)
    def get_weather(self, city: str) -> Any:
        """Get the weather of a city."""
        return {"city": city, "temperature_c": 7, "condition": "rain"}

    @tool(effect="read")
    def list_notes(self, most: int = 10) -> Any:
        """List the notes."""
        return [text for _, text in sorted(self.store.items())][:most]

    @tool(effect="read")
    def search(self, query: str) -> ToolAnswer:
        """Search the archive."""
        if query == "gamma":
            raise ToolError("timeout", "the archive did not answer in time")
        return ToolAnswer(value=[{"title": "Gamma archive"}], hits=1)

    @tool(effect="read")
    async def slow_look(self) -> str:
        """Look out of the window, slowly."""
        for _ in range(5):
            await asyncio.sleep(0)
        return "rain"

    @tool(effect="read")
    def broken_tool(self) -> str:
        """Break."""
        raise RuntimeError("wires crossed")

    @tool(effect="write")
    def write_note(self, text: str) -> ToolAnswer:
        """Write the note."""
        return self._put("note", text)

    @tool(effect="write")
    def append_note(self, text: str) -> ToolAnswer:
        """Append to the log."""
        return self._put("log", f"{self.store.get('log') or ''}{text};")

    def _put(self, key: str, text: str) -> ToolAnswer:
        before, self.store[key] = self.store.get(key), text
        return ToolAnswer(value={"written": text}, effects=(Effect("store", key, before, text),))


class Boastful(World):
    """Says that it wrote, and does not."""

    def _put(self, key: str, text: str) -> ToolAnswer:
        effect = Effect("store", key, self.store.get(key), text)
        return ToolAnswer(value={"written": text}, effects=(effect,))


class Secretive(World):
    """Writes, and says nothing of it."""

    def _put(self, key: str, text: str) -> ToolAnswer:
        self.store[key] = text
        return ToolAnswer(value={"written": text})
