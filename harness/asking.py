"""One live question: a trial of no golden set, put to a real server, with nothing recorded and nothing judged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.agents.run_trial import RanTrial, WorldCopy
from harness.agents.trace_writer import Listener
from harness.cassettes.fingerprint import Fingerprinter
from harness.errors import UsageError
from harness.goldensets.load import find_sets
from harness.matrix import PlannedCell, check_options
from harness.models.port import Port
from harness.models.route import is_loopback
from harness.records.case import GoldenCase
from harness.records.messages import Json
from harness.records.run import Cell, Provenance, Trial
from harness.trials import SCRIPTED, Project, run_live

ASKED = "ask"
"""Names the case, and the set where a project has none."""


class LiveQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question and what it is asked of. *model* may be empty for an agent that needs none: each call then fails."""

    agent: str
    """A design, or `design@profile`."""
    text: str
    model: str
    base_url: str | None = None
    """The model's server, in place of the declared one or the provider."""
    options: Mapping[str, Json] = {}
    history: tuple[dict[str, str], ...] = ()
    """Earlier turns as `{role, text}`, oldest first."""
    lang: str = "en"
    method: Literal["GET", "POST"] = "POST"
    """How the question came in; a GET must not change anything."""
    world: str = ""
    """The world that tools read and write; empty for that of the first set of the matrix."""


def plan_question(project: Project, asked: LiveQuestion) -> PlannedCell:
    """
    Make a trial of *asked*; a design that can stream does.

    Raises:
        UsageError: No such agent, profile, option or world, an option of the wrong kind, or nobody to ask.
    """
    loaded = project.agent(asked.agent)
    check_options(asked.agent, loaded.options, asked.options)
    refuse_scripted(asked.model)
    sets = [row.set for row in project.config.matrix] or sorted(find_sets(project.config.goldensets))
    cell = Cell(asked.agent, asked.model, sets[0] if sets else ASKED, ASKED)
    case = GoldenCase(
        id=ASKED, question=asked.text, history=asked.history, lang=asked.lang, method=asked.method,
        world=asked.world or (None if sets else "empty"),
    )  # fmt: skip
    streamed = {"stream": True} if "stream" in loaded.options else {}
    planned = PlannedCell(cell=cell, case=case, options={**streamed, **asked.options})
    project.world(planned)
    return planned


def refuse_scripted(model: str) -> None:
    """
    Make sure that *model* is one that questions can be put to.

    Raises:
        UsageError: It is the scripted one.
    """
    if model == SCRIPTED:
        raise UsageError(
            "bad-arguments",
            f"the model `{SCRIPTED}` answers golden cases only",
            hint="name a model of a provider, or of a server with its address",
        )


def live_port(project: Project, model: str, base_url: str | None = None) -> Port:
    """
    Open the port that asks *model*, at *base_url* where one is given; loads litellm.

    Raises:
        UsageError: litellm is not installed, or the model's provider wants a key that is not set.
    """
    from harness.models.keys import check_key
    from harness.models.live import LivePort
    from harness.sources import embedders

    declared = project.model(model)
    where = base_url or (declared.base_url if declared else None)
    port = LivePort(where, embedders=embedders(project))
    if where is None:
        check_key((declared.ask_for if declared else None) or model)
    return port


async def answer(
    project: Project,
    planned: PlannedCell,
    port: Port,
    *,
    base_url: str | None = None,
    on_event: Listener | None = None,
    world: WorldCopy | None = None,
) -> Trial:
    """
    Run *planned*, as `plan_question` makes it, on *port*.

    Args:
        project: The project that it was planned in.
        planned: What is asked, of whom.
        port: Who answers.
        base_url: The address that was asked, which says who answered.
        on_event: Told of each event.
        world: What tools read and write, in place of a fresh copy.
    """
    from harness.cassettes import transport

    # tools that reach out by HTTP are let through: only a replay has no network
    with transport.use(transport.OpenTape()):
        ran = await run_live(project, planned, port, Fingerprinter(), listener=on_event, world=world)
    return _as_trial(project, planned.cell, ran, base_url)


def ask_live(project: Project, asked: LiveQuestion, on_event: Listener | None = None) -> Trial:
    """
    Put *asked* to its model and wait for the end.

    Raises:
        UsageError: What is asked does not fit the project, or litellm is not installed.
    """
    from harness.models.litellm_client import close_clients

    planned = plan_question(project, asked)
    port = live_port(project, asked.model, asked.base_url)

    async def asking() -> Trial:
        try:
            return await answer(project, planned, port, base_url=asked.base_url, on_event=on_event)
        finally:
            await close_clients()

    try:
        return asyncio.run(asking())
    finally:
        project.close()


def _as_trial(project: Project, cell: Cell, ran: RanTrial, base_url: str | None) -> Trial:
    declared = project.model(cell.model)
    who: Provenance = declared.answered_by if declared else ("local" if is_loopback(base_url) else "live")
    called = any(trace.events[-1].data.counts.llm for trace in ran.traces)
    return Trial(
        cell=cell, traces=ran.traces, provenance=who if called else "none", could_not_check=ran.because, code=ran.code
    )
