"""The compiled form beside a file."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from harness.errors import BadFileError
from harness.goldensets.compiled import load_compiled


class Counting:
    """Builds texts from bytes, and counts how often."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, content: bytes) -> str:
        self.built += 1
        return content.decode()


def test_file_is_built_once(tmp_path):
    """The second load reads what the first one wrote."""
    path = tmp_path / "a.yaml"
    path.write_text("x")
    build = Counting()

    assert ["x", "x"] == [load_compiled(path, str, build, cache=tmp_path / "cache") for _ in range(2)]
    assert 1 == build.built


@pytest.mark.parametrize("change", ["content", "key", "code", "kind"])
def test_whatever_it_depends_on_makes_it_stale(tmp_path, change):
    """Another content, key, version of the code, or type of the value: built anew."""
    path, code = tmp_path / "a.yaml", tmp_path / "code.py"
    path.write_text("x")
    code.touch()
    build = Counting()
    cache = tmp_path / "cache"
    load_compiled(path, str, build, cache=cache, code=[code])
    if change == "content":
        path.write_text("y")
    if change == "code":
        os.utime(code, ns=(1, 1))
    if change == "kind":
        next(cache.iterdir()).write_bytes(msgspec.msgpack.encode(7))

    load_compiled(path, str, build, cache=cache, key="k" if change == "key" else "", code=[code])

    assert 2 == build.built


def test_code_that_is_gone_is_no_error(tmp_path):
    """A wheel without its sources still reads its files."""
    (tmp_path / "a.yaml").write_text("x")

    assert "x" == load_compiled(tmp_path / "a.yaml", str, Counting(), cache=tmp_path, code=[Path("/nowhere.py")])


def test_folder_in_place_of_the_file_is_told(tmp_path):
    """What cannot be read is a `BadFileError` with the path."""
    with pytest.raises(BadFileError) as caught:
        load_compiled(tmp_path, str, Counting(), cache=None)

    assert f"error[unreadable-file]: {tmp_path}: cannot be read: Is a directory" == str(caught.value)
