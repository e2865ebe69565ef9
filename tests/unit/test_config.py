"""`[tool.harness]` in pyproject.toml: what is no table of ours is a mistake of the person who wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import load_config
from harness.errors import BadFileError, UsageError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[tool.harness\n", "not valid TOML: "),
        ("a = " + "[" * 5000, "not valid TOML: "),
        ("[tool]\nharness = 3\n", "`tool.harness` is no table"),
        ("[tool.harness]\nmatrx = []\n", "[tool.harness] has no key `matrx`"),
        ('[tool.harness]\nagents = ["a"]\n', "[tool.harness]: Expected `str`, got `array`"),
    ],
)
def test_a_bad_file_is_told_with_its_name(tmp_path: Path, content: str, message: str) -> None:
    """Never a traceback, and never the project of a folder further up."""
    path = tmp_path / "pyproject.toml"
    path.write_text(content)

    with pytest.raises(BadFileError) as caught:
        load_config(tmp_path)
    assert caught.value.message.startswith(message)
    assert str(path) == caught.value.at


@pytest.mark.parametrize("content", ["", "tool = 3\n", "[tool.other]\n"])
def test_a_file_of_something_else_is_passed_over(tmp_path: Path, content: str) -> None:
    """The nearest file with our table counts, and here there is none."""
    (tmp_path / "pyproject.toml").write_text(content)

    with pytest.raises(UsageError, match="at or above"):
        load_config(tmp_path)
