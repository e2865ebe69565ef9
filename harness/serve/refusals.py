"""Errors as HTTP answers: a code and a sentence that a person can act on, never a traceback and never a secret."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from starlette.responses import Response

from harness.errors import BadFileError, HarnessError, UsageError

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""On every answer: nothing is cached, and nothing is guessed to be another type than it says."""
RETRY_SECONDS = 2

_STATUS = {
    "bad-request": 400,
    "wrong-token": 401,
    "wrong-origin": 403,
    "no-such-agent": 404,
    "no-such-profile": 404,
    "no-such-recording": 404,
    "no-such-route": 404,
    "no-such-run": 404,
    "no-such-session": 404,
    "no-such-trace": 404,
    "no-such-trial": 404,
    "slow-request": 408,
    "no-model": 409,
    "session-busy": 409,
    "body-too-large": 413,
    "question-too-long": 413,
    "trace-too-large": 413,
    "not-json": 415,
    "wrong-host": 421,
    "too-many-requests": 429,
    "client-gone": 499,
    "too-many-runs": 503,
}
"""HTTP status by error code; other mistakes of the caller are 400, everything else is 500."""

Scrub = Callable[[str], str]


def status_of(error: HarnessError) -> int:
    """The HTTP status that *error* is answered with."""
    known = _STATUS.get(error.code)
    if known is not None:
        return known
    return 400 if isinstance(error, UsageError) and not isinstance(error, BadFileError) else 500


def refusal(error: HarnessError, scrub: Scrub, *, status: int = 0) -> Response:
    """The answer that tells *error*; places in files stay on this machine."""
    told = {"code": error.code, "message": error.message, "hint": error.hint}
    return as_json({"ok": False, "error": told}, scrub, status=status or status_of(error), headers=_extra(error.code))


def as_json(document: object, scrub: Scrub, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """*document* as the body of an answer."""
    try:
        body = msgspec.json.encode(document)
    except UnicodeEncodeError:  # half a character, which no JSON text can hold
        body = msgspec.json.encode({"ok": False, "error": {"code": "bad-text", "message": "the answer is no text"}})
        status = 500
    return Response(scrub(body.decode()), status, media_type="application/json", headers={**HEADERS, **(headers or {})})


def _extra(code: str) -> dict[str, str]:
    if code == "wrong-token":
        return {"www-authenticate": "Bearer"}
    return {"retry-after": str(RETRY_SECONDS)} if code in {"too-many-requests", "too-many-runs"} else {}
