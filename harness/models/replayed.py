"""What a recorded interaction answers, read by our own dialects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast, get_args

from harness.cassettes.file import TRANSPORT_ERROR, Interaction
from harness.cassettes.player import first_values
from harness.dialects import ChatDialect, DecodedStream, EmbeddingDialect, dialect_of
from harness.errors import CassetteError
from harness.models.port import Answered, AnsweredEmbedding
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import ReplyChunk

UNSENT = "not sent"
"""How `meta.error` begins where the client library refused a request before anything went out."""


def unsent_note(error: ModelError) -> str:
    """Write the `meta.error` of a request that was refused before it was sent."""
    return f"{UNSENT}: {error.kind}: {error.message}"


def is_unsent(interaction: Interaction) -> bool:
    """Whether *interaction* stands for a request that was refused before it was sent."""
    return (interaction.error or "").startswith(f"{UNSENT}: ")


def answer_chat(interaction: Interaction, asked_model: str) -> Answered:
    """
    Read the reply to a chat call; a streamed one is read to its end.

    Raises:
        ModelError: The call failed while it was recorded; *ms* is what it took then.
        CassetteError: The address is none of a chat API.
    """
    with _recorded_time(interaction):
        _raise_transport_error(interaction)
        headers, body = _response(interaction)
        reply = _chat(interaction).decode_reply(interaction.status, headers, body, asked_model=asked_model)
    return Answered(reply=reply, ms=interaction.latency_ms, replayed=True, ask=interaction.ask)


def answer_stream(interaction: Interaction, asked_model: str) -> Iterator[ReplyChunk | Answered]:
    """
    Read the reply to a streaming call: its chunks, then the reply.

    Raises:
        ModelError: The call failed while it was recorded, perhaps after some chunks; *ms* is what it took then.
        CassetteError: The address is none of a chat API.
    """
    with _recorded_time(interaction):
        decoded = _decoded_stream(interaction, asked_model)
        yield from decoded.chunks
        reply = decoded.reply
    yield Answered(
        reply=reply, ms=interaction.latency_ms, chunks=len(decoded.chunks), replayed=True, ask=interaction.ask
    )


def answer_embedding(interaction: Interaction, asked_model: str) -> AnsweredEmbedding:
    """
    Read the reply to an embedding call.

    Raises:
        ModelError: The call failed while it was recorded; *ms* is what it took then.
        CassetteError: The address is none of an embedding API.
    """
    with _recorded_time(interaction):
        _raise_transport_error(interaction)
        headers, body = _response(interaction)
        reply = _embeddings(interaction).decode_reply(interaction.status, headers, body, asked_model=asked_model)
    return AnsweredEmbedding(reply=reply, ms=interaction.latency_ms, replayed=True)


def _decoded_stream(interaction: Interaction, asked_model: str) -> DecodedStream:
    _raise_transport_error(interaction)
    headers, body = _response(interaction)
    return _chat(interaction).decode_stream(interaction.status, headers, body, asked_model=asked_model)


def _raise_transport_error(interaction: Interaction) -> None:
    """Fail as the call failed while recording, if no response came, or not the whole of one that is no stream."""
    words = interaction.error
    if words is None or (interaction.status != TRANSPORT_ERROR and _is_stream(interaction)):
        return
    if is_unsent(interaction):
        kind, _, message = words.removeprefix(f"{UNSENT}: ").partition(": ")
        raise ModelError(_as_kind(kind), message)
    timed_out = "timeout" in words.lower() or "timed out" in words.lower()
    raise ModelError("timeout" if timed_out else "connection", words)


def _chat(interaction: Interaction) -> ChatDialect:
    dialect = dialect_of(interaction.uri)
    if dialect is None or dialect.name == "openai_embeddings":
        raise _wrong_address(interaction, "chat")
    return dialect


def _embeddings(interaction: Interaction) -> EmbeddingDialect:
    dialect = dialect_of(interaction.uri)
    if dialect is None or dialect.name != "openai_embeddings":
        raise _wrong_address(interaction, "embedding")
    return dialect


def _response(interaction: Interaction) -> tuple[dict[str, str], bytes]:
    return first_values(interaction.response_headers), interaction.response_body.encode()


def _is_stream(interaction: Interaction) -> bool:
    return any("event-stream" in value for value in interaction.response_headers.get("content-type", ()))


def _as_kind(word: str) -> ErrorKind:
    # a cassette is untrusted input: a word that is no kind stands for a refused request all the same
    return cast("ErrorKind", word) if word in get_args(ErrorKind) else "bad_request"


def _wrong_address(interaction: Interaction, kind: str) -> CassetteError:
    return CassetteError(
        "cassette-unreadable",
        f"call {interaction.call} went to {interaction.uri}, which is no {kind} API that can be replayed",
        hint="supported are …/chat/completions, …/v1/messages and …/embeddings; record the case again",
    )


@contextmanager
def _recorded_time(interaction: Interaction) -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        error.ms = interaction.latency_ms
        raise
