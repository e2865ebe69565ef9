"""Tools that reach outside: run and recorded once, then answered from the recording."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness.testing.project import FILES, ScratchProject

TOOLS = '''
"""A tool that asks the outside world, which here is a file that counts."""

from pathlib import Path

from harness import ToolError, tool

COUNT = Path(__file__).with_name("asked.txt")


def build(world):
    @tool(effect="external", ms=300)
    def get_weather(city: str) -> dict:
        """Current weather of a city."""
        COUNT.write_text(COUNT.read_text() + city + "\\n" if COUNT.exists() else city + "\\n")
        if city == "Atlantis":
            raise ToolError("not_found", "no such city")
        return {"city": city, "temperature_c": 7}

    return [get_weather]
'''
SCRIPT = """
    format: 1
    steps:
      - expect: {last_role: user}
        reply: {tool_calls: [{name: get_weather, args: {city: Atlantis}}]}
      - expect: {tool_result: {name: get_weather, contains: no such city}}
        reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
      - expect: {tool_result: {name: get_weather, contains: "7"}}
        reply: {text: It is 7 °C in Berlin.}
    """
ASKED = "goldensets/worlds/yard/asked.txt"


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project whose tool is external, recorded once."""
    files = {
        **FILES,
        "goldensets/worlds/yard/tools.py": TOOLS,
        "goldensets/scripts/smoke/example/weather.yaml": SCRIPT,
    }
    project = ScratchProject(tmp_path, files)
    ran = project.harness("record", "--model", "scripted")

    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return project


def test_an_external_tool_runs_once_and_is_answered_from_the_recording(project: ScratchProject) -> None:
    """While recording the tool runs and its answers are kept, refusals too; a replay never runs it."""
    cassette = yaml.safe_load(project.path("cassettes/example/scripted/smoke/weather.0.yaml").read_text())
    replayed = project.harness("run", "--json")

    assert 0 == replayed.exit_code
    assert "Atlantis\nBerlin\n" == project.path(ASKED).read_text()
    assert ["tool://get_weather"] * 2 == [
        i["request"]["uri"] for i in cassette["interactions"] if "tool" in i["request"]["uri"]
    ]
    assert [422, 200] == [
        i["response"]["status"]["code"] for i in cassette["interactions"] if i["request"]["uri"].startswith("tool:")
    ]


def test_an_external_tool_with_other_arguments_is_a_miss(project: ScratchProject) -> None:
    """A call that was not recorded is not run: it could not be checked."""
    project.replace("agents/example/agent.py", "call.name, call.args,", 'call.name, {"city": "Bonn"},')
    ran = project.harness("run", "--json")

    assert 3 == ran.exit_code
    assert "cassette-miss" == ran.document["results"][0]["code"]
    assert "Bonn" not in project.path(ASKED).read_text()
