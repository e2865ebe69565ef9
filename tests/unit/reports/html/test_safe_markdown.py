"""Hostile Markdown: whatever a text says, its HTML holds the allowed elements, attributes and addresses only."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.html.safe_markdown import (
    ATTRIBUTES,
    CLASSES,
    MOST_MARKDOWN,
    MOST_SHOWN,
    REL,
    SCHEMES,
    TAGS,
    VALUES,
    escaped,
    safe_html,
    sanitised,
)

PIECES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "[a](javascript:alert(1))",
    "[a](JaVa\tScript:alert(1))", "[a](data:text/html,x)", "[a](//evil.example)", "[a](file:///etc/passwd)", "[a](#x)",
    "![i](http://x.example/i.png)", "![i](data:image/png;base64,AA)", "<https://x.example>", "<javascript:alert(1)>",
    "[a]: javascript:alert(1)\n\n[a]", "[a](https://x.example \"t' onclick=alert(1)\")", "[m](mailto:a@b.example)", "**b**",
    "| a | b |\n|:-:|--:|\n| 1 | 2 |\n", "```html\n<b>\n```\n", "    <i>\n", "> ", "- ", "1. ", "# h\n", "### h\n", "~~s~~", "`c`",
    "&lt;script&gt;", "&#x202e;", "&#27;[31m", "\u202e", "\x1b[2J", "\ud800", "\x00", "\r\n", "\n", "\n\n", "<!--", "]]>", "</pre>",
    "<style>*{}</style>", "<a href='javascript:x'>", "<math><mi xlink:href='data:x'>", "<base href=//x>", "\\", "\t", "\u2028",
)  # fmt: skip
markdown = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=12).map("".join)


class _Seen(HTMLParser):
    """What a browser would find in a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.said: list[str] = []
        self.other: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.said.append(data)

    def handle_comment(self, data):
        self.other.append(data)

    def handle_decl(self, decl):
        self.other.append(decl)

    def handle_pi(self, data):
        self.other.append(data)


def text_of(html: str) -> str:
    """The text that a reader sees."""
    return "".join(_Seen(html).said)


@given(markdown)
def test_nothing_but_what_is_allowed(text):
    """Each element, attribute, class and address is on the list, for any text."""
    seen = _Seen(safe_html(text))

    assert seen.tags <= TAGS
    assert [] == seen.other
    for tag, name, value in seen.attributes:
        if name == "class":
            assert set(value.split()) <= CLASSES[tag]
        elif name == "rel":
            assert value == REL
        elif name in VALUES.get(tag, {}):
            assert value in VALUES[tag][name]
        else:
            assert name in ATTRIBUTES[tag]
        if name == "href":
            assert value.partition(":")[0].lower() in SCHEMES


@given(markdown)
def test_cleaning_again_changes_nothing(text):
    """What comes out is at rest: a browser reads it as it was meant, and so does a second cleaning."""
    html = safe_html(text)

    assert html == sanitised(html)


@given(markdown)
def test_what_is_read_as_text_is_safe_again(text):
    """The text that a reader copies from the page makes a page that is as safe, and no control character is in it."""
    said = text_of(safe_html(text))

    assert _Seen(safe_html(said)).tags <= TAGS
    assert said.replace("\n", "").isprintable() or not set(said) & set("\x00\x1b\u202e\ud800\u2028")


def test_every_link_says_where_it_does_not_lead():
    """Links open apart, and tell the other side nothing."""
    assert safe_html('[a](https://x.example "t") <https://b.example/?q=1&r=2>') == (
        '<p><a href="https://x.example" title="t" target="_blank" rel="noopener noreferrer nofollow">a</a> '
        '<a href="https://b.example/?q=1&amp;r=2" target="_blank" rel="noopener noreferrer nofollow">'
        "https://b.example/?q=1&amp;r=2</a></p>\n"
    )


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///x", "//x", "x.html", "#x", "vbscript:x"]
)
def test_another_scheme_stays_text(address):
    """The reader sees the link as it was written, and cannot follow it."""
    assert f"<p>[a]({address})</p>\n" == safe_html(f"[a]({address})")


def test_html_of_the_text_is_shown_as_text():
    """What an agent wrote can be read as it wrote it; the second wall has nothing to take away."""
    assert safe_html("<b>x</b> <!-- y -->") == "<p>&lt;b&gt;x&lt;/b&gt; &lt;!-- y --&gt;</p>\n"


def test_images_become_their_descriptions():
    """Nothing is loaded."""
    assert safe_html("![a *chart*](http://x.example/i.png) ![](x)") == "<p>[image: a chart] ![](x)</p>\n"


def test_control_characters_are_written_out():
    """Neither as they are nor as character references do they reach the page."""
    assert safe_html("a\u202eb\x1b[31m\ud800 &#x202e;") == "<p>a\\u202eb\\x1b[31m\\ud800 \\u202e</p>\n"


def test_headings_fit_below_those_of_the_page():
    """They begin at h4, and none skips a level."""
    assert safe_html("### a\n# b\n## c\n### d") == "<h4>a</h4>\n<h4>b</h4>\n<h5>c</h5>\n<h6>d</h6>\n"


def test_tables_scroll_in_themselves_and_align_without_styles():
    """A wide table is a region that the keyboard reaches; its columns are aligned by classes."""
    html = safe_html("| a | b |\n|--:|---|\n| 1 | 2 |")

    assert html.startswith('<div class="table-scroll" role="group" aria-label="table" tabindex="0"><table>')
    assert '<th class="to-right">a</th>\n<th>b</th>' in html
    assert '<td class="to-right">1</td>\n<td>2</td>' in html


def test_deep_nesting_is_shown_as_written():
    """Nothing gets lost where Markdown is nested deeper than anybody reads."""
    text = "> " * 60 + "end"

    assert safe_html(text) == (
        '<p class="note">123 characters, nested too deeply to be read as Markdown: shown as written</p>'
        f'<pre class="as-written">{escaped(text)}</pre>'
    )


def test_a_huge_text_is_shown_as_written_and_cut():
    """Its size is told, and how much of it is left out."""
    html = safe_html("*" + "a" * MOST_SHOWN + "bc")

    assert html.startswith(
        '<p class="note">200,003 characters, too long to be read as Markdown: shown as written; 3 characters at its end '
        'are left out</p><pre class="as-written">*aaa'
    )


@pytest.mark.parametrize("piece", ["[", "![", "[a][", "`a``b```", "*a **b ", "<a ", "> ", "|a|b|\n|-|-|\n", "[a](b"])
def test_no_text_takes_long(piece):
    """Markdown that is known to be slow to read takes no more than seconds of the processor."""
    begun = time.process_time()

    safe_html((piece * MOST_MARKDOWN)[:MOST_MARKDOWN])

    assert time.process_time() - begun < 10
