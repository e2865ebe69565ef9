"""Reading tool_code blocks: what is a call, what is refused and why, and that arguments come through as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .guardian import part

tool_code = part("tool_code")
NO_JSON = "an argument is a text, a number, a list, or a dict whose keys are texts"
PARAMETERS = {"note": ["text", "tags", "when"], "look": []}


def read(code: str, **how: Any) -> list[Any]:
    """What a block with *code* asks for."""
    return list(tool_code.calls_in(f"```tool_code\n{code}\n```", PARAMETERS, **how))


def args(code: str) -> Any:
    """The arguments of the one call of *code*."""
    [asked] = read(code)
    assert "" == asked.problem
    return asked.args


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(JSON, JSON)
def test_any_literal_comes_through_as_it_is(first: Any, second: Any) -> None:
    """Whatever Python writes for a value is read as that value, by place and by name."""
    if tool_code._depth(first) > tool_code.MOST_DEPTH or tool_code._depth(second) > tool_code.MOST_DEPTH:
        return
    asked = args(f"note({first!r}, when={second!r})")

    assert json.dumps({"text": first, "when": second}) == json.dumps(asked)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.sampled_from(["'", '"', "'''", '"""']))
def test_quotes_of_every_kind(text: str, quote: str) -> None:
    """A text between any quotation marks is that text: apostrophes, quotes, line breaks, fences and all."""
    escaped = text.replace("\\", "\\\\").replace(quote[0], f"\\{quote[0]}").replace("\r", "\\r").replace("\0", "\\x00")
    if len(quote) == 1:
        escaped = escaped.replace("\n", "\\n").replace("\x0c", "\\x0c")

    assert {"text": text} == args(f"note({quote}{escaped}{quote})")


@given(st.text(max_size=200), st.text(max_size=60))
def test_nothing_in_a_reply_raises(code: str, prose: str) -> None:
    """Any text between fences gives calls or reasons, and the text without blocks holds no fence of theirs."""
    reply = f"{prose}\n```tool_code\n{code}\n```\n{prose}"

    for asked in tool_code.calls_in(reply, PARAMETERS):
        assert asked.problem or asked.args is not None or asked.name not in PARAMETERS
    assert "```tool_code" not in tool_code.without_blocks(reply)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("note(\"It's Anna's birthday\")", {"text": "It's Anna's birthday"}),
        ("note(text='a', when=\"b\")", {"text": "a", "when": "b"}),
        ("note('a' 'b')", {"text": "ab"}),
        ("note('a', ['x', ('y', 1)], {'k': -1.5})", {"text": "a", "tags": ["x", ["y", 1]], "when": {"k": -1.5}}),
        ("note(\n    '''two\nlines''',\n)", {"text": "two\nlines"}),
        ("  note('indented')", {"text": "indented"}),
        ("print(note('printed'))", {"text": "printed"}),
        ("note('commented')  # why", {"text": "commented"}),
        ("note('\\d')", {"text": "\\d"}),
        ("note('''```python\n1\n```''')", {"text": "```python\n1\n```"}),
        ("look()", {}),
    ],
)
def test_calls_that_are_read(code: str, expected: dict[str, Any]) -> None:
    """Every way in which models write a plain call."""
    assert expected == args(code)


@pytest.mark.parametrize(
    ("code", "name", "because"),
    [
        ("os.system('ls')", "tool_code", "a call with a dot in its name is not run: use the tool's plain name"),
        ("default_api.look()", "tool_code", "a call with a dot in its name is not run: use the tool's plain name"),
        ("note(look())", "note", "an argument must be a literal, not a call inside a call"),
        ("note(text)", "note", "an argument must be a literal, not a name"),
        ("note(a.b)", "note", "an argument must be a literal, not an attribute"),
        ("note(*['a'])", "note", "arguments with * or ** are not read"),
        ("note(**{'text': 'a'})", "note", "arguments with * or ** are not read"),
        ("note([c for c in 'ab'])", "note", "an argument must be a literal, not a comprehension"),
        ("note(f'{1}')", "note", "an argument must be a literal, not an f-string"),
        ("note('a' + 'b')", "note", "an argument must be a literal, not an expression"),
        ("note(lambda: 1)", "note", "an argument must be a literal, not a lambda"),
        ("note(b'bytes')", "note", NO_JSON),
        ("note(1e999)", "note", NO_JSON),
        ("note('\\ud800')", "note", NO_JSON),
        ("note({1: 2})", "note", NO_JSON),
        ("note(1, 2, 3, 4)", "note", "note takes 3 arguments, 4 were given"),
        ("note('a', text='b')", "note", "the argument text is given twice"),
        ("x = look()", "tool_code", "an assignment is not run: write plain calls, one a line"),
        ("import os", "tool_code", "an import is not run: write plain calls, one a line"),
        ("[look(), look()]", "tool_code", "a list is not run: write plain calls, one a line"),
        ("note([look()])", "note", "an argument must be a literal, not a list"),
        ("note({'a', 'b'})", "note", NO_JSON),
        ("for x in 'ab': look()", "tool_code", "a statement of the kind For is not run: write plain calls, one a line"),
        ("look()()", "tool_code", "what is called has no plain name"),
        ("note('unclosed)", "tool_code", "the block is not valid Python: check quotes, brackets and line breaks inside strings"),
        ("note('a\nb')", "tool_code", "the block is not valid Python: check quotes, brackets and line breaks inside strings"),
        ("note('a\0')", "tool_code", "the block is not valid Python: check quotes, brackets and line breaks inside strings"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_why(code: str, name: str, because: str) -> None:
    """What is no plain call with literals is handed back with a reason that a model can act on."""
    [asked] = read(code)

    assert (name, because) == (asked.name, asked.problem)


@pytest.mark.parametrize(
    ("code", "problems"),
    [
        (f"note({'[' * 9}{']' * 9})", ["an argument has more than 8 lists or dicts inside each other"]),
        (f"note({'[' * 8}{']' * 8})", [""]),
        (f"note([{'1,' * 2000}])", ["the call has more than 2000 parts"]),
        (f"note('{'x' * 20_000}')", ["the block has 20010 characters, at most 20000 are read"]),
        ("look()\n" * 65, ["the block has more than 64 statements"]),
        (f"note({'-' * 9000}1)", ["the block is not valid Python: check quotes, brackets and line breaks inside strings"]),
        ("look()\n" * 17, [""] * 16 + ["at most 16 calls of one reply are run"]),
    ],
)  # fmt: skip
def test_limits(code: str, problems: list[str]) -> None:
    """Length, calls, depth and size are limited, and each limit says so."""
    assert problems == [asked.problem for asked in read(code)]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("```tool_code\nlook()\n```\nund\n```tool_code\nnote('a')\n```", ["look", "note"]),
        ("```tool_code look() ```", ["look"]),
        ("``` tool_code\nlook()```", ["look"]),
        ("````tool_code\nnote('```')\n````", ["note"]),
        ("```TOOL_CODE\nlook()\n```", ["look"]),
        ("```tool_code\nlook()", ["look"]),
        ("```tool_code\r\nlook()\r\n```", ["look"]),
        ("```tool_codes\nlook()\n```", []),
        ("```python\nlook()\n```", []),
        ("look()", []),
        ("```tool_code\n\n```", []),
        ("```tool_code\n# nothing to do\n```", []),
    ],
)
def test_where_a_block_begins_and_ends(reply: str, found: list[str]) -> None:
    """Fences on one line, longer ones, unclosed ones; other code and bare calls are none."""
    assert found == [asked.name for asked in tool_code.calls_in(reply, PARAMETERS)]


def test_blocks_are_numbered_and_lines_kept() -> None:
    """Each call knows its block and the words in which it was asked for."""
    reply = "```tool_code\nlook( )\nprint(note( 'a' ))\n```\n```tool_code\nlook()\n```"
    asked = tool_code.calls_in(reply, PARAMETERS)

    assert [(0, "look( )"), (0, "print(note( 'a' ))"), (1, "look()")] == [(one.block, one.source) for one in asked]


def test_default_api_by_option_alone() -> None:
    """`default_api.name(…)` is a call only where the option says so."""
    assert [("look", "")] == [(one.name, one.problem) for one in read("print(default_api.look())", default_api=True)]
    assert "a call with a dot in its name" in read("default_api.look()")[0].problem


def test_a_tool_that_does_not_exist_has_no_arguments_by_name() -> None:
    """Places cannot be named without the tool; the call is left to be refused as unknown."""
    assert [("fly", None, "")] == [(one.name, one.args, one.problem) for one in read("fly('moon')")]


def test_text_without_blocks() -> None:
    """What was thought is what stands around the blocks."""
    assert "a\n\n\n\nb" == tool_code.without_blocks("a\n\n```tool_code\nlook()\n```\n\nb")
    assert "a  b" == tool_code.without_blocks("a ```tool_code look()``` b")
