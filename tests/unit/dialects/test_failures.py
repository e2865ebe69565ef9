"""The class of a provider's error."""

from __future__ import annotations

import json

import pytest

from harness.dialects import ANTHROPIC, OPENAI_CHAT
from harness.dialects.failures import Provider, failure, failure_inside, kind_of, retry_after_ms
from harness.records.faults import ErrorKind, ModelError


def openai_words(message: str, type_: str = "server_error", code: str | None = None) -> str:
    """An error body of OpenAI's."""
    return json.dumps({"error": {"message": message, "type": type_, "param": None, "code": code}})


def anthropic_words(message: str, type_: str) -> str:
    """An error body of Anthropic's."""
    return json.dumps({"type": "error", "error": {"type": type_, "message": message}})


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"), (401, "authentication"), (402, "bad_request"), (403, "permission"), (404, "not_found"),
        (408, "timeout"), (413, "bad_request"), (422, "bad_request"), (429, "rate_limit"), (500, "server_error"),
        (502, "server_error"), (503, "overloaded"), (504, "timeout"), (520, "server_error"), (529, "overloaded"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_plain_words_leave_it_to_the_status(provider: Provider, status: int, kind: ErrorKind) -> None:
    """Where the words say nothing, the status decides."""
    assert kind == kind_of(provider, status, "something went wrong")


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (
            400,
            openai_words("This model's maximum context length is 8192 tokens", "invalid_request_error"),
            "context_length",
        ),
        (404, openai_words("The model `x` does not exist", "invalid_request_error", "model_not_found"), "not_found"),
        (404, openai_words("No such route", "invalid_request_error"), "bad_request"),
        (401, openai_words("Incorrect API key provided: sk-x", "invalid_request_error"), "authentication"),
        (401, openai_words("Your key expired", "invalid_request_error"), "bad_request"),
        (400, openai_words("Rate limit reached for x"), "rate_limit"),
        (400, openai_words("Request too large for x"), "rate_limit"),
        (500, openai_words("Request timed out."), "timeout"),
        (500, openai_words("The engine is currently overloaded"), "overloaded"),
        (400, openai_words("Current length is 9 while limit is 8"), "context_length"),
        (400, openai_words("String too long. Expected a string with maximum length 64, invalid 'user'"), "bad_request"),
        (418, openai_words("The server had an error processing your request."), "server_error"),
    ],
)
def test_openai_words_come_before_the_status(status: int, words: str, kind: ErrorKind) -> None:
    """The words of OpenAI and its likes are looked at first, in a fixed order."""
    assert kind == kind_of("openai", status, words)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (400, anthropic_words("prompt is too long: 9 tokens > 8 maximum", "invalid_request_error"), "context_length"),
        (400, anthropic_words("input length and `max_tokens` exceed context limit", "x"), "context_length"),
        (500, anthropic_words("Overloaded", "overloaded_error"), "overloaded"),
        (400, anthropic_words("Output blocked by content filtering policy", "invalid_request_error"), "bad_request"),
        (400, anthropic_words("Your rate limit is 429", "invalid_request_error"), "bad_request"),
    ],
)
def test_anthropic_words_come_before_the_status(status: int, words: str, kind: ErrorKind) -> None:
    """Anthropic's words count too, but none of them means a rate limit."""
    assert kind == kind_of("anthropic", status, words)


@pytest.mark.parametrize(("words", "kind"), [("connection reset", "connection"), ("read timeout", "timeout")])
def test_recorded_transport_errors_keep_their_class(words: str, kind: ErrorKind) -> None:
    """Status 599 stands for an error below HTTP."""
    assert kind == kind_of("openai", 599, words)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (openai_words("no such thing"), "no such thing"),
        (anthropic_words("no such thing", "x"), "no such thing"),
        ('[{"error": {"code": 400, "message": "no such thing"}}]', "no such thing"),
        ('{"error": "no such thing"}', "no such thing"),
        ('{"detail": "no such thing"}', "no such thing"),
        ('{"message": "no such thing"}', "no such thing"),
        ("no such thing", "no such thing"),
        ('{"error": {"code": 1}}', '{"error": {"code": 1}}'),
        ("", "HTTP 404"),
        ("x" * 5000, "x" * 4000),
    ],
)
def test_the_message_is_the_providers_own(body: str, message: str) -> None:
    """An error says what the provider said, found wherever its likes put it, and not more than anyone reads."""
    error = failure("openai", 404, {}, body.encode())

    assert (message, 404, "not_found") == (error.message, error.status, error.kind)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2000),
        ({"Retry-After": "0.5"}, 500),
        ({"retry-after-ms": "250", "retry-after": "9"}, 250),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:05 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 5000),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:05 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_every_form(headers: dict[str, str], wait: int | None) -> None:
    """Milliseconds, seconds, or a date, which counts from the response's own."""
    assert wait == retry_after_ms(headers)


@pytest.mark.parametrize(
    ("error", "kind", "status", "message"),
    [
        ({"message": "slow down", "code": 429}, "rate_limit", 429, "slow down"),
        ({"message": "slow down", "code": "429"}, "rate_limit", 429, "slow down"),
        ({"message": "down", "code": 502}, "server_error", 502, "down"),
        ({"message": "down", "code": "²"}, "server_error", 500, "down"),
        ({"message": "down", "code": True}, "server_error", 500, "down"),
        ({"message": "", "code": 429}, "rate_limit", 429, "{'message': '', 'code': 429}"),
        ("down", "server_error", 500, "down"),
        ("", "server_error", 500, "an error without words"),
    ],
)
def test_errors_inside_answers_bring_their_own_status(
    error: object, kind: ErrorKind, status: int, message: str
) -> None:
    """A number among the statuses in `code` counts as the status."""
    found = failure_inside("openai", error, default_status=500)

    assert (kind, status, message) == (found.kind, found.status, found.message)


@pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC], ids=lambda dialect: str(dialect.name))
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"), (401, "authentication"), (403, "permission"), (404, "not_found"), (429, "rate_limit"),
        (500, "server_error"), (503, "overloaded"), (529, "overloaded"), (504, "timeout"),
    ],
)  # fmt: skip
def test_written_errors_are_read_back(dialect, status: int, kind: ErrorKind) -> None:
    """An error that a scripted model sends is the error that an agent sees."""
    body = dialect.encode_error(status, kind, "no, thank you")
    with pytest.raises(ModelError) as refused:
        dialect.decode_reply(status, {"retry-after": "3"}, body)
    error = refused.value

    assert (kind, "no, thank you", status, 3000) == (error.kind, error.message, error.status, error.retry_after_ms)
