"""A limit on wall time that also ends an agent that never gives control back: an endless loop without an `await`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

GRACE_SECONDS = 1.0
"""Added to the limit: asyncio's own time-out, which lets an agent clean up, comes first."""
_AGAIN_SECONDS = 0.5


class HungError(BaseException):
    """The agent does not give control back. A BaseException, and raised again and again, so that nothing outlives it."""


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """
    Raise `HungError` inside the code that runs *seconds* from now, and a little more, where it is still running.

    Works in the main thread of systems with interval timers; elsewhere an endless loop is not noticed.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGALRM)
    if before is not _raise:
        signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if callable(before) and before is not _raise:  # somebody else's; with none, ours may stay for the next trial
            signal.signal(signal.SIGALRM, before)


def _raise(_number: int, _frame: FrameType | None) -> None:
    raise HungError
