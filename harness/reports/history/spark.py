"""Sparklines: a row of small bars that shows how a figure went, as text, and as points of a drawing."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
PLAIN_BARS = "_.-=+*%#"
"""For a terminal whose encoding has no blocks."""
GAP = " "


def levels(values: Sequence[float | None], count: int) -> list[int | None]:
    """
    Put each value on one of *count* levels (at least 2), from 0: the least on the lowest, the greatest on the highest.

    The order of the values is kept. Where all are the same there is nothing to see, and each is on the middle level.
    None, for a value that is not known, stays None.
    """
    known = [value for value in values if value is not None]
    if not known:
        return [None] * len(values)
    least, greatest = min(known), max(known)
    if least == greatest:
        return [None if value is None else (count - 1) // 2 for value in values]
    span = greatest - least
    return [None if value is None else round((value - least) / span * (count - 1)) for value in values]


def sparkline(values: Sequence[float | None], *, bars: str = BARS) -> str:
    """One bar a value, and a blank where a value is not known."""
    return "".join(GAP if level is None else bars[level] for level in levels(values, len(bars)))


def points(
    values: Sequence[float | None], *, width: float, height: float, margin: float = 2.0
) -> list[list[tuple[float, float]]]:
    """
    The strokes of a drawing, *width* × *height*: x and y of each value, from the top left, in unbroken stretches.

    Args:
        values: At least none; None ends a stretch.
        width: Of the drawing, in its own units.
        height: Of the drawing.
        margin: What stays free at each side.
    """
    steps = 100
    across = (width - 2 * margin) / max(len(values) - 1, 1)
    strokes: list[list[tuple[float, float]]] = [[]]
    for place, level in enumerate(levels(values, steps + 1)):
        if level is None:
            strokes.append([])
            continue
        x = margin + (place * across if len(values) > 1 else (width - 2 * margin) / 2)
        y = height - margin - level / steps * (height - 2 * margin)
        strokes[-1].append((round(x, 2), round(y, 2)))
    return [stroke for stroke in strokes if stroke]
