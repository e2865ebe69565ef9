"""One error code: what it leads to, what it means, and what to do."""

from __future__ import annotations

from typing import NamedTuple

from harness.errors import ExitCode

USAGE = ExitCode.USAGE
CHECK = ExitCode.COULD_NOT_CHECK
NOTHING = ExitCode.NOTHING_COMPARED


class Code(NamedTuple):
    """One code; *about* and *mend* are sentences without a full stop."""

    exit_code: ExitCode
    about: str
    mend: str
