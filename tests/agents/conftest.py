"""The two designs, a small belt of tools, and what the tests of agents ask of a trace."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.agents.load import LoadedAgent, load_agent
from harness.records.tool import ToolAnswer, ToolError, tool
from harness.records.trace import Effect
from harness.testing.fakes import FakeWorld

from .any_model import SHARES

AGENTS = Path(__file__).parent.parent.parent / "agents"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Put into a test's report what random models made its design do, for the summary at the end."""
    if call.when == "call":
        item.user_properties.extend(("summary", line) for line in SHARES.told())


@tool(effect="read", ms=5)
def get_weather(city: str) -> Any:
    """Get the weather of a city."""
    if city == "Atlantis":
        raise ToolError("not_found", "no such city")
    return {"city": city, "temperature_c": 7, "condition": "rain"}


@tool(effect="read")
def broken_tool() -> str:
    """Break."""
    raise RuntimeError("wires crossed")


class Notebook(FakeWorld):
    """A world with the weather, a tool that breaks, and a page that can be written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self.tools = (get_weather, broken_tool, self.write_note)

    @tool(effect="write")
    def write_note(self, text: str) -> ToolAnswer:
        """Write a note."""
        before = self.store.get("note")
        self.store["note"] = text
        self.written.append(text)
        return ToolAnswer(value={"written": text}, effects=(Effect("store", "note", before, text),))


@pytest.fixture
def world() -> Notebook:
    """A fresh notebook."""
    return Notebook()


@pytest.fixture(scope="session")
def new_world() -> type[Notebook]:
    """Makes fresh notebooks, for tests that run an agent many times."""
    return Notebook


@pytest.fixture(scope="session")
def lean() -> LoadedAgent:
    """The lean loop."""
    return load_agent(AGENTS, "lean_react")


@pytest.fixture(scope="session")
def old() -> LoadedAgent:
    """Plan and execute."""
    return load_agent(AGENTS, "plan_execute")


@pytest.fixture(scope="session")
def ultra() -> LoadedAgent:
    """The lean loop in the reasoning layer."""
    return load_agent(AGENTS, "ultrathink")


@pytest.fixture(scope="session")
def desk() -> LoadedAgent:
    """The news desk."""
    return load_agent(AGENTS, "newsdesk")


@pytest.fixture(scope="session")
def part() -> Callable[[LoadedAgent, str], ModuleType]:
    """A module of an agent's folder, by the agent and the module's name."""

    def load(agent: LoadedAgent, name: str) -> ModuleType:
        return importlib.import_module(f"{agent.build.__module__}.{name}")

    return load
