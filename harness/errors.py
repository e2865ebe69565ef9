"""
The exception tree. Only the command line and the pytest plugin turn these into text and exit codes.

    HarnessError                 carries code, message, hint, at
    ├── UsageError               exit 2: the arguments or the files are wrong
    │   └── BadFileError         exit 2: a file that a person wrote cannot be used; *at* names file:line
    ├── CouldNotCheckError       exit 3: no verdict is possible, through nobody's fault in the agent
    │   └── CassetteError        exit 3: a cassette is missing, unreadable, refused or of another format
    ├── NothingComparedError     exit 4
    └── SecretError              exit 2: a secret would be written to disk, or was found in a file
    ReplayMissError              a BaseException: an agent's `except Exception` must not swallow it (exit 3)
    LimitExceededError           a BaseException: the trial is stopped at a limit of its case
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What CI may rely on; changing a number is a breaking change."""

    PASS = 0
    REGRESSED = 1
    USAGE = 2
    COULD_NOT_CHECK = 3
    NOTHING_COMPARED = 4
    INCONCLUSIVE = 5


class HarnessError(Exception):
    """
    Anything that the product reports to a person.

    Args:
        code: A stable kebab-case name, such as `cassette-miss`; `harness explain CODE` tells more.
        message: What is wrong, where and why, without a full stop at the end.
        hint: The next command or edit that mends it.
        at: `file:line` where there is one.
    """

    exit_code = ExitCode.COULD_NOT_CHECK

    def __init__(self, code: str, message: str, *, hint: str = "", at: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.at = at

    def __str__(self) -> str:
        where = f"{self.at}: " if self.at else ""
        hint = f"\n\nhint: {self.hint}" if self.hint else ""
        return f"error[{self.code}]: {where}{self.message}{hint}"


class UsageError(HarnessError):
    """The arguments or the files are wrong: the person who calls can mend it."""

    exit_code = ExitCode.USAGE


class BadFileError(UsageError):
    """A file cannot be used as it is; *at* says where."""


class SecretError(UsageError):
    """A secret would have been written, or stands in a file that was to be loaded."""


class CouldNotCheckError(HarnessError):
    """No verdict on quality is possible."""


class CassetteError(CouldNotCheckError):
    """A cassette is missing, unreadable, refused, or of a format that this version does not read."""


class NothingComparedError(HarnessError):
    """There was nothing to hold against anything."""

    exit_code = ExitCode.NOTHING_COMPARED


class ReplayMissError(BaseException):
    """
    A model call is not in the cassette. A BaseException, so that an agent that survives any `Exception` cannot
    survive this; the player remembers it as well.
    """

    code = "cassette-miss"

    def __init__(self, key: str, explanation: str) -> None:
        super().__init__(explanation)
        self.key = key
        self.explanation = explanation


class LimitExceededError(BaseException):
    """A trial went past a hard limit of its case; *limit* names it (`llm_calls`, `tool_calls`, …)."""

    def __init__(self, limit: str, most: int) -> None:
        super().__init__(f"limit {limit}={most} exceeded")
        self.limit = limit
        self.most = most
