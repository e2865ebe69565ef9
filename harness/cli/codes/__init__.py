"""Every error code, with the exit code that it leads to, what it means, and what to do: `harness explain CODE`."""

from __future__ import annotations

from harness.cli.codes.code import Code
from harness.cli.codes.commands import COMMAND, RUN, SERVE
from harness.cli.codes.files import CASSETTE, GOLDEN, PROJECT, SCRIPT

__all__ = ["CODES", "Code"]
CODES: dict[str, Code] = {**COMMAND, **PROJECT, **GOLDEN, **CASSETTE, **SCRIPT, **RUN, **SERVE}
"""What each code means, by code."""
