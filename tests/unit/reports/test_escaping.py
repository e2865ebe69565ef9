"""Text of strangers stays text, whatever it holds."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from harness.reports.escaping import (
    command_message,
    command_property,
    json_text,
    markdown_code,
    message_text,
    xml_text,
)
from harness.reports.screen import neutralise, one_line

from .ci_runs import PAYLOADS, hostile, printable

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


@given(hostile)
def test_xml_takes_every_text(text):
    """As the text of an element and as an attribute, it comes back as it was given."""
    clean = xml_text(text)
    element = ET.Element("e", {"a": clean})
    element.text = clean

    read = ET.fromstring(ET.tostring(element, encoding="unicode"))
    assert (clean, clean or None) == (read.get("a"), read.text)


@given(hostile)
def test_a_workflow_command_is_one_line(text):
    """Nothing in a message or a property begins another command, or another property."""
    message, value = command_message(text), command_property(text)

    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in message + value)
    assert not re.search(r"[:,\n\r]", value)
    assert unescaped(message) == neutralise(text, keep_lines=True)
    assert unescaped(value) == one_line(text)


def unescaped(text: str) -> str:
    """What GitHub's runner makes of an escaped text, in its order."""
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def test_an_escaped_line_feed_in_a_text_stays_one():
    """`%0A` in an answer is three characters, not a new line."""
    assert command_message("100%0A::error::x") == "100%250A::error::x"
    assert command_property("a,b: c%") == "a%2Cb%3A c%25"


def rendered(markdown: str) -> str:
    """The HTML of one line of a list and of one cell of a table, which are the same."""
    item = GITHUB.render(f"- {markdown} end\n")
    cell = GITHUB.render(f"| a | b |\n|---|---|\n| {markdown} end | x |\n")
    inner = item.removeprefix("<ul>\n<li>").removesuffix("</li>\n</ul>\n")

    assert f"<tr>\n<td>{inner}</td>\n<td>x</td>\n</tr>" in cell
    return inner


@given(hostile)
def test_markdown_shows_code_and_nothing_else(text):
    """In a list and in a table: no link, no image, no HTML, no mention outside of code, and no second cell."""
    inner = rendered(markdown_code(text))

    assert inner.startswith("<code>")
    assert inner.endswith("</code> end")
    code = inner.removeprefix("<code>").removesuffix("</code> end")
    assert "<" not in code
    assert html.unescape(code) == one_line(text)


@pytest.mark.parametrize("text", PAYLOADS)
def test_each_payload_is_shown_as_it_is(text):
    """A reader sees what was tried."""
    assert rendered(markdown_code(text)) == f"<code>{html.escape(one_line(text), quote=True)}</code> end".replace(
        "&#x27;", "'"
    )


def test_plain_text_reads_well_in_the_source_too():
    """Character references stand only where a code span could end."""
    assert markdown_code("tool `x` | y") == "<code>tool &#96;x&#96; &#124; y</code>"
    assert markdown_code("facts: @all, <b>") == "`facts: @all, <b>`"
    assert markdown_code("  ") == "<code></code>"


@given(printable)
def test_json_says_the_same_without_steering(text):
    """Only the way in which it is written differs."""
    document = json.dumps({"a": text}, ensure_ascii=False)
    written = json_text(document)

    assert json.loads(written) == {"a": text}
    assert not re.search("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", written)


@given(hostile)
def test_a_message_of_sarif_has_no_link(text):
    """`[text](target)` would be one."""
    assert message_text("[a](x) b") == "[a] (x) b"
    assert not re.search(r"\]\(", message_text(text))
