"""Which tapegate this is: from its sources, each change of them is another one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import checkout


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of two files, in place of our own."""
    folder = tmp_path / "harness"
    (folder / "cli").mkdir(parents=True)
    (folder / "errors.py").write_text("x = 1")
    (folder / "cli" / "main.py").write_text("y = 1")
    monkeypatch.setattr(checkout, "PACKAGE", folder)
    checkout.own_source.cache_clear()
    yield folder
    checkout.own_source.cache_clear()


def test_each_change_of_a_source_is_another_tapegate(package: Path) -> None:
    """Content and names count."""
    seen = {checkout.own_source()}
    for change in (
        lambda: (package / "errors.py").write_text("x = 2"),
        lambda: (package / "cli" / "new.py").write_text(""),
    ):
        change()
        checkout.own_source.cache_clear()
        seen.add(checkout.own_source())

    assert 3 == len(seen)
    assert "" not in seen


def test_an_installed_one_is_named_by_its_version(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip installed has no sources of its own to name."""
    monkeypatch.setattr(checkout, "PACKAGE", Path("/usr/lib/python3/dist-packages/harness"))

    assert not checkout.own_source()


def test_a_source_that_was_written_later_is_told(package: Path) -> None:
    """One file that is younger is enough."""
    for path, moment in ((package / "errors.py", 100), (package / "cli" / "main.py", 200)):
        os.utime(path, (moment, moment))

    assert [True, False] == [checkout.changed_after(moment) for moment in (199, 200)]
