"""Bodies as text: readable, and the same JSON as before."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.bodies import decoder_of, indented, readable, recorded_headers, recorded_uri
from harness.errors import CassetteError

jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)  # fmt: skip


@given(jsons, st.booleans())
def test_indenting_keeps_the_value(value, ascii_only):
    """Numbers, key order and every character mean the same afterwards, however the client escaped them."""
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    text = indented(body)

    assert json.dumps(json.loads(body)) == json.dumps(json.loads(text))


def test_escapes_are_written_out_and_vectors_stay_on_a_line():
    """People read the text of a prompt, and do not scroll through a thousand numbers."""
    body = rb'{"text":"\u00e4 \ud83d\ude00 \u4e2d \"q\" \n \\u00e4","v":[0.1,-2,3e-05],"s":["a","b"]}'

    assert (
        '{\n  "text": "ä 😀 中 \\"q\\" \\n \\\\u00e4",\n  "v": [0.1, -2, 3e-05],\n  "s": [\n    "a",\n    "b"\n  ]\n}\n'
    ) == indented(body)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'data: {"a": 1}\n\ndata: [DONE]\n\n', "text/event-stream"),
        (b'{"cut": ', "application/json"),
        (b"<html>Bad gateway</html>", "text/html"),
        (b'{"error": "as it came"}', "as it came"),
    ],
)
def test_anything_else_stays_as_it_came(body, content_type):
    """Events, damaged JSON and errors are kept to the byte."""
    assert body.decode() == readable(body, content_type)


@given(st.binary(max_size=2000), st.integers(1, 50))
def test_encodings_are_undone_piece_by_piece(body, size):
    """gzip and deflate come off as the pieces arrive, however they were cut."""
    for encoding, encoded in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body)), ("", body)):
        decode = decoder_of(encoding)
        pieces = [encoded[start : start + size] for start in range(0, len(encoded), size)]

        assert body == b"".join(decode(piece) for piece in pieces)


def test_an_encoding_that_is_not_read_is_refused():
    """What cannot be kept as text is not recorded."""
    with pytest.raises(CassetteError, match="the server answered in content-encoding `br`, which is not read"):
        decoder_of("br")


def test_only_harmless_headers_are_kept():
    """By allow list, lower-cased, in alphabetical order; keys, cookies and organisations never get in."""
    headers = [
        ("Retry-After", "2"), ("Content-Type", "application/json"), ("Authorization", "Bearer x"),
        ("openai-organization", "org-x"), ("Set-Cookie", "a=b"), ("anthropic-beta", "one"), ("anthropic-beta", "two"),
    ]  # fmt: skip

    assert {
        "anthropic-beta": ["one", "two"],
        "content-type": ["application/json"],
        "retry-after": ["2"],
    } == recorded_headers(headers)


@pytest.mark.parametrize(
    ("uri", "recorded"),
    [
        ("http://127.0.0.1:81/t0k/v1/messages", "http://scripted.invalid/v1/messages"),
        ("https://api.example.org/v1/x?key=abc&alt=sse", "https://api.example.org/v1/x?key=<secret:query>&alt=sse"),
        ("https://vera:pw@api.example.org/v1", "https://api.example.org/v1"),
    ],
)
def test_addresses_are_rewritten_and_without_secrets(uri, recorded):
    """A server's port and token, keys in the query and users in the host stay out of the file."""
    assert recorded == recorded_uri(uri, {"http://127.0.0.1:81/t0k": "http://scripted.invalid"})
