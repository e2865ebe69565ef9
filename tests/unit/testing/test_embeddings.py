"""Vectors for tests: always the same, of length 1, and served as a real server serves them."""

from __future__ import annotations

import asyncio
import math

from hypothesis import given
from hypothesis import strategies as st

from harness.models.litellm_client import close_clients
from harness.models.live import LivePort
from harness.models.port import CallInfo
from harness.models.route import Embedder
from harness.records.messages import EmbeddingRequest
from harness.testing.embeddings import EmbeddingServer, hash_embed, hash_vector


@given(st.text(max_size=40), st.integers(1, 512))
def test_vectors_have_length_one(text, dimension):
    """The law: whatever the text, its vector has the asked number of coordinates and length 1, each time the same."""
    vector = hash_vector(text, dimension)

    assert (dimension, vector) == (len(vector), hash_vector(text, dimension))
    assert math.isclose(1.0, math.dist(vector, [0.0] * dimension))


def test_server_answers_as_the_function_does():
    """Asked through the live port, the loopback server gives the vectors of `hash_embed`, in order."""
    texts = ("query: a", "query: ã")

    async def asked(port: LivePort) -> tuple[tuple[float, ...], ...]:
        answered = await port.embed(EmbeddingRequest("e5", texts), CallInfo(number=1, ask=""))
        await close_clients()
        return answered.reply.vectors

    with EmbeddingServer() as server:
        port = LivePort(embedders={"e5": Embedder(base_url=server.base_url, answered_by="local", ask_for="e5")})
        vectors = asyncio.run(asked(port))

    assert asyncio.run(hash_embed(texts)).vectors == vectors
    assert [["query: a", "query: ã"]] == server.asked
