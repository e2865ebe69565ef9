"""The headers that every answer carries, whoever made it: what a browser may do with it, which is next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Send

CLOSED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The policy of what is no page: data that a browser is asked to show can load, run and send nothing."""
SAFE = (
    (b"content-security-policy", CLOSED.encode()),
    (b"x-content-type-options", b"nosniff"),
    # `no-referrer` would make a browser send its own forms with the origin `null`
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


def with_safe_headers(send: Send) -> Send:
    """*send*, with each of `SAFE` on answers that do not bring that header themselves."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            there = {name.lower() for name, _ in headers}
            message = {**message, "headers": headers + [pair for pair in SAFE if pair[0] not in there]}
        await send(message)

    return sending
