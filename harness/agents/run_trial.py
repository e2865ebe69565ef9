"""One trial of one case: legs and turns, limits, time-out; a crash of the agent is data, never a crash of the run."""

from __future__ import annotations

import asyncio
import base64
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec

from harness.agents.context import SeededIds, StateStore, TracedState, TrialContext
from harness.agents.leftovers import Leftovers
from harness.agents.load import LoadedAgent, split_name
from harness.agents.protocol import Question
from harness.agents.trace_writer import HARNESS, LegCutError, Listener, TraceWriter
from harness.agents.traced_models import Fingerprints, TracedModels
from harness.agents.traced_tools import External, TracedTools
from harness.agents.watchdog import HungError, watched
from harness.errors import BadFileError, LimitExceededError, ReplayMissError, UsageError
from harness.models.capability import capability_of
from harness.models.port import Port
from harness.records.case import GoldenCase, ImageContent, Leg
from harness.records.messages import ImagePart, Json, Message, TextPart
from harness.records.run import Cell
from harness.records.trace import (
    Effect,
    ErrorRaised,
    EventData,
    FinalAnswer,
    LimitsInForce,
    Status,
    Trace,
    TrialCounts,
    TrialFinished,
    TrialStarted,
    Warned,
)

DEFAULT_SECONDS = 120.0
"""Wall-clock time of one leg where the case states none."""


class WorldCopy(Protocol):
    """A trial's own copy of a world."""

    now: str
    user: str
    embed: Any
    """Set before the agent is built: what tools that search by meaning embed with."""

    @property
    def tools(self) -> Sequence[Callable[..., Any]]: ...
    @property
    def oracles(self) -> Mapping[str, Callable[..., Json]]: ...
    def store_digest(self) -> str: ...
    def diff(self) -> tuple[Effect, ...]: ...
    def close(self) -> None: ...


class TrialClock(Protocol):
    """A clock that can be moved: virtual on replay, the wall's while recording."""

    def now(self) -> str: ...
    def today(self) -> str: ...
    def ms(self) -> int: ...
    async def sleep(self, seconds: float) -> None: ...
    def advance_to(self, ms: int) -> None: ...


class Tape(Protocol):
    """What a trial asks of the cassette when a leg ends; a player offers it, and so does a live port."""

    def unused_count(self) -> int: ...
    def missed_keys(self) -> tuple[str, ...]: ...


class TrialSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one trial needs, ready made."""

    cell: Cell
    case: GoldenCase
    agent: LoadedAgent
    world: WorldCopy
    port: Port
    clock: TrialClock
    fingerprints: Fingerprints
    tape: Tape
    default_model: str
    options: Mapping[str, Json] = {}
    sampling: Mapping[str, Json] = {}
    external: External | None = None
    folder: Path = Path()
    """The folder of the golden set, where images lie."""
    least_seconds: float = 0.0
    """Wall-clock time that a leg gets at least, whatever the case says: a real model is slower than a recording."""
    listener: Listener | None = None
    judged: bool = True
    """Whether the trial is one that contracts are held against: only then the world's oracles are asked."""


class RanTrial(msgspec.Struct, frozen=True, kw_only=True):
    """The traces of a trial, one a leg or turn; *code* and *because* say why no verdict is possible, if so."""

    traces: tuple[Trace, ...]
    code: str = ""
    because: str = ""


class _Progress(msgspec.Struct):
    """What one leg hands to the next."""

    calls: int = 0
    tool_calls: int = 0
    faulted: set[str] = msgspec.field(default_factory=set)
    store_digest: str = ""
    diff: tuple[Effect, ...] = ()
    history: tuple[Message, ...] = ()
    state: StateStore = msgspec.field(default_factory=StateStore)


async def run_trial(setup: TrialSetup) -> RanTrial:
    """
    Run the agent of *setup* on its case.

    A case with `legs` or `turns` gives a trace for each; all share one world, one state store and one cassette.

    Raises:
        UsageError: The agent is not built with the options that it is given.
    """
    progress = _Progress(store_digest=setup.world.store_digest())
    stretches = _stretches(setup.case)
    traces: list[Trace] = []
    try:
        for number, (text, leg) in enumerate(stretches):
            stretch = _Stretch(setup, progress, number, text, leg)
            end = await stretch.run()
            traces.append(stretch.close(end, last=number == len(stretches) - 1))
            if end.code:
                return RanTrial(traces=tuple(traces), code=end.code, because=end.because)
        return RanTrial(traces=tuple(traces))
    finally:
        setup.world.close()


def diff_since(earlier: tuple[Effect, ...], total: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """What *total*, a diff against the world's beginning, adds to *earlier*, another such diff."""
    was = {(effect.kind, effect.key): effect for effect in earlier}
    changes = []
    for effect in total:
        known = was.pop((effect.kind, effect.key), None)
        start = known.after if known else effect.before
        if start != effect.after:
            changes.append(Effect(effect.kind, effect.key, start, effect.after))
    changes.extend(Effect(gone.kind, gone.key, gone.after, gone.before) for gone in was.values())
    return tuple(changes)


def _stretches(case: GoldenCase) -> list[tuple[str, Leg]]:
    if case.turns:
        return [(turn, Leg()) for turn in case.turns]
    if case.legs:
        return [("" if leg.resume else case.question, leg) for leg in case.legs]
    return [(case.question, Leg())]


class _Stretch:
    """One leg or turn: an agent built anew, a trace of its own, the trial's world, state and cassette."""

    def __init__(self, setup: TrialSetup, progress: _Progress, number: int, text: str, leg: Leg) -> None:
        case, cell = setup.case, setup.cell
        self.setup = setup
        self.progress = progress
        self.number = number
        self.text = text
        self.resume = leg.resume
        self.began_ms = setup.clock.ms()
        self.seconds = max(case.limits.seconds or DEFAULT_SECONDS, setup.least_seconds)
        trial_id = f"{cell.agent}/{cell.model}/{cell.set}/{cell.case}.{cell.trial}"
        self.writer = TraceWriter(trial_id, setup.clock, stop_after=leg.stop_after, listener=setup.listener)
        self.tools = TracedTools(
            setup.world.tools, writer=self.writer, clock=setup.clock, limits=case.limits, faults=case.faults,
            external=setup.external, calls_before=progress.tool_calls,
            oracles=lambda: setup.world.oracles if setup.judged else {},
        )  # fmt: skip
        self.models = TracedModels(
            setup.port, default_model=setup.default_model, writer=self.writer, clock=setup.clock,
            fingerprints=setup.fingerprints, limits=case.limits, capability=capability_of, offered=self.tools.offered,
            asked=self.tools.asked, sampling=setup.sampling, calls_before=progress.calls,
        )  # fmt: skip
        setup.world.embed = self.models.embed
        self.ctx = TrialContext(
            models=self.models, tools=self.tools, clock=setup.clock, ids=SeededIds(),
            state=TracedState(progress.state, self.writer), writer=self.writer,
            options={**setup.agent.options, **case.options, **setup.options},
            profile=split_name(cell.agent)[1], limits=case.limits,
        )  # fmt: skip

    async def run(self) -> _End:
        """
        Let the agent work until it ends, is cut off, or fails; never raises for what an agent can do.

        Raises:
            UsageError: The agent is not built with the options that it is given.
        """
        with Leftovers(self.setup.agent.folder) as leftovers:
            end = await self._work()
            left = await leftovers.cancel()
        if left and not end.code and end.status != "cancelled":
            end.code, end.because = "agent-left-tasks", f"{left} of the agent's tasks were still running when it ended"
        return end

    async def _work(self) -> _End:
        end = _End()
        deadline: asyncio.Timeout | None = None
        question = _question(self.setup, self.text, self.progress, resume=self.resume)
        try:
            agent = self.setup.agent.build(self.ctx)
            self.writer.open(self._started(question))
            with watched(self.seconds):
                async with asyncio.timeout(self.seconds) as deadline, _closing(agent.run(question)) as events:
                    async for event in events:
                        self.writer.tell(event)
                        end.saw(event)
        except LegCutError:
            self._error("stopped", "cut off by the case")
            end.status, end.reason = "cancelled", "stopped"
        except LimitExceededError as error:
            self._error(error.limit, str(error))
            end.status, end.reason = "failed", error.limit
        except ReplayMissError as miss:
            end.status, end.reason = "failed", miss.code
            end.code, end.because = miss.code, miss.explanation
        except HungError:
            end.ran_out(self.seconds, "; the agent does not give control back")
        except BaseException as error:  # the agent's crash is data, `sys.exit` included
            if isinstance(error, KeyboardInterrupt) or _is_cancelled():
                raise
            if (
                isinstance(error, UsageError) and self.writer.unopened
            ):  # what `build` was given is not the agent's doing
                raise
            if isinstance(error, TimeoutError) and deadline is not None and deadline.expired():
                end.ran_out(self.seconds)
            else:
                end.crashed(error)
        return end

    def _error(self, kind: str, message: str) -> None:
        self.writer.emit(ErrorRaised(kind=kind, message=message, where=HARNESS), cut=False)

    def close(self, end: _End, *, last: bool) -> Trace:
        """Ask the tape what was missed and left, settle what that means, write `trial_finished`; the whole trace."""
        if self.writer.unopened:
            self.writer.open(self._started(_question(self.setup, self.text, self.progress, resume=self.resume)))
        if self.tools.unfit is not None:  # whatever the agent made of it afterwards
            end.code, end.because = self.tools.unfit.code, self.tools.unfit.message
        missed = self.setup.tape.missed_keys()
        if missed and not end.code:
            end.code, end.because = "cassette-miss", "the agent went on after a call that is not in the cassette"
        self.progress.faulted |= self.tools.faulted
        unhit = {fault.tool for fault in self.setup.case.faults if fault.tool} - self.progress.faulted
        if last and unhit and not end.code:
            end.code, end.because = "fault-unused", f"the fault on {', '.join(sorted(unhit))} never came: no call"
        unused = self.setup.tape.unused_count() if last or end.code else 0
        if end.code == "agent-crash":
            self.writer.emit(Warned(code="agent_crash", detail=end.because), cut=False)
            if not unused and not missed:  # served to its end: the crash is the agent's own, and breaks CX5
                end.code, end.because = "", ""
        for pattern in self.setup.fingerprints.unmatched_volatile if last else ():
            detail = f"the case declares {pattern} volatile, and nothing matched it"
            self.writer.emit(Warned(code="unmatched_volatile", detail=detail), cut=False)
        self.writer.emit(self._finished(end, unused, missed), cut=False)
        self.progress.calls = self.models.number
        self.progress.tool_calls += self.tools.calls
        trace = self.writer.trace()
        self.progress.history = _history_after(self.progress.history, self.text, trace)
        return trace

    def _started(self, question: Question) -> TrialStarted:
        limits = self.setup.case.limits
        parts = question.message.content
        return TrialStarted(
            system=self.setup.agent.name, profile=self.ctx.profile, case_id=self.setup.case.id,
            question=question.text, content_parts=0 if isinstance(parts, str) else len(parts), lang=question.lang,
            session_id=question.session_id, user=question.user, config=dict(self.ctx.options),
            tools=self.tools.registry(), store_digest=self.progress.store_digest, leg=self.number,
            limits=LimitsInForce(limits.llm_calls, limits.rounds, limits.tool_calls, limits.writes),
        )  # fmt: skip

    def _finished(self, end: _End, unused: int, missed: tuple[str, ...]) -> TrialFinished:
        progress, world = self.progress, self.setup.world
        before, progress.store_digest = progress.store_digest, world.store_digest()
        changed: tuple[Effect, ...] = ()
        if progress.store_digest != before:
            total = world.diff()
            changed, progress.diff = diff_since(progress.diff, total), total
        return TrialFinished(
            status=end.status, reason=end.reason,
            counts=TrialCounts(self.models.calls, self.tools.calls, self.tools.writes, self.models.calls),
            usage=self.models.usage, store_digest=progress.store_digest, store_diff=changed, cassette_unused=unused,
            cassette_missed=missed, ms=self.setup.clock.ms() - self.began_ms,
        )  # fmt: skip


def _is_cancelled() -> bool:
    """Whether the run itself is being cancelled, by Ctrl-C for one: no business of the agent's."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@asynccontextmanager
async def _closing(events: AsyncIterator[EventData]) -> AsyncIterator[AsyncIterator[EventData]]:
    """Close the agent's generator where it stands, so that nothing of it runs on after its leg."""
    try:
        yield events
    finally:
        if isinstance(events, AsyncGenerator):
            with suppress(LegCutError):
                await events.aclose()


class _End:
    """How a leg ended, as far as its events say."""

    def __init__(self) -> None:
        self.status: Status = "completed"
        self.reason = ""
        self.code = ""
        self.because = ""

    def saw(self, event: EventData) -> None:
        if isinstance(event, ErrorRaised) and event.fatal:
            self.status = "cancelled" if event.kind == "cancelled" else "failed"
            self.reason = event.kind

    def ran_out(self, seconds: float, how: str = "") -> None:
        self.status, self.reason = "failed", "timeout"
        self.code, self.because = "timeout", f"no end after {seconds:g} s of wall time{how}"

    def crashed(self, error: BaseException) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        self.status, self.reason = "failed", f"crash: {type(error).__name__}"
        self.code = "agent-crash"
        self.because = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"


def _question(setup: TrialSetup, text: str, progress: _Progress, *, resume: bool) -> Question:
    case = setup.case
    given = tuple(Message(_role(turn["role"]), turn["text"]) for turn in case.history)
    content: Any = text
    if case.content and not resume:
        parts = [_part(setup.folder, part) for part in case.content]
        content = tuple(parts)
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
    return Question(
        text=text, message=Message("user", content), lang=case.lang, user=case.user or setup.world.user,
        history=given + progress.history, knowledge=case.knowledge, method=case.method, resume=resume,
    )  # fmt: skip


def _role(role: str) -> Any:
    return "assistant" if role == "assistant" else "user"


def _part(folder: Path, part: Any) -> TextPart | ImagePart:
    if isinstance(part, ImageContent):
        import mimetypes  # few cases have an image

        media_type = mimetypes.guess_type(part.image)[0] or "image/png"
        try:
            content = (folder / part.image).read_bytes()
        except OSError as error:
            raise BadFileError(
                "unreadable-file", f"the image cannot be read: {error.strerror}", at=str(folder / part.image)
            ) from None
        return ImagePart(media_type, base64.b64encode(content).decode())
    return TextPart(part.text)


def _history_after(history: tuple[Message, ...], text: str, trace: Trace) -> tuple[Message, ...]:
    final = trace.final
    if final is None or not text or not isinstance(final.data, FinalAnswer):
        return history
    return (*history, Message("user", text), Message("assistant", final.data.text))
