"""
An agent's Markdown as HTML that can do nothing: no script, no image, no style, no link but to the web and to mail.

Two walls, each enough by itself: markdown-it-py writes no HTML of the text's own, and nh3 lets through what stands in
`TAGS` and `ATTRIBUTES` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from harness.reports.screen import neutralise

if TYPE_CHECKING:
    import nh3
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_MARKDOWN = 30_000
"""Characters of a text that is read as Markdown; a longer one is shown as it stands."""
MOST_SHOWN = 200_000
"""Characters of a text that are shown at all."""
MOST_NESTING = 40
"""Levels of lists, quotes and emphasis in each other; a deeper text is shown as it stands."""
SCHEMES = frozenset({"http", "https", "mailto"})
REL = "noopener noreferrer nofollow"
TAGS = frozenset({
    "a", "blockquote", "br", "code", "div", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong", "table",
    "tbody", "td", "th", "thead", "tr", "ul",
})  # fmt: skip
ATTRIBUTES: dict[str, set[str]] = {"a": {"href", "title"}, "ol": {"start"}}
VALUES: dict[str, dict[str, set[str]]] = {
    "div": {"role": {"group"}, "aria-label": {"table"}, "tabindex": {"0"}}, "a": {"target": {"_blank"}},
}  # fmt: skip
CLASSES: dict[str, set[str]] = {
    "div": {"table-scroll"}, "p": {"note"}, "pre": {"as-written"}, "td": {"to-right", "to-centre"},
    "th": {"to-right", "to-centre"},
}  # fmt: skip
_LEVEL_ABOVE = 3
"""Level of the heading under which an answer stands: its own ones begin one deeper."""
_TABLE_SCROLL = '<div class="table-scroll" role="group" aria-label="table" tabindex="0">'
_ALIGNED = {"text-align:right": "to-right", "text-align:center": "to-centre"}
"""A class for what would be a style: the policy of a page refuses style attributes."""
_safe_address = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE).fullmatch


def safe_html(text: str) -> str:
    """
    Turn *text*, Markdown of a stranger, into HTML that is safe inside any element of a page.

    Control characters, lone surrogates and marks that turn the reading direction are written out. Images become their
    descriptions. Headings begin at `h4`. Nothing gets lost but what is beyond `MOST_SHOWN` characters, which is said.
    """
    clean = _harmless(text[:MOST_SHOWN].replace("\r\n", "\n"))
    if len(text) > MOST_MARKDOWN:
        return _as_written(clean, len(text), why="too long to be read as Markdown")
    tokens = _reader().parse(clean)
    if _too_deep(tokens):
        return _as_written(clean, len(text), why="nested too deeply to be read as Markdown")
    _fit_headings(tokens)
    html = _reader().renderer.render(list(_prepared(tokens)), _reader().options, {})
    # A character reference is the only way by which another character comes in after the text was made harmless.
    return sanitised(html) if "&" in clean else _cleaner().clean(html)


def sanitised(html: str) -> str:
    """Let through what the allow lists of this module name, and no more; character references may still steer."""
    return neutralise(_cleaner().clean(html), keep_lines=True)


def escaped(text: str) -> str:
    """*text* as HTML shows it, in an element or a quoted attribute."""
    from html import escape

    return escape(text, quote=True)


def _harmless(text: str) -> str:
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return neutralise(text, keep_lines=True)


def _as_written(clean: str, length: int, *, why: str) -> str:
    left_out = f"; {length - MOST_SHOWN:,} characters at its end are left out" if length > MOST_SHOWN else ""
    note = f"{length:,} characters, {why}: shown as written{left_out}"
    return sanitised(f'<p class="note">{note}</p><pre class="as-written">{escaped(clean)}</pre>')


def _too_deep(tokens: Sequence[Token]) -> bool:
    """Whether a token stands so deep that markdown-it-py leaves out what is in it."""
    inner = (child for token in tokens for child in token.children or ())
    return any(token.level >= MOST_NESTING - 1 for token in (*tokens, *inner))


def _fit_headings(tokens: Sequence[Token]) -> None:
    """Put headings below those of the page, none of them skipping a level."""
    ranks = sorted({token.tag for token in tokens if token.type == "heading_open"})
    before = level = _LEVEL_ABOVE
    for token in tokens:
        if token.type == "heading_open":
            level = before = min(_LEVEL_ABOVE + 1 + ranks.index(token.tag), before + 1, 6)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"


def _prepared(tokens: Sequence[Token]) -> Iterator[Token]:
    """The same tokens without images and styles, with tables that scroll and links that open apart."""
    from markdown_it.token import Token

    for token in tokens:
        for place, child in enumerate(token.children or ()):
            if child.type == "link_open":
                child.attrSet("target", "_blank")
            elif child.type == "image":
                described = "".join(part.content for part in child.children or ())
                told = Token("text", "", 0, content=f"[image: {described}]" if described else "[image]")
                token.children[place] = told  # type: ignore[index]  # it has children: this is one of them
        if token.type in ("th_open", "td_open"):
            aligned = _ALIGNED.get(str(token.attrs.pop("style", "")))
            token.attrs |= {"class": aligned} if aligned else {}
        if token.type == "table_open":
            yield Token("html_block", "", 0, content=_TABLE_SCROLL)
        yield token
        if token.type == "table_close":
            yield Token("html_block", "", 0, content="</div>\n")


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": MOST_NESTING})
    reader.enable(["table", "strikethrough"])
    reader.validateLink = lambda url: bool(_safe_address(url))  # type: ignore[method-assign]  # as its manual says
    return reader


@cache
def _cleaner() -> nh3.Cleaner:
    import nh3

    return nh3.Cleaner(
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        tag_attribute_values=VALUES,
        allowed_classes=CLASSES,
        url_schemes=set(SCHEMES),
        url_relative="deny",
        link_rel=REL,
    )
