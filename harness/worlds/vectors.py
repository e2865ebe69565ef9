"""
A world's texts as vectors: recorded once from a real embedding model, with what proves which one, and searched exactly.

`embeddings.json` beside `world.yaml` is written by `python -m harness.worlds.embed WORLD`. It names the model, the
digest of its file, the server and the date, and keeps a digest of each text, so that a text that changed is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import mul
from pathlib import Path

import msgspec

from harness.errors import BadFileError, CouldNotCheckError

VECTORS_FORMAT = 1
FILE = "embeddings.json"
DECIMALS = 6
"""Digits after the point that are kept: about what a 32-bit float holds of a coordinate of a unit vector."""

Vector = tuple[float, ...]


class Corpus(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which texts of a world are embedded, and how: `settings.corpus` in `world.yaml`."""

    table: str
    text: str
    """The text of a row, its columns in braces."""
    prefix: str
    """What stands before each text, as the model wants it."""
    model: str


class Vectors(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `embeddings.json`."""

    format: int
    model: str
    model_sha256: str
    server: str
    prefix: str
    recorded: str
    """When, as ISO 8601 in UTC."""
    dimension: int
    texts: dict[str, str]
    """Digest of each text, by the key of its row."""
    vectors: dict[str, Vector]
    """The vector of each text, by the key of its row; all of *dimension* numbers."""


@cache
def load_vectors(folder: Path) -> Vectors:
    """
    Read `embeddings.json` of the world in *folder*, once a process.

    Raises:
        BadFileError: It is missing, is no such file, or its vectors are not of the length that it states.
    """
    path = folder / FILE
    try:
        read = msgspec.json.decode(path.read_bytes(), type=Vectors)
    except OSError as error:
        raise BadFileError(
            "bad-vectors", f"cannot be read: {error.strerror}", hint=_hint(folder.name), at=str(path)
        ) from None
    except msgspec.MsgspecError as error:
        raise BadFileError(
            "bad-vectors", f"no file of vectors: {error}", hint=_hint(folder.name), at=str(path)
        ) from None
    wrong = [key for key, vector in read.vectors.items() if len(vector) != read.dimension]
    if read.format != VECTORS_FORMAT or wrong:
        because = f"the vector of {wrong[0]} has not {read.dimension} numbers" if wrong else f"format {read.format}"
        raise BadFileError("bad-vectors", because, hint=_hint(folder.name), at=str(path))
    return read


def mean(vectors: Sequence[Vector]) -> Vector:
    """The plain mean of *vectors*, of which there is at least one; it is not brought back to length 1."""
    return tuple(sum(column) / len(vectors) for column in zip(*vectors, strict=True))


def nearest(query: Sequence[float], among: Mapping[int, Vector]) -> list[int]:
    """
    The keys of *among* by their cosine distance to *query*, the nearest first, equal ones by key.

    Raises:
        CouldNotCheckError: *query* is not of the vectors' dimension.
    """
    for vector in among.values():
        check_dimension(len(query), len(vector))
    return sorted(among, key=lambda key: (cosine_distance(query, among[key]), key))


def check_dimension(asked: int, there: int) -> None:
    """
    Refuse a vector that cannot be compared.

    Raises:
        CouldNotCheckError: *asked* is not *there*.
    """
    if asked != there:
        raise CouldNotCheckError(
            "vector-dimension",
            f"the query's vector has {asked} numbers, those of the store have {there}",
            hint="ask the model that the store's vectors come from, or make these anew",
        )


def cosine_distance(one: Iterable[float], other: Iterable[float]) -> float:
    """1 minus the cosine of the angle between *one* and *other*, from 0 (same direction) to 2; 1 for a null vector."""
    a, b = tuple(one), tuple(other)
    lengths = math.sqrt(sum(map(mul, a, a)) * sum(map(mul, b, b)))
    return 1.0 - sum(map(mul, a, b)) / lengths if lengths else 1.0


def _hint(world: str) -> str:
    return f"make it with `python -m harness.worlds.embed {world}`"
