"""CI judges what was committed; it must not write it."""

from __future__ import annotations

import os

from harness.errors import UsageError


def refuse_in_ci(what: str, *, allowed: bool) -> None:
    """
    Refuse to write *what* on a CI machine, which sets `CI`.

    Raises:
        UsageError: `CI` is set to anything but empty, `0` or `false`, and *allowed* is False.
    """
    if not allowed and os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise UsageError(
            "ci-write",
            f"{what} are not written in CI: a run could then approve itself",
            hint="run this where you can review and commit the change, or pass `--allow-ci-write`",
        )
