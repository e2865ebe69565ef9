"""
The way between HTTP clients and the tape of a trial.

Three transport methods are patched once for the whole process; which tape answers is a context variable, so that any
number of trials run side by side. No tape in the context means: refuse. This module needs httpx; the replay path
that goes without HTTP never imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, Protocol

import httpx
import msgspec

from harness.errors import ReplayMissError

Send = Callable[[httpx.Request], httpx.Response]
SendAsync = Callable[[httpx.Request], Awaitable[httpx.Response]]

_LITELLM_MODULE = "litellm.llms.custom_httpx.aiohttp_transport"
_PATCHED = "_harness_original"


class WireCall(msgspec.Struct, frozen=True, kw_only=True):
    """The logical call that the client is making; empty *ask* where nobody knows it."""

    ask: str = ""
    slot: str = ""
    number: int = 0
    purpose: str = ""


class Tape(Protocol):
    """Answers a request, from a cassette or by sending it on."""

    def handle(self, request: httpx.Request, send: Send) -> httpx.Response:
        """Answer a request of a sync client."""
        ...

    async def handle_async(self, request: httpx.Request, send: SendAsync) -> httpx.Response:
        """Answer a request of an async client."""
        ...


tape: ContextVar[Tape | None] = ContextVar("tape", default=None)
"""The tape of the trial that this context belongs to."""
calling: ContextVar[WireCall | None] = ContextVar("calling", default=None)
"""The model client's current call."""
refusals: list[str] = []
"""Requests that came without a tape, oldest first: whatever became of the error, they are counted here."""


class OpenTape:
    """Lets every request through unrecorded, for live questions."""

    def handle(self, request: httpx.Request, send: Send) -> httpx.Response:
        """Send *request* on."""
        return send(request)

    async def handle_async(self, request: httpx.Request, send: SendAsync) -> httpx.Response:
        """Send *request* on."""
        return await send(request)


@contextmanager
def use(current: Tape) -> Iterator[None]:
    """Make *current* the tape of this context, and of the tasks and copied contexts that begin in it."""
    install()
    token = tape.set(current)
    try:
        yield
    finally:
        tape.reset(token)


@contextmanager
def call(current: WireCall) -> Iterator[None]:
    """Make *current* the call that requests of this context belong to."""
    token = calling.set(current)
    try:
        yield
    finally:
        calling.reset(token)


def install() -> None:
    """
    Patch the transports that are loaded; idempotent and cheap, to be called again once litellm was imported.

    litellm's aiohttp transport is an httpx transport of its own: patched at that layer, nothing is seen twice.
    """
    _patch(httpx.HTTPTransport, "handle_request", _patched_sync)
    _patch(httpx.AsyncHTTPTransport, "handle_async_request", _patched_async)
    litellm = sys.modules.get(_LITELLM_MODULE)
    if litellm is not None:
        _patch(litellm.LiteLLMAiohttpTransport, "handle_async_request", _patched_async)


def uninstall() -> None:
    """Give the transports their own methods back."""
    litellm = sys.modules.get(_LITELLM_MODULE)
    classes = [httpx.HTTPTransport, httpx.AsyncHTTPTransport, *([litellm.LiteLLMAiohttpTransport] if litellm else [])]
    for owner in classes:
        for name in ("handle_request", "handle_async_request"):
            original = getattr(vars(owner).get(name), _PATCHED, None)
            if original is not None:
                setattr(owner, name, original)


def _patch(owner: Any, name: str, patched: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, _PATCHED):
        replacement = patched(original)
        setattr(replacement, _PATCHED, original)
        setattr(owner, name, replacement)


def _patched_sync(original: Callable[[Any, httpx.Request], httpx.Response]) -> Any:
    def handle_request(self: Any, request: httpx.Request) -> httpx.Response:
        current = tape.get()
        if current is None:
            _refuse(request)
        return current.handle(request, lambda asked: original(self, asked))

    return handle_request


def _patched_async(original: Callable[[Any, httpx.Request], Awaitable[httpx.Response]]) -> Any:
    async def handle_async_request(self: Any, request: httpx.Request) -> httpx.Response:
        current = tape.get()
        if current is None:
            _refuse(request)
        return await current.handle_async(request, lambda asked: original(self, asked))

    return handle_async_request


def _refuse(request: httpx.Request) -> NoReturn:
    refusals.append(f"{request.method} {request.url.copy_with(query=None, userinfo=b'')}")
    raise ReplayMissError(
        "no-tape",
        f"{refusals[-1]}: no cassette belongs to this thread or task; start threads of an agent with"
        " `contextvars.copy_context().run`",
    )
