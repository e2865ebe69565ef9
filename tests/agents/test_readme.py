"""The examples in the agents' README run as they stand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from harness.agents.load import load_agent
from harness.records.messages import Thinking
from harness.testing.fakes import run_agent, says

README = Path(__file__).parent.parent.parent / "agents" / "README.md"


def test_the_example_is_an_agent(tmp_path: Path) -> None:
    """The code block, saved as `agent.py`, is loaded, asked once, and answers."""
    _write(tmp_path / "one_call", 0)
    agent = load_agent(tmp_path, "one_call")
    ran = run_agent(agent, [says("Rain.")], options={"tone": agent.options["tone"]})

    assert "Rain." == ran.answer
    assert "Answer in a friendly tone." == ran.requests[0].messages[0].text


def test_the_layer_goes_around_the_loop_of_the_example(tmp_path: Path) -> None:
    """The second code block, beside the designs that it builds on, thinks natively where its model does."""
    for design in ("ultrathink", "lean_react"):
        (tmp_path / design).symlink_to(README.parent / design)
    _write(tmp_path / "thoughtful", 1)
    agent = replace(load_agent(tmp_path, "thoughtful"), default_model="claude-sonnet-4-5")
    ran = run_agent(agent, [says("Rain.")])

    assert "Rain." == ran.answer
    assert ran.requests[0].thinking == Thinking("enabled", 10_000)


def _write(folder: Path, number: int) -> None:
    """Save the code block of that *number* as the agent of *folder*."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    folder.mkdir()
    (folder / "agent.py").write_text(blocks[number], encoding="utf-8")
