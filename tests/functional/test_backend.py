"""Worlds with a store of their own, under the command: opened for the run, closed before the command leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.testing.project import FILES, ScratchProject

TOOLS = '''
"""A tool on a store that writes down what becomes of it."""

from pathlib import Path

from harness.records.tool import tool
from harness.records.trace import Effect
from harness.records.tool import ToolAnswer

LOG = Path(__file__).with_name("log.txt")


def note(text):
    with LOG.open("a") as log:
        log.write(text + "\\n")


class Part:
    def __init__(self):
        self.asked = 0

    def dump(self):
        return {"counter": {1: {"id": 1, "asked": self.asked}}}

    def close(self):
        note("trial closed")


class Whole:
    def dump(self):
        return {"counter": {1: {"id": 1, "asked": 0}}}

    def open(self):
        note("trial opened")
        return Part()

    def close(self):
        note("backend closed")


def backend(template):
    note("backend made")
    return Whole()


def build(world):
    @tool(effect="write")
    def get_weather(city: str) -> ToolAnswer:
        """Current weather of a city."""
        world.store.asked += 1
        effect = Effect("counter", "1", {"asked": 0}, {"asked": 1})
        return ToolAnswer(value={"city": city, "temperature_c": 7}, effects=(effect,))

    return [get_weather]
'''
LOG = "goldensets/worlds/yard/log.txt"


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project whose tool writes to a store of the world's own, recorded once."""
    project = ScratchProject(tmp_path, {**FILES, "goldensets/worlds/yard/tools.py": TOOLS})
    project.replace("goldensets/smoke.yaml", "lang: en", "lang: en\n    intent: edit\n    writes: 1")
    ran = project.harness("record", "--model", "scripted")

    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return project


def test_a_store_lives_as_long_as_its_run(project: ScratchProject) -> None:
    """The command leaves without exit hooks, so it closes the trial's store, and then the backend, itself."""
    project.path(LOG).unlink()
    ran = project.harness("run", "--json")

    assert 0 == ran.exit_code, ran.stdout
    assert ["backend made", "trial opened", "trial closed", "backend closed"] == (
        project.path(LOG).read_text(encoding="utf-8").splitlines()
    )


def test_what_the_store_shows_is_what_contracts_hold_tools_to(project: ScratchProject) -> None:
    """A tool that reports a change of the store that never happened is found out, as with rows in tables."""
    project.replace("goldensets/worlds/yard/tools.py", "world.store.asked += 1", "world.store.asked += 0")
    ran = project.harness("run", "--json")
    broken = [each["contract"] for each in ran.document["results"][0]["findings"] if each["state"] == "broken"]

    assert 1 == ran.exit_code
    assert ["CX9"] == broken
