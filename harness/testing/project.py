"""A scratch project on disk, with the command run in it as a person would: for the product's tests and its users'."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

AGENT = '''
"""Asks the model once, with one tool."""

from harness.records.trace import FinalAnswer

from .prompts import SYSTEM
from harness.records.messages import Message

DEFAULT_MODEL = "gpt-4.1-mini"


def build(ctx):
    return Example(ctx)


class Example:
    def __init__(self, ctx):
        self.ctx = ctx

    async def run(self, question):
        messages = [Message("system", SYSTEM), question.message]
        for _ in range(4):
            reply = await self.ctx.models.chat(messages, tools=self.ctx.tools.specs())
            messages.append(reply.message)
            for call in reply.reply.tool_calls:
                outcome = await self.ctx.tools.call(
                    call.name, call.args, call_id=call.id, turn=reply.turn, args_raw=call.args_raw
                )
                messages.append(outcome.message)
            if not reply.reply.tool_calls:
                yield FinalAnswer(text=reply.text)
                return
'''

TOOLS = '''
"""One tool."""

from harness.records.tool import tool


def build(world):
    @tool(effect="read", ms=50)
    def get_weather(city: str) -> dict:
        """Current weather of a city."""
        return {"city": city, "temperature_c": 7}

    return [get_weather]
'''

FILES: dict[str, str] = {
    "pyproject.toml": """
        [tool.harness]
        [[tool.harness.matrix]]
        set = "smoke"
        agents = ["example"]
        """,
    "agents/example/agent.py": AGENT,
    "agents/example/prompts.py": 'SYSTEM = "You are a careful assistant. Never guess the weather."\n',
    "goldensets/worlds/yard/world.yaml": """
        format: 1
        about: A yard
        now: "2026-03-10T09:00:00+00:00"
        user: vera
        tables: {}
        """,
    "goldensets/worlds/yard/tools.py": TOOLS,
    "goldensets/smoke.yaml": """
        format: 1
        about: One question
        world: yard
        cases:
          - id: weather
            question: How warm is it in Berlin?
            lang: en
            class: simple
            facts: {all: [7]}
            tools: {required: [get_weather]}
        """,
    "goldensets/scripts/smoke/example/weather.yaml": """
        format: 1
        steps:
          - expect: {last_role: user, tools: [get_weather]}
            reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
          - expect: {tool_result: {name: get_weather, contains: "7"}}
            reply: {text: It is 7 °C in Berlin.}
        """,
}
"""A project with one agent, one world, one case and its script; nothing is recorded yet."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command said and how it ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """What `--json` printed."""
        return json.loads(self.stdout)


class ScratchProject:
    """A project in *folder*, made of *files* (path to content; common indentation is taken off)."""

    def __init__(self, folder: Path, files: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        for name, content in (FILES if files is None else files).items():
            self.write(name, content)

    def path(self, name: str) -> Path:
        """The file *name* of the project."""
        return self.folder / name

    def write(self, name: str, content: str) -> Path:
        """Write a file; common indentation is taken off."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content).lstrip("\n"), encoding="utf-8")
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        """
        Change *old* to *new* in a file.

        Raises:
            ValueError: *old* is not in it.
        """
        content = self.path(name).read_text(encoding="utf-8")
        if old not in content:
            raise ValueError(f"{name} does not hold {old!r}")
        self.path(name).write_text(content.replace(old, new), encoding="utf-8")

    def harness(self, *words: str, **environment: str) -> Ran:
        """Run `harness` with these *words* in the project, in a process of its own, without keys and colours."""
        keys = ("_KEY", "_TOKEN", "_SECRET")
        env = {name: value for name, value in os.environ.items() if not name.endswith(keys) and name != "CI"}
        env |= {"NO_COLOR": "1", "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1"} | environment
        ran = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "harness", *words],
            cwd=self.folder, env=env, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout, ran.stderr)
