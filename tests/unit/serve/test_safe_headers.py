"""The headers that every answer carries."""

from __future__ import annotations

import asyncio
from typing import Any

from harness.serve.safe_headers import CLOSED, SAFE, with_safe_headers


def sent(*headers: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer that brings *headers*."""
    messages: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        messages.append(message)

    async def answering() -> None:
        sending = with_safe_headers(send)
        await sending({"type": "http.response.start", "status": 200, "headers": list(headers)})
        await sending({"type": "http.response.body", "body": b"7"})

    asyncio.run(answering())

    assert {"type": "http.response.body", "body": b"7"} == messages[1]
    return messages[0]["headers"]


def test_each_is_there():
    """Beside what the answer has anyway."""
    assert [(b"x-own", b"1"), *SAFE] == sent((b"x-own", b"1"))


def test_a_page_keeps_its_own_policy():
    """Whatever the case in which it is named; there is one policy, not two."""
    headers = sent((b"Content-Security-Policy", b"script-src 'nonce-x'"))

    assert [b"script-src 'nonce-x'"] == [v for k, v in headers if k.lower() == b"content-security-policy"]
    assert len(SAFE) == len(headers)


def test_what_is_no_page_may_do_nothing():
    """No script, no style, no picture, no frame, no form."""
    assert "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'" == CLOSED
