"""
Signing in: whoever has the server's token gets a cookie for it, so that a page need not carry the token along.

The cookie holds a name that means nothing elsewhere. What is kept of it here is its digest, in memory: a restart, a
sign-out or twelve hours end it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from harness.errors import UsageError

MOST_SIGN_INS = 64
"""Signed-in browsers at once; the one that signed in first is forgotten first."""
LIFETIME_SECONDS = 12 * 3600


class SignIns:
    """
    The browsers that have shown *token*; nobody needs to where it is empty.

    Args:
        token: What the server demands.
        clock: Seconds that only grow.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._clock = clock
        self._until: dict[bytes, float] = {}

    @property
    def needed(self) -> bool:
        """Whether the server demands a token."""
        return bool(self._token)

    def begin(self, token: str) -> str:
        """
        Sign a browser in; what its cookie is to hold.

        Raises:
            UsageError: *token* is not the server's.
        """
        if not same(token, self._token):
            raise UsageError(
                "wrong-token", "the token is wrong", hint="the one that the server was started with is asked"
            )
        name = secrets.token_urlsafe(32)
        while len(self._until) >= MOST_SIGN_INS:
            del self._until[next(iter(self._until))]
        self._until[_digest(name)] = self._clock() + LIFETIME_SECONDS
        return name

    def knows(self, name: str) -> bool:
        """Whether a cookie that holds *name* was given out and is still good."""
        until = self._until.get(_digest(name))  # of a digest nobody learns a part by the time that looking it up takes
        return until is not None and self._clock() < until

    def end(self, name: str) -> None:
        """Sign the browser out whose cookie holds *name*."""
        self._until.pop(_digest(name), None)


def same(given: str, token: str) -> bool:
    """Whether *given* is *token*, in a time that does not tell how much of it is right; an empty token is nobody's."""
    return bool(token) and hmac.compare_digest(given.encode(errors="surrogatepass"), token.encode())


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode(errors="surrogatepass")).digest()
