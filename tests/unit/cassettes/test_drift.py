"""Why a call is not in its cassette: the nearest recording, the difference, the cause."""

from __future__ import annotations

import json

import msgspec
import pytest

from harness.cassettes.drift import explain
from harness.cassettes.file import Interaction, Provenance, make_cassette
from harness.cassettes.fingerprint import Fingerprinter
from harness.records.messages import EmbeddingRequest, Message, ModelRequest, ToolCall, ToolSpec

replace = msgspec.structs.replace
PROMPT = " ".join(f"step{n}." for n in range(560)) + " Never promise a date."
TOOLS = tuple(
    ToolSpec(name, f"Does {name}", {"type": "object", "properties": {"order": {"type": "integer"}}})
    for name in ("refund", "lookup", "cancel")
)


def request(number=1, **changes):
    messages = (Message("system", PROMPT), Message("user", f"case {number}"))
    return replace(ModelRequest(model="m", messages=messages, tools=TOOLS, temperature=0.2), **changes)


def as_body(asked):
    messages = []
    for message in asked.messages:
        wire = {"role": message.role, "content": message.content}
        if message.tool_calls:
            wire["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args_raw}}
                for call in message.tool_calls
            ]
        if message.tool_call_id:
            wire["tool_call_id"] = message.tool_call_id
        messages.append(wire)
    tools = [{"type": "function", "function": msgspec.to_builtins(tool)} for tool in asked.tools]
    # what a client library adds of its own
    return json.dumps({"model": asked.model, "messages": messages, "tools": tools, "temperature": asked.temperature, "max_tokens": 4096})  # fmt: skip


def cassette(*requests):
    uri = "https://api.openai.com/v1/chat/completions"
    items = [
        Interaction(call=number, answered_by="live", uri=uri, request_body=as_body(asked))
        for number, asked in enumerate(requests, start=1)
    ]
    return make_cassette(Provenance(answered_by="live"), items)


HUNDRED = cassette(*(request(n) for n in range(100)))


def test_the_text_of_a_drift():
    """Prompt, tool and message, each in one line, under the recording that is nearest."""
    tools = (replace(TOOLS[0], parameters={"type": "object", "properties": {"order": {"type": "string"}}}), *TOOLS[1:])
    system = Message("system", PROMPT.replace("a date", "a refund date"))
    asked = request(29, tools=tools, messages=(system, *request(29).messages[1:], Message("user", "turn 2, hurry")))

    assert (
        "nearest recording: call 30 of 100, 99% of the request is the same\n"
        "  message 0 (system).content: …step557. step558. step559. Never promise a [--]{+refund+} date. (word 564 of 565)\n"
        "  tool refund.parameters.properties.order.type: 'integer' -> 'string'\n"
        "  message 2 (user): new: 'turn 2, hurry'"
    ) == explain(asked, HUNDRED).text


@pytest.mark.parametrize(
    ("changes", "cause", "line"),
    [
        ({"model": "n"}, "model", "model: 'm' -> 'n'"),
        ({"messages": (Message("system", "Be brief."), Message("user", "case 1"))}, "prompt", None),
        ({"messages": (Message("user", "case 1"),)}, "prompt", "message 0 (system): no longer there: 'step0. step1."),
        ({"tools": TOOLS[:2]}, "tool_schema", "tool cancel: no longer offered"),
        ({"tools": (*TOOLS, ToolSpec("x", "", {}))}, "tool_schema", "tool x: newly offered"),
        ({"tools": TOOLS[::-1]}, "tool_schema", "tools: offered in another order"),
        ({"temperature": 0.7, "max_tokens": 4096}, "params", "temperature: 0.2 -> 0.7"),
        ({"messages": (*request().messages, Message("user", "more"))}, "message", "message 2 (user): new: 'more'"),
    ],
)
def test_the_cause_is_named(changes, cause, line):
    """What changed first is the cause, and the line says what it was; what a library fills in is not blamed."""
    drift = explain(request(**changes), cassette(request()))

    assert cause == drift.cause
    assert line is None or drift.text.splitlines()[1].strip().startswith(line)
    assert "4096" not in drift.text


def test_tool_calls_and_results_are_compared():
    """Arguments are named by their call; ids that a client made up are not shown as a difference."""

    def talked(call_id, city, result):
        call = ToolCall(call_id, "lookup", json.dumps({"city": city}), {"city": city})
        return request(
            messages=(*request().messages, Message("assistant", "", (call,)), Message("tool", result, (), call_id))
        )

    text = explain(talked("call_bbbbbbbb", "Paris", "21"), cassette(talked("call_aaaaaaaa", "Berlin", "7"))).text

    assert [
        "message 2 (assistant).tool_calls[0].args.city: 'Berlin' -> 'Paris'",
        "message 3 (tool).content: '7' -> '21'",
    ] == [line.strip() for line in text.splitlines()[1:]]


def test_results_that_answer_other_calls_are_told():
    """The parts are the same, only the links between them are not."""

    def talked(first, second):
        calls = tuple(ToolCall(f"call_{n * 8}", "lookup", "{}", {}) for n in "ab")
        results = (Message("tool", "x", (), first), Message("tool", "y", (), second))
        return request(messages=(*request().messages, Message("assistant", "", calls), *results))

    drift = explain(talked("call_bbbbbbbb", "call_aaaaaaaa"), cassette(talked("call_aaaaaaaa", "call_bbbbbbbb")))

    assert "  results answer other calls than they did" == drift.text.splitlines()[1]


def test_declared_volatile_parts_are_not_shown():
    """What does not count is no difference."""
    printer = Fingerprinter((r"Today is \d+",))
    old, new = (request(messages=(Message("user", f"Today is {day}, {word}"),)) for day, word in ((1, "a"), (2, "b")))

    assert (
        "message 0 (user).content: '<volatile 0>, a' -> '<volatile 0>, b'"
        in explain(new, cassette(old), fingerprinter=printer).text
    )


def test_a_recording_that_is_still_free_is_nearer():
    """Of two that are equally like, the one that was not played yet is shown."""
    twice = cassette(request(), request())

    assert 2 == explain(request(temperature=1), twice, unplayed=[False, True]).nearest
    assert 1 == explain(request(temperature=1), twice).nearest


def test_embeddings_are_compared_with_embeddings():
    """A text that was embedded and one that is asked for now."""
    body = json.dumps({"model": "e", "input": ["query: bonds"]})
    item = Interaction(
        call=2, answered_by="live", uri="https://x.invalid/v1/embeddings", request_body=body, kind="embedding"
    )
    mixed = make_cassette(Provenance(answered_by="live"), [*HUNDRED.interactions[:1], item])
    drift = explain(EmbeddingRequest("e", ("query: stocks",)), mixed)

    assert "message 0 (text).content: 'query: bonds' -> 'query: stocks'" in drift.text
    assert 2 == drift.nearest


def test_nothing_comparable_is_said_plainly():
    """An empty cassette has no nearest recording."""
    assert ("unknown", "no recorded call can be compared with it") == (
        (drift := explain(request(), cassette())).cause,
        drift.text,
    )


def test_a_beta_of_the_header_counts() -> None:
    """A recording that asked for a beta by its header differs from a call that does not, and from no other."""
    beta = "interleaved-thinking-2025-05-14"
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "case 1"}]})
    recorded = make_cassette(
        Provenance(answered_by="live"),
        [
            Interaction(
                call=1,
                answered_by="live",
                uri="https://api.anthropic.com/v1/messages",
                request_headers={"anthropic-beta": [beta]},
                request_body=body,
            )
        ],
    )
    asked = ModelRequest(model="m", messages=(Message("user", "case 1"),), max_tokens=9)

    assert "betas" in explain(asked, recorded).text
    assert "betas" not in explain(replace(asked, betas=(beta,), max_tokens=8), recorded).text
