"""Text for a terminal: nothing in it can steer the terminal, and it is cut and wrapped by columns."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable

from harness.reports.columns import clusters, display_width

Paint = Callable[[str, str], str]
"""`paint(text, colour)` decorates *text*; meaning never hangs on it."""

_ANSI = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_STEERING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
"""Marks that turn the reading direction, or that annotate what stands elsewhere."""
_controls = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_STEERING}\ud800-\udfff]")
_our_colours = re.compile(f"(\x1b\\[(?:0|{'|'.join(_ANSI.values())})m)")
_MARKS = frozenset({"Mn", "Me", "Cf"})
_MOST_MARKS = 8
"""Marks on one character; more of them run over the lines around, and take no column however many they are."""
_perhaps_marks = re.compile(
    "[^\x00-\u02ff\u1100-\u115f\u2010-\u2027\u2030-\u205e\u2070-\u20cf\u3041-\u3096\u30a0-\u9fff\uac00-\ud7a3\uff01-\uffdc]"
    f"{{{_MOST_MARKS + 1},}}"
)
"""Stretches in which more could stand than is shown; what is left out is Latin, CJK and Hangul, which has none."""
_FLAG_OF_A_REGION = "\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f"
_hidden = re.compile(f"({_FLAG_OF_A_REGION})|[\U000e0000-\U000e007f]")
"""Characters of the block Tags, which nobody sees and a model reads, outside of the flags that they are for."""


def plain(text: str, colour: str) -> str:  # noqa: ARG001 – a `Paint`, as `ansi` is
    """Paint nothing."""
    return text


def ansi(text: str, colour: str) -> str:
    """Paint *text* for a terminal."""
    return f"\x1b[{_ANSI[colour]}m{text}\x1b[0m"


def neutralise(text: str, *, keep_lines: bool = False) -> str:
    """
    Make *text* harmless to show: control characters, lone surrogates, marks that turn the reading direction, hidden
    tags, and combining marks beyond eight on one character are written out as Python would escape them.

    With *keep_lines* line feeds stay and tabs become blanks; otherwise both are written out.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = _controls.sub(_kept_or_written_out if keep_lines else _written_out, text)
    if shown.isascii():
        return shown
    return _perhaps_marks.sub(_few_marks, _hidden.sub(_tag_written_out, shown))


def only_colours(text: str, *, colours: bool) -> str:
    """
    *text* as it was laid out, made harmless as a whole; our own colours stay where there are any.

    What strangers say is made harmless where it is laid out already; this is the door behind which nothing is left.
    """
    if not colours:
        return neutralise(text, keep_lines=True)
    parts = _our_colours.split(text)
    return "".join(part if place % 2 else neutralise(part, keep_lines=True) for place, part in enumerate(parts))


def one_line(text: str) -> str:
    """Make *text* harmless, with every run of white space as one blank."""
    return neutralise(" ".join(text.split()))


def clip(text: str, width: int) -> str:
    """Cut *text* to at most *width* columns (at least 1), the last of which is then `…`."""
    end = kept = used = 0
    for cluster, columns in clusters(text):
        used += columns
        if used > width:
            return text[:kept].rstrip() + "…"
        end += len(cluster)
        if used < width:
            kept = end
    return text


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


def titled(word: str, text: str, width: int, *, paint: Paint = plain, colour: str = "bold") -> str:
    """*word*, painted, and *text* behind it, wrapped as if nothing were painted; on a narrow terminal below it."""
    if len(word) + 2 > width // 2:
        return f"{paint(word, colour)}\n{wrap(text, width, indent='  ')}"
    return paint(word, colour) + wrap(text, width, indent=f"{word}  ", later="  ").removeprefix(word)


def _written_out(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _kept_or_written_out(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\n" else "    " if found[0] == "\t" else _written_out(found)


def _tag_written_out(found: re.Match[str]) -> str:
    return found[0] if found[1] else _written_out(found)


def _few_marks(found: re.Match[str]) -> str:
    kept, marks = [], 0
    for char in found[0]:
        marks = marks + 1 if unicodedata.category(char) in _MARKS else 0
        kept.append(char if marks <= _MOST_MARKS else ascii(char)[1:-1])
    return "".join(kept)


def _pieces(word: str, room: int) -> list[str]:
    if display_width(word) <= room:
        return [word]
    pieces, piece, used = [], "", 0
    for cluster, columns in clusters(word):
        if piece and used + columns > room:
            pieces.append(piece)
            piece, used = "", 0
        piece += cluster
        used += columns
    return [*pieces, piece]
