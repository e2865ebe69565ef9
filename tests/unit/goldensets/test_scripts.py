"""Finding the script of a case: the most particular one, or a hint where to write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.goldensets.scripts import find_script


def test_the_most_particular_script_wins(tmp_path: Path) -> None:
    """A profile's own script comes before its design's."""
    for agent in ("lean@literal", "lean"):
        (tmp_path / "scripts" / "shared" / agent).mkdir(parents=True)
        (tmp_path / "scripts" / "shared" / agent / "S1.yaml").touch()
    own = find_script(tmp_path, "shared", "S1", ("lean@literal", "lean"))
    (tmp_path / "scripts" / "shared" / "lean@literal" / "S1.yaml").unlink()

    assert tmp_path / "scripts" / "shared" / "lean@literal" / "S1.yaml" == own
    assert "lean" == find_script(tmp_path, "shared", "S1", ("lean@literal", "lean")).parent.name


def test_a_missing_script_is_told_with_its_place(tmp_path: Path) -> None:
    """The hint is the path of the file to write."""
    with pytest.raises(UsageError) as caught:
        find_script(tmp_path / "goldensets", "shared", "S1", ("lean",))

    assert "no script for case `S1` and agent `lean`" == caught.value.message
    assert "write goldensets/scripts/shared/lean/S1.yaml, or name another --model" == caught.value.hint
