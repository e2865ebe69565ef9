"""The public names of `harness`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import harness


def test_public_names_are_complete_and_sorted() -> None:
    """`__all__` names everything that is exported lazily, in order, and each name is there."""
    assert sorted(harness.__all__) == harness.__all__
    assert {*harness._HOMES, "__version__"} == set(harness.__all__)
    assert all(getattr(harness, name) is not None for name in harness.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as on any module."""
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'contrakt'"):
        harness.contrakt  # noqa: B018


def test_importing_the_package_imports_nothing_of_it() -> None:
    """`import harness` alone costs nothing: its parts come when they are asked for."""
    code = "import sys, harness; print(sorted(n for n in sys.modules if n.startswith(('harness.', 'msgspec'))))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == ran.stdout.strip()
