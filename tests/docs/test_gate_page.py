"""docs/gate.md: its policy is one, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from harness.cli.gate_report import FILES
from harness.config import GateConfig, Tolerated
from harness.gate.policy_file import load_policy

PAGE = (Path(__file__).parent.parent.parent / "docs" / "gate.md").read_text(encoding="utf-8")


def test_the_policy_of_the_page_is_read(tmp_path: Path) -> None:
    """Every key that there is stands in the example, with its default where the page says nothing else."""
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    (tmp_path / "gate.toml").write_text(text, encoding="utf-8")
    policy = load_policy(tmp_path, {"policy": "gate.toml"})

    keys = set(GateConfig.__struct_fields__) - {"policy"}
    assert keys == {key for key in keys if re.search(rf"^\[*{key}\b", text, re.MULTILINE)}
    assert (Tolerated(), "report", ("*",)) == (policy.rules.tolerate, policy.rules.trajectories, policy.rules.blocking)
    assert ("the search team", "gate.toml:15") == (policy.rules.quarantine[0].owner, policy.place(0))


def test_the_files_of_the_page_are_those_that_are_written() -> None:
    """Each report is named."""
    assert [] == [name for name in FILES if f"`{name}`" not in PAGE]
