"""
The cassette file: an ordinary vcrpy cassette that also says who answered, when, and how long each piece took.

`provenance` at the top and `meta` beside each request are keys that vcrpy ignores. Bodies are text: JSON is indented
in a `|` block, so that a changed word is a changed line; server-sent events stand as they came.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from harness.cassettes.readers import unknown_in
from harness.cassettes.redact import scan
from harness.cassettes.yaml_document import read_yaml, unreadable
from harness.errors import CassetteError
from harness.records.digest import digest
from harness.records.messages import Json

CASSETTE_FORMAT = 1
MOST_BYTES = 32 * 1024 * 1024
"""A file beyond this size is refused unread."""
LOAD_CHECKS = 2
"""Raised when loading refuses more than it did: what a cache took in before is then read anew."""
TRANSPORT_ERROR = 599
"""The status that stands for a response that never came; `meta.error` says why."""

AnsweredBy = Literal["live", "local", "scripted"]
InteractionKind = Literal["chat", "embedding", "tool"]


class UsageTotals(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of all interactions, and what they cost by the price table of that day (None: free or unknown)."""

    input: int = 0
    output: int = 0
    cached: int = 0
    thinking: int = 0
    cost_usd: float | None = None
    price_table: str = ""


class ModelProof(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What proves a local model: the digest of its file, and name and version of the server."""

    model_sha256: str = ""
    server: str = ""


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who answered, and what proves it. `local` needs *server*, *model_sha256*, *sampling* and *seed*."""

    format: int = CASSETTE_FORMAT
    answered_by: AnsweredBy
    embeddings_by: AnsweredBy | None = None
    embedders: dict[str, ModelProof] = {}
    """What proves the embedding models that have a server of their own, by the names that requests carry."""
    responses: str = ""
    """Digest of the responses when they were recorded: one that was edited by hand since is found out."""
    complete: bool = True
    """False for what an interrupted recording left; such a file is never replayed."""
    models: tuple[str, ...] = ()
    """As the responses name them, not as they were asked for."""
    recorded: str = ""
    """When, as ISO 8601 in UTC."""
    code: str = ""
    """Digest of the agent's code and prompts."""
    versions: dict[str, str] = {}
    usage: UsageTotals | None = None
    server: str = ""
    """Name and version of the local server."""
    model_sha256: str = ""
    """Digest of the local model's file."""
    sampling: dict[str, Json] = {}
    seed: int | None = None


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its response, as they stand in a cassette."""

    call: int
    """From 1, in start order of the trial."""
    ask: str = ""
    """Fingerprint of the logical call; empty for a client that does not come through our ports."""
    wire: str = ""
    """Fingerprint of the canonical wire JSON."""
    slot: str = ""
    kind: InteractionKind = "chat"
    answered_by: AnsweredBy
    latency_ms: int = 0
    first_byte_ms: int = 0
    chunk_ms: tuple[int, ...] = ()
    """When each chunk of a streamed response came, in milliseconds since the request."""
    complete: bool = True
    """The response was seen to its end."""
    error: str | None = None
    """Why there is no response; *status* is then 599."""
    method: str = "POST"
    uri: str
    request_headers: dict[str, list[str]] = {}
    request_body: str = ""
    status: int = 200
    status_message: str = "OK"
    response_headers: dict[str, list[str]] = {}
    response_body: str = ""


class Cassette(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded traffic of one trial."""

    provenance: Provenance
    interactions: tuple[Interaction, ...] = ()
    path: str = ""
    digest: str = ""
    """Digest of the responses: the identity of the sample."""
    unknown: tuple[str, ...] = ()
    """What our own readers do not know in the responses."""


def load(path: Path | str, *, partial: bool = False) -> Cassette:
    """
    Read the cassette at *path*; *partial* accepts what an interrupted recording left.

    Raises:
        CassetteError: `cassette-missing`, `cassette-unreadable` (not a cassette, or damaged), `cassette-format` (of a
            format that this version does not read), `cassette-partial`, `cassette-secret`, `cassette-edited`,
            `mixed-provenance`.
    """
    return parse(read_bytes(Path(path)), str(path), partial=partial)


def parse(content: bytes, path: str, *, partial: bool = False, secrets: bool = False) -> Cassette:
    """Read the cassette that the bytes of *path* hold; raises as `load` does. *secrets* lets them pass, for scrubbing."""
    text = _decoded(content, path)
    document = read_yaml(text, path)
    _check_format(document, path)
    try:
        disk = msgspec.convert(document, _Disk)
    except msgspec.ValidationError as error:
        unreadable(path, f"not a cassette: {error}")
    if not (disk.provenance.complete or partial):
        raise CassetteError(
            "cassette-partial",
            "the recording was interrupted, so it cannot be replayed",
            hint="record the case again",
            at=path,
        )
    found = [] if secrets else scan(text)
    if found:
        raise CassetteError(
            "cassette-secret",
            f"the cassette holds a secret ({found[0].kind})",
            hint=f"revoke the key, then run `harness cassettes scrub {path}`",
            at=f"{path}:{found[0].line}",
        )
    made = make_cassette(disk.provenance, [_from_disk(item) for item in disk.interactions], path=path)
    if not secrets:
        _check_whole(made)
    return made


def make_cassette(provenance: Provenance, interactions: Iterable[Interaction], *, path: str = "") -> Cassette:
    """Put a cassette together: interactions by their call number, and what is said of their responses."""
    ordered = tuple(sorted(interactions, key=lambda interaction: interaction.call))
    return Cassette(
        provenance=provenance, interactions=ordered, path=path, digest=responses_digest(ordered),
        unknown=unknown_in(ordered),
    )  # fmt: skip


def responses_digest(interactions: Iterable[Interaction]) -> str:
    """Name a sample by what was answered: statuses, bodies and transport errors, in the order of the calls."""
    return digest([(item.status, item.response_body, item.error) for item in interactions])


def dump(cassette: Cassette) -> bytes:
    """Write *cassette* as the bytes of its file; `dump(load(path))` are the bytes of a file that `dump` wrote."""
    from harness.cassettes.block_yaml import block_yaml  # replay writes nothing

    document = {
        "version": 1,
        "provenance": {"format": CASSETTE_FORMAT, **_plain(cassette.provenance)},
        "interactions": [_to_disk(interaction) for interaction in cassette.interactions],
    }
    return block_yaml(document).encode()


def read_bytes(path: Path | str) -> bytes:
    """
    Read a file that may be a cassette.

    Raises:
        CassetteError: `cassette-missing`, or `cassette-unreadable` where it is too large or cannot be read.
    """
    try:
        # Straight system calls: half the time of a buffered file, and this runs once a trial.
        # A pipe of that name must not hold the run up: it opens without waiting, and is refused.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                unreadable(str(path), "not a regular file")
            size = status.st_size
            if size > MOST_BYTES:
                unreadable(str(path), f"{size:,} bytes are more than the {MOST_BYTES:,} that are read")
            return os.read(handle, size + 1)
        finally:
            os.close(handle)
    except FileNotFoundError:
        raise CassetteError(
            "cassette-missing", "there is no such cassette", hint="record it with `harness record`", at=str(path)
        ) from None
    except OSError as error:
        unreadable(str(path), f"cannot be read: {error.strerror or error}")


class _Meta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    call: int
    answered_by: AnsweredBy
    ask: str = ""
    wire: str = ""
    slot: str = ""
    kind: InteractionKind = "chat"
    latency_ms: int = 0
    first_byte_ms: int = 0
    chunk_ms: tuple[int, ...] = ()
    complete: bool
    error: str | None = None


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    method: str
    uri: str
    headers: dict[str, list[str]]
    body: str


class _Status(msgspec.Struct, frozen=True):
    code: int
    message: str


class _Body(msgspec.Struct, frozen=True):
    string: str


class _Response(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    status: _Status
    headers: dict[str, list[str]]
    body: _Body


class _Entry(msgspec.Struct, frozen=True):
    meta: _Meta
    request: _Request
    response: _Response


class _Disk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    provenance: Provenance
    interactions: list[_Entry]


def _plain(value: object) -> Json:
    return msgspec.to_builtins(value)


def _to_disk(item: Interaction) -> Json:
    meta = _Meta(
        call=item.call, answered_by=item.answered_by, ask=item.ask, wire=item.wire, slot=item.slot, kind=item.kind,
        latency_ms=item.latency_ms, first_byte_ms=item.first_byte_ms, chunk_ms=item.chunk_ms, complete=item.complete,
        error=item.error,
    )  # fmt: skip
    request = _Request(item.method, item.uri, item.request_headers, item.request_body)
    status = _Status(item.status, item.status_message)
    return _plain(_Entry(meta, request, _Response(status, item.response_headers, _Body(item.response_body))))


def _from_disk(entry: _Entry) -> Interaction:
    meta, request, response = entry.meta, entry.request, entry.response
    return Interaction(
        call=meta.call, ask=meta.ask, wire=meta.wire, slot=meta.slot, kind=meta.kind, answered_by=meta.answered_by,
        latency_ms=meta.latency_ms, first_byte_ms=meta.first_byte_ms, chunk_ms=meta.chunk_ms, complete=meta.complete,
        error=meta.error, method=request.method, uri=request.uri, request_headers=request.headers,
        request_body=request.body, status=response.status.code, status_message=response.status.message,
        response_headers=response.headers, response_body=response.body.string,
    )  # fmt: skip


def _check_format(document: Json, path: str) -> None:
    provenance = document.get("provenance") if isinstance(document, dict) else None
    found = provenance.get("format") if isinstance(provenance, dict) else None
    if found == CASSETTE_FORMAT:
        return
    if found is None:
        raise CassetteError(
            "cassette-format",
            "no `provenance.format`: this is not a cassette of tapegate",
            hint="only what `harness record` wrote says who answered; record the case with it",
            at=path,
        )
    raise CassetteError(
        "cassette-format",
        f"cassette format {found} is not known to this version, which reads {CASSETTE_FORMAT}",
        hint="update tapegate, or record the case again",
        at=path,
    )


def _check_whole(cassette: Cassette) -> None:
    """Refuse answers that nobody gave: edited, cut short, or put together from several recordings."""
    provenance = cassette.provenance
    if provenance.responses and provenance.responses != cassette.digest:
        raise CassetteError(
            "cassette-edited",
            "a response was changed after it was recorded",
            hint="restore the file from git, or record the case again",
            at=cassette.path,
        )
    for item in cassette.interactions:
        if item.kind == "chat" and item.answered_by != provenance.answered_by:
            raise CassetteError(
                "mixed-provenance",
                f"call {item.call} was answered by {item.answered_by}, the file says {provenance.answered_by}",
                hint="record the case again with `harness record --mode all`",
                at=cassette.path,
            )


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        unreadable(f"{path}:{line}", "not UTF-8")
