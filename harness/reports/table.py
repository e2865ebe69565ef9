"""
Tables by tabulate. It counts characters, so it lays out placeholders as long as the cells are wide; a table that does
not fit gets its short headers, then becomes one block a row, in which nothing is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.reports.columns import display_width
from harness.reports.screen import Paint, clip, neutralise, plain, wrap

_FILLER = "\ue000"
_fillers = re.compile(f"{_FILLER}+")
_GAP = 2
"""Blanks between columns, in tabulate's `plain` format."""
_LEAST = 20
"""Columns below which cutting a text helps nobody."""
_ROOM = 10
"""Columns below which the cell of a block stands under its header in place of beside it."""


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    short: Sequence[str] = (),
    width: int = 80,
    paint: Paint = plain,
    colours: Sequence[Sequence[str]] = (),
    clipped: bool = False,
) -> str:
    """
    Lay out *rows* under *headers*: numbers and fractions to the right, text to the left.

    Args:
        headers: One a column.
        rows: Cells, as many in a row as there are headers; control characters in them are written out.
        short: Headers for a terminal that is too narrow for *headers*.
        width: Columns of the terminal. A table that is wider becomes one block of `header value` lines a row.
        paint: What decorates a cell.
        colours: Name of a colour for each cell, or the empty string; empty means no colours at all.
        clipped: Cut the last column to what fits, where at least 20 columns are left for it.
    """
    texts = [[_shown(value) for value in row] for row in rows]
    if clipped:
        texts = _clipped(headers, texts, width)
    chosen = headers
    if short and sum(_widths(headers, texts)) + _GAP * (len(headers) - 1) > width:
        chosen = short
    names = colours or [[""] * len(headers)] * len(texts)
    widths = _widths(chosen, texts)
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        return _blocks(headers, texts, names, width, paint)
    rule = ["-" * columns for columns in widths]
    painted = [
        [paint(text, colour) if colour else text for text, colour in zip(row, row_names, strict=True)]
        for row, row_names in zip(texts, names, strict=True)
    ]
    cells = iter([cell for row in (chosen, rule, *painted) for cell in row if cell])
    laid_out = _laid_out(
        [list(chosen), rule, *texts], [all(map(_is_number, column)) for column in zip(*texts, strict=True)]
    )
    return "\n".join(_fillers.sub(lambda _: next(cells), line).rstrip() for line in laid_out.split("\n"))


def _shown(value: object) -> str:
    """The text of a cell; one that nobody would see is written out."""
    text = neutralise(str(value))
    return text if display_width(text) else ascii(text)[1:-1]


def _laid_out(rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    from tabulate import tabulate

    return tabulate(
        [[_FILLER * display_width(text) for text in row] for row in rows],
        tablefmt="plain",
        disable_numparse=True,
        colalign=["right" if number else "left" for number in numbers] or None,
    )


def _widths(headers: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(display_width, column)) for column in zip(headers, *texts, strict=True)]


def _clipped(headers: Sequence[str], texts: list[list[str]], width: int) -> list[list[str]]:
    room = width - sum(columns + _GAP for columns in _widths(headers, texts)[:-1])
    return [[*row[:-1], clip(row[-1], room)] for row in texts] if room >= _LEAST else texts


def _blocks(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    colours: Sequence[Sequence[str]],
    width: int,
    paint: Paint,
) -> str:
    margin = max(map(display_width, headers)) + _GAP
    blocks = []
    for row, names in zip(rows, colours, strict=True):
        lines: list[str] = []
        for header, cell, colour in zip(headers, row, names, strict=True):
            lines += _entry(header, cell, margin, width, paint if colour else plain, colour)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _entry(header: str, cell: str, margin: int, width: int, paint: Paint, colour: str) -> Iterator[str]:
    """The lines of one cell: beside its header, or under it where little room is left there."""

    def painted(text: str) -> str:
        return paint(text, colour)

    padded = f"{header}{' ' * (margin - display_width(header))}"
    if not cell:
        yield header
    elif display_width(cell) <= width - margin:
        yield padded + painted(cell)
    elif width - margin >= _ROOM and _longest_word(cell) <= width - margin:
        first, *rest = wrap(cell, width - margin).split("\n")
        yield padded + painted(first)
        yield from (" " * margin + painted(line) for line in rest)
    else:
        yield from wrap(header, width).split("\n")
        yield from ("  " + painted(line) for line in wrap(cell, width - 2).split("\n"))


def _longest_word(text: str) -> int:
    return max(map(display_width, text.split()), default=0)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace("/", "").replace(".", "").isdigit()
