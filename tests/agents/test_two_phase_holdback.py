"""What of an answer is shown: no tool syntax however the stream is cut, and everything else as soon as may be."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.leaks import leaks_in

from .guardian import part

HoldBack = part("holdback").HoldBack
TOOLS = ("read_file", "read_file_info", "get_weather")


def shown(*pieces: str) -> list[str]:
    """What is shown after each piece, and at the end."""
    hold = HoldBack(TOOLS)
    return [*(hold.feed(piece) for piece in pieces), hold.finish()]


def whole(text: str) -> str:
    """What is shown of *text* that comes in one piece."""
    return "".join(shown(text))


BITS = st.sampled_from(
    [
        "```", "`", "````", "~~~", "tool_code", "tool_output", "tool_call", "TOOL_CODE", "\n", "\n\n", " ", "  ", "\t",
        "read_file", "read_file(", "read_file_info(", "get_weather", "get_", "print(", "print", "default_api.", "default",
        '"', "'", '"""', "'''", "\\", "(", ")", ";", "x", "tool", "t", "Привет", "_", ".", "python", "- ", "it's",
        "<", "</", "<think>", "</think>", "<tool_call", ">", "<invoke name='x'>", "thinking", "</invoke>", "<3",
        "```tool_code\n", "\n```", "read_file('a')", 'get_weather("Berlin")',
    ]
)  # fmt: skip
TEXTS = st.lists(BITS, max_size=25).map("".join)


@given(TEXTS, st.data())
def test_cuts_of_the_stream_change_nothing(text: str, data: st.DataObject) -> None:
    """For every way to cut a stream into pieces, what is shown comes to the same."""
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[first:last] for first, last in itertools.pairwise([0, *places, len(text)])]

    assert whole(text) == "".join(shown(*pieces))
    assert whole(text) == "".join(shown(*text))


@pytest.mark.parametrize(
    "text",
    [
        "a\n```tool_code\nread_file('x')\n````\nb",
        "a\n````tool_code\nread_file('```')\n````\nb",
        "xtool_code y tool_outputs",
        'read_file("""a\n\nb""") c',
        "read_file('a\\'b)', \"c)\") d",
        "read_file('never closed \n \nb",
        "a\n  tool_code \t\nb",
        "a\n\tread_file('x') ; \nb",
        "print(  default_api.any_name('x')) tool_code",
        "a <think>b</thinking> </think> c",
        "a <tool_call >\nread_file('x')</tool_call> c <3 <thin",
        "a </think>\n\nb",
        "print(print(read_file(",
        "read_file('a')(get_weather('b')(1)) c",
        "b read_file('a')(get_weather('b')(1)) c",
        "default_api.tool_coderead_file('a')",
        "print(default_api.tool_code b",
    ],
)
def test_every_cut_of_what_is_tricky(text: str) -> None:
    """Closing fences that are longer, triple quotes, paragraphs and words at the very place where the stream is cut."""
    for place in range(len(text)):
        assert whole(text) == "".join(shown(text[:place], text[place:]))
    assert whole(text) == "".join(shown(*text))
    assert "x'" not in whole(text)


@given(TEXTS)
def test_no_tool_syntax_is_shown(text: str) -> None:
    """Neither a fence, nor the word, nor a call of any tool is left, on whatever line it stands."""
    left = whole(text)

    assert [] == leaks_in(left, frozenset(TOOLS))
    assert "tool_code" not in left
    assert not re.search(r"(?<!\w)(?:read_file|read_file_info|get_weather|default_api\.\w+)\(", left)


@given(TEXTS)
def test_what_is_shown_needs_no_second_look(text: str) -> None:
    """White space at both ends is left out; the rest is shown in the order in which it came."""
    left = whole(text)
    letters = iter(text)

    assert left.strip() == left
    assert all(any(letter == one for one in letters) for letter in left.replace(" ", "").replace("toolcode", "tool_code").replace("tooloutput", "tool_output"))  # fmt: skip


@given(st.text(st.characters(exclude_characters="`_(<")))
def test_prose_is_shown_as_it_is(text: str) -> None:
    """What holds no mark of tool syntax is shown whole."""
    assert text.strip() == whole(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Привет!\n\n```tool_code\nread_file('a')\n```\n\nКак дела?", "Привет!\n\nКак дела?"),
        ("```tool_code\nread_file('a')\n```\nПривет!", "Привет!"),
        ("Привет! ```tool_code read_file('a')``` Да.", "Привет! Да."),
        ("Привет!\n```tool_code\nread_file('a')", "Привет!"),
        ("a\n```tool_code\nread_file('''\n```\n''')\n```\nb", "a\n\nb"),
        ("a\n```tool_code\nno Python at all\n```\nb", "a\n\nb"),
        ("a\n```tool_output\n{'x': 1}\n```\nb", "a\n\nb"),
        ("a\n``` Tool_Code\nread_file('a')\n```\nb", "a\n\nb"),
        ("a\n\nread_file('a')\n\nb", "a\n\nb"),
        ("a\nprint(default_api.anything('a'));\nb", "a\n\nb"),
        ("a\nread_file(\n    'a',\n)\nb", "a\n\nb"),
        ("Ich rufe read_file('a') auf.", "Ich rufe read_file auf."),
        ("- `read_file(path)`: liest", "- `read_file`: liest"),
        ("read_file(path) liest", "read_file liest"),
        ("read_file(it's) liest", "read_file liest"),
        ("read_file('never closed\n\nNeuer Absatz", "Neuer Absatz"),
        ("read_file (eine Datei) und bread_file(x)", "read_file (eine Datei) und bread_file(x)"),
        ("tool_code\nread_file('a')\nb", "b"),
        ("Das Wort tool_code fällt.", "Das Wort tool code fällt."),
        ("```python\nprint(1)\n```", "```python\nprint(1)\n```"),
        ("Ende `", "Ende `"),
        ("Ende get", "Ende get"),
        (" \n ", ""),
        ("<think>Hm.\n\nSo.</think>\n\nHallo!", "Hallo!"),
        ('a\n<tool_call>\n{"name": "read_file"}\n</tool_call>\nb', "a\n\nb"),
        ("<invoke name='read_file'><x>1</x></invoke> b", "b"),
        ("Hallo </think> du", "Hallo du"),
        ("a <thinking>never closed", "a"),
        ("Das ist read_file('a')('b') hier", "Das ist read_file hier"),
        ("Das ist print(default_api.name hier", "Das ist print(name hier"),
        ("1 < 2 und <b>fett</b> <thinker>", "1 < 2 und <b>fett</b> <thinker>"),
    ],
)
def test_what_is_left_of_an_answer(text: str, expected: str) -> None:
    """Blocks and lines that are calls go; a call inside a sentence leaves its name; other code stays."""
    assert expected == whole(text)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("Как ", "дела", "? `ja`"), ["Как", " дела", "? `ja", "`"]),
        (("Hi", " there get", "ting"), ["Hi", " there", " getting", ""]),
        (("a ``", "`tool", "_code\nread_file('x')\n``` b"), ["a", "", " b", ""]),
        (("a\n", "read_fi", "le is mine"), ["a", "", "\nread_file is mine", ""]),
        (("a\n", "read_file('x", "') ", "\nb"), ["a", "", "", "\n\nb", ""]),
        (("go", "od"), ["go", "od", ""]),
    ],
)
def test_text_is_shown_as_soon_as_it_cannot_be_tool_syntax(pieces: tuple[str, ...], expected: list[str]) -> None:
    """Only what may still become a fence, a call or the word waits for the next piece, and white space for text."""
    assert expected == shown(*pieces)


@pytest.mark.parametrize(
    "text",
    ["`" * 3000 + " x", "```tool_code\n(" + "```\n" * 60 + "a" * 3000, "` " * 1500],
    ids=["run", "block", "marks"],
)
def test_a_reply_that_repeats_itself_takes_no_time(text: str) -> None:
    """Models do get stuck; each piece is looked at once or so, not every beginning of it again and again."""
    began = time.process_time()
    shown(*(text[place : place + 4] for place in range(0, len(text), 4)))

    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<THINK>secret</Think> Hi", "Hi"),
        ("Hi <Thinking>secret", "Hi"),
        ("Hi\n```tool_outputs\nok\n```\nbye", "Hi\n\nbye"),
        ("Hi\n```tool_calls\nread_file('x')\n```", "Hi"),
    ],
)
def test_other_spellings_are_left_out_as_well(text: str, expected: str) -> None:
    """Elements in capitals, and fences in the plural, whole or letter by letter."""
    assert (expected, expected) == (whole(text), "".join(shown(*text)))
