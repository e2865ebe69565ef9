"""
Text of strangers in the formats of CI: whatever an agent answered or a golden set says, it is only ever text there.

Everything goes through `harness.reports.screen.neutralise` first, so that control characters, lone surrogates and marks
that turn the reading direction are written out.
"""

from __future__ import annotations

import re

from harness.reports.screen import neutralise, one_line

_NOT_XML = re.compile("[\ufffe\uffff]")
"""What XML 1.0 does not know as a character, beside those that `neutralise` writes out."""
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_SPECIAL_IN_CODE = re.compile(r"[`|\\]")


def xml_text(text: str) -> str:
    """*text* with characters that XML 1.0 knows only; an XML writer still has to escape it."""
    return _NOT_XML.sub(_written_out, neutralise(text, keep_lines=True))


def json_text(document: str) -> str:
    """The JSON *document*, with characters that steer a terminal or a reader as JSON escapes: it says the same."""
    return _STEERING.sub(_written_out, document)


def message_text(text: str) -> str:
    """*text* for a plain message of SARIF, in which `[text](target)` would be a link (SARIF 2.1.0, 3.11.6)."""
    return xml_text(text).replace("](", "] (")


def command_message(text: str) -> str:
    """*text* as the message of a GitHub workflow command: line feeds become `%0A`, as in `@actions/core`."""
    return neutralise(text, keep_lines=True).replace("%", "%25").replace("\n", "%0A")


def command_property(text: str) -> str:
    """*text* as the value of a property of a GitHub workflow command: one line without `:` and `,`."""
    return one_line(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def markdown_code(text: str) -> str:
    """
    *text* as one line of code in GitHub's Markdown, in a table as well.

    In code nothing is a link, a mention, an issue, an emoji, mathematics or HTML. Where *text* holds what could end
    a code span or a cell, every mark in it is written as a character reference.
    """
    line = one_line(text)
    if line and not _SPECIAL_IN_CODE.search(line):
        return f"`{line}`"
    return f"<code>{''.join(map(_referred, line))}</code>"


def _written_out(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _referred(char: str) -> str:
    return f"&#{ord(char)};" if char.isascii() and not char.isalnum() and char != " " else char
