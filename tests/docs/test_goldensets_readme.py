"""What goldensets/README.md shows of scripts and contracts works as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from harness.testing.project import FILES, ScratchProject

README = (Path(__file__).parent.parent.parent / "goldensets" / "README.md").read_text(encoding="utf-8")


def block(kind: str, start: str) -> str:
    """The fenced block of *kind* that starts with *start*."""
    found = re.search(rf"^```{kind}\n({re.escape(start)}.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert found, f"no {kind} block starts with {start}"
    return found[1]


def test_the_script_and_the_contracts_that_are_shown_work(tmp_path: Path) -> None:
    """They record and replay, and the contracts of one's own are reached and kept."""
    golden = FILES["goldensets/smoke.yaml"]
    contracts = "".join(f"            {line}\n" for line in block("yaml", "contracts:").splitlines())
    table = FILES["pyproject.toml"].replace(
        "[tool.harness]", '[tool.harness]\n        contract_modules = ["contracts.py"]'
    )
    project = ScratchProject(
        tmp_path,
        {
            **FILES,
            "pyproject.toml": table,
            "contracts.py": block("python", "from harness.contracts"),
            "goldensets/smoke.yaml": f"{golden.rstrip()}\n{contracts}",
            "goldensets/scripts/smoke/example/weather.yaml": block("yaml", "format: 1\nsteps:"),
        },
    )
    recorded = project.harness("record", "--model", "scripted")
    replayed = project.harness("run", "--json")

    assert (0, 0) == (recorded.exit_code, replayed.exit_code), recorded.stderr + replayed.stdout
    [result] = replayed.document["results"]
    states = {finding["contract"]: finding["state"] for finding in result["findings"]}
    assert ("kept", "kept") == (states["looked_up"], states["weather before answer"])
