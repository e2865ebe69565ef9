"""
The news desk over HTTP: the addresses that its page has always had, and beside them a stream of its steps.

    POST /api/estagiario/start                                → {"session_id"}
    POST /api/estagiario/send      {"session_id", "message"}  → {"ok", "answer", "fallback"}
    GET  /api/estagiario/messages  ?session_id=               → {"session_id", "messages": [{"role", "content"}]}
    GET  /api/estagiario/stream    ?session_id=&message=      → NDJSON of `harness.records.react_lines`
    POST /api/estagiario/stream    {"session_id", "message"}  → the same; only here may something be changed

With `stream=0` the stream's address answers as `/send` does. `ESTAGIARIO_REACT=1` turns the ReAct loop on, for the very
next question; every other value leaves the deterministic pipeline to answer. A session has a copy of the world of its own:
what one message changes, the next one finds, and nobody else does.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any, Literal

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from harness.agents.hosting import Host, HostedQuestion, HostedRun
from harness.records.react_lines import NO_ANSWER, ends_stream, error_line, react_line

AGENT = "newsdesk"
OWNER = "estagiario"
WORLD = "newsdesk"
"""The world that is worked in unless the server was started in another."""
LANG = "pt"
SWITCH = "ESTAGIARIO_REACT"


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A message to the desk."""

    session_id: str
    message: str


def routes(host: Host) -> APIRouter:
    """The desk's addresses on *host*."""
    router = APIRouter(prefix="/api/estagiario")

    @router.post("/start")
    async def start() -> Response:
        return host.json({"session_id": host.open_session(OWNER)})

    @router.get("/messages")
    async def messages(session_id: str) -> Response:
        said = [{"role": turn.role, "content": turn.text} for turn in host.turns(session_id, OWNER)]
        return host.json({"session_id": session_id, "messages": said})

    @router.post("/send")
    async def send(request: Request) -> Response:
        return await _collected(host, request, _asked(await host.body(request, Sent), "POST", host))

    @router.post("/stream")
    async def stream(request: Request) -> Response:
        return await _answered(host, request, _asked(await host.body(request, Sent), "POST", host))

    @router.get("/stream")
    async def stream_reading(request: Request, session_id: str, message: str) -> Response:
        sent = Sent(session_id=session_id, message=message)
        return await _answered(host, request, _asked(sent, "GET", host))

    return router


def _asked(sent: Sent, method: Literal["GET", "POST"], host: Host) -> HostedQuestion:
    react = os.environ.get(SWITCH) == "1"
    return HostedQuestion(
        agent=AGENT, text=sent.message, session=sent.session_id, owner=OWNER, options={"react": react}, lang=LANG,
        method=method, world=host.world or WORLD, model_needed=False,
    )  # fmt: skip


async def _answered(host: Host, request: Request, asked: HostedQuestion) -> Response:
    if request.query_params.get("stream") == "0":
        return await _collected(host, request, asked)
    run = host.start(asked)
    return host.ndjson(run, _lines(run))


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


async def _lines(run: HostedRun) -> AsyncIterator[str]:
    """The steps of *run* as they come; nothing follows the answer, or the error in its place."""
    ended = False
    async for event in run:
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
