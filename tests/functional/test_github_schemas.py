"""The action and the workflow are what GitHub takes, by the schemas that check-jsonschema brings with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FILES = [("vendor.github-actions", "action.yml"), ("vendor.github-workflows", "docs/github/tapegate.yml")]


def checked(schema: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Hold a file against one of the schemas that are built in; nothing is fetched."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("schema", "name"), FILES)
def test_the_file_is_valid(schema: str, name: str) -> None:
    """What is committed passes."""
    ran = checked(schema, ROOT / name)

    assert (0, "ok -- validation done") == (ran.returncode, ran.stdout.strip()), ran.stdout


@pytest.mark.parametrize(
    ("schema", "name", "old", "new", "told"),
    [
        (*FILES[0], "using: composite", "using: compost", "$.runs"),
        (*FILES[0], "description:", "descripton:", "'description' is a required property"),
        (*FILES[1], "runs-on:", "run-on:", "$.jobs.replay"),
        (*FILES[1], "contents: read", "contents: maybe", "permissions"),
    ],
)
def test_a_broken_copy_is_refused(schema: str, name: str, old: str, new: str, told: str, tmp_path: Path) -> None:
    """A word that GitHub does not know is found, and named by its place."""
    content = (ROOT / name).read_text(encoding="utf-8")
    copy = tmp_path / Path(name).name
    copy.write_text(content.replace(old, new, 1), encoding="utf-8")
    ran = checked(schema, copy)

    assert old in content
    assert (1, True) == (ran.returncode, told in ran.stdout), ran.stdout
