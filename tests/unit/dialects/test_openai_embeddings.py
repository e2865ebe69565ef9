"""Embeddings, as numbers and packed."""

from __future__ import annotations

import base64
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects import OPENAI_EMBEDDINGS
from harness.errors import BadFileError
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingReply, EmbeddingRequest, Json, Usage


def decode(*data: Json, **fields: Json) -> EmbeddingReply:
    """The reply with the embeddings in *data*."""
    body = json.dumps({"object": "list", "data": data, "model": "e", **fields}).encode()
    return OPENAI_EMBEDDINGS.decode_reply(200, {}, body, asked_model="asked")


def entry(embedding: Json, index: Json = 0) -> Json:
    """One embedding on the wire."""
    return {"object": "embedding", "index": index, "embedding": embedding}


@given(
    st.integers(1, 4).flatmap(
        lambda length: st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * length), min_size=1)
    ),
    st.integers(0, 1000),
)
def test_vectors_are_read_as_they_were_written(vectors: list[tuple[float, ...]], tokens: int) -> None:
    """decode(encode(reply)) is the reply."""
    reply = EmbeddingReply(tuple(vectors), "e", Usage(input=tokens))

    assert reply == OPENAI_EMBEDDINGS.decode_reply(200, {}, OPENAI_EMBEDDINGS.encode_reply(reply, id="", created=0))


def test_packed_vectors_are_read() -> None:
    """OpenAI's own client asks for base64 of float32."""
    packed = base64.b64encode(struct.pack("<2f", 0.5, -2.0)).decode()

    assert ((0.5, -2.0), (1.0, 3.0)) == decode(entry(packed), entry([1, 3], 1)).vectors


def test_vectors_stand_in_the_order_of_their_index() -> None:
    """Servers may answer in another order; without usable indexes the order of arrival counts."""
    assert ((1.0,), (2.0,)) == decode(entry([2], 1), entry([1], 0)).vectors
    assert ((2.0,), (1.0,)) == decode(entry([2], "x"), entry([1], 0)).vectors


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([entry([])], "an embedding is not a list of finite numbers"),
        ([entry(None)], "an embedding is not a list of finite numbers"),
        ([entry([1, "x"])], "an embedding is not a list of finite numbers"),
        ([entry([1, float("nan")])], "an embedding is not a list of finite numbers"),
        ([entry("ab!")], "an embedding is not base64 of float32 numbers"),
        ([entry("YWI=")], "an embedding is not base64 of float32 numbers"),
        ([entry([1]), entry([1, 2], 1)], "the embeddings differ in length"),
        ([None], "the answer holds no list of embeddings"),
    ],
)
def test_nonsense_is_a_bad_reply(data: list[Json], message: str) -> None:
    """Broken vectors are refused with the reason."""
    with pytest.raises(ModelError) as refused:
        decode(*data)

    assert ("bad_reply", message) == (refused.value.kind, refused.value.message)


def test_errors_are_raised() -> None:
    """By status, by an error object with status 200, and for what is no JSON."""
    for status, body, kind in [
        (429, OPENAI_EMBEDDINGS.encode_error(429, "rate_limit", "slow"), "rate_limit"),
        (200, b'{"error": {"message": "down", "code": 503}}', "overloaded"),
        (200, b"<html>", "bad_reply"),
    ]:
        with pytest.raises(ModelError) as refused:
            OPENAI_EMBEDDINGS.decode_reply(status, {}, body)

        assert kind == refused.value.kind


def test_unknown_fields_are_listed() -> None:
    """So that the recording can be read in another way."""
    assert ("hologram",) == OPENAI_EMBEDDINGS.unknown({}, b'{"data": [], "hologram": 1}')
    assert ("the JSON is not an object",) == OPENAI_EMBEDDINGS.unknown({}, b"[]")


@pytest.mark.parametrize(("given", "texts"), [("a", ("a",)), (["a", "b"], ("a", "b"))])
def test_requests_are_read(given: Json, texts: tuple[str, ...]) -> None:
    """One text or several."""
    body = json.dumps({"model": "e", "input": given}).encode()

    assert EmbeddingRequest("e", texts) == OPENAI_EMBEDDINGS.decode_request(body)


def test_a_request_without_texts_is_refused() -> None:
    """Token numbers are not text."""
    with pytest.raises(BadFileError) as refused:
        OPENAI_EMBEDDINGS.decode_request(b'{"model": "e", "input": [[1, 2]]}')

    assert ("bad-interaction", "the embedding request has no texts") == (refused.value.code, refused.value.message)
