"""Canonical JSON and the digests made of it; every fingerprint and digest in the project starts here."""

from __future__ import annotations

import hashlib

import msgspec

DIGEST_CHARS = 16
"""Digests are sha256 in hex, cut to this many characters: 64 bits, enough to name things within one repository."""

_encoder = msgspec.json.Encoder(order="deterministic")


def canonical_json(value: object) -> bytes:
    """
    Encode *value* as JSON whose bytes depend on the value alone: keys sorted, no blanks, UTF-8.

    Raises:
        TypeError: *value* holds something that JSON has no form for.
    """
    return _encoder.encode(value)


def digest(value: object) -> str:
    """Name *value* by the first 16 hex characters of the sha256 of its canonical JSON."""
    return digest_bytes(_encoder.encode(value))


def digest_bytes(content: bytes) -> str:
    """Name *content* by the first 16 hex characters of its sha256."""
    return hashlib.sha256(content).hexdigest()[:DIGEST_CHARS]


def can_be_written(value: object) -> bool:
    """Whether *value* has a form in UTF-8: a text with half of a surrogate pair, which JSON can spell, has none."""
    try:
        canonical_json(value)
    except UnicodeEncodeError:
        return False
    return True
