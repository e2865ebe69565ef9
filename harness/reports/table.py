"""Tables by tabulate, which alone counts characters: here columns are counted, and a narrow terminal gets blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.reports.screen import Paint, display_width, neutralise, plain

_FILLER = "\ue000"
_fillers = re.compile(f"{_FILLER}+")


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    width: int = 80,
    paint: Paint = plain,
    colours: Sequence[Sequence[str]] = (),
) -> str:
    """
    Lay out *rows* under *headers*: numbers and fractions to the right, text to the left.

    Args:
        headers: One a column.
        rows: Cells, as many in a row as there are headers; control characters in them are written out.
        width: Columns of the terminal. A table that is wider becomes one block of `header value` lines a row.
        paint: What decorates a cell.
        colours: Name of a colour for each cell, or the empty string; empty means no colours at all.
    """
    texts = [[neutralise(str(value)) for value in row] for row in rows]
    painted = [
        [paint(text, colour) if colour else text for text, colour in zip(row, names, strict=True)]
        for row, names in zip(texts, colours or [[""] * len(headers)] * len(texts), strict=True)
    ]
    lines = _lines(headers, texts)
    if max(map(len, lines)) > width:
        return _blocks(headers, painted)
    cells = iter([*headers, *(cell for row in painted for cell in row if cell)])
    return "\n".join(_fillers.sub(lambda _: next(cells), line).rstrip() for line in lines)


def _lines(headers: Sequence[str], texts: Sequence[Sequence[str]]) -> list[str]:
    """Let tabulate lay out placeholders that are as long as the cells are wide."""
    from tabulate import tabulate

    numbers = [all(_is_number(row[column]) for row in texts) for column in range(len(headers))]
    laid_out = tabulate(
        [[_FILLER * display_width(text) for text in row] for row in texts],
        headers=[_FILLER * display_width(header) for header in headers],
        tablefmt="simple",
        disable_numparse=True,
        colalign=["right" if number else "left" for number in numbers] if texts else None,
    )
    return laid_out.split("\n")


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
