"""
How far long work is, told on stderr while it goes on: one line that is drawn anew on a terminal, a line now and then in a log.

The work itself only notes what it does; a thread of its own looks at the notes and prints. So nothing is formatted or
printed between two trials, and a case that hangs is the one that is shown.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Self, TextIO

from harness.cli.output import WIDE, Output, columns_of, is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.matrix import PlannedCell
    from harness.records.run import CaseVerdict, Cell

Clock = Callable[[], float]
_begins = re.compile(r"([0-9]{1,9})/([0-9]{1,9}) (.+)").fullmatch
CLEAR = "\r\x1b[K"
_DRAWN_EVERY_S = 0.2
_LOGGED_EVERY_S = (10.0, 20.0, 30.0, 60.0)
"""Seconds between two lines of a log; the last goes on for ever."""


@contextmanager
def working(
    output: Output, what: str, total: int, *, done: int = 0, name: Callable[[int], str] | None = None
) -> Iterator[Progress | None]:
    """See `Output.working`."""
    live = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    if output.as_json and not live:
        yield None
        return
    width = columns_of(sys.stderr) or WIDE
    with Progress(sys.stderr, what, total, done=done, name=name, live=live, width=width) as progress:
        output.under_way = progress
        try:
            yield progress
        finally:
            output.under_way = None


@contextmanager
def replaying(
    output: Output, cells: Sequence[PlannedCell], done: Collection[Cell] = ()
) -> Iterator[Callable[[CaseVerdict, int, int], None] | None]:
    """
    See `Output.replaying`.

    Nothing is made of a verdict but a number: what is under way is the next trial of the plan.
    """
    left = [planned.cell for planned in cells if planned.cell not in done]
    before = len(cells) - len(left)

    def name(count: int) -> str:
        cell = left[count - before] if count - before < len(left) else None
        return f"{cell.agent} × {cell.model} {cell.set}/{cell.case}" if cell else ""

    with working(output, "replaying", len(cells), done=before, name=name) as progress:
        if progress is None:
            yield None
            return

        def tell(_verdict: CaseVerdict, done: int, _total: int) -> None:
            progress.done = done

        yield tell


@contextmanager
def recording(output: Output) -> Iterator[Callable[[str], None]]:
    """
    See `Output.recording`.

    Of what a recording tells, `3/20 NAME` says what begins, the third of twenty; anything else is for people to read.
    """
    with working(output, "recording", 0) as progress:

        def tell(text: str) -> None:
            begins = _begins(text)
            if begins is None:
                from harness.reports.screen import one_line

                output.note(one_line(text))
            elif progress is not None:
                progress.total, progress.done, progress.now = int(begins[2]), int(begins[1]) - 1, begins[3]

        yield tell


class Progress:
    """
    A context manager around long work.

    Args:
        stream: Where to tell.
        what: What is going on, such as `replaying`.
        total: How many things there are to do, at least 0.
        done: How many of them were done before.
        name: Names what is under way once so many are done; without it, `now` does.
        live: Draw one line again and again, with carriage returns; else print whole lines.
        width: Columns of the terminal.
        clock: Seconds; tests give their own.

    The work sets `done`, `now` and `total` as it goes on, from any thread.
    """

    def __init__(
        self,
        stream: TextIO,
        what: str,
        total: int,
        *,
        done: int = 0,
        name: Callable[[int], str] | None = None,
        live: bool,
        width: int = 80,
        clock: Clock = time.monotonic,
    ) -> None:
        self.done = done
        self.total = total
        self.now = ""
        """Name of what is under way."""
        self._stream, self._what, self._live, self._name = stream, what, live, name
        self._width, self._clock = width, clock
        self._began, self._before = clock(), done
        self._shown = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="harness-progress", daemon=True)
        self._process = os.getpid()

    def __enter__(self) -> Self:
        self._began = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._process == os.getpid():  # a forked child has no such thread
            self._thread.join()
            self.clear()

    def clear(self) -> None:
        """Take the line away, so that something else can be printed; it comes back."""
        with self._lock:
            if self._shown:
                print(CLEAR, end="", file=self._stream, flush=True)
                self._shown = False

    def draw(self) -> None:
        """Print how far the work is, now."""
        from harness.reports.screen import clip

        with self._lock:
            if self._over.is_set():
                return
            if self._live:
                print(f"{CLEAR}{clip(self.line(), max(self._width - 1, 1))}", end="", file=self._stream, flush=True)
                self._shown = True
            else:
                print(self.line(), file=self._stream, flush=True)

    def line(self) -> str:
        """How far the work is, in one line: done of all, how fast, how long it still takes, and what is under way."""
        from harness.reports.screen import one_line

        seconds = self._clock() - self._began
        done = self.done
        rate = (done - self._before) / seconds if seconds > 0 else 0.0
        parts = [f"{self._what} {done}/{self.total}" if self.total else self._what]
        if rate:
            parts.append(_rate(rate))
            parts.append(f"{duration((self.total - done) / rate)} left")
        now = one_line(self._name(done) if self._name else self.now)
        parts += [now] if now else []
        return " · ".join(parts)

    def _tell(self) -> None:
        pauses = iter(_LOGGED_EVERY_S)
        pause = _DRAWN_EVERY_S
        while True:
            if not self._live:
                pause = next(pauses, _LOGGED_EVERY_S[-1])
            if self._over.wait(pause):
                return
            try:
                self.draw()
            except (OSError, ValueError):  # stderr is gone: nobody reads it
                return


def duration(seconds: float) -> str:
    """*seconds* (at least 0) as a person says it: `8 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, left = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {left} s" if left else f"{minutes} min"
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if left else f"{hours} h"


def _rate(per_second: float) -> str:
    if per_second >= 1:
        return f"{per_second:.0f}/s"
    return f"{per_second * 60:.1f}/min"
