"""What commands print: data on stdout, the rest on stderr, one JSON document with `--json`, colour only where it helps."""

from __future__ import annotations

import os
import sys
import time

from harness.errors import ExitCode, HarnessError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any, TextIO

    from harness.reports.screen import Paint

_WIDE = 120
"""Columns where no terminal says how many there are, as in the log of a CI job."""
_EVERY_S = 0.1
_CLEAR = "\r\x1b[K"


class Output:
    """
    The two streams of a command.

    Args:
        as_json: Print one JSON document instead of text.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.stream = sys.stdout
        """Where data goes; `apart` keeps it for this object alone."""
        self._process = os.getpid()
        self._progress_at = 0.0
        self._progress_shown = False
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")

    @property
    def width(self) -> int:
        """Columns to lay text out for, at least 20."""
        told = os.environ.get("COLUMNS", "")
        if told.isdigit() and int(told) > 0:
            return max(int(told), 20)
        try:
            return max(os.get_terminal_size(self.stream.fileno()).columns, 20)
        except (OSError, ValueError, AttributeError):
            return _WIDE

    @property
    def paint(self) -> Paint:
        """How to decorate text on stdout."""
        from harness.reports.screen import ansi, plain

        return ansi if _colourful(self.stream) else plain

    def apart(self) -> AbstractContextManager[None]:
        """While other people's code runs: only this object writes to stdout, and nobody ends the process."""
        from harness.cli.apart import apart

        return apart(self)

    def data(self, text: str) -> None:
        """Print *text* on stdout."""
        if os.getpid() != self._process:  # a forked child of an agent that came back: only its parent speaks
            os._exit(ExitCode.COULD_NOT_CHECK)
        self._end_progress()
        print(text, file=self.stream, flush=True)

    def document(self, value: Any) -> None:
        """Print *value*, a document of `harness.reports.documents`, as JSON on stdout."""
        import msgspec

        from harness.reports.documents import full

        self.data(msgspec.json.encode(full(value)).decode())

    def note(self, text: str) -> None:
        """Print *text* on stderr."""
        self._end_progress()
        print(text, file=sys.stderr, flush=True)

    def progress(self, text: str) -> None:
        """Show how far long work is: on a terminal only, in one line that the next thing printed takes away."""
        now = time.monotonic()
        if now - self._progress_at < _EVERY_S or not sys.stderr.isatty():
            return
        from harness.reports.screen import clip, one_line

        self._progress_at = now
        self._progress_shown = True
        print(f"{_CLEAR}{clip(one_line(text), 78)}", end="", file=sys.stderr, flush=True)

    def failure(self, error: HarnessError) -> int:
        """Print *error* and return the exit code that it maps to."""
        if self.as_json:
            self._error(error.code, error.message, error.hint, error.at, error.exit_code)
        else:
            from harness.reports.screen import neutralise

            self.note(neutralise(str(error), keep_lines=True))
        return error.exit_code

    def crash(self, error: BaseException) -> int:
        """Print a defect of the harness itself, with where it came from: no verdict, so exit 3."""
        import traceback

        from harness.reports.screen import neutralise

        self.note(neutralise("".join(traceback.format_exception(error)).rstrip(), keep_lines=True))
        message = f"the harness itself failed: {type(error).__name__}: {error}"
        hint = "this is a defect of tapegate, not of your agent; please report it with the text above"
        if self.as_json:
            self._error("internal", message, hint, "", ExitCode.COULD_NOT_CHECK)
        else:
            self.note(neutralise(f"error[internal]: {message}\n\nhint: {hint}", keep_lines=True))
        return ExitCode.COULD_NOT_CHECK

    def _error(self, code: str, message: str, hint: str, at: str, exit_code: int) -> None:
        import json

        told = {"code": code, "message": message, "hint": hint, "at": at}
        self.data(json.dumps({"error": told, "exit_code": int(exit_code)}, ensure_ascii=False))

    def _end_progress(self) -> None:
        if self._progress_shown:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
            self._progress_shown = False


def _colourful(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
