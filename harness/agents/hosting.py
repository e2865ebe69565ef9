"""
What an agent's own HTTP routes get: the door to runs and conversations, as `ctx` is an agent's door to its models.

An agent's folder may hold an `app.py` with `routes(host) -> fastapi.APIRouter`. `harness serve` adds these routes to its
own, behind the same checks of address, token, size and rate. Whatever *host* raises as a `HarnessError` before an answer
has begun becomes a refusal with a code; afterwards it is the stream's last line.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import msgspec

from harness.errors import HarnessError
from harness.records.messages import Json
from harness.records.run import Trial
from harness.records.trace import Event

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

T = TypeVar("T")


class HostedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What a client asks of an agent."""

    agent: str
    """A design, or `design@profile`."""
    text: str
    session: str = ""
    """A conversation of *owner*: the agent gets its earlier turns, and the world as they left it; empty for none."""
    owner: str = ""
    """Who opened the session: the agent, or routes of its own."""
    model: str = ""
    """Empty for the server's own model."""
    model_needed: bool = True
    """Whether a server without a model refuses; else the agent runs, and each of its model calls fails."""
    options: Mapping[str, Json] = {}
    lang: str = "en"
    method: Literal["GET", "POST"] = "POST"
    """A GET must not change anything, and the agent is told so."""
    world: str = ""
    """Empty for the server's own world."""


class HostedRun(Protocol):
    """A run under way in a thread of its own: iterate over its events as they come, then ask what came of it."""

    def __aiter__(self) -> AsyncIterator[Event]:
        """Hand out each event once."""
        ...

    @property
    def name(self) -> str:
        """What nobody can guess, and whoever knows it can have the run stopped by."""
        ...

    @property
    def trial(self) -> Trial | None:
        """The whole trial, once the events have ended; None where there is none."""
        ...

    @property
    def failure(self) -> HarnessError | None:
        """Why the run came to no proper end; None where it did, and as long as events are still coming."""
        ...

    async def close(self) -> None:
        """Cancel what is still running."""
        ...


class Turn(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    text: str


class Host(Protocol):
    """What `harness serve` offers to the routes of an agent."""

    @property
    def world(self) -> str:
        """The world that the server was started with; empty where none was named."""
        ...

    def open_session(self, owner: str) -> str:
        """Begin a conversation that only *owner* can go on with; its name, which nobody can guess."""
        ...

    def turns(self, session: str, owner: str) -> tuple[Turn, ...]:
        """
        The messages of a conversation so far, oldest first.

        Raises:
            UsageError: *owner* has no such session, or not any more.
        """
        ...

    def start(self, question: HostedQuestion) -> HostedRun:
        """
        Start a run; the answer joins the session when it is there.

        Raises:
            HarnessError: The question cannot be asked, or too many runs are under way.
        """
        ...

    async def unless_gone(self, request: Request, work: Coroutine[Any, Any, T], run: HostedRun) -> T:
        """
        Wait for *work* on *run*; when the client leaves first, both are cancelled.

        Raises:
            HarnessError: The client has left.
        """
        ...

    def json(self, document: Json, *, status: int = 200) -> Response:
        """*document* as a whole answer, without secrets."""
        ...

    def ndjson(self, run: HostedRun, lines: AsyncIterator[str]) -> Response:
        """Stream *lines*, made from *run*, each as soon as it is there; when the client leaves, *run* is cancelled."""
        ...

    def page(self, request: Request, template: Path, **values: Any) -> Response:
        """
        A page of the agent's own, under the same strict policy as those of the server.

        *template* is Jinja's, with autoescape; it extends `tapegate/page.html`. It gets *values*, the reader's `lang`, the words
        `t(key)` of the server's catalogue, and `nonce`, which each script and style must carry.
        """
        ...

    async def body(self, request: Request, form: type[T]) -> T:
        """
        Read the JSON body of *request*.

        Raises:
            UsageError: It is not JSON, or not of that *form*.
        """
        ...
