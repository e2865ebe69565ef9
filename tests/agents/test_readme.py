"""The example in the agents' README runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from harness.agents.load import load_agent
from harness.testing.fakes import run_agent, says

README = Path(__file__).parent.parent.parent / "agents" / "README.md"


def test_the_example_is_an_agent(tmp_path: Path) -> None:
    """The code block, saved as `agent.py`, is loaded, asked once, and answers."""
    block = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block
    (tmp_path / "one_call").mkdir()
    (tmp_path / "one_call" / "agent.py").write_text(block.group(1), encoding="utf-8")
    agent = load_agent(tmp_path, "one_call")
    ran = run_agent(agent, [says("Rain.")], options={"tone": agent.options["tone"]})

    assert "Rain." == ran.answer
    assert "Answer in a friendly tone." == ran.requests[0].messages[0].text
