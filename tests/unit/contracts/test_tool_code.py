"""tool_code blocks, read as data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.tool_code import (
    MOST_BLOCKS,
    MOST_CHARS,
    MOST_STATEMENTS,
    Asked,
    blocks_in,
    same_value,
    statements,
    without_blocks,
)

PARAMETERS = {"username": "string", "feeling": "string", "context": "string"}
PLAIN = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="`"), max_size=20)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=6,
)


def fenced(code: str) -> str:
    """*code* as a block."""
    return f"```tool_code\n{code}\n```"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('f("a", 1)', [("f", ("a", 1), {})]),
        ("f(x='It\\'s', y=\"Anna's\")", [("f", (), {"x": "It's", "y": "Anna's"})]),
        ('f("a")\ng(b=2)  # both\n\n# done', [("f", ("a",), {}), ("g", (), {"b": 2})]),
        ("print(f({'a': [1, -2.5, None, True]}))", [("f", ({"a": [1, -2.5, None, True]},), {})]),
        ('f("""two\nlines""", (1, 2))', [("f", ("two\nlines", [1, 2]), {})]),
        ('  f("a")\n  g()', [("f", ("a",), {}), ("g", (), {})]),
        ('f("\\d")', [("f", ("\\d",), {})]),
        (f"f({-(2**63)}, {2**64 - 1})", [("f", (-(2**63), 2**64 - 1), {})]),
        ("# nothing", []),
        ("", []),
    ],
)
def test_plain_calls_are_read(code, expected):
    """Quotes of both kinds, keywords, several calls, comments, `print`, nested literals, indents."""
    assert expected == [(one.tool, one.args, one.named) for one in statements(code)]


@pytest.mark.parametrize(
    "code",
    [
        "os.system('ls')", "f(g())", "f(*a)", "f(**a)", "f([x for x in y])", "f('a' + 'b')", "f(f'{a}')", "x = f()",
        "f()()", "import os", "'f()'", "f(lambda: 1)", "f(b'x')", "f({1: 2})", "f({1, 2})", "f(1e999)", "f('\\ud800')",
        "[f(), g()]", "print(f(), g())", "f(1j)", f"f({2**64})", f"f({-(2**63) - 1})", "f(x=a)", "default_api.f()", "f(...)",
    ],
)  # fmt: skip
def test_anything_else_asks_for_nothing(code):
    """Attributes, nesting, stars, comprehensions, arithmetic and what JSON has no form for are no calls."""
    (only,) = statements(code)

    assert "" == only.tool
    assert only.wrong


@pytest.mark.parametrize(
    "code",
    ["f(", "I feel happy", "f('a)", "(" * 5000, "f(" + "[" * 300 + "]" * 300 + ")", "-" * 15_000 + "1", "f('\0')"],
)
def test_no_python(code):
    """What cannot be parsed is no block of calls, however deep it is."""
    assert statements(code) is None


def test_limits():
    """A block that is too long, or holds too many statements, is not read; nor are blocks beyond the last."""
    assert len(statements("f()\n" * MOST_STATEMENTS)) == MOST_STATEMENTS
    assert statements("f()\n" * (MOST_STATEMENTS + 1)) is None
    assert statements(f"f('{'x' * MOST_CHARS}')") is None
    assert len(statements(f"f('{'x' * (MOST_CHARS - 5)}')")) == 1
    assert len(blocks_in(f"{fenced('f()')}\n" * (MOST_BLOCKS + 1))) == MOST_BLOCKS
    long, short = blocks_in(f"{fenced('x' * MOST_CHARS)}\n{fenced('g()')}")
    many = blocks_in(fenced("f('```')\n" + "f()\n" * MOST_STATEMENTS))

    assert (None, True) == (long.asked, long.closed)
    assert [(None, True)] == [(block.asked, block.closed) for block in many]
    assert [Asked("g")] == list(short.asked)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (f"One.\n{fenced('f()')}\nTwo.\n{fenced('g()')}", ["f()", "g()"]),
        ("```tool_code f() ```", ["f()"]),
        ("```tool_code\nf()```", ["f()"]),
        ("````tool_code\nf('```')\n````", ["f('```')"]),
        ("```tool_code\nf('```')\n```", ["f('```')"]),
        ("```Tool_Code\nf()\n```", ["f()"]),
        ("```tool_code f('a') # ``` b ```", ["f('a') #"]),
        ("```python\nf()\n```", []),
        ("```tool_codes\nf()\n```", []),
        ("no block", []),
    ],
)
def test_blocks_are_found(text, blocks):
    """Fences of any length, on one line or several, with fences inside of strings; other tags are no blocks."""
    assert blocks == [block.text.strip() for block in blocks_in(text)]


def test_a_block_that_is_cut_off():
    """Without a closing fence a block goes to the end, and says so."""
    (only,) = blocks_in("I write it down.\n```tool_code\nf('a')")

    assert not only.closed
    assert [Asked("f", ("a",))] == list(only.asked)


def test_text_without_blocks():
    """What stands between the blocks is kept as it is."""
    assert "One.\n\nTwo.\n" == without_blocks(f"One.\n{fenced('f()')}\nTwo.\n{fenced('g(')}")


@pytest.mark.parametrize(
    ("asked", "args"),
    [
        (Asked("f", ("vera", "Happy")), {"username": "vera", "feeling": "Happy"}),
        (Asked("f", ("vera",), {"feeling": "Happy", "context": ""}), {"username": "vera", "feeling": "Happy", "context": ""}),
        (Asked("f", ("vera",)), None),
        (Asked("f", ("vera", "Happy", "", "more")), None),
        (Asked("f", ("vera", "Happy"), {"username": "boris"}), None),
        (Asked("f", ("vera", "Happy"), {"mood": "x"}), None),
    ],
)  # fmt: skip
def test_arguments_are_bound(asked, args):
    """By place and by name; too many, too few, doubled and unknown ones do not fit."""
    assert args == asked.bound(PARAMETERS, ("username", "feeling"))


def test_values_are_compared_with_their_kinds():
    """1, 1.0 and true are three values."""
    assert same_value({"a": 1, "b": [None]}, {"b": [None], "a": 1})
    assert not same_value(1, 1.0)
    assert not same_value(1, True)


@given(st.lists(LITERALS, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c"]), LITERALS, max_size=3))
def test_what_is_written_is_read_back(args, named):
    """Any literals, written as Python writes them, come back from a block as they were."""
    written = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in named.items())])
    ((only,),) = [block.asked for block in blocks_in(fenced(f"f({written})"))]

    assert same_value(list(only.args), args)
    assert same_value(only.named, named)


@given(st.text(st.sampled_from("`tool_code\n f(a,'\")\\"), max_size=60), st.text(max_size=20))
def test_any_text_can_be_read(start, end):
    """Whatever a model says, blocks are found in order and do not overlap."""
    text = f"{start}```tool_code\n{end}{start}```"
    places = [place for block in blocks_in(text) for place in (block.start, block.end)]

    assert sorted(places) == places
    assert all(text[block.start] == "`" and block.text in text[block.start : block.end] for block in blocks_in(text))
