"""From bytes to JSON values, and the limits on the way."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects import body
from harness.dialects.body import (
    MAX_BODY_BYTES,
    MAX_COUNT,
    MAX_DEPTH,
    BodyError,
    count_or_zero,
    header,
    load_json,
    load_object,
    number_or_none,
    plain,
    tool_args,
    well_formed,
)

CONTENT = b'{"answer": 42}'


@pytest.mark.parametrize("spelling", ["content-type", "Content-Type", "CONTENT-TYPE"])
def test_headers_are_found_however_they_are_spelled(spelling: str) -> None:
    """Recorders keep the case of headers that their transport shows."""
    assert "text/html" == header({"x": "1", spelling: "text/html"}, "content-type")


def test_a_missing_header_is_empty() -> None:
    """A header that is not there reads as an empty string."""
    assert "" == header({}, "content-type")


@pytest.mark.parametrize(
    ("headers", "packed"),
    [
        ({}, CONTENT),
        ({"content-encoding": "gzip"}, gzip.compress(CONTENT, mtime=0)),
        ({"Content-Encoding": "GZIP"}, gzip.compress(CONTENT, mtime=0)),
        ({}, gzip.compress(CONTENT, mtime=0)),
        ({"content-encoding": "gzip"}, CONTENT),
        ({"content-encoding": "gzip"}, gzip.compress(CONTENT[:5], mtime=0) + gzip.compress(CONTENT[5:], mtime=0)),
        ({"content-encoding": "deflate"}, zlib.compress(CONTENT)),
        ({"content-encoding": "deflate"}, zlib.compress(CONTENT)[2:-4]),
        ({"content-encoding": "br"}, CONTENT),
        ({"content-encoding": "identity"}, CONTENT),
    ],
)
def test_packed_and_unpacked_bodies_read_alike(headers: dict[str, str], packed: bytes) -> None:
    """A body is read whether the recorder unpacked it or not, and whatever header it left standing."""
    assert CONTENT == plain(headers, packed)


def test_a_packing_nobody_reads_is_refused() -> None:
    """Brotli is refused by name."""
    with pytest.raises(BodyError) as refused:
        plain({"content-encoding": "br"}, b"\x8b\x06\x80")

    assert "the body is packed as 'br', which is not supported" == str(refused.value)


def test_a_broken_archive_is_refused() -> None:
    """A gzip body that breaks off inside its header says so."""
    with pytest.raises(BodyError, match=r"^the packed body is broken \(Error -3"):
        plain({}, b"\x1f\x8b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacking stops at the limit, also over several members."""
    monkeypatch.setattr(body, "MAX_BODY_BYTES", 1000)
    bomb = gzip.compress(b"0" * 600, mtime=0)

    assert b"0" * 600 == plain({}, bomb)
    with pytest.raises(BodyError, match=r"^the unpacked body is more than 1000 bytes long$"):
        plain({}, bomb + bomb)


def test_a_body_beyond_the_limit_is_refused() -> None:
    """The length alone is reason enough."""
    with pytest.raises(BodyError, match=f"more than {MAX_BODY_BYTES}$"):
        plain({}, bytes(MAX_BODY_BYTES + 1))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), st.lists))
def test_json_reads_as_python_reads_it(value: object) -> None:
    """What Python's decoder makes of a document, this one makes too."""
    assert json.loads(json.dumps(value)) == load_json(json.dumps(value))


@pytest.mark.parametrize("content", [b'{"x": NaN}', b'{"x": -Infinity}', b'\xef\xbb\xbf{"x": 1}', b'{"x": 1e999}'])
def test_what_strict_decoders_refuse_is_read(content: bytes) -> None:
    """Servers send NaN among log probabilities, and byte order marks."""
    assert ["x"] == list(load_object(content))


@pytest.mark.parametrize(
    ("content", "because"),
    [
        (b"", "the body is not JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"<html>", "the body is not JSON (Expecting value: line 1 column 1 (char 0))"),
        (b'"\xff"', "the body is not UTF-8"),
        (b"[1]", "the JSON is not an object"),
        (b"[" * 100_000, "the JSON is nested too deeply"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "the JSON is nested too deeply"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "the JSON is nested too deeply"),
    ],
)
def test_nonsense_is_named(content: bytes, because: str) -> None:
    """Every refusal says what is wrong."""
    with pytest.raises(BodyError) as refused:
        load_object(content)

    assert because == str(refused.value)


def test_the_deepest_value_allowed_is_read() -> None:
    """The limit is a limit, not a mood."""
    assert load_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


def test_halves_of_characters_are_replaced() -> None:
    """No value holds a lone surrogate, which no file could hold, unless it is asked for."""
    assert {"x": "a\ufffd", "\ufffd": 1} == load_object(b'{"x": "a\\ud83d", "\\udc00": 1}')
    assert {"x": "a\ud83d"} == load_object(b'{"x": "a\\ud83d"}', keep_halves=True)
    assert "😀" == well_formed("\ud83d" + "\ude00")


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (" \n", {}),
        ('{"a":', None),
        ("[1]", None),
        ("null", None),
        ("\ufeff{}", None),
        ('{"a": "x\ny"}', None),
        ("[" * 10_000, None),
    ],
)
def test_arguments_are_an_object_or_nothing(raw: str, args: object) -> None:
    """Only a JSON object may become arguments; blank text is a call without any."""
    assert args == tool_args(raw)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (3, 3),
        (3.9, 3),
        (-1, 0),
        (True, 0),
        (None, 0),
        ("3", 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (10**400, MAX_COUNT),
    ],
)
def test_counts_are_whole_and_bounded(value: object, count: int) -> None:
    """Nothing that a provider writes as a count becomes anything else."""
    assert count == count_or_zero(value)


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3.0), (True, None), ("3", None), (float("nan"), None), (10**400, None)]
)
def test_numbers_are_finite(value: object, number: float | None) -> None:
    """Infinite, huge and worded numbers are none."""
    assert number == number_or_none(value)
