"""The error a model call ends with, in classes that every port agrees on."""

from __future__ import annotations

from typing import Literal

ErrorKind = Literal[
    "rate_limit", "authentication", "permission", "not_found", "bad_request", "context_length", "overloaded",
    "server_error", "timeout", "connection", "broken_stream", "bad_reply",
]  # fmt: skip

RETRYABLE: frozenset[str] = frozenset(
    {"rate_limit", "overloaded", "server_error", "timeout", "connection", "broken_stream"}
)


class ModelError(Exception):
    """
    A model call failed. Agents catch this one class, whichever port is below.

    Args:
        kind: The class of the failure; the same on every port for the same recorded response.
        message: The provider's words, as they came.
        status: HTTP status, or None where no response came.
        retry_after_ms: What the provider asked to wait, in milliseconds, or None.
        ms: How long the failed call took, in milliseconds of the recording.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_ms: int | None = None,
        ms: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.ms = ms

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRYABLE
