"""From the traces of a trial to its trajectory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.records.messages import Json, Usage
from harness.records.trace import Event, LlmCall, LlmResult, Trace
from harness.records.trajectory import Call, Trajectory, Turn

Price = Callable[[str, Usage], float | None]
"""What tokens of a model cost in US dollars, or None."""
Legs = Trace | Sequence[Trace]
"""The trace of a trial, or one for each of its legs."""

_EMBEDDING = "embedding"


def trajectory(legs: Legs, *, price: Price | None = None) -> Trajectory:
    """
    Tell what the agent did, turn by turn.

    Args:
        legs: Traces of one trial, in order.
        price: What tokens cost; None where there is no price, as for models that one runs oneself.
    """
    traces = [legs] if isinstance(legs, Trace) else list(legs)
    turns: list[Turn] = []
    for number, trace in enumerate(traces):
        turns += _Leg(number, price).turns(trace)
    if not traces:
        return Trajectory(turns=())
    return Trajectory(turns=tuple(turns), answer=traces[-1].answer, setup=_setup(traces), outcome=_outcome(traces))


def content(turn: Turn) -> dict[str, Json]:
    """What is compared of *turn*: all but its number, its place and its cost."""
    return {
        "purpose": turn.purpose,
        "text": turn.text,
        "thinking": turn.thinking,
        "error": turn.error,
        "calls": [call_content(call) for call in turn.calls],
    }


def call_content(call: Call) -> dict[str, Json]:
    """*call* as a JSON object."""
    return {"tool": call.tool, "args": call.args, "ok": call.ok, "error": call.error, "result": call.result}


class _Draft:
    """A turn while its events are read."""

    def __init__(self, event: Event | None) -> None:
        self.call: LlmCall | None = event.data if event is not None else None
        self.turn = event.turn if event is not None else None
        self.reply: LlmResult | None = None
        self.thoughts: list[str] = []
        self.calls: dict[str, Call] = {}


class _Leg:
    """Reads one leg. Tool calls that no model asked for make a turn of their own, where they begin."""

    def __init__(self, number: int, price: Price | None) -> None:
        self.number = number
        self.price = price
        self.drafts: list[_Draft] = []
        self.by_span: dict[str, _Draft] = {}
        self.by_turn: dict[int, _Draft] = {}
        self.running: dict[str, _Draft] = {}

    def turns(self, trace: Trace) -> list[Turn]:
        for event in trace.events:
            if event.type == "llm_call" and event.data.stage != _EMBEDDING:
                self._begin(event)
            elif event.type == "llm_result" and event.span in self.by_span:
                self.by_span[event.span].reply = event.data
            elif event.type == "thinking" and event.data.source == "native" and event.turn in self.by_turn:
                self.by_turn[event.turn].thoughts.append(event.data.text or "")
            elif event.type == "tool_call":
                self._called(event)
            elif event.type == "tool_result" and event.data.call_id in self.running:
                self._resulted(event)
        return [self._turn(draft) for draft in self.drafts]

    def _begin(self, event: Event) -> None:
        draft = _Draft(event)
        self.drafts.append(draft)
        self.by_span[event.span] = draft
        if event.turn is not None:
            self.by_turn[event.turn] = draft

    def _called(self, event: Event) -> None:
        draft = self.by_turn.get(event.turn) if event.turn is not None else None
        if draft is None:
            if not self.drafts or self.drafts[-1].call is not None:
                self.drafts.append(_Draft(None))
            draft = self.drafts[-1]
        data = event.data
        draft.calls[data.call_id] = Call(tool=data.tool, args=data.args_raw if data.args is None else data.args)
        self.running[data.call_id] = draft

    def _resulted(self, event: Event) -> None:
        data = event.data
        calls = self.running[data.call_id].calls
        calls[data.call_id] = msgspec.structs.replace(
            calls[data.call_id], ok=data.ok, error=data.error_kind or "", result=data.text
        )

    def _turn(self, draft: _Draft) -> Turn:
        call, reply = draft.call, draft.reply or LlmResult(call_span="")
        model = call.model if call is not None else ""
        return Turn(
            turn=draft.turn,
            leg=self.number,
            slot=call.slot if call is not None else "",
            model=model,
            purpose=call.purpose if call is not None else "",
            text=reply.text,
            thinking="\n".join(draft.thoughts),
            error=reply.error.kind if reply.error is not None else "",
            calls=tuple(draft.calls.values()),
            usage=reply.usage,
            cost_usd=self._cost(draft, model, reply.usage),
            ms=reply.ms,
        )

    def _cost(self, draft: _Draft, model: str, usage: Usage) -> float | None:
        if self.price is None:
            return None
        return self.price(model, usage) if draft.call is not None else 0.0


def _setup(traces: Sequence[Trace]) -> dict[str, Json]:
    starts = [event.data for trace in traces for event in trace.of("trial_started")]
    prompts = [event.data.system_digest for trace in traces for event in trace.of("llm_call")]
    return {
        "question": starts[0].question if starts else "",
        "config": starts[0].config if starts else {},
        "tools": {tool.name: tool.schema_digest for tool in starts[0].tools} if starts else {},
        "system_prompts": sorted({prompt for prompt in prompts if prompt}),
    }


def _outcome(traces: Sequence[Trace]) -> dict[str, Json]:
    ends = [event.data for trace in traces for event in trace.of("trial_finished")]
    final = traces[-1].final
    return {
        "status": ends[-1].status if ends else "unfinished",
        "reason": ends[-1].reason if ends else "",
        "complete": final.data.complete if final is not None else None,
        "store": [msgspec.to_builtins(effect) for end in ends for effect in end.store_diff],
    }
