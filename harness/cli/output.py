"""What commands print: data on stdout, the rest on stderr, one JSON document with `--json`, colour only where it helps."""

from __future__ import annotations

import os
import sys

from harness.errors import ExitCode, HarnessError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, TextIO

    from harness.cli.progress import Progress
    from harness.matrix import PlannedCell
    from harness.records.run import CaseVerdict, Cell
    from harness.reports.screen import Paint

WIDE = 120
"""Columns where no terminal says how many there are, as in the log of a CI job."""


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
        self.under_way: Progress | None = None
        """What is told on stderr; whatever is printed takes its line away first."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")

    @property
    def width(self) -> int:
        """Columns to lay text out for, at least 20."""
        told = os.environ.get("COLUMNS", "")
        columns = int(told) if told.isascii() and told.isdigit() else 0
        return max(columns or columns_of(self.stream) or WIDE, 20)

    @property
    def height(self) -> int | None:
        """Lines of the terminal, at least 10; None where there is none, and nothing scrolls away."""
        told = os.environ.get("LINES", "")
        if told.isascii() and told.isdigit() and int(told) > 0:
            return max(int(told), 10)
        try:
            return max(os.get_terminal_size(self.stream.fileno()).lines, 10)
        except (OSError, ValueError, AttributeError):
            return None

    @property
    def paint(self) -> Paint:
        """
        How to decorate text on stdout.

        NO_COLOR (https://no-color.org) turns colour off whatever else is set; FORCE_COLOR and CLICOLOR_FORCE turn it
        on where no terminal reads, as the logs of many CI systems show colours; else CLICOLOR=0, TERM=dumb and
        anything that is no terminal turn it off.
        """
        from harness.reports.screen import ansi, plain

        return ansi if _colourful(self.stream) else plain

    def apart(self) -> AbstractContextManager[None]:
        """While other people's code runs: only this object writes to stdout, and nobody ends the process."""
        from harness.cli.apart import apart

        return apart(self)

    def data(self, text: str, *, exact: bool = False) -> None:
        """
        Print *text* on stdout; what steers a terminal is written out in it, but for our own colours.

        With *exact* it is left as it is: a document or a report, whose format has its own ways to write that out.
        """
        if os.getpid() != self._process:  # a forked child of an agent that came back: only its parent speaks
            os._exit(ExitCode.COULD_NOT_CHECK)
        self._end_progress()
        if not exact:
            from harness.reports.screen import only_colours

            text = only_colours(text, colours=_colourful(self.stream))
        print(text, file=self.stream, flush=True)

    def document(self, value: Any) -> None:
        """Print *value*, a document of `harness.reports.documents`, as JSON on stdout; what steers a terminal is escaped."""
        import msgspec

        from harness.reports.documents import full
        from harness.reports.escaping import json_text

        self.data(json_text(msgspec.json.encode(full(value)).decode()), exact=True)

    def note(self, text: str) -> None:
        """Print *text* on stderr, with what steers a terminal written out."""
        from harness.reports.screen import neutralise

        self._end_progress()
        print(neutralise(text, keep_lines=True), file=sys.stderr, flush=True)

    def working(
        self, what: str, total: int, *, done: int = 0, name: Callable[[int], str] | None = None
    ) -> AbstractContextManager[Progress | None]:
        """
        Tell on stderr how far long work is; the work sets `done` and `now` of what it is given.

        A terminal gets one line that is drawn anew and goes away at the end; a log, a CI job and a dumb terminal get a
        line after 10 s and then ever more seldom. With `--json` only a terminal is told anything: elsewhere None is
        given, and the work has nobody to tell.

        Args:
            what: What is going on, such as `replaying`.
            total: How many things there are to do.
            done: How many of them were done before.
            name: Names what is under way once so many are done.
        """
        from harness.cli.progress import working

        return working(self, what, total, done=done, name=name)

    def replaying(
        self, cells: Sequence[PlannedCell], done: Collection[Cell] = ()
    ) -> AbstractContextManager[Callable[[CaseVerdict, int, int], None] | None]:
        """The same around a replay of *cells*, some of which were *done* before: what it gives takes each verdict."""
        from harness.cli.progress import replaying

        return replaying(self, cells, done)

    def recording(self) -> AbstractContextManager[Callable[[str], None]]:
        """The same around a recording: what it gives is told what begins, as `3/20 NAME`, and what people should read."""
        from harness.cli.progress import recording

        return recording(self)

    def failure(self, error: HarnessError) -> int:
        """Print *error* and return the exit code that it maps to."""
        if self.as_json:
            self._error(error.code, error.message, error.hint, error.at, error.exit_code)
        else:
            self.note(str(error))
        return error.exit_code

    def crash(self, error: BaseException) -> int:
        """Print a defect of the harness itself, with where it came from: no verdict, so exit 3."""
        import traceback

        self.note("".join(traceback.format_exception(error)).rstrip())
        message = f"the harness itself failed: {type(error).__name__}: {error}"
        hint = "this is a defect of tapegate, not of your agent; please report it with the text above"
        if self.as_json:
            self._error("internal", message, hint, "", ExitCode.COULD_NOT_CHECK)
        else:
            self.note(f"error[internal]: {message}\n\nhint: {hint}")
        return ExitCode.COULD_NOT_CHECK

    def _error(self, code: str, message: str, hint: str, at: str, exit_code: int) -> None:
        import json

        from harness.reports.escaping import json_text

        told = {"code": code, "message": message, "hint": hint, "at": at}
        self.data(json_text(json.dumps({"error": told, "exit_code": int(exit_code)}, ensure_ascii=False)), exact=True)

    def _end_progress(self) -> None:
        if self.under_way is not None and os.getpid() == self._process:
            self.under_way.clear()


def _colourful(stream: TextIO) -> bool:
    told = os.environ
    if told.get("NO_COLOR"):
        return False
    if told.get("FORCE_COLOR", "0") not in {"", "0"} or told.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return is_terminal(stream) and told.get("TERM") != "dumb" and told.get("CLICOLOR") != "0"


def is_terminal(stream: TextIO) -> bool:
    """Whether a person watches *stream*."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # none at all, or a closed one
        return False


def columns_of(stream: TextIO) -> int:
    """Columns of the terminal that *stream* is; 0 where it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 0
