"""Answers that come line by line: one JSON object a line, sent as soon as it is there, cancelled when nobody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
from starlette.responses import StreamingResponse

from harness.agents.hosting import HostedRun
from harness.errors import CouldNotCheckError, HarnessError
from harness.records.react_lines import one_line
from harness.records.stages import Stages
from harness.records.trace import ErrorRaised, Event
from harness.records.trace_file import encode_events
from harness.serve.refusals import HEADERS, Scrub
from harness.serve.spending import Spending

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MEDIA_TYPE = "application/x-ndjson"
TRIAL_HEADER = "x-trial"
"""Names the trial of a stream: POST /api/trials/NAME/stop ends it."""
T = TypeVar("T")


class Closing(Protocol):
    """What stands behind a stream, and ends with it."""

    async def close(self) -> None:
        """End what is still going on."""
        ...


class Stored:
    """Behind what is only read nothing goes on."""

    async def close(self) -> None:
        """Do nothing."""


class NdjsonResponse(StreamingResponse):
    """
    *lines*, each flushed by itself; whatever ends the answer also ends *run*.

    The client is watched while the run is silent too, whatever version of ASGI the server speaks.
    """

    def __init__(
        self, run: Closing, lines: AsyncIterator[str], scrub: Scrub, headers: Mapping[str, str] | None = None
    ) -> None:
        # proxies that honour neither header would hold lines back
        plain = {"cache-control": "no-store, no-transform", "x-accel-buffering": "no"}
        headers = {**HEADERS, **plain, **(headers or {})}
        super().__init__(_encoded(lines, scrub), media_type=MEDIA_TYPE, headers=headers)
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writing = asyncio.ensure_future(self.stream_response(send))
        try:
            await _first_of(writing, self.listen_for_disconnect(receive))
        finally:
            await _cancelled(writing)
            await self._run.close()


async def unless_gone(work: Coroutine[Any, Any, T], gone: Coroutine[Any, Any, None], run: HostedRun) -> T:
    """
    Wait for *work*; when *gone* ends first, cancel it and *run*.

    Raises:
        CouldNotCheckError: The client has left.
    """
    working = asyncio.ensure_future(work)
    try:
        await _first_of(working, gone)
        if working.done():
            return working.result()
        raise CouldNotCheckError("client-gone", "the client left before the answer")
    finally:
        await _cancelled(working)
        await run.close()


async def trace_lines(run: HostedRun, *, priced: bool = False) -> AsyncIterator[str]:
    """
    The events of *run* as they stand in a trace file, with two keys more where there is something to say.

    `stage` stands on the event that begins one of the four stages, `spent` on each model's reply: what all of them took
    so far, in dollars too where *priced*. The last event is `trial_finished`, or an `error` that says why the run came
    to no proper end.
    """
    async for _, line in timed_lines(run, priced=priced):
        yield line


async def timed_lines(run: HostedRun, *, priced: bool = False) -> AsyncIterator[tuple[int, str]]:
    """The lines of `trace_lines`, each with the virtual milliseconds at which it happened."""
    told = _Told(priced=priced)
    last: Event | None = None
    async for event in run:
        last = event
        yield event.ts, told.line(event)
    if run.failure is not None:
        event = _as_event(run.failure, last)
        yield event.ts, told.line(event)


async def stored_lines(events: Iterable[Event]) -> AsyncIterator[tuple[int, str]]:
    """The same of a trace that was written down."""
    told = _Told(priced=False)
    for event in events:
        yield event.ts, told.line(event)


async def paced(
    lines: AsyncIterator[tuple[int, str]], speed: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncIterator[str]:
    """
    Hold each of *lines* back until its time has come.

    Args:
        lines: Lines with their virtual milliseconds, which start anew with each leg.
        speed: 1 for the speed of the recording, 2 for twice that; at least 0.01.
        sleep: Waits for a number of seconds.
    """
    before = 0
    for_ms = 1000.0 * speed
    async for ts, line in lines:
        if ts > before:
            await sleep((ts - before) / for_ms)
        before = ts
        yield line


class _Told:
    """Writes the events of one run as lines."""

    def __init__(self, *, priced: bool) -> None:
        self._stages = Stages()
        self._spending = Spending(priced=priced)

    def line(self, event: Event) -> str:
        line = _line(event)
        more = {"stage": self._stages.after(event), "spent": self._spending.after(event)}
        known = {key: value for key, value in more.items() if value is not None}
        if not known:
            return line
        return f"{line.rstrip()[:-1]},{msgspec.json.encode(known).decode()[1:]}\n"


def _line(event: Event) -> str:
    try:
        return one_line(encode_events([event]).decode())
    except UnicodeEncodeError:
        lost = ErrorRaised(kind="bad-text", message="an event holds half a character", where="harness", fatal=False)
        return encode_events([msgspec.structs.replace(event, type=lost.type, data=lost)]).decode()


def _as_event(failure: HarnessError, last: Event | None) -> Event:
    data = ErrorRaised(kind=failure.code, message=failure.message, where="harness")
    after = last or Event("", -1, 0, data.type, data)
    return Event(after.trial_id, after.seq + 1, after.ts, data.type, data)


async def _encoded(lines: AsyncIterator[str], scrub: Scrub) -> AsyncIterator[bytes]:
    async for line in lines:
        yield (scrub(line.rstrip("\n")) + "\n").encode()


async def _first_of(main: asyncio.Future[Any], other: Coroutine[Any, Any, None]) -> None:
    """Wait until one of them ends; *other* is cancelled then, and what *main* raised is raised."""
    waiting = asyncio.ensure_future(other)
    try:
        await asyncio.wait({main, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if main.done():
            main.result()
    finally:
        await _cancelled(waiting)


async def _cancelled(task: asyncio.Future[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
