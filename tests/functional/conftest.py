"""A scratch project with its one case recorded, made once and copied for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.testing.project import ScratchProject


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose case was recorded from the scripted server through litellm."""
    project = ScratchProject(tmp_path_factory.mktemp("recorded"))
    ran = project.harness("record", "--model", "scripted", "--json")

    assert 0 == ran.exit_code, ran.stderr
    assert {"calls": 2, "cost_usd": None, "refused": []}.items() <= ran.document.items()
    return project.folder


@pytest.fixture
def project(recorded: Path, tmp_path: Path) -> ScratchProject:
    """A copy of the recorded project."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})
