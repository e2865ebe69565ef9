"""
Tables by tabulate. It counts characters, so it lays out placeholders as long as the cells are wide; a table that does
not fit gets its short headers, then becomes one block a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.reports.screen import Paint, clip, display_width, neutralise, plain

_FILLER = "\ue000"
_fillers = re.compile(f"{_FILLER}+")
_GAP = 2
"""Blanks between columns, in tabulate's `plain` format."""
_LEAST = 20
"""Columns below which cutting a text helps nobody."""


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
    texts = [[neutralise(str(value)) for value in row] for row in rows]
    if clipped:
        texts = _clipped(headers, texts, width)
    chosen = headers
    if short and sum(_widths(headers, texts)) + _GAP * (len(headers) - 1) > width:
        chosen = short
    painted = [
        [paint(text, colour) if colour else text for text, colour in zip(row, names, strict=True)]
        for row, names in zip(texts, colours or [[""] * len(headers)] * len(texts), strict=True)
    ]
    widths = _widths(chosen, texts)
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        return _blocks(headers, painted)
    rule = ["-" * columns for columns in widths]
    cells = iter([cell for row in (chosen, rule, *painted) for cell in row if cell])
    laid_out = _laid_out(
        [list(chosen), rule, *texts], [all(map(_is_number, column)) for column in zip(*texts, strict=True)]
    )
    return "\n".join(_fillers.sub(lambda _: next(cells), line).rstrip() for line in laid_out.split("\n"))


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


def _blocks(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    margin = max(map(display_width, headers))
    return "\n\n".join(
        "\n".join(
            f"{header}{' ' * (margin - display_width(header))}  {cell}".rstrip()
            for header, cell in zip(headers, row, strict=True)
        )
        for row in rows
    )


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace("/", "").replace(".", "").isdigit()
