"""The routes that every design has: what there is, questions, conversations, recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from harness.agents.hosting import HostedQuestion
from harness.agents.load import LoadedAgent
from harness.records.messages import Json
from harness.records.run import Cell, Trial
from harness.reports.documents import answer_document, full
from harness.serve.host import AgentHost
from harness.serve.recordings import Recordings
from harness.serve.streams import trace_lines
from harness.serve.workers import Run

ENDPOINTS = """\
tapegate: every design of this project over HTTP

GET    /api/agents                                               designs, their profiles and options
POST   /api/agents/AGENT/ask                                     {question, model?, options?, session?, stream?, lang?, world?}
POST   /api/sessions                                             a conversation for follow-up questions
GET    /api/sessions/SESSION                                     what was said in it
GET    /api/recordings                                           recorded trials that can be played without a model
POST   /api/recordings/SET/AGENT/MODEL/CASE/TRIAL[?stream=0]     play one
"""


_Name = Annotated[str, msgspec.Meta(max_length=200)]


class Ask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a question; *stream* asks for the trace as NDJSON in place of one JSON document."""

    question: str
    model: _Name = ""
    options: dict[str, Json] = {}
    session: _Name = ""
    stream: bool = False
    lang: _Name = "en"
    world: _Name = ""
    method: Literal["GET", "POST"] = "POST"


def routes(host: AgentHost, own: Mapping[str, APIRouter]) -> APIRouter:
    """The API of *host*; its first page also names the addresses that agents bring along, *own* by agent."""
    router = APIRouter()
    recordings = Recordings(host.project)
    page = ENDPOINTS + "".join(_line(name, route) for name in sorted(own) for route in own[name].routes)

    @router.get("/", response_class=PlainTextResponse)
    async def endpoints() -> str:
        return page

    @router.get("/api/agents")
    async def agents() -> Response:
        return host.json(_agents(host))

    @router.post("/api/agents/{agent}/ask")
    async def ask(agent: str, request: Request) -> Response:
        asked = await host.body(request, Ask)
        question = HostedQuestion(
            agent=agent, text=asked.question, session=asked.session, model=asked.model, options=asked.options,
            lang=asked.lang, method=asked.method, world=asked.world,
        )  # fmt: skip
        return await _answered(host, request, host.start(question), stream=asked.stream, session=asked.session)

    @router.post("/api/sessions")
    async def open_session() -> Response:
        return host.json({"session": host.open_session("")}, status=201)

    @router.get("/api/sessions/{session}")
    async def turns(session: str) -> Response:
        return host.json({"session": session, "turns": host.turns(session, "")})

    @router.get("/api/recordings")
    async def list_recordings() -> Response:
        return host.json({"recordings": recordings.listed()})

    @router.post("/api/recordings/{set_}/{agent}/{model:path}/{case}/{trial:int}")
    async def play(set_: str, agent: str, model: str, case: str, trial: int, request: Request) -> Response:
        planned = recordings.find(Cell(agent, model, set_, case, trial))
        stream = request.query_params.get("stream") != "0"
        return await _answered(host, request, host.play(planned), stream=stream, session="")

    return router


def _line(agent: str, route: BaseRoute) -> str:
    if not isinstance(route, APIRoute):
        return ""
    return f"{', '.join(sorted(route.methods or ())):<6} {route.path:<57} of {agent}\n"


async def _answered(host: AgentHost, request: Request, run: Run, *, stream: bool, session: str) -> Response:
    if stream:
        return host.ndjson(run, trace_lines(run))
    trial = await host.unless_gone(request, _whole(run), run)
    return host.json(full(answer_document(trial, session)))


async def _whole(run: Run) -> Trial:
    """
    Wait for the end of *run*; a trial that ended badly is one too, and says so.

    Raises:
        HarnessError: There is nothing to tell but that it failed.
    """
    await run.ended()
    if run.failure is not None and (run.trial is None or not run.trial.traces):
        raise run.failure
    assert run.trial is not None
    return run.trial


def _agents(host: AgentHost) -> dict[str, Any]:
    listed = [_agent(host.agents[name]) for name in sorted(host.agents)]
    broken = [{"name": name, "code": error.code, "message": error.message} for name, error in host.broken.items()]
    models = sorted({host.live.model, *host.config.models}) if host.live.model else []
    return {"agents": listed, "broken": broken, "model": host.live.model or None, "models": models}


def _agent(agent: LoadedAgent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "about": agent.about,
        "profiles": agent.profiles,
        "default_model": agent.default_model,
        "options": {
            name: {"default": default, "help": agent.flags.get(name, "")} for name, default in agent.options.items()
        },
        "picture": _picture(agent),
    }


def _picture(agent: LoadedAgent) -> str:
    """The design drawn by itself; empty where it does not, or cannot."""
    try:
        return str(agent.draw()) if agent.draw is not None else ""
    except Exception:  # noqa: BLE001 – the project's own code
        return ""
