"""Answers that come line by line: one JSON object a line, sent as soon as it is there, cancelled when nobody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.responses import StreamingResponse

from harness.agents.hosting import HostedRun
from harness.errors import CouldNotCheckError, HarnessError
from harness.records.react_lines import one_line
from harness.records.trace import ErrorRaised, Event
from harness.records.trace_file import encode_events
from harness.serve.refusals import HEADERS, Scrub

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MEDIA_TYPE = "application/x-ndjson"
T = TypeVar("T")


class NdjsonResponse(StreamingResponse):
    """
    *lines*, each flushed by itself; whatever ends the answer also ends *run*.

    The client is watched while the run is silent too, whatever version of ASGI the server speaks.
    """

    def __init__(self, run: HostedRun, lines: AsyncIterator[str], scrub: Scrub) -> None:
        # proxies that honour neither header would hold lines back
        headers = {**HEADERS, "cache-control": "no-store, no-transform", "x-accel-buffering": "no"}
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


async def trace_lines(run: HostedRun) -> AsyncIterator[str]:
    """
    The events of *run* as they stand in a trace file.

    The last one is `trial_finished`, or an `error` that says why the run came to no proper end.
    """
    last: Event | None = None
    async for event in run:
        last = event
        yield _line(event)
    if run.failure is not None:
        yield _line(_as_event(run.failure, last))


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
