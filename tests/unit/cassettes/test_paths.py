"""Paths of cassettes: every cell has its own, on every file system."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.paths import cassette_path, cell_of, check_collisions
from harness.errors import UsageError
from harness.records.run import Cell

ROOT = Path("cassettes")
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
cells = st.builds(Cell, names, names, names, names, st.integers(0, 999))


def test_plain_names_stay_as_they_are():
    """The path says which cell it is."""
    cell = Cell("deep_think@seed_literal", "gpt-4.1-mini", "shared", "S1-de", 2)

    assert Path("cassettes/deep_think@seed_literal/gpt-4.1-mini/shared/S1-de.2.yaml") == cassette_path(ROOT, cell)


def test_odd_characters_are_encoded():
    """Slashes, colons and other scripts make no folders and no trouble."""
    cell = Cell("..", "meta/llama:free", "s", "Привет?", 0)

    assert (
        "cassettes/%2E%2E/meta%2Fllama%3Afree/s/%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82%3F.0.yaml"
        == cassette_path(ROOT, cell).as_posix()
    )


@given(cells)
def test_every_part_is_safe_and_short(cell):
    """Four names below the root, none above 120 bytes, none hidden from or escaping the folder."""
    parts = cassette_path(ROOT, cell).relative_to(ROOT).parts

    assert 4 == len(parts)
    assert all(len(part.encode()) <= 120 and part.strip(".") and part.isascii() for part in parts)


@given(cells, cells)
def test_different_cells_have_different_files(one, two):
    """Cutting a long name never makes two cells share a file."""
    assert (one == two) == (cassette_path(ROOT, one) == cassette_path(ROOT, two))


def test_long_names_that_begin_alike_are_told_apart():
    """What was cut off is in the digest."""
    paths = {cassette_path(ROOT, Cell("a", "m", "s", "long " * 60 + ending)) for ending in "xyz"}

    assert 3 == len(paths)


@given(cells)
def test_a_path_tells_its_cell(cell):
    """Where no name was cut, the cell can be told from the path."""
    path = cassette_path(ROOT, cell)
    if all(len(part) < 90 for part in path.parts):
        assert cell == cell_of(ROOT, path)


@pytest.mark.parametrize("path", ["other/a/b/c/d.0.yaml", "cassettes/a/b/d.0.yaml", "cassettes/a/b/c/d.yaml"])
def test_other_paths_are_no_cells(path):
    """A stray file is not taken for a cell's."""
    assert cell_of(ROOT, Path(path)) is None


def test_names_that_differ_in_case_alone_collide():
    """On a file system that ignores case, the second recording would overwrite the first."""
    with pytest.raises(UsageError) as refused:
        check_collisions(ROOT, [Cell("a", "m", "s", "Case"), Cell("a", "m", "s", "case")])

    assert (
        "error[cassette-collision]: `a/m/s/Case.0` and `a/m/s/case.0` would share a cassette on file systems that"
        " ignore case\n\nhint: rename one of them"
    ) == str(refused.value)
