"""YAML in block form: whatever is written reads back the same, and reads well."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.block_yaml import block_yaml

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text("ab \n\t\r:#-'\"\\{}é😀\u0085\u2028\ufeff\x00\x7f")
several_lines = st.lists(st.text("ab: #", max_size=3) | st.just("\t"), min_size=2, max_size=5).map("\n".join)
leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
flat = st.lists(leaves | texts, max_size=4)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
documents = st.dictionaries(
    keys,
    st.recursive(
        leaves | texts | several_lines | flat,
        lambda inner: (
            st.dictionaries(keys, inner, max_size=4)
            | st.lists(st.dictionaries(keys, inner, min_size=1, max_size=3), max_size=3)
        ),
        max_leaves=12,
    ),
    min_size=1,
    max_size=5,
)


@given(documents)
def test_every_loader_reads_back_what_was_written(document):
    """libyaml and pure Python agree that nothing was lost: blanks, line breaks, emoji, control characters, numbers."""
    written = block_yaml(document)

    assert document == yaml.load(written, yaml.CSafeLoader)
    assert document == yaml.load(written, yaml.SafeLoader)


@given(several_lines)
def test_blanks_at_the_edges_of_lines_survive(text):
    """Where a `|` block could be misread, the text is quoted instead."""
    assert {"k": text} == yaml.load(block_yaml({"k": text}), yaml.CSafeLoader)


def test_text_with_lines_and_an_emoji_is_a_block():
    """A prompt stays readable, whatever scripts it uses."""
    written = block_yaml({"body": {"string": "erste Zeile 😀\n  eingerückt: ja\nзаключение\n"}})

    assert "body:\n  string: |\n    erste Zeile 😀\n      eingerückt: ja\n    заключение\n" == written


def test_words_that_a_loader_could_misread_are_quoted():
    """Versions of YAML differ over `no`, dates, digests and versions; quotes leave no doubt."""
    written = block_yaml({"a": ["no", "2026-11-21", "12e5", "deadbeefdeadbeef", "1.10.0", "plain", "x: y"]})

    assert 'a: ["no", "2026-11-21", "12e5", "deadbeefdeadbeef", "1.10.0", plain, "x: y"]\n' == written


def test_what_json_cannot_say_is_refused():
    """NaN and foreign objects never reach a file."""
    with pytest.raises(TypeError, match="cannot write nan as YAML"):
        block_yaml({"a": float("nan")})
    with pytest.raises(TypeError, match="cannot write set as YAML"):
        block_yaml({"a": {1}})
