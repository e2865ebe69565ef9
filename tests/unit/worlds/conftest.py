"""A small world to test with: a drawer of two things and a note."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

WORLD = """
format: 1
about: A drawer
now: "2026-01-02T03:04:05+00:00"
user: kim
settings: {size: 3}
tables:
  things:
    key: id
    rows:
      - {id: 1, name: pen, n: 2}
      - {id: 2, name: cup}
  notes:
    key: id
    rows: [{id: a, text: x}]
variants:
  without-pen: {about: The same without a pen, remove: {things: [1]}}
"""
TOOLS = """
from harness.records.tool import tool

def build(world):
    @tool(effect="read")
    def look() -> int:
        '''Count the things.'''
        return len(world.rows("SELECT * FROM things"))
    return [look]
"""

MakeWorld = Callable[..., Path]


@pytest.fixture(scope="session")
def world_text() -> str:
    """The drawer's `world.yaml`."""
    return WORLD


@pytest.fixture(scope="session")
def make_world() -> MakeWorld:
    """Write the drawer into a project folder, changed where a test says so, and give its own folder."""

    def make(folder: Path, world: str = WORLD, tools: str = TOOLS) -> Path:
        place = folder / "goldensets" / "worlds" / "drawer"
        place.mkdir(parents=True, exist_ok=True)
        (place / "world.yaml").write_text(world, encoding="utf-8")
        (place / "tools.py").write_text(tools, encoding="utf-8")
        return place

    return make
