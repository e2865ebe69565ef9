"""
The trace of a trial: one envelope, and one frozen record for the data of each event type.

Every event is `Event(seq, ts, type, …, data)`. `EVENT_TYPES` maps each type's name to the record of its data.
`harness.records.trace_file` writes and reads traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Literal

import msgspec

from harness.records.messages import Json, Usage

TRACE_FORMAT = 1

Status = Literal["completed", "failed", "cancelled"]
EffectClass = Literal["read", "write", "external", "none"]


class _Data(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of every event's data; *type* names the event in the envelope."""

    type: ClassVar[str]


class Effect(msgspec.Struct, frozen=True):
    """One change in a store: the row *key* of *kind* went from *before* to *after* (None: it did not exist)."""

    kind: str
    key: str
    before: Json = None
    after: Json = None


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool in the registry of a trial."""

    name: str
    schema_digest: str
    writes: bool = False
    parameters: dict[str, str] | None = None
    """JSON type of each parameter, empty where it may have several; None: not stated."""
    required: tuple[str, ...] = ()


class LimitsInForce(msgspec.Struct, frozen=True, omit_defaults=True):
    """The most that a trial may spend; None means unlimited."""

    llm_calls: int | None = None
    rounds: int | None = None
    tool_calls: int | None = None
    writes: int | None = None


class TrialStarted(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "trial_started"
    system: str
    profile: str
    case_id: str
    question: str
    content_parts: int = 0
    lang: str = ""
    session_id: str = ""
    user: str = ""
    seed: int = 0
    limits: LimitsInForce = LimitsInForce()
    config: dict[str, Json] = {}
    tools: tuple[OfferedTool, ...] = ()
    store_digest: str = ""
    leg: int = 0


class ConfigResolved(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "config_resolved"
    key: str
    asked: Json = None
    used: Json = None
    why: str = ""


class PhaseStarted(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "phase_started"
    name: str
    attempt: int = 0


class PhaseFinished(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "phase_finished"
    name: str
    ok: bool
    reason: str = ""


class LlmCall(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "llm_call"
    purpose: str
    stage: str = ""
    slot: str = ""
    model: str
    capability: str = "none"
    messages_digest: str
    prefix_digests: tuple[str, ...] = ()
    """One digest a message, in order; a later call of the same conversation must start with the same ones."""
    thinking_digests: tuple[tuple[int, str], ...] = ()
    """(position of the message, digest of one thinking block) for every block that the request returns, in order."""
    said_digests: tuple[tuple[int, str], ...] | None = None
    """(position of the message, digest of its text) for every assistant message with both a text and tool calls; None:
    not stated."""
    n_messages: int
    system_digest: str = ""
    system_sections: tuple[str, ...] = ()
    """Titles of the sections of the system prompt, first lines in capitals that end with a colon."""
    tools: tuple[str, ...] = ()
    tool_choice: str | None = None
    params: dict[str, Json] = {}
    stream: bool = False
    cassette_key: str
    embeds: dict[str, str] = {}


class LlmChunk(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "llm_chunk"
    call_span: str
    index: int
    text: str
    channel: Literal["text", "thinking", "tool_args"] = "text"
    visible: bool = False


class AskedCall(msgspec.Struct, frozen=True):
    """A tool call as it stands in a model's reply; *args* is None where *args_raw* is no JSON object."""

    id: str
    name: str
    args_raw: str
    args: dict[str, Json] | None = None


class ThinkingDigest(msgspec.Struct, frozen=True):
    """A thinking block by its digests, so that a trace proves that it came back unchanged."""

    kind: Literal["thinking", "redacted"]
    digest: str
    signature_digest: str = ""


class CallError(msgspec.Struct, frozen=True):
    """Why a model call gave no reply: *kind* is an error class of `harness.records.faults`."""

    kind: str
    message: str
    status: int | None = None


class LlmResult(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "llm_result"
    call_span: str
    text: str = ""
    tool_calls: tuple[AskedCall, ...] = ()
    thinking_blocks: tuple[ThinkingDigest, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    model: str = ""
    replayed: bool = False
    answers_key: str = ""
    """The cassette key of the recorded request that this answers, where the port knows it."""
    ms: int = 0
    error: CallError | None = None


class Thought(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "thinking"
    text: str | None = None
    redacted: bool = False
    source: Literal["native", "react_thought", "think_tool", "phase1"] = "native"


class ToolCalled(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "tool_call"
    call_id: str
    tool: str
    args: dict[str, Json] | None
    args_raw: str = ""
    source: Literal["native", "json_action", "tool_code", "internal"] = "native"
    block_index: int | None = None
    effect: EffectClass = "none"


class ToolResult(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "tool_result"
    call_id: str
    tool: str
    ok: bool
    error_kind: Literal["unknown_tool", "invalid_args", "denied", "not_found", "timeout", "crash"] | None = None
    text: str = ""
    value_digest: str = ""
    hits: int | None = None
    """For a search: how many results it found. 0 is a failed search."""
    effects: tuple[Effect, ...] = ()
    expected: Json = None
    """What the world's own rows say to this call, computed apart from the tool; no model sees it. None: not stated."""
    truncated: bool = False
    cached: bool = False
    ms: int = 0


class PlanStep(msgspec.Struct, frozen=True):
    """One step of a plan; *n* counts from 1."""

    n: int
    text: str
    status: str


class PlanUpdated(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "plan_updated"
    action: str
    plan: tuple[PlanStep, ...]
    digest: str
    changed: bool = True


class Solution(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "solution"
    version: int
    digest: str
    chars: int
    origin: Literal["solve", "improve", "correct"]
    preview: str = ""


class Issue(msgspec.Struct, frozen=True):
    """One finding of a verifier; *severity* is critical, gap or minor."""

    severity: str
    where: str = ""
    what: str = ""


class Verification(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "verification"
    round: int
    index: int
    of: int
    passed: bool
    verdict: Literal["pass", "fail", "unparsable", "timeout"]
    issues: tuple[Issue, ...] = ()
    solution_digest: str
    count: int
    required: int


class Progress(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "progress"
    stage: str
    value: float
    message: str = ""
    detail: str = ""


class StateSaved(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "state_saved"
    session_id: str
    digest: str
    parts: dict[str, str]
    """Digest of each saved part: messages, plan, counters, profile."""


class StateLoaded(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "state_loaded"
    session_id: str
    digest: str
    parts: dict[str, str]


class FallbackUsed(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "fallback_used"
    origin: str
    to: str
    reason: str


class Warned(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "warning"
    code: str
    detail: str = ""


class FinalAnswer(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "final_answer"
    text: str
    format: str = "markdown"
    complete: bool = True
    chunks: int = 0


class ErrorRaised(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "error"
    kind: str
    message: str
    where: str = ""
    retryable: bool = False
    fatal: bool = True


class TrialCounts(msgspec.Struct, frozen=True):
    """How much a trial did."""

    llm: int = 0
    tools: int = 0
    writes: int = 0
    rounds: int = 0


class TrialFinished(_Data, frozen=True, kw_only=True, omit_defaults=True):
    type: ClassVar[str] = "trial_finished"
    status: Status
    reason: str = ""
    counts: TrialCounts = TrialCounts()
    usage: Usage = Usage()
    store_digest: str = ""
    store_diff: tuple[Effect, ...] = ()
    cassette_unused: int = 0
    """Recorded interactions that this trial did not play; counted on the last leg."""
    cassette_missed: tuple[str, ...] = ()
    """Keys of calls that the cassette did not hold."""
    ms: int = 0


EVENT_TYPES: dict[str, type[_Data]] = {
    data.type: data
    for data in (
        TrialStarted, ConfigResolved, PhaseStarted, PhaseFinished, LlmCall, LlmChunk, LlmResult, Thought, ToolCalled,
        ToolResult, PlanUpdated, Solution, Verification, Progress, StateSaved, StateLoaded, FallbackUsed, Warned,
        FinalAnswer, ErrorRaised, TrialFinished,
    )
}  # fmt: skip

EventData = _Data


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    One event of a trial. *seq* counts from 0 without gaps; *ts* is milliseconds of the injected clock since the trial
    began; *turn* is the number (from 1) of the `llm_call` whose response carried the event.
    """

    trial_id: str
    seq: int
    ts: int
    type: str
    data: Any
    """The record of `EVENT_TYPES[type]`."""
    span: str = ""
    parent: str = ""
    phase: str = ""
    turn: int | None = None
    round: int | None = None
    v: int = TRACE_FORMAT


class Trace(msgspec.Struct, frozen=True, dict=True):
    """The events of one leg of a trial, in the order of *seq*."""

    events: tuple[Event, ...]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @cached_property
    def by_type(self) -> dict[str, list[Event]]:
        """Events of each type, in order."""
        index: dict[str, list[Event]] = {}
        for event in self.events:
            index.setdefault(event.type, []).append(event)
        return index

    def of(self, *types: str) -> list[Event]:
        """The events of these *types*, in order."""
        if len(types) == 1:
            return self.by_type.get(types[0], [])
        return [event for event in self.events if event.type in types]

    @property
    def final(self) -> Event | None:
        """The last `final_answer`, or None."""
        answers = self.by_type.get("final_answer")
        return answers[-1] if answers else None

    @property
    def answer(self) -> str:
        """The text that the user sees, or the empty string."""
        return self.final.data.text if self.final else ""
