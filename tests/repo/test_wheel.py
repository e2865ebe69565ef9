"""The wheel: one import package, the reference agents inside it as data, nothing that shadows anybody."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of the files in a freshly built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("tapegate-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_one_import_package(names: list[str]) -> None:
    """The wheel installs `harness` and its metadata, and no other top-level name."""
    tops = {name.partition("/")[0] for name in names}

    assert {"harness"} == {top for top in tops if not top.endswith(".dist-info")}


def test_reference_agents_travel_as_data(names: list[str]) -> None:
    """The reference designs lie inside the package, not beside it."""
    assert "harness/_reference_agents/lean_react/agent.py" in names
    assert "harness/_reference_agents/plan_execute/agent.py" in names


def test_typed(names: list[str]) -> None:
    """Type checkers of users read our annotations."""
    assert "harness/py.typed" in names
