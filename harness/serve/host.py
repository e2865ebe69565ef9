"""The project behind the HTTP API: it starts runs, keeps conversations, and knows what can be asked."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from harness.agents.hosting import HostedQuestion, HostedRun, Turn
from harness.agents.load import LoadedAgent, list_agents, load_agent, split_name
from harness.agents.trace_writer import Listener
from harness.asking import LiveQuestion, answer, live_port, plan_question, refuse_scripted
from harness.cassettes.redact import Scrubber
from harness.config import Config
from harness.errors import HarnessError, UsageError
from harness.matrix import PlannedCell, check_options
from harness.models.port import Port
from harness.models.route import is_loopback
from harness.records.faults import ModelError
from harness.records.messages import Json
from harness.records.run import Provenance, Trial
from harness.serve.conversations import Conversations
from harness.serve.ports import NoModel, OneLoopPort, ServedModels
from harness.serve.refusals import as_json
from harness.serve.streams import TRIAL_HEADER, NdjsonResponse, unless_gone
from harness.serve.workers import LoopThread, Run, Workers
from harness.serve.worlds import KeptWorlds
from harness.trials import Project, replay
from harness.worlds.world import WorldTemplate

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from harness.serve.pages.rendering import Pages

T = TypeVar("T")
MOST_CHARACTERS = 20_000
"""The longest question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Who answers live questions. Without *model* nobody does, and only recordings can be played."""

    model: str = ""
    base_url: str | None = None
    """The server of *model*, in place of the declared one or the provider."""
    world: str = ""
    """The world that agents work in; empty for that of the first set of the matrix."""
    options: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Options by design, which a question may override."""


class AgentHost:
    """
    `harness.agents.hosting.Host` over a project. To be used and closed in one event loop.

    Raises:
        HarnessError: What *live* names is not in the project, or litellm is not installed.
    """

    def __init__(self, config: Config, live: Live, *, most_runs: int = 4) -> None:
        self.config = config
        self.live = live
        self.project = Project(config)
        self.agents, self.broken = _loaded(config)
        self.scrub = Scrubber.from_env(os.environ).scrub
        self.pages: Pages | None = None
        """Set when the application is put together, as only then the agents' own pages are known."""
        self._conversations = Conversations()
        self._worlds = KeptWorlds()
        self._ports: dict[str, Port] = {}
        self._workers = Workers(most_runs)
        self._models: LoopThread | None = None
        refuse_scripted(live.model)
        if live.world:
            self.project.world_named(live.world)
        for name, options in live.options.items():
            check_options(name, self.agent(name).options, options)
        if live.model:  # here and now: litellm takes seconds to load
            self._models = LoopThread("models")
            self._ports[live.model] = OneLoopPort(live_port(self.project, live.model, live.base_url), self._models)

    @property
    def world(self) -> str:
        return self.live.world

    def agent(self, name: str) -> LoadedAgent:
        """
        The design that *name* names.

        Raises:
            HarnessError: There is none, it has no such profile, or its code does not load.
        """
        design, profile = split_name(name)
        if design in self.broken:
            raise self.broken[design]
        if design not in self.agents:  # a name from outside is looked up, never made a path of
            known = ", ".join(sorted(self.agents))
            raise UsageError("no-such-agent", f"no agent named `{design}` is served", hint=f"agents: {known}")
        agent = self.agents[design]
        return agent if profile in agent.profiles else load_agent(self.config.agents, name)

    def open_session(self, owner: str) -> str:
        return self._conversations.open(owner)

    def turns(self, session: str, owner: str) -> tuple[Turn, ...]:
        return self._conversations.turns(session, owner)

    def provenance(self, model: str) -> Provenance:
        """Who answers live questions to *model*; empty for the server's own."""
        declared = self.config.models.get(model or self.live.model)
        if declared is not None:
            return declared.answered_by
        return "local" if is_loopback(self.live.base_url) else "live"

    def start(self, question: HostedQuestion) -> Run:
        _check_text(question.text)
        self.agent(question.agent)
        asked = self._asked(question)
        session, text = question.session, question.text
        with ExitStack() as undo:
            if session:
                turns = self._conversations.hold(session, question.owner)
                undo.callback(self._conversations.release, session, text, "")
                asked = msgspec.structs.replace(asked, history=tuple({"role": t.role, "text": t.text} for t in turns))
            planned = plan_question(self.project, asked)
            template = self._load(planned)
            port = self._port(asked)
            world = self._worlds.take(session, template) if session else None
            if world is not None:
                undo.callback(self._worlds.give_back, session, world)

            def work(tell: Listener) -> Coroutine[Any, Any, Trial]:
                return answer(self.project, planned, port, base_url=asked.base_url, on_event=tell, world=world)

            def over(run: Run) -> None:
                if world is not None:
                    self._worlds.give_back(session, world)
                    self._conversations.release(session, text, run.answer)

            run = self._workers.start(work, over)
            undo.pop_all()
        return run

    def play(self, planned: PlannedCell) -> Run:
        """
        Play the recording of *planned*, as fast as it goes.

        Raises:
            HarnessError: Its agent or its world cannot be used, or too many runs are under way.
        """
        self._load(planned)

        async def playing(tell: Listener) -> Trial:
            return await replay(self.project, planned, port="fast", listener=tell)

        return self._workers.start(playing)

    async def unless_gone(self, request: Request, work: Coroutine[Any, Any, T], run: HostedRun) -> T:
        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        return await unless_gone(work, gone(), run)

    async def stop(self, name: str) -> bool:
        """
        Cancel the run of that *name*; whether nothing is left of it, or it still winds down.

        Raises:
            UsageError: No such run is under way.
        """
        run = self._workers.find(name)
        if run is None:
            raise UsageError("no-such-trial", "no such trial is under way", hint="it may have ended by itself")
        await run.close()
        return run.is_over

    def page(self, request: Request, template: Path, **values: Any) -> Response:
        if self.pages is None:
            raise RuntimeError("the host has no pages before the application is put together")
        return self.pages.page(request, template, **values)

    def json(self, document: Json, *, status: int = 200) -> Response:
        return as_json(document, self.scrub, status=status)

    def ndjson(self, run: HostedRun, lines: AsyncIterator[str], *, provenance: str = "") -> Response:
        headers = {TRIAL_HEADER: run.name, **({"x-provenance": provenance} if provenance else {})}
        return NdjsonResponse(run, lines, self.scrub, headers)

    async def body(self, request: Request, form: type[T]) -> T:
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise UsageError(
                "not-json", "the body is not said to be JSON", hint="send the header `Content-Type: application/json`"
            )
        try:
            return msgspec.json.decode(await request.body(), type=form)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError("bad-request", f"the body cannot be used: {error}") from None

    async def close(self) -> None:
        """End every run, and give back what they held."""
        await self._workers.close()
        self._worlds.close()
        if self._models is not None:
            await asyncio.wrap_future(self._models.submit(_close_clients()))
            self._models.stop()
        self.project.close()

    def _asked(self, question: HostedQuestion) -> LiveQuestion:
        """
        Who is asked, and with what options.

        Raises:
            UsageError: No model is there to ask, or not that one.
        """
        model = question.model or self.live.model
        if not self.live.model and question.model_needed:
            raise UsageError(
                "no-model",
                "this server was started without a model, so it plays recordings only",
                hint="start it with `harness serve --model M`, or POST to one of the addresses of /api/recordings",
            )
        if model not in {self.live.model, *self.config.models}:
            known = ", ".join(sorted({self.live.model, *self.config.models} - {""}))
            raise UsageError("no-such-model", f"the model `{model}` is not served here", hint=f"models: {known}")
        options = {**self.live.options.get(split_name(question.agent)[0], {}), **question.options}
        return LiveQuestion(
            agent=question.agent, text=question.text, model=model, options=options, lang=question.lang,
            base_url=self.live.base_url if model == self.live.model else None,
            method=question.method, world=question.world or self.live.world,
        )  # fmt: skip

    def _port(self, asked: LiveQuestion) -> Port:
        if self._models is None:
            return NoModel()
        return ServedModels(asked.model, self._port_of)

    def _port_of(self, model: str) -> Port:
        """
        The port of *model*.

        Raises:
            ModelError: It is not served here.
        """
        if model not in {self.live.model, *self.config.models} or self._models is None:
            raise ModelError("not_found", f"the model `{model}` is not served here")
        if model not in self._ports:
            self._ports[model] = OneLoopPort(live_port(self.project, model), self._models)
        return self._ports[model]

    def _load(self, planned: PlannedCell) -> WorldTemplate:
        """Read what the trial needs now, in the server's own thread, so that the workers only look it up; its world."""
        self.project.agent(planned.cell.agent)
        template = self.project.world(planned)
        _ = template.module
        return template


def _check_text(text: str) -> None:
    if not text.strip():
        raise UsageError("bad-request", "the question is empty", hint="say what is asked")
    if len(text) > MOST_CHARACTERS:
        raise UsageError("question-too-long", f"the question is longer than {MOST_CHARACTERS:,} characters")


def _loaded(config: Config) -> tuple[dict[str, LoadedAgent], dict[str, HarnessError]]:
    """Every agent of the project, and why those that do not load do not."""
    loaded: dict[str, LoadedAgent] = {}
    broken: dict[str, HarnessError] = {}
    for name in list_agents(config.agents):
        try:
            loaded[name] = load_agent(config.agents, name)
        except HarnessError as error:
            broken[name] = error
    return loaded, broken


async def _close_clients() -> None:
    from harness.models.litellm_client import close_clients

    await close_clients()
