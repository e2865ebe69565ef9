"""
Traces, cases and trials made by hand, for tests of contracts: the project's own and its users'.

    trace = make_trace(
        model_turn(calls=[("get_weather", {"city": "Berlin"})]),
        tool_use("get_weather", {"city": "Berlin"}, text='{"temperature_c": 7}'),
        model_turn("In Berlin it is 7 °C."),
        answer("In Berlin it is 7 °C."),
    )
    findings = check(CX11, trace, make_case(question="What is the weather in Berlin?"))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from harness.contracts import Contract, judge
from harness.records.case import GoldenCase
from harness.records.digest import digest
from harness.records.finding import Finding
from harness.records.messages import Json
from harness.records.run import Cell, Trial
from harness.records.trace import (
    AskedCall,
    CallError,
    Effect,
    EffectClass,
    Event,
    EventData,
    FinalAnswer,
    LlmCall,
    LlmResult,
    OfferedTool,
    PlanStep,
    PlanUpdated,
    ToolCalled,
    ToolResult,
    Trace,
    TrialFinished,
    TrialStarted,
)

Asked = tuple[str, dict[str, Json]] | AskedCall
Steps = EventData | Event | Iterable[Any]
"""What a trace is made of: records of events, events, and sequences of them, nested at will."""
_WITH_TURN = frozenset({"llm_call", "llm_result", "llm_chunk", "tool_call", "tool_result", "thinking"})
TRIAL_ID = "design/scripted/set/case.0"


def make_event(data: EventData, *, seq: int = -1, **envelope: Any) -> Event:
    """*data* as an event; inside `make_trace` a *seq* of -1 and fields left out are filled in."""
    return Event(TRIAL_ID, seq, envelope.pop("ts", 0), data.type, data, **envelope)


def make_trace(
    *steps: Steps,
    started: TrialStarted | dict[str, Any] | None = None,
    finished: TrialFinished | dict[str, Any] | None = None,
    whole: bool = True,
    first_turn: int = 1,
) -> Trace:
    """
    Build the trace of one leg.

    Numbers, spans and turns are filled in: each model call begins a turn, and what comes after it belongs to it; tool
    calls without an id take that of the call that was asked for. With *whole* the trace gets its `trial_started`,
    whose registry holds every tool that is offered or called with an effect, and its `trial_finished`.
    """
    data = [step if isinstance(step, Event) else make_event(step) for step in _flat(steps)]
    if whole:
        data = [_started(data, started), *data, _finished(data, finished)]
    numbering = _Numbering(first_turn)
    return Trace(tuple([numbering.number(event) for event in data]))


def model_turn(
    text: str = "",
    *,
    calls: Sequence[Asked] = (),
    purpose: str = "agent",
    tools: Sequence[str] | None = None,
    error: str | None = None,
    result: dict[str, Any] | None = None,
    **call: Any,
) -> list[EventData]:
    """
    A model call and its result.

    Args:
        text: What the model says.
        calls: The tool calls it asks for, as (name, args) or as `AskedCall`.
        purpose: The purpose of the call.
        tools: Names that are offered; those of *calls* by default.
        error: The kind of error that the provider answers with, in place of a reply.
        result: Further fields of the `llm_result`.
        **call: Further fields of the `llm_call`.
    """
    asked = tuple([_asked(one) for one in calls])
    offered = tuple(dict.fromkeys(one.name for one in asked)) if tools is None else tuple(tools)
    fields: dict[str, Any] = {"model": "model", "messages_digest": "m", "n_messages": 2, "cassette_key": "key"} | call
    failure = CallError(error, error) if error is not None else None
    reply: dict[str, Any] = {"text": text, "tool_calls": asked, "error": failure, "replayed": failure is None} | (
        result or {}
    )
    return [LlmCall(purpose=purpose, tools=offered, **fields), LlmResult(call_span="", **reply)]


def tool_use(
    tool: str,
    args: dict[str, Json] | None = None,
    *,
    text: str = "{}",
    ok: bool = True,
    error: Literal["unknown_tool", "invalid_args", "denied", "not_found", "timeout", "crash"] | None = None,
    effect: EffectClass = "read",
    effects: Sequence[Effect] = (),
    hits: int | None = None,
    cached: bool = False,
    call_id: str = "",
    **call: Any,
) -> list[EventData]:
    """A tool call and its result; an *error* makes it a failed one, *cached* one that tells an earlier result again."""
    called = ToolCalled(call_id=call_id, tool=tool, args={} if args is None else args, effect=effect, **call)
    good = ok and error is None
    result = ToolResult(
        call_id=call_id, tool=tool, ok=good, error_kind=error, text=text, hits=hits, effects=tuple(effects),
        cached=cached,
    )  # fmt: skip
    return [called, result]


def answer(text: str, *, complete: bool = True, **fields: Any) -> FinalAnswer:
    """The answer that the user sees."""
    return FinalAnswer(text=text, complete=complete, **fields)


def plan_updated(action: str, *steps: str, done: Sequence[int] = (), statuses: Sequence[str] = ()) -> PlanUpdated:
    """A plan of *steps*: those numbered in *done* are DONE, the others PENDING, or each as *statuses* says."""
    plan = tuple(
        [
            PlanStep(n, text, statuses[n - 1] if statuses else "DONE" if n in done else "PENDING")
            for n, text in enumerate(steps, start=1)
        ]
    )
    return PlanUpdated(action=action, plan=plan, digest=digest(plan))


def make_case(**fields: Any) -> GoldenCase:
    """A case; whatever is left out has a plain value, and its kind is `any` so that no rule for simple ones holds."""
    return GoldenCase(**({"id": "case", "question": "?", "class_": "any", "at": "set.yaml:1"} | fields))


def make_trial(*traces: Trace, agent: str = "design", **fields: Any) -> Trial:
    """A trial of *traces*, one a leg."""
    return Trial(cell=Cell(agent, "scripted", "set", "case"), traces=traces, **fields)


def check(
    contract: Contract, trace: Trace | Sequence[Trace], case: GoldenCase | None = None, *, agent: str = "design"
) -> tuple[Finding, ...]:
    """Hold *contract* alone against *trace*, one leg or several."""
    traces = (trace,) if isinstance(trace, Trace) else tuple(trace)
    return judge(case or make_case(), make_trial(*traces, agent=agent), [contract])


def reasons(findings: Iterable[Finding]) -> list[str]:
    """Why each broken one of *findings* broke, or its state where it did not."""
    return [finding.because if finding.state == "broken" else finding.state for finding in findings]


class _Numbering:
    """Fills in what an event leaves open, from what came before it."""

    def __init__(self, first_turn: int) -> None:
        self.seq = 0
        self.turn = first_turn - 1
        self.calls = 0
        self.ids = 0
        self.asked: list[AskedCall] = []
        self.span = ""
        self.call_id = ""

    def number(self, event: Event) -> Event:
        data = self._identified(event.data)
        turn = event.turn
        if event.type == "llm_call" and turn is None and data.stage != "embedding":
            self.turn += 1
        if event.type in _WITH_TURN and turn is None and self.turn > 0:
            turn = self.turn
        span = event.span or (self.span if event.type in ("llm_call", "llm_result", "llm_chunk") else "")
        seq = self.seq if event.seq < 0 else event.seq
        self.seq = seq + 1
        return msgspec.structs.replace(event, seq=seq, data=data, turn=turn, span=span)

    def _identified(self, data: Any) -> Any:
        replace = msgspec.structs.replace
        if isinstance(data, LlmCall):
            self.calls += 1
            self.span = f"llm-{self.calls}"
        elif isinstance(data, LlmResult):
            asked = tuple([one if one.id else replace(one, id=self._next_id()) for one in data.tool_calls])
            self.asked = list(asked)
            return replace(data, call_span=data.call_span or self.span, tool_calls=asked)
        elif isinstance(data, ToolCalled) and not data.call_id:
            meant = next((one for one in self.asked if one.name == data.tool), None)
            if meant is not None:
                self.asked.remove(meant)
            self.call_id = meant.id if meant is not None else self._next_id()
            return replace(data, call_id=self.call_id)
        elif isinstance(data, ToolResult) and not data.call_id:
            return replace(data, call_id=self.call_id)
        return data

    def _next_id(self) -> str:
        self.ids += 1
        return f"call-{self.ids}"


def _flat(steps: Iterable[Steps]) -> list[EventData | Event]:
    flat: list[EventData | Event] = []
    for step in steps:
        if isinstance(step, EventData | Event):
            flat.append(step)
        else:
            flat.extend(_flat(step))
    return flat


def _asked(one: Asked) -> AskedCall:
    if isinstance(one, AskedCall):
        return one
    name, args = one
    return AskedCall("", name, msgspec.json.encode(args).decode(), args)


def _started(events: Sequence[Event], given: TrialStarted | dict[str, Any] | None) -> Event:
    if isinstance(given, TrialStarted):
        return make_event(given)
    writes: dict[str, bool] = {}
    for event in events:
        if isinstance(event.data, LlmCall):
            for name in event.data.tools:
                writes.setdefault(name, False)
        elif isinstance(event.data, ToolCalled) and event.data.effect != "none":
            writes[event.data.tool] = event.data.effect == "write"
    tools = tuple([OfferedTool(name, "digest", write) for name, write in writes.items()])
    fields: dict[str, Any] = {
        "system": "design",
        "profile": "reference",
        "case_id": "case",
        "question": "?",
        "tools": tools,
    }
    return make_event(TrialStarted(**(fields | (given or {}))))


def _finished(events: Sequence[Event], given: TrialFinished | dict[str, Any] | None) -> Event:
    if isinstance(given, TrialFinished):
        return make_event(given)
    effects = [
        effect
        for event in events
        if isinstance(event.data, ToolResult) and event.data.ok
        for effect in event.data.effects
    ]
    fields: dict[str, Any] = {"status": "completed", "store_diff": tuple(effects)}
    return make_event(TrialFinished(**(fields | (given or {}))))
