"""What people do with cassettes by hand: read one, compare two, take secrets out, hand one to stock vcrpy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness.cassettes.block_yaml import block_yaml
from harness.cassettes.difference import differences
from harness.cassettes.drift import compare
from harness.cassettes.file import Cassette, Interaction, dump, make_cassette, parse, read_bytes
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import first_values, recorded_request
from harness.cassettes.recorder import write_whole
from harness.cassettes.redact import Scrubber
from harness.dialects import dialect_of
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingReply, Json, ModelReply, ModelRequest


class ShownCall(msgspec.Struct, frozen=True):
    """One interaction in a few words; *asked* is the last message, *answered* the text and the tools it calls."""

    call: int
    kind: str
    slot: str
    uri: str
    status: int
    latency_ms: int
    asked: str
    answered: str


def show(cassette: Cassette) -> tuple[ShownCall, ...]:
    """The interactions of *cassette*, each in a few words."""
    return tuple(
        ShownCall(
            item.call, item.kind, item.slot, item.uri, item.status, item.latency_ms, _asked(item), _answered(item)
        )
        for item in cassette.interactions
    )


def diff(old: Cassette, new: Cassette) -> list[str]:
    """
    What changed between two recordings of a case, each distinct change once.

    A prompt edit stands in every request of a case; here it is one line that names the calls it concerns.
    """
    changes: dict[str, list[int]] = {}
    for before, after in zip(old.interactions, new.interactions, strict=False):
        for line in _changes(before, after):
            changes.setdefault(line, []).append(after.call)
    lines = [f"{line} ({_calls(calls)})" for line, calls in changes.items()]
    if len(old.interactions) != len(new.interactions):
        lines.append(f"{len(new.interactions)} calls instead of {len(old.interactions)}")
    return lines


def scrub_file(path: Path, scrubber: Scrubber) -> bool:
    """
    Take secrets out of the cassette at *path*; returns whether there was one.

    Raises:
        CassetteError: The file is no cassette.
    """
    content = read_bytes(path)
    scrubbed = scrubber.scrub(content.decode("utf-8", "replace")).encode()
    cassette = parse(scrubbed, str(path), partial=True, secrets=True)
    if scrubbed == content:
        return False
    provenance = msgspec.structs.replace(cassette.provenance, responses=cassette.digest)
    write_whole(path, dump(make_cassette(provenance, cassette.interactions, path=str(path))))
    return True


def export(cassette: Cassette) -> bytes:
    """*cassette* as vcrpy itself would write it: without provenance and meta."""
    return block_yaml({"interactions": [_exported(item) for item in cassette.interactions], "version": 1}).encode()


def _exported(item: Interaction) -> Json:
    return {
        "request": {
            "body": item.request_body,
            "headers": item.request_headers,
            "method": item.method,
            "uri": item.uri,
        },
        "response": {
            "body": {"string": item.response_body},
            "headers": item.response_headers,
            "status": {"code": item.status, "message": item.status_message},
        },
    }


def _asked(item: Interaction) -> str:
    request = recorded_request(item)
    if isinstance(request, ModelRequest) and request.messages:
        return f"{request.messages[-1].role}: {request.messages[-1].text}"
    return item.request_body


def _answered(item: Interaction) -> str:
    if item.error:
        return item.error
    reply = _reply(item)
    if isinstance(reply, ModelReply):
        return "; ".join(
            [*([reply.text] if reply.text else []), *(f"{c.name}({c.args_raw})" for c in reply.tool_calls)]
        )
    if isinstance(reply, EmbeddingReply):
        return f"{len(reply.vectors)} vectors"
    return item.response_body


def _reply(item: Interaction) -> ModelReply | EmbeddingReply | None:
    dialect = dialect_of(item.uri)
    if dialect is None:
        return None
    try:
        return dialect.decode_reply(item.status, first_values(item.response_headers), item.response_body.encode())
    except ModelError:
        return None


def _changes(before: Interaction, after: Interaction) -> Iterator[str]:
    old, new = (recorded_request(item) for item in (before, after))
    if old is not None and new is not None:
        printer = Fingerprinter()
        yield from compare(printer.canonical(old), printer.canonical(new))
    elif before.request_body != after.request_body:
        yield from differences(before.request_body, after.request_body, "request")
    if before.status != after.status:
        yield f"status: {before.status} -> {after.status}"
    yield from differences(_answered(before), _answered(after), "answer")


def _calls(calls: list[int]) -> str:
    return f"call {calls[0]}" if len(calls) == 1 else f"{len(calls)} calls, first call {calls[0]}"
