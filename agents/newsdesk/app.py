"""
The news desk over HTTP: a page, the addresses that it has always had, and beside them a stream of its steps.

    GET  /estagiario                                → the page: a dialog with four stages and the answer
    POST /api/estagiario/start                      → {"session_id"}, and a cookie that says the same
    POST /api/estagiario/send      {"message"}      → {"ok", "answer", "fallback"}
    GET  /api/estagiario/messages                   → {"session_id", "messages": [{"role", "content"}]}
    GET  /api/estagiario/stream    ?message=        → NDJSON of `harness.records.react_lines`
    POST /api/estagiario/stream    {"message"}      → the same; only here may something be changed

A chat signs in by the cookie; a client without a jar for it sends the header `x-session`, or `session_id` in the body.
What opens a chat stands in no address: those stay in histories and logs.

With `stream=0` the stream's address answers as `/send` does; with `stages=1` it has lines `{"type":"stage","content"}` as
well, one for each stage that the desk reaches. `ESTAGIARIO_REACT=1` turns the ReAct loop on, for the very next question;
every other value leaves the deterministic pipeline to answer. A session has a copy of the world of its own: what one
message changes, the next one finds, and nobody else does.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from harness.agents.hosting import Host, HostedQuestion, HostedRun
from harness.errors import UsageError
from harness.records.react_lines import NO_ANSWER, ends_stream, error_line, react_line
from harness.records.stages import Stages

AGENT = "newsdesk"
OWNER = "estagiario"
API = "/api/estagiario"
WORLD = "newsdesk"
"""The world that is worked in unless the server was started in another."""
LANG = "pt"
SWITCH = "ESTAGIARIO_REACT"
PAGE = Path(__file__).parent / "page" / "desk.html"
COOKIE_SECONDS = 3600


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A message to the desk."""

    message: str
    session_id: str = ""
    """Empty for the one that the cookie names."""


def routes(host: Host) -> APIRouter:
    """The desk's addresses on *host*."""
    router = APIRouter()

    @router.get("/estagiario", summary="Estagiário")
    async def page(request: Request) -> Response:
        return host.page(request, PAGE)

    @router.post(f"{API}/start")
    async def start(request: Request) -> Response:
        session = host.open_session(OWNER)
        answer = host.json({"session_id": session})
        answer.set_cookie(
            _cookie(request), session, max_age=COOKIE_SECONDS, path=API, httponly=True, samesite="strict",
            secure=request.headers.get("origin", "").startswith("https://"),
        )  # fmt: skip
        return answer

    @router.get(f"{API}/messages")
    async def messages(request: Request) -> Response:
        session = _session(request)
        said = [{"role": turn.role, "content": turn.text} for turn in host.turns(session, OWNER)]
        return host.json({"session_id": session, "messages": said})

    @router.post(f"{API}/send")
    async def send(request: Request) -> Response:
        return await _collected(host, request, _asked(request, await host.body(request, Sent), host))

    @router.post(f"{API}/stream")
    async def stream(request: Request) -> Response:
        return await _answered(host, request, _asked(request, await host.body(request, Sent), host))

    @router.get(f"{API}/stream")
    async def stream_reading(request: Request, message: str) -> Response:
        return await _answered(host, request, _asked(request, Sent(message=message), host))

    return router


def _cookie(request: Request) -> str:
    """Name the cookie: browsers keep those of all ports of a machine in one jar."""
    return f"estagiario-{(request.scope.get('server') or ('', ''))[1]}"


def _session(request: Request, sent: str = "") -> str:
    """
    The chat that a request belongs to.

    Raises:
        UsageError: It is named in the address.
    """
    if "session_id" in request.query_params:
        raise UsageError(
            "session-in-address",
            "a session's name opens it, so it may not stand in an address",
            hint="POST /api/estagiario/start sets a cookie; or send the header `x-session`",
        )
    return sent or request.headers.get("x-session", "") or request.cookies.get(_cookie(request), "")


def _asked(request: Request, sent: Sent, host: Host) -> HostedQuestion:
    method: Literal["GET", "POST"] = "POST" if request.method == "POST" else "GET"
    session = _session(request, sent.session_id)
    if not session:
        raise UsageError(
            "no-such-session", "the message belongs to no session", hint="POST /api/estagiario/start opens one"
        )
    react = os.environ.get(SWITCH) == "1"
    return HostedQuestion(
        agent=AGENT, text=sent.message, session=session, owner=OWNER, options={"react": react}, lang=LANG,
        method=method, world=host.world or WORLD, model_needed=False,
    )  # fmt: skip


async def _answered(host: Host, request: Request, asked: HostedQuestion) -> Response:
    if request.query_params.get("stream") == "0":
        return await _collected(host, request, asked)
    run = host.start(asked)
    return host.ndjson(run, _lines(run, staged=request.query_params.get("stages") == "1"))


async def _collected(host: Host, request: Request, asked: HostedQuestion) -> Response:
    run = host.start(asked)
    return host.json(await host.unless_gone(request, _collect(run), run))


async def _collect(run: HostedRun) -> dict[str, Any]:
    """The whole answer; where there is none, *error* says why."""
    told: dict[str, Any] = {"ok": False, "answer": "", "fallback": False}
    async for event in run:
        if event.type == "final_answer":
            told |= {"ok": event.data.complete, "answer": event.data.text}
        elif event.type == "fallback_used":
            told["fallback"] = True
        elif event.type == "error" and event.data.fatal:
            told["error"] = event.data.kind
    if run.failure is not None and not told["answer"]:
        told["error"] = run.failure.code
    return told


async def _lines(run: HostedRun, *, staged: bool) -> AsyncIterator[str]:
    """The steps of *run* as they come; nothing follows the answer, or the error in its place."""
    ended = False
    stages = Stages()
    async for event in run:
        stage = stages.after(event) if staged and not ended else None
        if stage is not None:
            yield f'{{"type":"stage","content":"{stage}"}}'
        line = None if ended else react_line(event)
        if line is not None:
            yield line
        ended = ended or ends_stream(event)
    if ended:
        return
    if run.failure is not None:
        yield error_line(run.failure.message, run.failure.code)
    else:
        yield error_line("the run ended without an answer", NO_ANSWER)
