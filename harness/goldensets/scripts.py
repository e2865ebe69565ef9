"""Where the scripts of golden cases lie: `goldensets/scripts/<set>/<design>/<case>.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError


def find_script(goldensets: Path, set_name: str, case: str, agents: Sequence[str]) -> Path:
    """
    The script of *case*: of the first of *agents* that has one, the most particular name first.

    Raises:
        UsageError: None has.
    """
    folder = goldensets / "scripts" / set_name
    for agent in agents:
        path = folder / agent / f"{case}.yaml"
        if path.is_file():
            return path
    wanted = Path(goldensets.name, "scripts", set_name, agents[0], f"{case}.yaml").as_posix()
    raise UsageError(
        "no-script",
        f"no script for case `{case}` and agent `{agents[0]}`",
        hint=f"write {wanted}, or name another --model",
    )
