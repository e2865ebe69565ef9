"""Listening: a socket that is bound before anything is promised, and uvicorn on it."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI

from harness.errors import UsageError
from harness.serve.connections import TimelyProtocol

MOST_CONNECTIONS = 128
GOODBYE_SECONDS = 3
"""Wall-clock time that open answers get when the server is stopped."""


def listen(host: str, port: int) -> socket.socket:
    """
    Bind *port* of *host*; 0 takes a free one.

    Raises:
        UsageError: It cannot be bound.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        return socket.create_server(found[0][4][:2], family=found[0][0], backlog=MOST_CONNECTIONS)
    except (OSError, OverflowError) as error:
        raise UsageError(
            "cannot-listen",
            f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}",
            hint="choose another with --port, or let the system choose one with `--port 0`",
        ) from None


def url_of(bound: socket.socket) -> str:
    """The address at which *bound* is reached."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server_of(app: FastAPI) -> uvicorn.Server:
    """A server for *app*: no access log (questions stand in addresses), no headers of proxies believed."""
    config = uvicorn.Config(
        app, http=TimelyProtocol, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        lifespan="on", limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=GOODBYE_SECONDS,
    )  # fmt: skip
    return uvicorn.Server(config)
