"""YAML with lines: what plain words mean, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError
from harness.models.scripted.positions import MAX_BYTES, parse_yaml, read_text

texts = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def parse(text):
    return parse_yaml(text, path="a.yaml", code="bad")


def refusal(text):
    with pytest.raises(BadFileError) as caught:
        parse(text)
    return str(caught.value)


@given(json_values)
def test_json_is_read_as_json(value):
    """Every JSON document without surrogate pairs, which YAML has no escape for, means the same as YAML."""
    parsed, _ = parse(json.dumps(value))

    assert value == parsed


@pytest.mark.parametrize("word", ["no", "on", "y", "12:30", "2026-03-10", "0x1F", "1_000", "0o17", "NaN", ".inf"])
def test_plain_words_stay_text(word):
    """Words that YAML 1.1 turns into booleans, dates and odd numbers are text here."""
    assert {"a": word} == parse(f"a: {word}")[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("-7", -7),
        ("2.50", 2.5),
        ("1e3", 1e3),
    ],
)
def test_numbers_booleans_and_null_are_understood(text, value):
    """The core schema's values are values."""
    assert {"a": value} == parse(f"a: {text}")[0]


def test_every_value_has_its_line():
    """A mapping's value is found under the line of its key, an item of a list under its own."""
    _, lines = parse("a:\n- b: |\n    x\n    y\n  c: 1\n")

    assert {"$": 1, "$.a": 1, "$.a[0]": 2, "$.a[0].b": 2, "$.a[0].c": 5} == lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "error[bad]: a.yaml:3: the key `a` stands twice"),
        ("a: !!python/object/apply:os.system [ls]", "error[bad]: a.yaml:1: the tag tag:yaml.org,2002:python"),
        ("a: !mine 1", "error[bad]: a.yaml:1: the tag !mine is not allowed"),
        ("? [1]\n: 2", "error[bad]: a.yaml:1: a key must be text"),
        ("a: [1", "error[bad]: a.yaml:2: not YAML: did not find expected ',' or ']'"),
        ("a: 1\n---\nb: 2", "error[bad]: a.yaml:2: not YAML: but found another document"),
    ],
)
def test_refusals_name_file_and_line(text, message):
    """What is refused says where it stands."""
    assert refusal(text).startswith(message)


def test_a_bomb_of_aliases_is_refused():
    """Aliases that multiply into millions of values end at the limit."""
    layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    layers += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    assert "more than 100000 values, aliases expanded" in refusal("\n".join(layers))


def test_deep_nesting_is_refused():
    """Ten thousand brackets are an error of the file, not of the program."""
    assert refusal("[" * 10_000).startswith("error[bad]: a.yaml")


def test_files_that_cannot_be_read_are_refused(tmp_path):
    """A missing file, one that is too large and one that is not UTF-8 each say so."""
    large, latin = tmp_path / "large.yaml", tmp_path / "latin.yaml"
    large.write_bytes(b" " * (MAX_BYTES + 1))
    latin.write_bytes(b"a: \xe9")
    messages = []
    for path in (tmp_path / "none.yaml", large, latin):
        with pytest.raises(BadFileError) as caught:
            read_text(path, code="bad")
        messages.append(caught.value.message)

    assert [
        "cannot read the file: No such file or directory",
        "the file has 1000001 bytes, more than 1000000",
        "the file is not UTF-8: byte 3",
    ] == messages
