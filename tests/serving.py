"""`harness serve` as it really runs: uvicorn on a free port of this machine, and a client that speaks HTTP to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PATIENCE_SECONDS = 60.0
"""How long a test waits for what must come; only a failure takes so long."""


@dataclass(frozen=True)
class Served:
    """A server, and a client of it."""

    url: str
    client: Any
    stop: Callable[[], None]
    """End the server, as a signal to its process would."""

    def ask(self, agent: str, question: str, **fields: Any) -> Any:
        """Put a question; the answer as it came."""
        return self.client.post(f"/api/agents/{agent}/ask", json={"question": question, **fields})

    def appears(self, path: Path) -> bool:
        """Whether the file *path* is there before patience is lost."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)
        return path.exists()

    def streaming(self, method: str, path: str, **how: Any) -> Any:
        """A context manager: an answer that is read while it comes."""
        return self.client.stream(method, path, **how)


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """
    A function: the folder of a project, and how it is served → the server; stopped at the end.

    The client's requests go past the transport that replays patch, as those of any other program would.
    """
    from harness.cassettes import transport

    with ExitStack() as stack, transport.use(transport.OpenTape()):

        def start(folder: Path, **how: Any) -> Served:
            return stack.enter_context(_serving(folder, **how))

        yield start


@contextmanager
def _serving(
    folder: Path, *, most_runs: int = 4, rules: dict[str, Any] | None = None, headers: dict[str, str] | None = None,
    **live: Any,
) -> Iterator[Served]:  # fmt: skip
    import httpx

    from harness.config import load_config
    from harness.serve.app import create_app
    from harness.serve.gatekeeper import Rules
    from harness.serve.host import AgentHost, Live
    from harness.serve.server import listen, server_of, url_of

    host = AgentHost(load_config(folder), Live(**live), most_runs=most_runs)
    app = create_app(host, Rules(**{"per_minute": 100_000, **(rules or {})}))
    with listen("127.0.0.1", 0) as bound:
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="served")
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)

        try:
            url = url_of(bound)
            with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False) as client:
                yield Served(url, client, stop)
        finally:
            stop()

    assert not thread.is_alive()
