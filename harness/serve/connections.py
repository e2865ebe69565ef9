"""
Connections that say nothing: closed in time, so that a crowd of them cannot keep everybody else out.

uvicorn waits for ever for the end of a request's headers, and counts the connection while it waits. Here a connection
that has no request to show gets `HEADER_SECONDS`; and when many wait at once, the one that waits longest makes room.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""Wall-clock time in which the headers of a request must have come, from the connection or the last answer on."""
MOST_WAITING = 64
"""Connections that wait for headers at once; well below what the server serves, so that requests still find room."""


class TimelyProtocol(H11Protocol):
    """uvicorn's own protocol, with an end to its patience."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._patience: asyncio.TimerHandle | None = None
        self._waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        waiting = [each for each in self.connections if isinstance(each, TimelyProtocol) and each.waits]
        if len(waiting) > MOST_WAITING:
            min(waiting, key=lambda each: each._waits_since).give_up()  # noqa: SLF001 – of the same class

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._forget()

    def on_response_complete(self) -> None:
        self._wait()
        super().on_response_complete()

    @property
    def waits(self) -> bool:
        """Whether the headers of a request are still to come."""
        return self._patience is not None

    def give_up(self) -> None:
        """Close the connection: its headers did not come."""
        self._forget()
        if not self.transport.is_closing():
            self.transport.close()

    def _wait(self) -> None:
        self._forget()
        self._waits_since = self.loop.time()
        self._patience = self.loop.call_later(HEADER_SECONDS, self.give_up)

    def _forget(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
