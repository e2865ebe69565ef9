"""Traces on disk: JSON Lines, one event a line, in the order of *seq*."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import msgspec

from harness.errors import BadFileError
from harness.records.trace import EVENT_TYPES, TRACE_FORMAT, Event, EventData

_encoder = msgspec.json.Encoder()


def encode_events(events: Iterable[Event]) -> bytes:
    """Write *events* as JSON Lines."""
    return _encoder.encode_lines(list(events))


def decode_events(content: bytes, *, path: str = "<trace>") -> tuple[Event, ...]:
    """
    Read events from JSON Lines.

    Raises:
        BadFileError: A line is no event, names an unknown type, or has a newer format than this version reads.
    """
    envelopes = msgspec.json.Decoder(_Envelope)
    events = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            raw = envelopes.decode(line)
            if raw.v != TRACE_FORMAT:
                raise BadFileError(
                    "unknown-format",
                    f"{path}:{number}: trace format {raw.v} is not known to this version (it reads {TRACE_FORMAT})",
                    hint="update tapegate, or record the run again",
                )
            if raw.type not in EVENT_TYPES:
                raise BadFileError("bad-trace", f"{path}:{number}: no event type `{raw.type}`")
            data = _decoder(raw.type).decode(raw.data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadFileError("bad-trace", f"{path}:{number}: not an event: {error}") from None
        events.append(
            Event(raw.trial_id, raw.seq, raw.ts, raw.type, data, raw.span, raw.parent, raw.phase, raw.turn, raw.round)
        )
    return tuple(events)


@cache
def _decoder(event_type: str) -> msgspec.json.Decoder[EventData]:
    return msgspec.json.Decoder(EVENT_TYPES[event_type])


class _Envelope(msgspec.Struct):
    """An event on disk, its data still undecoded until the type is known."""

    trial_id: str
    seq: int
    ts: int
    type: str
    data: msgspec.Raw
    span: str = ""
    parent: str = ""
    phase: str = ""
    turn: int | None = None
    round: int | None = None
    v: int = TRACE_FORMAT
