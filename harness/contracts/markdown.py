"""
CX15: an answer that is meant as Markdown is valid Markdown, CommonMark with GFM tables and strikethrough.

Plain prose and the simplest markup are passed by a quick look; only what is left is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.leaks import Leak, leaks_in, leaks_of
from harness.contracts.view import TrialView

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CODES: dict[str, str] = {
    "unclosed-fence": "a code fence is opened and never closed",
    "ragged-table": "a row of a table has another number of cells than its header, or the delimiter row is wrong",
    "heading-jump": "a heading is more than one level below the one before",
    "broken-heading": "a heading has no blank after its number signs",
    "broken-reference": "a link or footnote names a reference that is not defined",
    "empty-link": "a link or an image leads nowhere, or a link has no text",
    "raw-html": "HTML stands in the text",
    "unterminated-emphasis": "emphasis is opened and never closed",
    "unterminated-code": "a code span is opened and never closed",
    "leaked-json": "the whole answer is a JSON value",
    "leaked-reasoning": "thinking stands in the text",
    "leaked-tool-syntax": "tool syntax stands in the text",
}
"""What `lint` can find, by code."""


class Problem(NamedTuple):
    """One thing that is wrong with a text; *line* and *column* count from 1."""

    code: str
    line: int
    column: int
    words: str


_MARKS = re.compile(r"[`*_\[\]<>|~\\]")
_LINES = re.compile(r"^ {0,3}(?:#|=+[ \t]*$|-{2,}[ \t]*$)|^(?: {4}|\t)", re.MULTILINE)
_SIMPLE = re.compile(
    r"(?<![*\w\\])\*\*(?=[^\s*])[^*\n`_\[\]<>|~\\]*(?<![\s*])\*\*(?![*\w])|(?<![`\\])`[^`\n|]+`(?!`)|^[ ]{0,6}[*+-] +(?=\S)|(?<=\d) \* (?=\d)",
    re.MULTILINE,
)
_DELIMITER_ROW = re.compile(
    r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$|^[ \t]*\|[ \t]*:?-+:?[ \t]*\|[ \t]*$"
)
_PIPED_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$")
_REFERENCE = re.compile(
    r"(?<![\w\\\]])\[([^\[\]\n]+)\]\[([^\[\]\n]*)\]|\[\^([^\[\]\s]+)\](?!:)|(?<!\\)\[[^\[\]\n]+\][ ]\(https?://"
)
_FOOTNOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:", re.MULTILINE)
_OPEN_EMPHASIS = re.compile(r"(?<!\d)\*\*(?=\S)|(?<=\S)\*\*(?!\d)|(?<=\s)\*(?=[^\W\d])(?![^*\n]*\*)|~~(?=\S)|(?<=\S)~~")
_HARMLESS_HTML = re.compile(r"</?(?:br|sub|sup|kbd)\s*/?>|<!--", re.IGNORECASE)
_UNSPLIT_PIPE = re.compile(r"\\\|")
_BROKEN_HEADING = re.compile(r"^ {0,3}#{2,6}[^\s#]", re.MULTILINE)


def lint(text: str, tools: frozenset[str] = frozenset()) -> list[Problem]:
    """Find what is wrong with *text* as Markdown, in order; calls of *tools* count as leaked tool syntax."""
    return _linted(text, leaks_in(text, tools))


def _linted(text: str, leaks: list[Leak]) -> list[Problem]:
    problems = [_at(text, leak.start, leak.code, leak.words) for leak in leaks]
    if not problems and text.lstrip()[:1] in ("{", "[") and _is_json(text):
        problems.append(Problem("leaked-json", 1, 1, text.strip()[:40]))
    elif _needs_parsing(text):
        problems.extend(_parsed(text))
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


@contract("CX15", needs=("final_answer",))
def valid_markdown(view: TrialView) -> Iterator[Found]:
    """An answer meant as Markdown is valid: nothing unclosed, ragged, undefined or leaked."""
    if view.case.format != "markdown":
        return
    for final in view.finals:
        if final.data.format != "markdown":
            continue
        yield TRIGGERED
        for problem in _linted(final.data.text, leaks_of(view, final))[:3]:
            where = f"line {problem.line}, column {problem.column}"
            yield broken(final, f"{problem.code} at {where}: {CODES[problem.code]} (`{problem.words}`)")


def _needs_parsing(text: str) -> bool:
    """Whether *text* has markup that a quick look cannot pass."""
    if _MARKS.search(text) and _MARKS.search(_SIMPLE.sub("", text)):
        return True
    return ("#" in text or "--" in text or "==" in text or "    " in text or "\t" in text) and bool(_LINES.search(text))


def _is_json(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict | list)
    except (msgspec.DecodeError, RecursionError):
        return False


def _at(text: str, offset: int, code: str, words: str) -> Problem:
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return Problem(code, line, column, words.strip()[:40])


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # `text_join` would hide which characters were escaped.
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")


def _parsed(text: str) -> Iterator[Problem]:
    lines = text.splitlines()
    level, first = 0, 0
    for token in _parser().parse(text):
        if token.map:
            first = token.map[0]
        if token.type == "fence":
            yield from _fence(token, lines)
        elif token.type == "html_block":
            if not _HARMLESS_HTML.match(token.content):
                yield Problem("raw-html", first + 1, 1, token.content.strip().splitlines()[0][:40])
        elif token.type == "heading_open":
            depth = int(token.tag[1])
            if level and depth > level + 1:
                yield Problem("heading-jump", first + 1, 1, lines[first].strip()[:40])
            level = depth
        elif token.type == "table_open" and token.map:
            yield from _table(lines, *token.map)
        elif token.type == "inline":
            yield from _inline(token, first, lines)
    yield from _references(text)


def _fence(token: Token, lines: list[str]) -> Iterator[Problem]:
    first, end = token.map or (0, 0)
    last = lines[end - 1].strip(" \t>") if end <= len(lines) else ""
    closed = end - 1 > first and len(last) >= len(token.markup) and not last.strip(token.markup[0])
    if not closed:
        yield Problem("unclosed-fence", first + 1, lines[first].find(token.markup) + 1, lines[first].strip()[:40])


def _table(lines: list[str], first: int, end: int) -> Iterator[Problem]:
    columns = _cells(lines[first])
    for number in range(first + 2, min(end, len(lines))):
        if lines[number].strip() and _cells(lines[number]) != columns:
            yield Problem("ragged-table", number + 1, 1, lines[number].strip()[:40])


def _cells(row: str) -> int:
    row = _UNSPLIT_PIPE.sub("", row).strip()
    return row.removeprefix("|").removesuffix("|").count("|") + 1


def _inline(token: Token, first: int, lines: list[str]) -> Iterator[Problem]:
    rows = token.content.split("\n")
    piped = [row for row in rows if _PIPED_ROW.match(row)]
    wrong = next((row for row in rows if _DELIMITER_ROW.match(row)), None)
    if len(rows) > 1 and (wrong is not None or len(piped) > 1):
        yield _find("ragged-table", wrong or piped[0], first, lines)
    heading = _BROKEN_HEADING.search(token.content)
    if heading is not None:
        yield _find("broken-heading", heading.group(), first, lines)
    texts: list[str] = []
    children = token.children or []
    for place, child in enumerate(children):
        if child.type == "text":
            texts.append(child.content)
        elif child.type == "html_inline" and not _HARMLESS_HTML.match(child.content):
            yield _find("raw-html", child.content, first, lines)
        elif child.type == "image" and not child.attrGet("src"):
            yield _find("empty-link", f"![{child.content}]", first, lines)
        elif child.type == "link_open":
            empty = children[place + 1].type == "link_close"
            if empty or child.attrGet("href") in ("", "#"):
                label = "[" if empty else f"[{children[place + 1].content}]"
                yield _find("empty-link", label, first, lines)
        texts.append("" if child.type == "text" else "\0" if child.type != "softbreak" else "\n")
    yield from _leftovers("".join(texts), first, lines)


def _leftovers(plain: str, first: int, lines: list[str]) -> Iterator[Problem]:
    """Marks that the parser left in the text because nothing answers them."""
    emphasis = _OPEN_EMPHASIS.search(plain)
    if emphasis is not None:
        yield _find("unterminated-emphasis", emphasis.group(), first, lines, plain, emphasis.start())
    tick = plain.find("`")
    if tick >= 0:
        yield _find("unterminated-code", "`", first, lines, plain, tick)


def _references(text: str) -> Iterator[Problem]:
    defined = set(_FOOTNOTE.findall(text))
    for match in _REFERENCE.finditer(_without_code(text)):
        if match[3] is not None:
            if match[3] not in defined:
                yield _at(text, match.start(), "broken-reference", match.group())
        elif not _defined(text, match[2] or match[1] or ""):
            yield _at(text, match.start(), "broken-reference", match.group())


def _defined(text: str, label: str) -> bool:
    wanted = " ".join(label.split()).casefold()
    found = re.findall(r"^ {0,3}\[([^\]\n]+)\]:", text, re.MULTILINE)
    return bool(wanted) and any(" ".join(name.split()).casefold() == wanted for name in found)


def _without_code(text: str) -> str:
    """*text* with code blanked out, every character else in its place."""
    return re.sub(
        r"(?ms)^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|(`+)(?!`).+?(?<!`)\2(?!`)",
        lambda match: re.sub(r"[^\n]", " ", match.group()),
        text,
    )


def _find(code: str, words: str, first: int, lines: list[str], plain: str = "", offset: int = 0) -> Problem:
    """Where *words* stand, looking from line *first* on; *plain* and *offset* give the words around them."""
    around = plain[offset : offset + 12].split("\0", maxsplit=1)[0].split("\n", maxsplit=1)[0] if plain else ""
    wanted = words.split("\n", maxsplit=1)[0]
    for sought in (around, wanted):
        if not sought:
            continue
        for number in range(first, len(lines)):
            column = lines[number].find(sought)
            if column >= 0:
                return Problem(code, number + 1, column + 1, sought.strip()[:40])
    return Problem(code, first + 1, 1, wanted[:40])
