"""Text for a terminal: nothing in it can steer the terminal, and wide characters count as two columns."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable

Paint = Callable[[str, str], str]
"""`paint(text, colour)` decorates *text*; meaning never hangs on it."""

_ANSI = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_STEERING = frozenset("\u061c\u200e\u200f\ufeff" + "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))))
_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def plain(text: str, colour: str) -> str:  # noqa: ARG001 – a `Paint`, as `ansi` is
    """Paint nothing."""
    return text


def ansi(text: str, colour: str) -> str:
    """Paint *text* for a terminal."""
    return f"\x1b[{_ANSI[colour]}m{text}\x1b[0m"


def neutralise(text: str, *, keep_lines: bool = False) -> str:
    """
    Make *text* harmless to show: control characters, lone surrogates and marks that turn the reading direction are
    written out as Python would escape them. With *keep_lines* line feeds stay and tabs become blanks; otherwise both are written out.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char, keep_lines=keep_lines) for char in text)


def one_line(text: str) -> str:
    """Make *text* harmless, with every run of white space as one blank."""
    return neutralise(" ".join(text.split()))


def display_width(text: str) -> int:
    """Columns that *text* takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def clip(text: str, width: int) -> str:
    """Cut *text* to at most *width* columns (at least 1), the last of which is then `…`."""
    if display_width(text) <= width:
        return text
    taken, used = [], 1
    for char in text:
        used += _columns(char)
        if used > width:
            break
        taken.append(char)
    return "".join(taken).rstrip() + "…"


def wrap(text: str, width: int, *, indent: str = "", later: str | None = None) -> str:
    """
    Break *text* at blanks into lines of at most *width* columns; a word that is longer is broken anywhere.

    Args:
        text: Words; runs of white space count as one blank.
        width: Columns of a line, at least 1.
        indent: What the first line starts with.
        later: What the other lines start with; None means as the first.
    """
    later = indent if later is None else later
    room = max(width - max(display_width(indent), display_width(later)), 1)
    lines: list[str] = []
    line = ""
    for word in itertools.chain.from_iterable(_pieces(word, room) for word in text.split()):
        joined = f"{line} {word}" if line else word
        if display_width(joined) <= room:
            line = joined
        else:
            lines.append(line)
            line = word
    lines.append(line)
    return "\n".join(f"{later if number else indent}{content}" for number, content in enumerate(lines))


def _visible(char: str, *, keep_lines: bool) -> str:
    if keep_lines and char in "\n\t":
        return char if char == "\n" else "    "
    if char in _STEERING or unicodedata.category(char) in _CONTROL:
        return ascii(char)[1:-1]
    return char


def _columns(char: str) -> int:
    if unicodedata.category(char) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _pieces(word: str, room: int) -> list[str]:
    if display_width(word) <= room:
        return [word]
    pieces, piece, used = [], "", 0
    for char in word:
        columns = _columns(char)
        if piece and used + columns > room:
            pieces.append(piece)
            piece, used = "", 0
        piece += char
        used += columns
    return [*pieces, piece]
