"""The two tapes: one answers from a cassette, the other sends on and keeps a copy while the caller already reads."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from urllib.parse import urlsplit

import httpx
import msgspec

from harness.cassettes.bodies import decoder_of, readable, recorded_headers, recorded_uri
from harness.cassettes.file import TRANSPORT_ERROR, AnsweredBy, Interaction, InteractionKind
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder, asked_model
from harness.cassettes.transport import Send, SendAsync, WireCall, calling
from harness.errors import HarnessError

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EVENT_END = re.compile(rb"\r\n\r\n|\n\n")
_STREAM_ENDS = (b"data: [DONE]", b"data:[DONE]", b"message_stop")
_ACCEPTED_ENCODINGS = "gzip, deflate"
_CANCELLED = httpx.ReadTimeout("the caller stopped waiting")
"""What a call that its own agent cancelled is recorded as: on replay it ends like one that took too long."""


class PlayTape:
    """Answers from a cassette; nothing is ever sent."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def handle(self, request: httpx.Request, send: Send) -> httpx.Response:
        """Answer a request of a sync client."""
        return self._answer(request, request.read())

    async def handle_async(self, request: httpx.Request, send: SendAsync) -> httpx.Response:
        """Answer a request of an async client."""
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        current = calling.get() or WireCall()
        played = self._player.play_wire(
            request.method, str(request.url), body, current.ask or None, current.slot, request.headers
        )
        if played.status == TRANSPORT_ERROR:
            raise _transport_error(played.error or "", request)
        headers = [(name, value) for name, values in played.response_headers.items() for value in values]
        return httpx.Response(
            played.status,
            headers=headers,
            stream=_RecordedBody(played.response_body.encode(), played.error, request),
            request=request,
            extensions={"reason_phrase": played.status_message.encode("ascii", "replace")},
        )


class RecordTape:
    """
    Sends requests on and records them.

    Args:
        recorder: Where interactions go.
        answered_by: Who answers at the other end.
        embeddings_by: Who answers embedding calls that name one of these models, if another than *answered_by*.
        fingerprinter: The trial's own.
        rewrite: Real base addresses to the ones that are recorded in their place.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        answered_by: AnsweredBy,
        embeddings_by: Mapping[str, AnsweredBy] | None = None,
        fingerprinter: Fingerprinter | None = None,
        rewrite: Mapping[str, str] | None = None,
    ) -> None:
        self._recorder = recorder
        self._answered_by: AnsweredBy = answered_by
        self._embeddings_by = embeddings_by or {}
        self._fingerprinter = fingerprinter or Fingerprinter(scrub=recorder.scrubber.scrub)
        self._rewrite = rewrite or {}

    def handle(self, request: httpx.Request, send: Send) -> httpx.Response:
        """Send a request of a sync client on."""
        copy = self._copy(request, request.read())
        try:
            response = send(request)
        except httpx.RequestError as error:
            copy.failed(error)
            raise
        return copy.teed(response)

    async def handle_async(self, request: httpx.Request, send: SendAsync) -> httpx.Response:
        """Send a request of an async client on."""
        copy = self._copy(request, await request.aread())
        try:
            response = await send(request)
        except httpx.RequestError as error:
            copy.failed(error)
            raise
        except asyncio.CancelledError:
            copy.failed(_CANCELLED)
            raise
        return copy.teed(response)

    def _copy(self, request: httpx.Request, body: bytes) -> _Copy:
        current = calling.get() or WireCall()
        _set_headers(request, current)
        text = readable(body, request.headers.get("content-type", ""))
        kind = _kind_of(request)
        by = self._embeddings_by.get(asked_model(text)) if kind == "embedding" else None
        interaction = Interaction(
            call=current.number or self._recorder.number(),
            ask=current.ask,
            wire=self._fingerprinter.wire(body),
            slot=current.slot,
            kind=kind,
            answered_by=by or self._answered_by,
            method=request.method,
            uri=recorded_uri(str(request.url), self._rewrite),
            request_headers=recorded_headers(request.headers.multi_items()),
            request_body=text,
        )
        return _Copy(interaction, self._recorder)


class _Copy:
    """What is kept of one exchange while it goes on."""

    def __init__(self, interaction: Interaction, recorder: Recorder) -> None:
        self._interaction = interaction
        self._recorder = recorder
        self._began = time.monotonic()
        self._body = bytearray()
        self._chunk_ms: list[int] = []
        self._first_ms = 0
        self._last_ms = 0
        self._searched = 0
        self._done = False
        self._ended = False

    def teed(self, response: httpx.Response) -> httpx.Response:
        """*response* with a body that is copied as the caller reads it."""
        self._response = response
        self._last_ms = self._ms()
        try:
            self._decode = decoder_of(response.headers.get("content-encoding", ""))
        except HarnessError as failure:
            self._recorder.fail(failure)
            raise
        self._streamed = "event-stream" in response.headers.get("content-type", "")
        self._recorder.watch(self, self.settle)
        response.stream = _TeedBody(response.stream, self)
        return response

    def failed(self, error: httpx.RequestError) -> None:
        """Keep that no response came, and why."""
        self._last_ms = self._ms()
        self._add(status=TRANSPORT_ERROR, status_message="Transport Error", complete=True, error=_described(error))

    def take(self, piece: bytes) -> None:
        """Keep a piece of the body, as it came from the network."""
        self._last_ms = self._ms()
        self._first_ms = self._first_ms or self._last_ms
        self._body += self._decode(piece)
        if self._streamed:
            for match in _EVENT_END.finditer(self._body, self._searched):
                self._chunk_ms.append(self._last_ms)
                self._searched = match.end()

    def ended(self) -> None:
        """The body came to its end."""
        self._ended = True

    def settle(self, error: Exception | None = None) -> None:
        """Record what was read; the first time counts."""
        if self._done:
            return
        self._done = True
        self._recorder.settled(self)
        body = bytes(self._body)
        complete = any(end in body for end in _STREAM_ENDS) if self._streamed and self._ok else self._ended
        content_type = self._response.headers.get("content-type", "") if self._ok else "as it came"
        self._add(
            status=self._response.status_code,
            status_message=self._response.reason_phrase,
            complete=complete and error is None,
            error=_described(error) if error else None,
            response_headers=recorded_headers(self._response.headers.multi_items()),
            response_body=readable(body, content_type),
        )

    @property
    def _ok(self) -> bool:
        return bool(self._response.is_success)

    def _add(self, **changes: object) -> None:
        self._recorder.add(
            msgspec.structs.replace(
                self._interaction,
                latency_ms=self._last_ms,
                first_byte_ms=self._first_ms,
                chunk_ms=tuple(self._chunk_ms),
                **changes,
            )
        )

    def _ms(self) -> int:
        return round((time.monotonic() - self._began) * 1000)


class _TeedBody(httpx.SyncByteStream, httpx.AsyncByteStream):  # type: ignore[misc]
    """Hands every piece to the caller as it comes, and a copy of it to *copy*."""

    def __init__(self, source: httpx.SyncByteStream | httpx.AsyncByteStream, copy: _Copy) -> None:
        self._source = source
        self._copy = copy

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._source:
                self._copy.take(piece)
                yield piece
        except httpx.RequestError as error:
            self._copy.settle(error)
            raise
        self._copy.ended()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._source:
                self._copy.take(piece)
                yield piece
        except httpx.RequestError as error:
            self._copy.settle(error)
            raise
        except asyncio.CancelledError:
            self._copy.settle(_CANCELLED)
            raise
        self._copy.ended()

    def close(self) -> None:
        try:
            self._source.close()
        finally:
            self._copy.settle()

    async def aclose(self) -> None:
        try:
            await self._source.aclose()
        finally:
            self._copy.settle()


class _RecordedBody(httpx.SyncByteStream, httpx.AsyncByteStream):  # type: ignore[misc]
    """A recorded body, event by event; what broke it off while recording breaks it off again."""

    def __init__(self, body: bytes, error: str | None, request: httpx.Request) -> None:
        self._body = body
        self._error = error
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        start = 0
        for match in _EVENT_END.finditer(self._body):
            yield self._body[start : match.end()]
            start = match.end()
        if start < len(self._body):
            yield self._body[start:]
        if self._error:
            raise _transport_error(self._error, self._request)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece


def _set_headers(request: httpx.Request, current: WireCall) -> None:
    """Tell a server on loopback which call this is; ask any server only for encodings that can be kept as text."""
    for name in [name for name in request.headers if name.startswith("x-harness-")]:
        del request.headers[name]
    if request.url.host in _LOOPBACK and current.number:
        request.headers["x-harness-call"] = str(current.number)
        request.headers["x-harness-purpose"] = current.purpose
        if current.slot:
            request.headers["x-harness-slot"] = current.slot
    request.headers["accept-encoding"] = _ACCEPTED_ENCODINGS


def _kind_of(request: httpx.Request) -> InteractionKind:
    return "embedding" if urlsplit(str(request.url)).path.endswith("/embeddings") else "chat"


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _transport_error(described: str, request: httpx.Request) -> httpx.RequestError:
    """The error that a recorded one stands for; an unknown name is a ReadError."""
    name, _, message = described.partition(": ")
    kind = getattr(httpx, name, None)
    if not (isinstance(kind, type) and issubclass(kind, httpx.RequestError)):
        kind, message = httpx.ReadError, described
    return kind(message, request=request)
