"""
The class of a provider's error, from status and body.

The rules give the class that litellm 1.106.2 gives, so that every port fails alike; the differential tests hold them to
it. Where litellm looks at words before it looks at the status, so do the rules, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from harness.dialects.body import BodyError, header, load_json, plain, text_or_empty, well_formed
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json

Provider = Literal["openai", "anthropic"]

TRANSPORT_ERROR = 599
"""Recordings keep errors below HTTP (no answer, a broken connection) under this status."""
MAX_ERROR_BYTES = 2**20
"""Of an error's body only this much is read."""
MAX_WORDS = 4000
"""A provider's words are cut to this many characters."""


class _Rule(NamedTuple):
    kind: ErrorKind
    has: tuple[str, ...]
    lacks: str = ""


_KIND_OF_STATUS: dict[int, ErrorKind] = {
    401: "authentication", 403: "permission", 404: "not_found", 408: "timeout", 429: "rate_limit",
    503: "overloaded", 504: "timeout", 529: "overloaded",
}  # fmt: skip

_TIMEOUT = (
    "Request Timeout Error",
    "Request timed out",
    "Timed out generating response",
    "The read operation timed out",
)

_RATE_LIMIT = re.compile(r"rate[\s_\-]*limit|service tier capacity exceeded", re.IGNORECASE)

_TOO_LONG = (
    "exceed context limit",
    "this model's maximum context length is",
    "string too long. expected a string with maximum length",
    "model's maximum context limit",
    "is longer than the model's context length",
    "input tokens exceed the configured limit",
    "`inputs` tokens + `max_new_tokens` must be",
    "exceeds the available context size",
    "exceeds the maximum number of tokens allowed",
)
_TOO_LONG_TOGETHER = (("current length is", "while limit is"), ("maximum input length is", "tokens"))
_TOO_LONG_ELSEWHERE = (("string_above_max_length",), ("invalid 'user'", "string too long"))

_OPENAI_WORDS = (
    _Rule("not_found", ("invalid_request_error", "model_not_found")),
    _Rule("timeout", ("A timeout occurred",)),
    _Rule("bad_request", ("Invalid prompt", "violating our usage policy")),
    _Rule("bad_request", ("invalid_encrypted_content",)),
    _Rule("bad_request", ("could not be verified",)),
    _Rule("bad_request", ("invalid_request_error",), lacks="Incorrect API key provided"),
    _Rule("server_error", ("Web server is returning an unknown error",)),
    _Rule("server_error", ("The server had an error processing your request.",)),
    _Rule("rate_limit", ("Request too large",)),
    _Rule("server_error", ("Mistral API raised a streaming error",)),
)
_ANTHROPIC_WORDS = (
    _Rule("context_length", ("prompt is too long",)),
    _Rule("context_length", ("prompt: length",)),
    _Rule("overloaded", ("overloaded_error",)),
    _Rule("overloaded", ("Overloaded",)),
    _Rule("authentication", ("Invalid API Key",)),
    _Rule("bad_request", ("content filtering policy",)),
)

_TYPE_OF_KIND: dict[ErrorKind, tuple[str, str, str | None]] = {
    # kind: Anthropic's type, OpenAI's type, OpenAI's code
    "rate_limit": ("rate_limit_error", "requests", "rate_limit_exceeded"),
    "authentication": ("authentication_error", "authentication_error", "invalid_api_key"),
    "permission": ("permission_error", "permission_error", None),
    "not_found": ("not_found_error", "invalid_request_error", "model_not_found"),
    "bad_request": ("invalid_request_error", "invalid_request_error", None),
    "context_length": ("invalid_request_error", "invalid_request_error", "context_length_exceeded"),
    "overloaded": ("overloaded_error", "server_error", "overloaded"),
    "timeout": ("timeout_error", "timeout", None),
}


def failure(provider: Provider, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """Turn an error response into the error that every port raises for it."""
    try:
        words = plain(headers, body)[:MAX_ERROR_BYTES].decode("utf-8", "replace")
    except BodyError as broken:
        words = str(broken)
    kind = kind_of(provider, status, words)
    return ModelError(kind, _message(words) or f"HTTP {status}", status=status, retry_after_ms=retry_after_ms(headers))


def failure_inside(provider: Provider, error: Json, *, default_status: int) -> ModelError:
    """Turn an error object that came inside an answer with status 200 into an error."""
    words = (error if isinstance(error, str) else str(error))[:MAX_ERROR_BYTES]
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:4])
    known = isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600
    status = code if known and isinstance(code, int) else default_status
    message = text_or_empty(error.get("message")) if isinstance(error, dict) else words
    return ModelError(
        kind_of(provider, status, words),
        well_formed(message or words or "an error without words")[:MAX_WORDS],
        status=status,
    )


def kind_of(provider: Provider, status: int, words: str) -> ErrorKind:
    """Name the class of an error response by its status and the whole text of its body."""
    kind = _kind_by_words(provider, status, words) or kind_of_status(status)
    return "overloaded" if kind == "server_error" and "overloaded" in words.lower() else kind


def kind_of_status(status: int) -> ErrorKind:
    """Name the class of an error response where its words say nothing."""
    if status in _KIND_OF_STATUS:
        return _KIND_OF_STATUS[status]
    return "bad_request" if 400 <= status < 500 else "server_error"


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """Read what the provider asks to wait, in milliseconds; a date counts from the response's own `date` header."""
    for name, factor in (("retry-after-ms", 1), ("retry-after", 1000)):
        value = header(headers, name).strip()
        try:
            wait = float(value)
        except ValueError:
            continue
        if 0 <= wait < 1e9:
            return round(wait * factor)
    from email.utils import parsedate_to_datetime  # the whole of email, for the rarest of headers

    try:
        until = parsedate_to_datetime(header(headers, "retry-after"))
        since = parsedate_to_datetime(header(headers, "date"))
        return max(0, round((until - since).total_seconds() * 1000))
    except (ValueError, TypeError, OverflowError):
        return None


def openai_error(kind: ErrorKind, message: str) -> Json:
    """Build the error object that OpenAI sends for errors of class *kind*."""
    _, type_, code = _TYPE_OF_KIND.get(kind, ("", "server_error", None))
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def anthropic_error(kind: ErrorKind, message: str) -> Json:
    """Build the error object that Anthropic sends for errors of class *kind*."""
    type_ = _TYPE_OF_KIND.get(kind, ("api_error", "", None))[0]
    return {"type": "error", "error": {"type": type_, "message": message}}


def _kind_by_words(provider: Provider, status: int, words: str) -> ErrorKind | None:
    if status == TRANSPORT_ERROR:
        return "timeout" if "timeout" in words.lower() or "timed out" in words.lower() else "connection"
    if any(sign in words for sign in _TIMEOUT):
        return "timeout"
    if provider == "openai" and (status == 429 or _RATE_LIMIT.search(words)):
        return "rate_limit"
    if _is_too_long(words.lower()):
        return "context_length"
    for rule in _OPENAI_WORDS if provider == "openai" else _ANTHROPIC_WORDS:
        if all(sign in words for sign in rule.has) and not (rule.lacks and rule.lacks in words):
            return rule.kind
    return None


def _is_too_long(words: str) -> bool:
    if any(all(sign in words for sign in signs) for signs in _TOO_LONG_ELSEWHERE):
        return False
    return any(sign in words for sign in _TOO_LONG) or any(
        all(sign in words for sign in signs) for signs in _TOO_LONG_TOGETHER
    )


def _message(words: str) -> str:
    try:
        value = load_json(words)
    except BodyError:
        return words[:MAX_WORDS]
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        error = error.get("message") or value.get("detail") or value.get("message") or words
    return (error if isinstance(error, str) else words)[:MAX_WORDS]
