"""
What every request passes first: who it is addressed to, where it comes from, how often, with which token, how large.

A page on the internet can make a browser send requests to this machine, also under a name that it has pointed here (DNS
rebinding). So the name in `Host` must be one that the server knows, and a request that a browser says comes from another
page is refused.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness.errors import HarnessError, UsageError
from harness.serve.refusals import Scrub, refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY_BYTES = 256 * 1024
BODY_SECONDS = 15.0
MOST_CLIENTS = 1024
"""Clients whose rate is remembered; the one that was silent longest is forgotten first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the gatekeeper lets in."""

    loopback: bool = True
    """The server listens on this machine alone."""
    names: frozenset[str] = frozenset()
    """Names in `Host` that are served, besides addresses and `localhost`."""
    token: str = field(default="", repr=False)
    """What `Authorization: Bearer` must carry; empty for none."""
    per_minute: int = 240
    """Requests that one client may make in a minute, at least 1."""


class Gatekeeper:
    """ASGI middleware that answers what is not let in, and hands the rest on with its body read."""

    def __init__(self, app: ASGIApp, rules: Rules, scrub: Scrub, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._rules = rules
        self._scrub = scrub
        self._rate = Rate(rules.per_minute, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
            body = await _body(receive)
        except HarnessError as error:
            await refusal(error, self._scrub)(scope, receive, send)
            return
        if body is not None:
            await self._app(scope, _first(body, receive), send)

    def _check(self, scope: Scope) -> None:
        """
        Look at what came before the body.

        Raises:
            UsageError: The request is not let in.
        """
        headers = scope["headers"]
        host = _only(headers, b"host")
        check_host(host, self._rules)
        check_origin(_only(headers, b"origin"), _only(headers, b"sec-fetch-site"), host)
        client = scope.get("client")
        self._rate.count(client[0] if client else "")
        if self._rules.token:
            check_token(_only(headers, b"authorization"), self._rules.token)
        length = _only(headers, b"content-length")
        if length.isdigit() and int(length) > MOST_BODY_BYTES:
            raise _too_large()


def check_host(host: str, rules: Rules) -> None:
    """
    Make sure that a request is addressed to this server.

    Raises:
        UsageError: `Host` is missing, or names a host that is not served.
    """
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        name = ""
    address = _address(name)
    if address is not None:
        served = address.is_loopback or not rules.loopback  # no page can be loaded from an address that it does not own
    else:
        served = name == "localhost" or name in rules.names
    if not served:
        raise UsageError(
            "wrong-host",
            "the request is addressed to a host that is not served here",
            hint="use the address that the server printed, or start it with `--allow-host NAME`",
        )


def check_origin(origin: str, fetch_site: str, host: str) -> None:
    """
    Make sure that no other page made a browser send a request.

    Args:
        origin: The header of that name; empty where there is none.
        fetch_site: `Sec-Fetch-Site`, which browsers set themselves; empty where there is none.
        host: The header `Host`.

    Raises:
        UsageError: It comes from another page.
    """
    try:
        foreign = bool(origin) and urlsplit(origin).netloc.lower() != host.lower()
    except ValueError:
        foreign = True
    if foreign or fetch_site not in {"", "none", "same-origin"}:
        raise UsageError("wrong-origin", "requests from other pages are refused", hint="ask from a page of this server")


def check_token(authorization: str, token: str) -> None:
    """
    Hold what a client presents against the server's *token*, in a time that does not tell how much of it is right.

    Raises:
        UsageError: It is missing or wrong.
    """
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise UsageError(
            "wrong-token", "the token is missing or wrong", hint="send the header `Authorization: Bearer TOKEN`"
        )


class Rate:
    """Counts requests of each client: *per_minute* at once, and as many again spread over each minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, client: str) -> None:
        """
        Count one request of *client*.

        Raises:
            UsageError: It made too many.
        """
        now = self._clock()
        left, then = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - then) * self._most / 60)
        self._left[client] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        if left < 1:
            raise UsageError(
                "too-many-requests",
                f"more than {self._most:g} requests a minute",
                hint="wait a little; `harness serve --rate N` allows more",
            )


async def _body(receive: Receive) -> bytes | None:
    """
    The whole body of a request; None where the client left before its end.

    Raises:
        UsageError: It is too large, or does not come to an end.
    """
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                content += message.get("body", b"")
                if len(content) > MOST_BODY_BYTES:
                    raise _too_large()
                if not message.get("more_body", False):
                    return bytes(content)
    except TimeoutError:
        raise UsageError("slow-request", f"the request did not end within {BODY_SECONDS:g} s") from None


def _first(body: bytes, receive: Receive) -> Receive:
    """Give out *body* first, then whatever else comes: that the client has left, for one."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving


def _too_large() -> UsageError:
    return UsageError("body-too-large", f"the request is larger than {MOST_BODY_BYTES // 1024} KiB")


def _only(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """The header *name*; empty where it is missing, and nothing that anybody expects where it stands there twice."""
    found = [value for key, value in headers if key == name]
    return b", ".join(found).decode("latin-1")


def _address(name: str) -> Any:
    try:
        return ip_address(name)
    except ValueError:
        return None
