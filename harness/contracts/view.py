"""One leg of a trial as contracts see it: the trace, indexed once, with calls joined to their results."""

from __future__ import annotations

from typing import Any

from harness.contracts.numbers import Number, numbers_in
from harness.records.case import GoldenCase
from harness.records.messages import Json
from harness.records.run import Trial
from harness.records.trace import Event, LlmCall, LlmResult, ToolCalled, ToolResult, Trace, TrialFinished, TrialStarted

PLAN_TOOLS = frozenset({"manage_plan", "planner", "create_plan", "write_todos"})
"""Tools by which a model keeps a plan."""
CONTROL_TOOLS = PLAN_TOOLS | {"think_step_by_step", "enable_ultrathink", "disable_ultrathink"}
"""Tools by which a model steers itself; they ask nothing of the world."""
PLAN_PURPOSES = frozenset({"plan", "planning", "replan"})
"""Purposes of model calls that make or change a plan."""


class ModelCall:
    """A model call with its result; *turn* is the number that its reply carries, None for an embedding."""

    __slots__ = ("data", "event", "result", "turn")

    def __init__(self, event: Event) -> None:
        self.event = event
        self.data: LlmCall = event.data
        self.turn = event.turn
        self.result: Event | None = None

    @property
    def reply(self) -> LlmResult | None:
        """What the model answered, or None where the call failed or has no result."""
        if self.result is None or self.result.data.error is not None:
            return None
        reply: LlmResult = self.result.data
        return reply

    @property
    def conversation(self) -> tuple[str, str, str]:
        """Calls of one conversation agree in purpose, stage and slot."""
        return (self.data.purpose, self.data.stage, self.data.slot)


class ToolUse:
    """A tool call with its result."""

    __slots__ = ("args", "call_id", "event", "result", "tool", "turn")

    def __init__(self, event: Event) -> None:
        data: ToolCalled = event.data
        self.event = event
        self.call_id = data.call_id
        self.tool = data.tool
        self.args = data.args
        self.turn = event.turn
        self.result: Event | None = None

    @property
    def data(self) -> ToolCalled:
        """The record of the call."""
        data: ToolCalled = self.event.data
        return data

    @property
    def outcome(self) -> ToolResult | None:
        """The record of the result, or None."""
        return self.result.data if self.result is not None else None

    @property
    def ok(self) -> bool:
        """Whether it has a result, and a good one."""
        return self.result is not None and self.result.data.ok

    @property
    def wrote(self) -> bool:
        """Whether a writing tool did its work; a result that is told again is no second write."""
        return self.ok and self.data.effect == "write" and not (self.outcome is not None and self.outcome.cached)

    @property
    def same_as(self) -> tuple[str, Json]:
        """Two calls are the same when their tool and arguments are; compare, do not hash."""
        return (self.tool, self.args if self.args is not None else self.data.args_raw)


class TrialView:
    """
    One leg of a trial. Lists are in the order of *seq*, and empty where there is nothing.

    *orphans* are tool results that no call is waiting for. *stopped* says that the harness cut this leg off on
    purpose, so that nothing has to be finished in it. *earlier* holds the views of the legs before.
    """

    __slots__ = (
        "by_turn", "by_type", "calls", "case", "earlier", "events", "extra_results", "finals", "finished",
        "finished_event", "leg", "memo", "orphans", "started", "stopped", "trace", "trial", "uses",
    )  # fmt: skip

    def __init__(
        self,
        case: GoldenCase,
        trial: Trial,
        leg: int = 0,
        *,
        trace: Trace | None = None,
        earlier: tuple[TrialView, ...] = (),
    ) -> None:
        self.case = case
        self.trial = trial
        self.leg = leg
        self.earlier = earlier
        self.trace = trial.traces[leg] if trace is None else trace
        self.events = self.trace.events
        self.by_type = by_type = self.trace.by_type
        started = by_type.get("trial_started")
        self.started: TrialStarted | None = started[0].data if started else None
        finished = by_type.get("trial_finished")
        self.finished_event: Event | None = finished[-1] if finished else None
        self.finished: TrialFinished | None = finished[-1].data if finished else None
        self.finals: list[Event] = by_type.get("final_answer", [])
        self.stopped = leg < len(case.legs) and bool(case.legs[leg].stop_after)
        self.memo: dict[str, Any] = {}
        self._join_model_calls()
        self._join_tool_calls()

    @property
    def answer(self) -> str:
        """The text that the user sees, or the empty string."""
        return self.finals[-1].data.text if self.finals else ""

    @property
    def status(self) -> str:
        """How the leg ended, or the empty string where it did not."""
        return self.finished.status if self.finished is not None else ""

    @property
    def is_last(self) -> bool:
        """Whether this is the trial's last leg."""
        return self.leg == len(self.trial.traces) - 1

    @property
    def legs(self) -> tuple[TrialView, ...]:
        """The views of every leg up to this one."""
        return (*self.earlier, self)

    @property
    def config(self) -> dict[str, Json]:
        """The agent's configuration as the trial started with it."""
        return self.started.config if self.started is not None else {}

    @property
    def offered(self) -> frozenset[str]:
        """Every tool of the registry, and every one that was offered to a model."""
        names: frozenset[str] | None = self.memo.get("offered")
        if names is None:
            registry = [tool.name for tool in self.started.tools] if self.started is not None else []
            names = frozenset(registry).union(*(call.data.tools for call in self.calls))
            self.memo["offered"] = names
        return names

    @property
    def chat_calls(self) -> list[ModelCall]:
        """Calls of chat models, embeddings left out."""
        return [call for call in self.calls if call.turn is not None]

    @property
    def answer_numbers(self) -> list[Number]:
        """The numbers of the answer, read as the case's language writes them."""
        numbers: list[Number] | None = self.memo.get("numbers")
        if numbers is None:
            numbers = self.memo["numbers"] = numbers_in(self.answer, self.case.lang)
        return numbers

    def calls_for(self, *purposes: str) -> list[ModelCall]:
        """Model calls of these *purposes*."""
        return [call for call in self.calls if call.data.purpose in purposes]

    def uses_in(self, turn: int) -> list[ToolUse]:
        """Tool calls that the reply of *turn* asked for."""
        return [use for use in self.uses if use.turn == turn]

    def world_uses(self) -> list[ToolUse]:
        """Tool calls but for those by which a model steers itself."""
        return [use for use in self.uses if use.tool not in CONTROL_TOOLS]

    def sub_trace(self, events: tuple[Event, ...]) -> TrialView:
        """The same leg with only *events* of it."""
        return TrialView(self.case, self.trial, self.leg, trace=Trace(events), earlier=self.earlier)

    def _join_model_calls(self) -> None:
        self.calls: list[ModelCall] = []
        self.by_turn: dict[int, ModelCall] = {}
        self.extra_results: list[Event] = []
        by_span: dict[str, ModelCall] = {}
        for event in self.by_type.get("llm_call", ()):
            call = by_span[event.span] = ModelCall(event)
            self.calls.append(call)
            if event.turn is not None:
                self.by_turn[event.turn] = call
        for event in self.by_type.get("llm_result", ()):
            joined = by_span.get(event.data.call_span)
            if joined is None or joined.result is not None:
                self.extra_results.append(event)
            else:
                joined.result = event

    def _join_tool_calls(self) -> None:
        self.uses: list[ToolUse] = []
        self.orphans: list[Event] = []
        if "tool_call" not in self.by_type and "tool_result" not in self.by_type:
            return
        waiting: dict[str, list[ToolUse]] = {}
        for event in self.events:
            if event.type == "tool_call":
                use = ToolUse(event)
                self.uses.append(use)
                waiting.setdefault(use.call_id, []).append(use)
            elif event.type == "tool_result":
                queue = waiting.get(event.data.call_id)
                if queue:
                    _waiting_for(event, queue).result = event
                else:
                    self.orphans.append(event)


def _waiting_for(result: Event, queue: list[ToolUse]) -> ToolUse:
    """Take the call of *result* from *queue*: that of the same span, else the oldest. Models do repeat call ids."""
    for place, use in enumerate(queue):
        if result.span and use.event.span == result.span:
            return queue.pop(place)
    return queue.pop(0)
