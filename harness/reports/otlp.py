"""
A run as OpenTelemetry traces: one trace a trial, in the JSON encoding of OTLP.

The shape is `TracesData` of opentelemetry-proto 1.x in protobuf's JSON mapping as OTLP narrows it: field names in
lowerCamelCase, ids in hex, 64-bit integers as decimal texts, enums as numbers. Names of spans and attributes follow the
semantic conventions for generative AI (1.41); what they have no name for stands under `tapegate.`. The provider is who
really answered: `live`, `local` or `scripted`, so that nobody takes a script for the model that was asked for.

Times are those of the trial's virtual clock, counted from the moment at which the run began; ids are digests, so that
the same run always gives the same traces, and two runs never share one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from harness.records.digest import canonical_json
from harness.records.messages import Json, Usage
from harness.records.run import CaseVerdict, Cell, RunRecord
from harness.records.trace import Event, LlmCall, LlmResult, PhaseStarted, ToolCalled, ToolResult, Trace

SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
INTERNAL, CLIENT = 1, 3
"""Kinds of spans: something inside the process, and a call of a service."""
OK, ERROR = 1, 2
"""Codes of a span's status."""
_NANOSECONDS = 1_000_000
Traces = Callable[[Cell], Sequence[Trace]]


def otlp(record: RunRecord, traces: Traces, *, version: str) -> Json:
    """
    Turn *record* into the document that an OTLP/HTTP receiver takes at `/v1/traces`.

    Args:
        record: The run.
        traces: Gives the traces of a trial, one a leg; none where none was kept.
        version: That of tapegate.
    """
    began = _began(record.run)
    spans = [
        span for verdict in record.results for span in _Trial(record.run, began, verdict, traces(verdict.cell)).spans()
    ]
    resource = {"service.name": "tapegate", "service.version": version, "tapegate.run": record.run}
    scope = {"name": "harness.reports.otlp", "version": version}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA_URL}],
                "schemaUrl": SCHEMA_URL,
            }
        ]
    }


class _Trial:
    """The spans of one trial: the agent's, and below it those of its phases, model calls and tools."""

    def __init__(self, run: str, began: int, verdict: CaseVerdict, traces: Sequence[Trace]) -> None:
        self._verdict = verdict
        self._traces = traces
        self._name = [
            run,
            verdict.agent,
            verdict.model,
            verdict.set,
            verdict.case,
            verdict.trial,
            verdict.cassette_digest,
        ]
        self._trace_id = _hex(self._name, 32)
        self._root = self._span_id("root")
        self._began = began

    def spans(self) -> Iterator[Json]:
        """Every span, the agent's first."""
        yield self._agent()
        offset = 0
        for leg, trace in enumerate(self._traces):
            yield from self._leg(leg, trace, offset)
            offset += _length(trace)

    def _agent(self) -> Json:
        verdict = self._verdict
        started = self._traces[0].events[0].data if self._traces else None
        told = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": verdict.provenance,
            "gen_ai.agent.name": verdict.agent,
            "gen_ai.conversation.id": started.session_id if started else "",
            **_usage(verdict.tokens),
            "tapegate.set": verdict.set,
            "tapegate.case": verdict.case,
            "tapegate.trial": verdict.trial,
            "tapegate.model": verdict.model,
            "tapegate.provenance": verdict.provenance,
            "tapegate.verdict": verdict.verdict,
            "tapegate.known": verdict.known,
            "tapegate.broken": list(verdict.broken),
            "tapegate.cassette.digest": verdict.cassette_digest,
            "tapegate.cost_usd": verdict.cost_usd,
            "error.type": verdict.code,
        }
        milliseconds = sum(map(_length, self._traces))
        because = verdict.because if verdict.verdict == "could_not_check" else ", ".join(verdict.broken)
        failed = verdict.verdict != "kept" and not verdict.known
        span = self._span(self._root, "", f"invoke_agent {verdict.agent}", INTERNAL, 0, milliseconds, told)
        return span | {"status": {"code": ERROR, "message": because} if failed else {"code": OK}}

    def _leg(self, leg: int, trace: Trace, offset: int) -> Iterator[Json]:
        """The spans of one leg: each begins with an event of its own and ends with another, or with the leg."""
        ends: dict[str, Event] = {}
        for event in trace.of("llm_result", "tool_result", "phase_finished"):
            ends[event.span] = event
        last = _length(trace)
        for event in trace.of("phase_started", "llm_call", "tool_call"):
            end = ends.get(event.span)
            name, kind, told = _named(event, end, self._verdict.provenance)
            parent = self._root if event.parent in {"", event.span} else self._span_id(f"{leg}/{event.parent}")
            told = {**told, "tapegate.turn": event.turn, "tapegate.round": event.round, "tapegate.phase": event.phase}
            until = end.ts if end else last
            told |= {"tapegate.leg": leg} if len(self._traces) > 1 else {}
            span = self._span(
                self._span_id(f"{leg}/{event.span}"), parent, name, kind, offset + event.ts, offset + until, told
            )
            yield span | {"status": _status(end)}

    def _span(
        self, span_id: str, parent: str, name: str, kind: int, start_ms: int, end_ms: int, told: dict[str, Any]
    ) -> dict[str, Json]:
        return {
            "traceId": self._trace_id,
            "spanId": span_id,
            "parentSpanId": parent,
            "flags": 1,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str((self._began + start_ms) * _NANOSECONDS),
            "endTimeUnixNano": str((self._began + max(start_ms, end_ms)) * _NANOSECONDS),
            "attributes": _attributes(told),
        }

    def _span_id(self, name: str) -> str:
        return _hex([*self._name, name], 16)


def _named(event: Event, end: Event | None, answered_by: str) -> tuple[str, int, dict[str, Any]]:
    """Name, kind and attributes of the span that *event* begins and *end* ends."""
    data, result = event.data, end.data if end else None
    if isinstance(data, PhaseStarted):
        return f"phase {data.name}", INTERNAL, {}
    if isinstance(data, ToolCalled):
        return f"execute_tool {data.tool}", INTERNAL, _tool(data, result if isinstance(result, ToolResult) else None)
    return _model(data, result if isinstance(result, LlmResult) else None, answered_by)


def _model(data: LlmCall, result: LlmResult | None, answered_by: str) -> tuple[str, int, dict[str, Any]]:
    operation = "embeddings" if data.stage == "embedding" else "chat"
    told: dict[str, Any] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": answered_by,
        "gen_ai.request.model": data.model,
        "gen_ai.request.max_tokens": data.params.get("max_tokens"),
        "gen_ai.request.temperature": data.params.get("temperature"),
        "gen_ai.request.top_p": data.params.get("top_p"),
        "gen_ai.request.seed": data.params.get("seed"),
        "tapegate.purpose": data.purpose,
        "tapegate.stage": data.stage,
        "tapegate.slot": data.slot,
        "tapegate.cassette.key": data.cassette_key,
    }
    if result is not None:
        told |= {
            "gen_ai.response.model": result.model,
            "gen_ai.response.finish_reasons": [result.finish_reason] if result.finish_reason else [],
            **_usage(result.usage),
            "error.type": result.error.kind if result.error else "",
        }
    return f"{operation} {data.model}", CLIENT, told


def _tool(data: ToolCalled, result: ToolResult | None) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": data.tool,
        "gen_ai.tool.call.id": data.call_id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": canonical_json(data.args).decode() if data.args is not None else data.args_raw,
        "gen_ai.tool.call.result": result.text if result else "",
        "tapegate.tool.effect": data.effect,
        "tapegate.tool.hits": result.hits if result else None,
        "error.type": (result.error_kind or "_OTHER") if result and not result.ok else "",
    }


def _length(trace: Trace) -> int:
    """How long a leg took, in milliseconds."""
    return max(event.ts for event in trace)


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.reasoning.output_tokens": usage.thinking,
    }


def _status(end: Event | None) -> Json:
    """How a span ended; one without an end was cut off."""
    if end is None:
        return {"code": ERROR, "message": "it was cut off"}
    data = end.data
    if isinstance(data, LlmResult):
        return {"code": ERROR, "message": data.error.message} if data.error else {}
    if data.ok:
        return {}
    return {"code": ERROR, "message": data.text if isinstance(data, ToolResult) else data.reason}


def _attributes(told: dict[str, Any]) -> list[Json]:
    """Attributes as protobuf's JSON mapping has them; what is empty or unknown is left out."""
    return [{"key": key, "value": _value(value)} for key, value in told.items() if value not in (None, "", [])]


def _value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _hex(name: Sequence[Any], digits: int) -> str:
    """An id: a digest of *name*, which is never all zeros."""
    return hashlib.sha256(canonical_json(name)).hexdigest()[:digits]


def _began(run: str) -> int:
    """When the run of that id began, in milliseconds since 1970; 2026 began then for an id that does not say."""
    try:
        return round(datetime.strptime(run[:18] + "000", "%Y%m%d-%H%M%S%f").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return round(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
