"""
litellm's exceptions read as `ModelError`s: the class says what kind of failure, the response below it says the rest.

litellm folds statuses together (529 becomes 500, 413 becomes 400) and puts its own words around the provider's, so the
status, the message and `retry-after` are taken from what it wraps: the HTTP response, or the error below HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.dialects import dialect_of
from harness.dialects.failures import Provider, kind_of
from harness.records.faults import ErrorKind, ModelError

CUT = "the stream ended before the reply was complete"
"""What is said of every cut stream, however the client library noticed."""

_KIND_OF_CLASS: dict[str, ErrorKind] = {
    "RateLimitError": "rate_limit",
    "AuthenticationError": "authentication",
    "PermissionDeniedError": "permission",
    "NotFoundError": "not_found",
    "ContextWindowExceededError": "context_length",
    "Timeout": "timeout",
    "ServiceUnavailableError": "overloaded",
    "BadRequestError": "bad_request",
}
_KIND_OF_STATUS: dict[int, ErrorKind] = {403: "permission", 529: "overloaded"}
_OBJECT = re.compile(r" ?ssl:<[^<>]* object at 0x[0-9a-f]+>")
"""What aiohttp says of a connection beside its address: an object, by its place in memory."""
_TIMEOUTS = ("TimeoutException", "TimeoutError")


def as_model_error(error: Exception) -> ModelError:
    """Read what litellm raised; anything that it does not class is an answer that it could not read (`bad_reply`)."""
    chain = list(_chain(error))
    kind = kind_of_exception(error)
    below = _from_response(chain)
    if below is not None:
        return ModelError(kind, below.message, status=below.status, retry_after_ms=below.retry_after_ms)
    if kind == "broken_stream":
        return ModelError(kind, CUT)
    transport = _below_http(chain)
    if transport is not None:
        return ModelError(kind, _OBJECT.sub("", f"{type(transport).__name__}: {transport}"))
    said = _said_inside(chain)
    return ModelError(kind, str(error)) if said is None else ModelError(kind, _words(said), status=_code(said))


def kind_of_exception(error: BaseException) -> ErrorKind:
    """Name the class of failure that litellm's exception stands for."""
    chain = list(_chain(error))
    names = _class_names(error)
    if "MidStreamFallbackError" in names:
        return _kind_inside_stream(error, chain)
    for name, kind in _KIND_OF_CLASS.items():
        if name in names:
            return kind
    status = _status(chain)
    if status is not None:
        if status in _KIND_OF_STATUS or "overloaded" in str(error).lower():
            return _KIND_OF_STATUS.get(status, "overloaded")
        return "bad_request" if 400 <= status < 500 else "server_error"
    transport = _below_http(chain)
    if transport is not None:
        return "timeout" if any(name in _TIMEOUTS for name in _class_names(transport)) else "connection"
    said = _said_inside(chain)
    return "bad_reply" if said is None else _kind_of_said(said)


def _kind_inside_stream(error: BaseException, chain: list[BaseException]) -> ErrorKind:
    if _below_http(chain) is not None:
        return "broken_stream"
    original = getattr(error, "original_exception", None)
    return "broken_stream" if original is None else kind_of_exception(original)


def _kind_of_said(said: BaseException) -> ErrorKind:
    """Errors that come inside an answer have no class in litellm; the provider's words decide, as on replay."""
    provider: Provider = "anthropic" if type(said).__name__ == "AnthropicError" else "openai"
    return kind_of(provider, _code(said), str(getattr(said, "body", None) or _words(said)))


def _code(said: BaseException) -> int:
    """The status that the provider put into its words, else 500."""
    body = getattr(said, "body", None)
    code = body.get("code") if isinstance(body, dict) else getattr(said, "status_code", None)
    return code if isinstance(code, int) and code >= 400 else 500


def _said_inside(chain: list[BaseException]) -> BaseException | None:
    """What the provider said inside an answer with status 200, wrapped by its SDK or by litellm's own client."""
    for link in chain:
        name, module = type(link).__name__, type(link).__module__
        code = getattr(link, "status_code", None)
        if name == "AnthropicError" and (code == 500 or (code == 200 and _words(link).startswith("{"))):
            return link
        if (name == "APIError" and module.startswith("openai")) or (name == "Exception" and code is not None):
            return link
    return None


def _words(error: BaseException) -> str:
    return str(getattr(error, "message", "") or error)


def _from_response(chain: list[BaseException]) -> ModelError | None:
    """What the HTTP response at the bottom of the chain says, read as on replay."""
    failed = _first(chain, "HTTPStatusError")
    if failed is None:
        return None
    response: Any = failed.response  # type: ignore[attr-defined]
    dialect = dialect_of(str(response.request.url))
    if dialect is None:
        return None
    headers = {name.lower(): value for name, value in response.headers.items()}
    try:
        dialect.decode_reply(response.status_code, headers, _body(response), asked_model="")
    except ModelError as said:
        return said
    return None


def _body(response: Any) -> bytes:
    try:
        return bytes(response.content)
    except Exception:  # noqa: BLE001  # httpx raises one of several classes for a body that was never read
        return b""


def _status(chain: list[BaseException]) -> int | None:
    failed = _first(chain, "HTTPStatusError")
    return None if failed is None else int(failed.response.status_code)  # type: ignore[attr-defined]


def _below_http(chain: list[BaseException]) -> BaseException | None:
    """The error below HTTP that the others came of: the first in time, so the last in *chain*."""
    return _first(chain[::-1], "TransportError")


def _first(chain: list[BaseException], name: str) -> BaseException | None:
    """The first error of *chain* that is of the class *name* or of one derived from it."""
    return next((link for link in chain if name in _class_names(link)), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """*error* and what it was raised from, or during, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [link.__cause__, link.__context__, getattr(link, "original_exception", None)]


def _class_names(error: BaseException) -> list[str]:
    return [cls.__name__ for cls in type(error).__mro__]
