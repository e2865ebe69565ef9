"""One trial for its page: question, answer, findings, where it comes from, and its events as a timeline shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import BadFileError
from harness.records.run import CaseVerdict
from harness.records.trace import Event, LlmCall, Trace, TrialStarted
from harness.records.trace_file import decode_events
from harness.reports.html.chunks import shortened
from harness.reports.html.safe_markdown import safe_html
from harness.reports.runs import TRACES, trace_name

Json = Any


class Legs(msgspec.Struct, frozen=True):
    """The traces of a trial, one a leg, and what is wrong with the file where something is."""

    traces: tuple[Trace, ...]
    trouble: str = ""


def legible_legs(folder: Path, verdict: CaseVerdict) -> Legs:
    """Read what can be read of the traces of a trial: of a damaged file the events before the damage."""
    path = folder / TRACES / trace_name(verdict.cell)
    name = f"{TRACES}/{path.name}"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Legs((), f"No trace of this trial was kept: there is no {name} in the run's folder.")
    except OSError as error:
        return Legs((), f"The trace {name} cannot be read: {error.strerror or error}.")
    try:
        events = decode_events(content, path=name)
    except BadFileError as error:
        events = tuple(_before_damage(content))
        told = f"the {len(events):,} events before the damage are shown" if events else "nothing of it can be shown"
        return Legs(_apart(events), f"The trace {error.message}; {told}.")
    if not events:
        return Legs((), f"The trace {name} is empty.")
    return Legs(_apart(events))


def question_of(legs: Sequence[Trace]) -> tuple[str, str]:
    """What was asked, and in which language, as the first leg says; both empty where nothing does."""
    for event in legs[0].of("trial_started") if legs else ():
        return event.data.question, event.data.lang
    return "", ""


def trial_view(verdict: CaseVerdict, legs: Legs) -> dict[str, Json]:
    """Everything that the page of *verdict* shows."""
    given, _ = question_of(legs.traces)
    return {
        "question": shortened(given),
        "answer": safe_html(verdict.answer),
        "answer_chars": len(verdict.answer),
        "findings": verdict.findings,
        "status": verdict.status,
        "reason": verdict.reason,
        "code": verdict.code,
        "because": verdict.because,
        "cause": verdict.cause,
        "at": verdict.at,
        "drift": verdict.drift,
        "fault": verdict.fault or "",
        "tokens": verdict.tokens,
        "cost_usd": verdict.cost_usd,
        "recorded_ms": verdict.recorded_ms,
        "replay_ms": round(verdict.replay_ms, 1),
        "embeddings": verdict.embedding_provenance,
        "cassette": verdict.cassette,
        "cassette_digest": verdict.cassette_digest,
        "lock": verdict.lock,
        "trouble": legs.trouble,
        "legs": [list(_steps(trace.events)) for trace in legs.traces],
    }


def _apart(events: Sequence[Event]) -> tuple[Trace, ...]:
    legs: list[list[Event]] = []
    for event in events:
        if event.seq == 0 or not legs:
            legs.append([])
        legs[-1].append(event)
    return tuple(Trace(tuple(leg)) for leg in legs)


def _before_damage(content: bytes) -> Iterator[Event]:
    for line in content.splitlines():
        try:
            yield from decode_events(line)
        except BadFileError:
            return


def _steps(events: Sequence[Event]) -> Iterator[dict[str, Json]]:
    """The events in order; pieces of one stream that follow one another are one step with all of them."""
    pieces: list[Event] = []
    for event in events:
        if pieces and not _goes_on(pieces[-1], event):
            yield _streamed(pieces)
            pieces = []
        if event.type == "llm_chunk":
            pieces.append(event)
        else:
            yield _step(event, _shown(event.data))
    if pieces:
        yield _streamed(pieces)


def _goes_on(before: Event, event: Event) -> bool:
    if event.type != "llm_chunk":
        return False
    return (before.data.call_span, before.data.channel) == (event.data.call_span, event.data.channel)


def _streamed(pieces: Sequence[Event]) -> dict[str, Json]:
    first = pieces[0]
    told = [[piece.seq, piece.ts, piece.data.text, piece.data.visible] for piece in pieces]
    return _step(first, {"channel": first.data.channel, "pieces": told}, kind="stream")


def _step(event: Event, data: Json, *, kind: str = "") -> dict[str, Json]:
    step: dict[str, Json] = {"seq": event.seq, "ts": event.ts, "type": kind or event.type, "data": data}
    for name in ("turn", "round", "phase"):
        if (value := getattr(event, name)) not in (None, ""):
            step[name] = value
    return step


def _shown(data: Json) -> Json:
    """Digests of each message, and schemas of tools, are for contracts: they would be most of the page, and nobody reads them."""
    if isinstance(data, LlmCall):
        return msgspec.structs.replace(data, prefix_digests=(), thinking_digests=(), said_digests=None, embeds={})
    if isinstance(data, TrialStarted):
        return msgspec.structs.replace(data, tools=(), config=data.config | {"tools": [t.name for t in data.tools]})
    return data
