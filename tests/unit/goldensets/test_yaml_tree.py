"""YAML read within limits, with lines."""

from __future__ import annotations

import json
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError
from harness.goldensets.yaml_tree import MAX_BYTES, read_yaml

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def read(text: str):
    return read_yaml(text.encode(), shown="set.yaml")


def refusal(text: str | bytes) -> str:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(BadFileError) as caught:
        read_yaml(content, shown="set.yaml")
    return str(caught.value)


@given(values)
def test_json_is_read_as_it_is(value):
    """JSON is YAML: whatever JSON writes comes back equal, types included."""
    read_back = read(json.dumps(value, ensure_ascii=False)).value

    assert json.dumps(value) == json.dumps(read_back)


@given(values)
def test_block_style_is_read_as_written(value):
    """What a YAML library writes in block style comes back equal; it quotes whatever could be mistaken."""
    read_back = read(yaml.safe_dump(value, allow_unicode=True)).value

    assert value == read_back


@pytest.mark.parametrize(
    "word", ["no", "yes", "on", "off", "y", "2026-03-10", "0x1f", "1_000", "12:30", ".inf", ".nan", "1e999"]
)
def test_plain_words_stay_texts(word):
    """What older YAML turns into booleans, dates or odd numbers stays the text that a person typed."""
    assert {"lang": word} == read(f"lang: {word}").value


def test_every_key_and_item_has_its_line():
    """Lines count from 1 and belong to the key, or to the item of a list."""
    tree = read("cases:\n  - id: a\n    facts:\n      all:\n        - 7\n        - text\n  - id: b\n")

    assert "set.yaml:3" == tree.at(("cases", 0, "facts"))
    assert "set.yaml:6" == tree.at(("cases", 0, "facts", "all", 1))
    assert "set.yaml:7" == tree.at(("cases", 1))
    assert "set.yaml:6" == tree.at(("cases", 0, "facts", "all", 1, "deeper", "still"))


def test_key_twice_is_refused():
    """A key that stands twice in one mapping is an error, not a silent last word."""
    assert "error[bad-yaml]: set.yaml:3: key `id` stands twice" == refusal("- id: a\n  lang: de\n  id: b\n")


def test_syntax_error_names_its_line():
    """Broken YAML is told with file, line and the parser's reason."""
    assert "error[bad-yaml]: set.yaml:2: not YAML: mapping values are not allowed in this context" == refusal(
        "a: b\nc: d: e\n"
    )


def test_alias_bomb_is_refused_at_its_first_anchor():
    """Nine doublings of nine would be a billion values; the first anchor ends it."""
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9))

    began = time.perf_counter()
    said = refusal(bomb)

    assert "error[bad-yaml]: set.yaml:1: anchors and aliases are not read here\n\nhint: write the value out" == said
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize("text", ["!!python/object/apply:os.system ['true']", "a: !!binary aGk=", "a: !own x"])
def test_tags_are_refused(text):
    """No tag makes an object, not even a harmless one."""
    assert "are not read here" in refusal(text)


def test_depth_is_limited():
    """Deep nesting is refused long before it could exhaust a stack."""
    assert "error[file-too-large]: set.yaml:1: more than 24 levels" == refusal("[" * 300 + "]" * 300)


def test_number_of_values_is_limited():
    """A file of many small values is refused as well."""
    assert "error[file-too-large]: set.yaml:1: more than 100000 values" == refusal("[" + "1," * 110_000 + "]")


def test_size_is_limited():
    """Files over a megabyte are not even parsed."""
    said = refusal(b"#" * (MAX_BYTES + 1))

    assert "error[file-too-large]: set.yaml: 1000001 bytes, the limit is 1000000\n\nhint: split the file" == said


def test_other_encodings_are_refused():
    """Bytes that are not UTF-8 are told with their line."""
    assert "error[bad-yaml]: set.yaml:2: not UTF-8" == refusal(b"a: b\nc: \xff\n")


def test_second_document_is_refused():
    """One file is one document."""
    assert "error[bad-yaml]: set.yaml:2: more than one document in the file" == refusal("a: b\n---\nc: d\n")


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_input_is_read_or_refused(content):
    """Whatever the bytes are, the answer is a value or a `BadFileError`."""
    try:
        read_yaml(content.encode("utf-8", "replace") if isinstance(content, str) else content, shown="set.yaml")
        at = "set.yaml"
    except BadFileError as error:
        at = error.at

    assert at.startswith("set.yaml")
