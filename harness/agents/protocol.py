"""
What an agent is, and the one door through which it sees the world.

An agent is a folder with an `agent.py` that has `build(ctx) -> Agent`. Everything it may touch comes through *ctx*:
models, tools, clock, ids, state. Model and tool events are written into the trace by *ctx* itself, so that an agent
cannot misreport them; the agent yields (or emits) the events that only it knows: phases, plans, progress, answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from harness.records.capability import Capability
from harness.records.case import Limits
from harness.records.messages import EmbeddingReply, Json, Message, ModelReply, ReplyChunk, Thinking, ToolSpec
from harness.records.trace import Effect, EventData


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent is asked. *resume* means: load the session's state and go on; *text* may then be empty."""

    text: str
    message: Message
    """The same question as a user message, images included."""
    lang: str = "en"
    user: str = ""
    session_id: str = "session"
    history: tuple[Message, ...] = ()
    knowledge: str = ""
    method: str = "POST"
    resume: bool = False


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A model's reply with its place in the trace: pass *turn* to the tool calls that it asks for."""

    reply: ModelReply
    turn: int
    span: str

    @property
    def text(self) -> str:
        return self.reply.text

    @property
    def message(self) -> Message:
        """The assistant message for the conversation, thinking blocks included."""
        return self.reply.as_message()


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool call came to; *text* is what goes back to the model, also when it failed."""

    call_id: str
    tool: str
    ok: bool
    text: str
    value: Json = None
    error_kind: str | None = None
    effects: tuple[Effect, ...] = ()
    hits: int | None = None

    @property
    def message(self) -> Message:
        """The tool message for the conversation."""
        return Message("tool", self.text, (), self.call_id)


class Models(Protocol):
    """The model client of a trial. Every call, failed ones included, is one `llm_call` and one `llm_result`."""

    default_model: str

    def capability(self, model: str | None = None) -> Capability:
        """How *model*, by default `default_model`, thinks natively, and which parameters it takes and refuses."""
        ...

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        purpose: str = "agent",
        tools: Sequence[ToolSpec] = (),
        tool_choice: str | None = None,
        model: str | None = None,
        stage: str = "",
        slot: str = "",
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        thinking: Thinking | None = None,
        effort: str | None = None,
        json_schema: Mapping[str, Json] | None = None,
        betas: Sequence[str] = (),
        embeds: Mapping[str, str] | None = None,
        round: int | None = None,
        stream: bool = False,
        visible: bool = False,
        timeout_ms: int | None = None,
    ) -> Reply:
        """
        Ask a model and wait for the whole reply.

        With *stream* the reply is streamed over the wire and its chunks stand in the trace; *visible* says that the
        user sees them as they come. *embeds* names texts, such as the plan, that stand in system or user messages; the
        trace states the digests of those that do. Calls that are to run at once, by `asyncio.gather`, need a *slot*
        each. A reply that takes longer than *timeout_ms* is given up.

        Raises:
            ModelError: The provider failed, or took longer than *timeout_ms*; one class for every port.
        """
        ...

    def stream(self, messages: Sequence[Message], **options: Any) -> ReplyStream:
        """The same call, handing out chunks as they come; the whole reply afterwards."""
        ...

    async def embed(self, texts: Sequence[str], *, model: str | None = None, purpose: str = "embed") -> EmbeddingReply:
        """
        Embed *texts*.

        Raises:
            ModelError: The provider failed.
        """
        ...

    def chat_sync(self, messages: Sequence[Message], **options: Any) -> Reply:
        """`chat` for agents without an event loop."""
        ...

    def embed_sync(self, texts: Sequence[str], *, model: str | None = None, purpose: str = "embed") -> EmbeddingReply:
        """`embed` for agents without an event loop."""
        ...


class ReplyStream(Protocol):
    """Chunks of a reply, then the reply: `async for chunk in stream: …` (or `for`), and afterwards `stream.reply`."""

    def __aiter__(self) -> AsyncIterator[ReplyChunk]: ...

    def __iter__(self) -> Iterator[ReplyChunk]: ...

    @property
    def reply(self) -> Reply:
        """The whole reply; only after the last chunk."""
        ...


class Tools(Protocol):
    """The tool belt of a trial: the world's tools, and those that the agent adds with `add`."""

    def specs(self, *names: str) -> tuple[ToolSpec, ...]:
        """The tools as they are offered to a model, all of them or only *names*, always in the same order."""
        ...

    def add(self, function: Any) -> None:
        """Register a function marked with `harness.tools.tool`, so that it can be offered and called."""
        ...

    async def call(
        self,
        name: str,
        args: Mapping[str, Json] | None,
        *,
        call_id: str = "",
        turn: int | None = None,
        args_raw: str = "",
        source: str = "native",
        block_index: int | None = None,
        round: int | None = None,
        cut: Callable[[Json, str], str] | None = None,
    ) -> ToolOutcome:
        """
        Run a tool and put its call and its result into the trace. Never raises for what a model can get wrong: an
        unknown tool, bad arguments (*args* None included), a crash of the tool are outcomes with `ok` False.

        *cut* shortens a good result, given as value and as text, to the text that goes back to the model.
        """
        ...

    def is_write(self, name: str) -> bool:
        """Whether a tool changes the world; False for one that does not exist."""
        ...

    def reuse(
        self,
        outcome: ToolOutcome,
        args: Mapping[str, Json] | None,
        *,
        call_id: str = "",
        turn: int | None = None,
        args_raw: str = "",
        source: str = "native",
        block_index: int | None = None,
        round: int | None = None,
    ) -> ToolOutcome:
        """
        Answer a call that equals an earlier one with that one's *outcome*: nothing is run, nothing changes.

        Raises:
            ValueError: *outcome* is not what `call` gave to the same tool and arguments in this leg.
        """
        ...

    def refuse(
        self,
        name: str,
        args: Mapping[str, Json] | None,
        reason: str,
        *,
        call_id: str = "",
        turn: int | None = None,
        args_raw: str = "",
        source: str = "native",
        block_index: int | None = None,
        round: int | None = None,
    ) -> ToolOutcome:
        """Put a call that is not run into the trace, with *reason* as its result: the outcome is `denied`."""
        ...


class Clock(Protocol):
    """Time as the agent may know it; virtual on replay."""

    def now(self) -> str:
        """The date and time as ISO 8601."""
        ...

    def today(self) -> str:
        """The date as `YYYY-MM-DD`."""
        ...

    def ms(self) -> int:
        """Milliseconds since the trial began."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let *seconds* pass; no wall time passes on replay."""
        ...


class Ids(Protocol):
    """Names that are the same in every replay."""

    def next(self, kind: str) -> str:
        """`kind-1`, `kind-2`, … within the trial."""
        ...


class State(Protocol):
    """The state store of a session: what survives a stop. Saving and loading stand in the trace."""

    def save(self, session_id: str, parts: Mapping[str, Json]) -> None:
        """Store *parts* whole, in place of what was there; each is a JSON value."""
        ...

    def load(self, session_id: str) -> dict[str, Json] | None:
        """What was saved last, or None."""
        ...


class AgentContext(Protocol):
    """An agent's only way to models, tools, time, names and state."""

    models: Models
    tools: Tools
    clock: Clock
    ids: Ids
    state: State
    options: Mapping[str, Json]
    """Options of the cell over the agent's own defaults."""
    profile: str
    limits: Limits
    seed: int

    def emit(self, event: EventData, *, round: int | None = None, turn: int | None = None) -> None:
        """Write an event of the agent's own into the trace."""
        ...

    def show(self, text: str) -> None:
        """Say that the user sees *text* of the last reply: for agents that decide themselves what of a stream is shown."""
        ...

    def phase(self, name: str) -> Any:
        """A context manager: `phase_started` and `phase_finished` around what happens inside it."""
        ...


@runtime_checkable
class Agent(Protocol):
    """What `build(ctx)` returns."""

    def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work on *question*, yielding events; the last one that the user sees is a `FinalAnswer` or an `ErrorRaised`."""
        ...
