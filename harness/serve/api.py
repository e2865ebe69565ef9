"""The routes that every design has: what there is, questions, conversations, recordings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from harness.agents.hosting import HostedQuestion
from harness.agents.load import LoadedAgent
from harness.errors import UsageError
from harness.records.messages import Json
from harness.records.run import Cell, Trial
from harness.reports.documents import answer_document, full
from harness.reports.runs import runs_folder
from harness.serve.host import AgentHost
from harness.serve.recordings import Recordings
from harness.serve.run_folders import Following, RunFolders
from harness.serve.streams import NdjsonResponse, Stored, paced, stored_lines, timed_lines, trace_lines
from harness.serve.workers import Run
from harness.sources import answered_by

ENDPOINTS = """\
tapegate: every design of this project over HTTP

GET    /api/agents                                               designs, their profiles and options
POST   /api/agents/AGENT/ask                                     {question, model?, options?, session?, stream?, lang?, world?}
POST   /api/trials/TRIAL/stop                                    end a trial; its stream names it in the header x-trial
POST   /api/sessions                                             a conversation for follow-up questions
GET    /api/sessions/current                                     what was said in the one that the header x-session names
GET    /api/recordings                                           recorded trials that can be played without a model
POST   /api/recordings/SET/AGENT/MODEL/CASE/TRIAL                play one; ?stream=0 as one document, ?speed=1 as recorded
GET    /api/runs                                                 runs of `harness run`, newest first
GET    /api/runs/RUN                                             its verdicts, and each new one as it lands
GET    /api/runs/RUN/traces/SET/AGENT/MODEL/CASE/TRIAL           what happened in one trial; ?speed=1 as recorded
POST   /api/render                                               {text}: Markdown of an answer as HTML that can do nothing
"""


SLOWEST, FASTEST = 0.01, 1000.0
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
    """The API of *host*; its list also names the addresses that agents bring along, *own* by agent."""
    router = APIRouter()
    page = ENDPOINTS + "".join(_line(name, route) for name in sorted(own) for route in own[name].routes)

    @router.get("/api", response_class=PlainTextResponse)
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
        who = host.provenance(asked.model)
        run = host.start(question)
        if asked.stream:
            return host.ndjson(run, trace_lines(run, priced=who == "live"), provenance=who)
        return await _document(host, request, run, asked.session)

    @router.post("/api/sessions")
    async def open_session() -> Response:
        return host.json({"session": host.open_session("")}, status=201)

    @router.get("/api/sessions/current")
    async def turns(request: Request) -> Response:
        # a session's name opens it, so it stands in no address
        session = request.headers.get("x-session", "")
        return host.json({"session": session, "turns": host.turns(session, "")})

    @router.post("/api/trials/{trial}/stop")
    async def stop(trial: str) -> Response:
        return host.json({"ended": await host.stop(trial)})

    _add_recorded(router, host)
    _add_runs(router, host)
    return router


def _add_recorded(router: APIRouter, host: AgentHost) -> None:
    recordings = Recordings(host.project)

    @router.get("/api/recordings")
    async def listed() -> Response:
        return host.json({"recordings": recordings.listed()})

    @router.post("/api/recordings/{set_}/{agent}/{model:path}/{case}/{trial:int}")
    async def play(set_: str, agent: str, model: str, case: str, trial: int, request: Request) -> Response:
        planned = recordings.find(Cell(agent, model, set_, case, trial))
        speed = _speed(request)
        run = host.play(planned)
        if request.query_params.get("stream") == "0":
            return await _document(host, request, run, "")
        who = answered_by(host.project, model)
        return host.ndjson(run, _at(timed_lines(run, priced=who == "live"), speed), provenance=who)


def _add_runs(router: APIRouter, host: AgentHost) -> None:
    folders = RunFolders(runs_folder(host.config.reports))

    @router.get("/api/runs")
    def runs() -> Response:  # in a thread of its own: it counts lines
        return host.json({"runs": folders.listed(time.time())})

    @router.get("/api/runs/{run}")
    async def follow(run: str) -> Response:
        following = Following(folders.folder(run))
        return NdjsonResponse(following, following.lines(), host.scrub)

    @router.get("/api/runs/{run}/traces/{set_}/{agent}/{model:path}/{case}/{trial:int}")
    async def trace(run: str, set_: str, agent: str, model: str, case: str, trial: int, request: Request) -> Response:
        speed = _speed(request)
        events = list(await asyncio.to_thread(folders.events, run, Cell(agent, model, set_, case, trial)))
        return NdjsonResponse(Stored(), _at(stored_lines(events), speed), host.scrub)


def _speed(request: Request) -> float | None:
    """
    How fast a trial is told: 1 for as it was recorded, 2 for twice that; None for at once.

    Raises:
        UsageError: It is no such number.
    """
    given = request.query_params.get("speed", "instant")
    if given == "instant":
        return None
    try:
        speed = 1.0 if given == "recorded" else float(given)
    except ValueError:
        speed = 0.0
    if not SLOWEST <= speed <= FASTEST:
        raise UsageError(
            "bad-request",
            f"`speed` is neither `recorded` nor `instant` nor a number from {SLOWEST} to {FASTEST:g}",
            hint="speed=1 is the speed of the recording, speed=2 twice that",
        )
    return speed


def _at(lines: AsyncIterator[tuple[int, str]], speed: float | None) -> AsyncIterator[str]:
    return paced(lines, speed) if speed is not None else (line async for _, line in lines)


def _line(agent: str, route: BaseRoute) -> str:
    if not isinstance(route, APIRoute):
        return ""
    return f"{', '.join(sorted(route.methods or ())):<6} {route.path:<57} of {agent}\n"


async def _document(host: AgentHost, request: Request, run: Run, session: str) -> Response:
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
