"""A run as OpenTelemetry traces: the shape that receivers take, and spans that tell the trial as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
import pytest

from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, RunRecord, Totals
from harness.records.trace import Event, EventData, PhaseFinished, PhaseStarted, Trace
from harness.reports.otlp import otlp
from harness.testing.builders import answer, make_event, make_trace, model_turn, tool_use

RUN = "20261122-051931705-caa4"
HEX = {"type": "string", "pattern": "^[0-9a-f]+$"}
INT64 = {"type": "string", "pattern": "^-?[0-9]{1,19}$"}


def message(required: Sequence[str] = (), **fields: Any) -> dict[str, Any]:
    """A message of the protocol: these fields and no others."""
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def repeated(items: Mapping[str, Any]) -> dict[str, Any]:
    """A repeated field."""
    return {"type": "array", "items": items}


SIMPLE = {
    "stringValue": {"type": "string"}, "boolValue": {"type": "boolean"}, "intValue": INT64,
    "doubleValue": {"type": "number"},
}  # fmt: skip
VALUE = message(**SIMPLE, arrayValue=message(values=repeated(message(**SIMPLE)))) | {
    "minProperties": 1,
    "maxProperties": 1,
}
KEY_VALUES = repeated(message(["key", "value"], key={"type": "string", "minLength": 1}, value=VALUE))
SPAN = message(
    ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"],
    traceId=HEX | {"minLength": 32, "maxLength": 32},
    spanId=HEX | {"minLength": 16, "maxLength": 16},
    parentSpanId={"anyOf": [{"const": ""}, HEX | {"minLength": 16, "maxLength": 16}]},
    flags={"type": "integer", "minimum": 0},
    name={"type": "string", "minLength": 1},
    kind={"type": "integer", "minimum": 1, "maximum": 5},
    startTimeUnixNano=INT64,
    endTimeUnixNano=INT64,
    attributes=KEY_VALUES,
    status=message(code={"type": "integer", "minimum": 0, "maximum": 2}, message={"type": "string"}),
)
SCOPE = message(name={"type": "string"}, version={"type": "string"})
SCOPE_SPANS = message(scope=SCOPE, spans=repeated(SPAN), schemaUrl={"type": "string"})
RESOURCE_SPANS = message(
    resource=message(attributes=KEY_VALUES), scopeSpans=repeated(SCOPE_SPANS), schemaUrl={"type": "string"}
)
TRACES_DATA = message(["resourceSpans"], resourceSpans=repeated(RESOURCE_SPANS))
"""`TracesData` of opentelemetry/proto/trace/v1/trace.proto, as far as we write it, in OTLP's JSON encoding."""


def verdict(**changes: Any) -> CaseVerdict:
    """A kept trial of a scripted model."""
    fields = {
        "agent": "design", "profile": "reference", "model": "scripted", "provenance": "scripted", "set": "set",
        "case": "case", "trial": 0, "verdict": "kept", "cassette_digest": "d1", "tokens": Usage(20, 7, 2, 5),
    }  # fmt: skip
    return CaseVerdict(**(fields | changes))


def at(first: int, last: int, pair: Sequence[EventData], **envelope: str) -> list[Event]:
    """A call and its result at these times."""
    return [make_event(data, ts=ts, **envelope) for data, ts in zip(pair, (first, last), strict=True)]


def trace() -> Trace:
    """A phase with a model call and a tool, then a call that finds vectors, one that fails, and a tool that fails."""
    inner = {"parent": "p", "phase": "think"}
    asked = model_turn("hm", calls=[("look", {"q": "x"})], result={"usage": Usage(10, 3)})
    return make_trace(
        make_event(PhaseStarted(name="think"), ts=1, span="p", parent="p"),
        *at(2, 9, asked, **inner),
        *at(9, 60, tool_use("look", {"q": "x"}, text="found", hits=2), span="t1", **inner),
        make_event(PhaseFinished(name="think", ok=True), ts=61, span="p", parent="p"),
        *at(61, 62, model_turn(purpose="meaning", stage="embedding")),
        *at(62, 70, model_turn(error="rate_limit")),
        *at(70, 71, tool_use("gone", error="unknown_tool", text="no such tool"), span="t2"),
        make_event(answer("done"), ts=72),
    )


def spans_of(*verdicts: CaseVerdict, run: str = RUN, legs: Sequence[Trace] | None = None) -> list[dict[str, Any]]:
    """The spans of a run; each is held against the protocol's shape."""
    record = RunRecord(run=run, results=verdicts, totals=Totals(), exit_code=0)
    document = json.loads(json.dumps(otlp(record, lambda _: [trace()] if legs is None else legs, version="9.9")))
    jsonschema.validate(document, TRACES_DATA)
    ((scope,),) = [resource["scopeSpans"] for resource in document["resourceSpans"]]
    spans: list[dict[str, Any]] = scope["spans"]
    return spans


def told(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span as plain values."""
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def test_one_trace_a_trial_with_a_span_for_all_that_it_did() -> None:
    """Agent, phases, model calls, embeddings and tools, each under what called it."""
    spans = spans_of(verdict())
    names = {span["spanId"]: span["name"] for span in spans}

    assert [
        ("invoke_agent design", ""),
        ("phase think", "invoke_agent design"),
        ("chat model", "phase think"),
        ("execute_tool look", "phase think"),
        ("embeddings model", "invoke_agent design"),
        ("chat model", "invoke_agent design"),
        ("execute_tool gone", "invoke_agent design"),
    ] == [(span["name"], names.get(span["parentSpanId"], "")) for span in spans]
    assert 1 == len({span["traceId"] for span in spans})
    assert len(spans) == len(names)


def test_times_are_those_of_the_virtual_clock() -> None:
    """Counted from the moment at which the run began; a span lies within the one above it."""
    spans = spans_of(verdict())
    base = 1795324771705 * 1_000_000  # 2026-11-22 05:19:31.705 UTC
    times = [
        ((int(s["startTimeUnixNano"]) - base) // 10**6, (int(s["endTimeUnixNano"]) - base) // 10**6) for s in spans
    ]
    by_id = {span["spanId"]: time for span, time in zip(spans, times, strict=True)}

    assert [(1, 61), (2, 9), (9, 60), (61, 62), (62, 70), (70, 71)] == times[1:]
    for span, (start, end) in zip(spans[1:], times[1:], strict=True):
        above = by_id[span["parentSpanId"]]
        assert above[0] <= start <= end <= above[1]


def test_attributes_follow_the_conventions() -> None:
    """Operation, model, tokens and tool stand where any viewer of generative AI looks, with who really answered."""
    agent, _, chat, tool, *_ = [told(span) for span in spans_of(verdict())]

    assert ("invoke_agent", "design", "20", "7", "5", "2", "scripted") == tuple(
        agent[f"gen_ai.{name}"]
        for name in (
            "operation.name", "agent.name", "usage.input_tokens", "usage.output_tokens",
            "usage.cache_read.input_tokens", "usage.reasoning.output_tokens", "provider.name",
        )
    )  # fmt: skip
    assert ("chat", "model", "10", "3", "scripted", "think") == tuple(
        chat[name]
        for name in (
            "gen_ai.operation.name", "gen_ai.request.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens",
            "gen_ai.provider.name", "tapegate.phase",
        )
    )  # fmt: skip
    assert ("execute_tool", "look", '{"q":"x"}', "found", "read", "2") == tuple(
        tool[name]
        for name in (
            "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result",
            "tapegate.tool.effect", "tapegate.tool.hits",
        )
    )  # fmt: skip


def test_what_failed_is_an_error() -> None:
    """A failed call and a failed tool have their kind and their message; what went well has no status of its own."""
    *_, chat, tool = spans_of(verdict())

    assert [("rate_limit", 2, "rate_limit"), ("unknown_tool", 2, "no such tool")] == [
        (told(span)["error.type"], span["status"]["code"], span["status"]["message"]) for span in (chat, tool)
    ]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, {"code": 1}),
        ({"verdict": "broken"}, {"code": 2, "message": "CX1, facts"}),
        ({"verdict": "broken", "known": True}, {"code": 1}),
        ({"verdict": "could_not_check", "because": "a call was missed", "code": "cassette-miss"}, {"code": 2, "message": "a call was missed"}),
    ],
)  # fmt: skip
def test_the_agents_span_has_the_verdict(changes: dict[str, Any], status: dict[str, Any]) -> None:
    """A broken trial is an error that names its contracts; a known failure is none."""
    broken = tuple(Finding(contract=name, state="broken", because="it did") for name in ("facts", "CX1"))
    findings = broken if changes.get("verdict") == "broken" else ()

    assert status == spans_of(verdict(findings=findings, **changes))[0]["status"]


def test_ids_follow_from_the_run_and_the_trial() -> None:
    """The same run gives the same ids; another run, another trial and another recording give others."""
    first = spans_of(verdict(), verdict(trial=1))

    assert first == spans_of(verdict(), verdict(trial=1))
    assert 4 == len(
        {span["traceId"] for span in [*first, *spans_of(verdict(), run="r2"), *spans_of(verdict(cassette_digest="d2"))]}
    )


def test_legs_follow_each_other() -> None:
    """A resumed trial is one trace: the second leg begins where the first ended, and no ids meet."""
    spans = spans_of(verdict(), legs=[trace(), trace()])
    starts = [int(span["startTimeUnixNano"]) for span in spans[1:]]

    assert sorted(starts) == starts
    assert 13 == len({span["spanId"] for span in spans})
    assert ["0"] * 6 + ["1"] * 6 == [told(span)["tapegate.leg"] for span in spans[1:]]


def test_a_trial_without_a_trace_is_one_span() -> None:
    """What never began is told all the same, and takes no time."""
    (span,) = spans_of(verdict(verdict="could_not_check", because="no cassette", code="cassette-missing"), legs=[])

    assert ("cassette-missing", span["startTimeUnixNano"]) == (told(span)["error.type"], span["endTimeUnixNano"])


def test_a_call_that_was_cut_off_is_an_error() -> None:
    """Without a result a span ends with its leg."""
    call, _ = model_turn()
    span = spans_of(verdict(), legs=[make_trace(make_event(call, ts=5), make_event(answer("x"), ts=9))])[1]

    assert {"code": 2, "message": "it was cut off"} == span["status"]
