"""Chunks: whatever goes in comes out again, and nothing in them can close what holds them."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib

from hypothesis import given
from hypothesis import strategies as st

from harness.reports.html.chunks import LONGEST_TEXT, ChunkWriter, inline_json, packed_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
ELEMENT = re.compile(r'<script type="text/plain" id="chunk-(\d+)">([A-Za-z0-9+/=]*)</script>\n')


def unpacked(content: bytes) -> list[list[object]]:
    """The items of each chunk."""
    text = content.decode("ascii")
    assert text == "".join(found[0] for found in ELEMENT.finditer(text))
    return [json.loads(zlib.decompress(base64.b64decode(packed))) for _, packed in ELEMENT.findall(text)]


@given(st.lists(json_values, max_size=12), st.integers(1, 200))
def test_what_goes_in_comes_out(values, most):
    """Every item is where the writer said, whatever the size of a chunk."""
    file = io.BytesIO()
    chunks = ChunkWriter(file, most_bytes=most)
    places = [chunks.add(packed_json(value, str)) for value in values]
    chunks.flush()
    found = unpacked(file.getvalue())

    assert values == [found[chunk][place] for chunk, place in places]
    assert chunks.written == len(found)


def test_a_chunk_ends_where_it_is_full():
    """No more than the most bytes, unless one item alone is larger."""
    file = io.BytesIO()
    chunks = ChunkWriter(file, most_bytes=10)

    assert [(0, 0), (0, 1), (1, 0), (2, 0)] == [chunks.add(b'"%s"' % text) for text in (b"aa", b"bb", b"c" * 40, b"d")]


@given(json_values | st.just("</script><script>alert(1)</script><!--"))
def test_inline_json_cannot_leave_its_element(value):
    """It reads as the same value, and holds nothing that HTML or JavaScript would take for its own."""
    text = inline_json(value, str)

    assert value == json.loads(text)
    assert not set(text) & set("<\u2028\u2029")


def test_half_characters_are_escapes():
    """UTF-8 has no place for them; the page writes them out."""
    assert b'"a\\ud800b"' == packed_json("a\ud800b", str)


def test_huge_texts_are_cut_with_a_note():
    """Their size is told."""
    text = json.loads(packed_json({"a": ["x" * (LONGEST_TEXT + 5)]}, str))["a"][0]

    assert text.endswith(f"x\n… 5 of {LONGEST_TEXT + 5:,} characters are left out here")


def test_a_secret_across_two_texts_breaks_nothing():
    """What is found in the whole is taken out text by text, so that it stays JSON."""
    scrub = re.compile(r"BEGIN[\s\S]*END").sub

    assert ["BEGIN", "END", "x"] == json.loads(
        packed_json(["BEGIN", "END", "BEGIN a END"], lambda text: scrub("x", text))
    )
