"""Loading Python files by path: private names, and every way of failing named by line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.errors import BadFileError
from harness.modules import load_module


def test_a_file_is_loaded_once_under_a_private_name(tmp_path: Path) -> None:
    """Two folders with equally named files do not meet, and neither shadows an installed package."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.py").write_text(f"NAME = {folder!r}")
    one = load_module(tmp_path / "one" / "agent.py", kind="agent", code="bad-agent", package=True)
    two = load_module(tmp_path / "two" / "agent.py", kind="agent", code="bad-agent", package=True)

    assert ("one", "two") == (one.NAME, two.NAME)
    assert one is load_module(tmp_path / "one" / "agent.py", kind="agent", code="bad-agent", package=True)
    assert one.__name__.startswith("_harness_agent_one_")


def test_relative_imports_work_in_a_package(tmp_path: Path) -> None:
    """A folder's files import each other."""
    (tmp_path / "words.py").write_text("HELLO = 'hello'")
    (tmp_path / "agent.py").write_text("from .words import HELLO")

    assert "hello" == load_module(tmp_path / "agent.py", kind="agent", code="bad-agent", package=True).HELLO


@pytest.mark.parametrize(
    ("source", "because", "line"),
    [
        ("x = 1\nimport no_such_module_at_all", "does not load: ModuleNotFoundError: No module named", 2),
        ("x = 1\n\nraise SystemExit(0)", "does not load: SystemExit: 0", 3),
        ("def build(:", "does not load: SyntaxError: invalid syntax", 1),
        ("import json\njson.loads('{')", "does not load: JSONDecodeError: ", 2),
    ],
)
def test_what_does_not_load_is_named_by_line(tmp_path: Path, source: str, because: str, line: int) -> None:
    """Whatever a file does while it is loaded, leaving included, is an error at its own line; nothing stays behind."""
    path = tmp_path / "agent.py"
    path.write_text(source)

    for _ in range(2):
        with pytest.raises(BadFileError) as caught:
            load_module(path, kind="agent", code="bad-agent")
        assert caught.value.message.startswith(because)
        assert f"{path}:{line}" == caught.value.at
    assert [] == [name for name in sys.modules if name.startswith("_harness_agent_agent_")]


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    """A path without a file is an error of the caller's."""
    with pytest.raises(BadFileError, match="there is no such Python file"):
        load_module(tmp_path / "none.py", kind="agent", code="bad-agent")
