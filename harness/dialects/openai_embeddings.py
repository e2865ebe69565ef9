"""OpenAI embeddings."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.dialects.body import (
    BodyError,
    count_or_zero,
    load_object,
    number_or_none,
    object_or_empty,
    plain,
    text_or_empty,
)
from harness.dialects.failures import failure, openai_error
from harness.dialects.openai_reply import raise_error_inside
from harness.dialects.request_fields import refuse, request_object
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import EmbeddingReply, EmbeddingRequest, Json, Usage

_KNOWN = {
    "object", "data", "model", "usage", "id", "created", "error", "provider", "service_tier",
}  # fmt: skip


class OpenAIEmbeddings:
    """One vector per text, as numbers or as base64 of little-endian float32 (what OpenAI's own client asks for)."""

    name: Literal["openai_embeddings"] = "openai_embeddings"

    def decode_request(self, body: bytes, headers: Mapping[str, str] | None = None) -> EmbeddingRequest:
        asked = request_object(body)
        given = asked.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            refuse("the embedding request has no texts")
        return EmbeddingRequest(text_or_empty(asked.get("model")), tuple(texts))

    def decode_reply(
        self, status: int, headers: Mapping[str, str], body: bytes, *, asked_model: str = ""
    ) -> EmbeddingReply:
        if status >= 400:
            raise failure("openai", status, headers, body)
        try:
            answer = load_object(plain(headers, body))
        except BodyError as broken:
            raise ModelError("bad_reply", f"the answer cannot be read: {broken}", status=status) from None
        raise_error_inside(answer, default_status=422)
        data = answer.get("data")
        if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
            raise ModelError("bad_reply", "the answer holds no list of embeddings")
        if all(_is_place(entry.get("index"), len(data)) for entry in data):
            data = sorted(data, key=_place)
        vectors = tuple(_vector(entry.get("embedding")) for entry in data)
        if len({len(vector) for vector in vectors}) > 1:
            raise ModelError("bad_reply", "the embeddings differ in length")
        tokens = object_or_empty(answer.get("usage")).get("prompt_tokens")
        return EmbeddingReply(
            vectors, text_or_empty(answer.get("model")) or asked_model, Usage(input=count_or_zero(tokens))
        )

    def unknown(self, headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
        try:
            return tuple(name for name in load_object(plain(headers, body)) if name not in _KNOWN)
        except BodyError as broken:
            return (str(broken),)

    def encode_reply(self, reply: EmbeddingReply, *, id: str, created: int) -> bytes:
        data = [
            {"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(reply.vectors)
        ]
        tokens = reply.usage.input
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return msgspec.json.encode({"object": "list", "data": data, "model": reply.model, "usage": usage})

    def encode_error(self, status: int, kind: ErrorKind, message: str) -> bytes:
        return msgspec.json.encode(openai_error(kind, message))


def _is_place(index: Json, count: int) -> bool:
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count


def _place(entry: dict[str, Json]) -> int:
    return int(entry["index"])


def _vector(embedding: Json) -> tuple[float, ...]:
    if isinstance(embedding, str):
        try:
            packed = base64.b64decode(embedding, validate=True)
            numbers: tuple[Json, ...] = struct.unpack(f"<{len(packed) // 4}f", packed)
        except (binascii.Error, struct.error, ValueError):
            raise ModelError("bad_reply", "an embedding is not base64 of float32 numbers") from None
    else:
        numbers = tuple(embedding) if isinstance(embedding, list) else ()
    vector = tuple(number for value in numbers if (number := number_or_none(value)) is not None)
    if not vector or len(vector) != len(numbers):
        raise ModelError("bad_reply", "an embedding is not a list of finite numbers")
    return vector
