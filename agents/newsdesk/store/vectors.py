"""Vectors as the store takes them, and the model that they come from."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import CouldNotCheckError


class EmbeddingModel(NamedTuple):
    """An embedding model: how long its vectors are, and what it wants in front of what is stored and what is sought."""

    name: str
    dimension: int
    passage: str = ""
    query: str = ""


E5_SMALL = EmbeddingModel("multilingual-e5-small", 384, "passage: ", "query: ")


def as_literal(vector: Sequence[float], dimension: int) -> str:
    """
    *vector* as pgvector reads it.

    Raises:
        CouldNotCheckError: It has not *dimension* finite numbers.
    """
    if len(vector) != dimension:
        raise CouldNotCheckError(
            "vector-dimension",
            f"the query's vector has {len(vector)} numbers, those of the store have {dimension}",
            hint="ask the model that the store's vectors come from, or make these anew",
        )
    if not all(map(math.isfinite, vector)):
        raise CouldNotCheckError(
            "vector-dimension", "a vector holds what is no number", hint="look at the answers of the embedding model"
        )
    return f"[{','.join(map(repr, map(float, vector)))}]"


def from_bytes(stored: bytes, dimension: int, where: str) -> tuple[float, ...]:
    """
    The vector in a BYTEA of little-endian 32-bit floats, which is what numpy's `tobytes` wrote.

    Raises:
        CouldNotCheckError: It has another length, or holds what is no number.
    """
    if len(stored) != 4 * dimension:
        raise CouldNotCheckError(
            "news-store-shape",
            f"{where} holds {len(stored)} bytes, and a vector of {dimension} numbers takes {4 * dimension}",
            hint="set the column to NULL where it comes from another model; the pipeline fills it anew",
        )
    vector: tuple[float, ...] = struct.unpack(f"<{dimension}f", stored)
    if not all(map(math.isfinite, vector)):
        raise CouldNotCheckError(
            "news-store-shape",
            f"{where} holds what is no number",
            hint="set it to NULL; the pipeline fills it anew",
        )
    return vector
