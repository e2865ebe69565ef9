"""What agents print and how they leave, in a process of its own: the data on stdout stays the command's."""

from __future__ import annotations

import json

import pytest

from harness.testing.project import FILES, ScratchProject

RUN = "    async def run(self, question):\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> ScratchProject:
    """A scratch project whose one case is recorded."""
    scratch = ScratchProject(tmp_path_factory.mktemp("apart"), FILES)
    assert scratch.harness("record", "--model", "scripted").exit_code == 0
    return scratch


def with_line(project: ScratchProject, line: str) -> None:
    """Let the agent begin with *line*."""
    project.write("agents/example/agent.py", FILES["agents/example/agent.py"].replace(RUN, f"{RUN}        {line}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "print('from the agent')",
        "import os; os.write(1, b'from the agent')",
        "import subprocess; subprocess.run(['echo', 'from the agent'], check=True)",
        "import sys; print('from the agent'); sys.stdout.close()",
    ],
)
def test_what_an_agent_prints_is_no_data(project, line):
    """`--json` prints one document, whatever an agent or its children write; their words are on stderr."""
    with_line(project, line)

    ran = project.harness("run", "--json")
    assert (ran.exit_code, ran.document["exit_code"]) == (0, 0)
    assert "from the agent" in ran.stderr


def test_what_an_agent_prints_when_it_is_imported_is_no_data_either(project):
    """Listing agents imports them."""
    project.write("agents/example/agent.py", "print('imported')\n" + FILES["agents/example/agent.py"])

    ran = project.harness("list", "agents", "--json")
    assert [agent["name"] for agent in json.loads(ran.stdout)] == ["example"]
    assert "imported" in ran.stderr


def test_a_forked_child_says_nothing(project):
    """An agent that forks goes on twice; one of them speaks."""
    with_line(project, "import os; os.fork()")

    assert project.harness("run", "--json").document["totals"]["trials"] == 1


@pytest.mark.parametrize("line", ["import sys; sys.exit(0)", "import os; os._exit(0)"])
def test_an_agent_that_leaves_is_no_pass(project, line):
    """Exit code 0 is the command's to give."""
    with_line(project, line)

    ran = project.harness("run", "--json")
    assert (ran.exit_code, ran.document["totals"]["could_not_check"]) == (3, 1)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_agent_that_cancels_its_own_task_loses_no_trial_in_silence(project, jobs):
    """A cancelled worker looks to asyncio as if it had finished: what it did not run is missed all the same."""
    with_line(project, "import asyncio; asyncio.current_task().cancel(); await asyncio.sleep(0)")

    ran = project.harness("run", "--json", "--jobs", jobs)
    assert (ran.exit_code, ran.document["error"]["code"]) == (3, "lost-trials")
    assert "1 planned trials have no verdict, from smoke/weather.0 of example on" in ran.document["error"]["message"]
