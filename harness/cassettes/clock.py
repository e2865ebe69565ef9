"""Time as an agent sees it: virtual on replay, real while recording. Both start at the world's own date."""

from __future__ import annotations

import time
from collections.abc import Generator
from datetime import datetime, timedelta
from types import coroutine


class VirtualClock:
    """
    A clock that moves only when told: by recorded latencies, declared tool times, and sleeping.

    Parallel calls each start from the same moment and advance the clock to the latest of their ends.

    Args:
        now_iso: The date and time at which the trial begins, as ISO 8601.
    """

    def __init__(self, now_iso: str) -> None:
        self._start = datetime.fromisoformat(now_iso)
        self._ms = 0

    def now(self) -> str:
        """The date and time as ISO 8601."""
        return (self._start + timedelta(milliseconds=self._ms)).isoformat()

    def today(self) -> str:
        """The date as `YYYY-MM-DD`."""
        return self.now()[:10]

    def ms(self) -> int:
        """Milliseconds since the trial began."""
        return self._ms

    def advance_to(self, ms: int) -> None:
        """Move on to *ms* milliseconds since the trial began; never back."""
        self._ms = max(self._ms, ms)

    async def sleep(self, seconds: float) -> None:
        """Let *seconds* pass on this clock and other tasks run; no wall time passes."""
        wake = self._ms + round(max(0.0, seconds) * 1000)
        await _let_others_run()
        self.advance_to(wake)


class WallClock(VirtualClock):
    """The same shape for recording: starts at *now_iso*, then goes on with wall time."""

    def __init__(self, now_iso: str) -> None:
        super().__init__(now_iso)
        self._began = time.monotonic()

    def now(self) -> str:
        """The date and time as ISO 8601."""
        self._tick()
        return super().now()

    def ms(self) -> int:
        """Milliseconds since the trial began."""
        self._tick()
        return self._ms

    def advance_to(self, ms: int) -> None:
        """Do nothing: wall time moves by itself."""

    async def sleep(self, seconds: float) -> None:
        """Sleep for *seconds* of wall time."""
        import asyncio

        await asyncio.sleep(seconds)

    def _tick(self) -> None:
        self._ms = round((time.monotonic() - self._began) * 1000)


@coroutine
def _let_others_run() -> Generator[None]:
    """One bare step of an event loop, without importing asyncio."""
    yield
