"""
What every request passes first: who it is addressed to, where it comes from, how often, with which token, how large.

A page on the internet can make a browser send requests to this machine, also under a name that it has pointed here (DNS
rebinding). So the name in `Host` must be one that the server knows, and a request that a browser says comes from another
page is refused; only a link to one of the pages may be followed from elsewhere.

The token comes in a header, or a cookie says that it was shown before (`sign_in`); never in an address, which stays in
histories and logs.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from harness.errors import HarnessError, UsageError
from harness.serve.refusals import Scrub, refusal
from harness.serve.safe_headers import with_safe_headers
from harness.serve.sign_in import SignIns, same

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SIGN_IN = "/sign-in"
PUBLIC = (SIGN_IN, "/language", "/assets/")
"""What is served without a token: the form that asks for it, in every language, with its looks."""

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
    """What `Authorization: Bearer` or the form at `/sign-in` must carry; empty for none."""
    per_minute: int = 240
    """Requests that one client may make in a minute, at least 1."""


class Gatekeeper:
    """
    ASGI middleware that answers what is not let in, and hands the rest on with its body read.

    Args:
        app: What is let in goes there.
        rules: What is let in.
        scrub: Takes secrets out of refusals.
        sign_ins: Whose cookies stand for the token; by default nobody's.
        clock: Seconds that only grow.
    """

    def __init__(
        self, app: ASGIApp, rules: Rules, scrub: Scrub, sign_ins: SignIns | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._app = app
        self._rules = rules
        self._scrub = scrub
        self._sign_ins = sign_ins or SignIns(rules.token)
        self._rate = Rate(rules.per_minute, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        send = with_safe_headers(send)
        try:
            self._check(scope)
            body = await _body(receive)
        except HarnessError as error:
            if error.code == "wrong-token" and _wants_page(scope):
                await _to_sign_in(scope, receive, send)
            else:
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
        origin, site = _only(headers, b"origin"), _only(headers, b"sec-fetch-site")
        if not (_wants_page(scope) and _follows_link(headers)):
            check_origin(origin, site, host)
        client = scope.get("client")
        self._rate.count(client[0] if client else "")
        if self._rules.token and not scope["path"].startswith(PUBLIC):
            self._check_token(scope, from_page=bool(origin or site))
        length = _only(headers, b"content-length")
        if length.isdigit() and int(length) > MOST_BODY_BYTES:
            raise _too_large()

    def _check_token(self, scope: Scope, *, from_page: bool) -> None:
        """A cookie is enough where the request says that it is of a page of ours, or changes nothing."""
        cookie = cookies_of(scope).get(cookie_name(scope), "")
        safe = scope["method"] in {"GET", "HEAD"} or from_page
        if not (cookie and safe and self._sign_ins.knows(cookie)):
            check_token(_only(scope["headers"], b"authorization"), self._rules.token)


def cookie_name(scope: Scope) -> str:
    """Name the cookie of a sign-in: browsers keep cookies of all ports of a machine in one jar."""
    return f"tapegate-{scope['server'][1]}" if scope.get("server") else "tapegate"


def cookies_of(scope: Scope) -> dict[str, str]:
    """The cookies of a request."""
    from starlette.requests import cookie_parser

    return cookie_parser("; ".join(_all(scope["headers"], b"cookie")))


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
    if scheme.lower() != "bearer" or not same(given.strip(), token):
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


def _wants_page(scope: Scope) -> bool:
    """Whether a browser wants to show what it is sent."""
    accepted = _only(scope["headers"], b"accept")
    return scope["method"] in {"GET", "HEAD"} and "text/html" in accepted and not scope["path"].startswith("/api")


def _follows_link(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a person follows a link, in a window of its own: no other page can look into that."""
    headers = list(headers)
    return (_only(headers, b"sec-fetch-mode"), _only(headers, b"sec-fetch-dest")) == ("navigate", "document")


async def _to_sign_in(scope: Scope, receive: Receive, send: Send) -> None:
    from starlette.responses import RedirectResponse

    address = f"{SIGN_IN}?next={quote(scope['path'], safe='/')}"
    headers = {"cache-control": "no-store", "vary": "accept, cookie"}
    await RedirectResponse(address, status_code=303, headers=headers)(scope, receive, send)


def _too_large() -> UsageError:
    return UsageError("body-too-large", f"the request is larger than {MOST_BODY_BYTES // 1024} KiB")


def _only(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """The header *name*; empty where it is missing, and nothing that anybody expects where it stands there twice."""
    return ", ".join(_all(headers, name))


def _all(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def _address(name: str) -> Any:
    try:
        return ip_address(name)
    except ValueError:
        return None
