"""The one door to scipy and numpy, which come with the extra `stats` and take a while to import."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from harness.errors import UsageError


def numeric(module: str) -> Any:
    """
    Return *module*, such as `scipy.special`, imported when it is first asked for.

    Raises:
        UsageError: It is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise UsageError(
            "no-scipy",
            f"this statistic needs `{missing.name}`, which is not installed",
            hint='pip install "tapegate[stats]"',
        ) from missing
