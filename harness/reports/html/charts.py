"""A group of designs in pictures: quality against cost or tokens, and what a trial takes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from harness.records.comparison import DesignFigures, Group
from harness.reports.html.svg import embedded
from harness.reports.screen import clip, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _AXIS, _GRID = "#111111", "#222222", "#333333"
_OF_PROVENANCE = {"scripted": "#444444", "local": "#555555", "live": "#666666", "none": "#444444"}
_CLASSES = {_INK: "ink", _AXIS: "ink", _GRID: "grid", "#444444": "scripted", "#555555": "local", "#666666": "live"}
"""Stand-ins in the drawing; the page's own colours take their place, so that dark mode holds for charts too."""
_LONGEST_NAME = 40
_LABEL_HEIGHT, _LETTER_WIDTH = 12.0, 5.6
"""Points, by which labels keep clear of each other."""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One picture, and the figures in it."""

    title: str
    svg: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def draw_group(group: Group, designs: Sequence[DesignFigures], name: str) -> list[Chart]:
    """
    Draw the *designs* of *group*.

    Args:
        group: Who is compared, on what.
        designs: Their figures, two at least.
        name: Prefix of every id in the drawings.
    """
    import matplotlib as mpl

    # Text stays text, `$` begins no formula, and two drawings of the same figures are the same bytes.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tapegate", "text.parse_math": False}):
        return list(_drawn(group, designs, _Names(designs), name))


class _Names:
    """What designs are called in a drawing: by their agents alone where one model stands behind all of them."""

    def __init__(self, designs: Sequence[DesignFigures]) -> None:
        self._short = len({each.model for each in designs}) == 1

    def of(self, design: DesignFigures) -> str:
        return clip(one_line(design.agent if self._short else design.name), _LONGEST_NAME)


def _drawn(group: Group, designs: Sequence[DesignFigures], names: _Names, name: str) -> Iterator[Chart]:
    priced = [each for each in designs if each.cost_usd is not None]
    by_cost = len(priced) == len(designs)
    yield _pareto(designs, names, f"Kept against {'cost' if by_cost else 'tokens'}", f"{name}-pareto", by_cost=by_cost)
    yield _tokens(designs, names, "Tokens of a trial", f"{name}-tokens")
    if priced:
        yield _bars(priced, names, "cost_usd", "Cost of a trial", f"{name}-cost", "US dollars", form="${:.5f}")
    note = "A script answers at once: these times say nothing of a model." if group.provenance == "scripted" else ""
    yield _bars(designs, names, "recorded_ms", "Time of a trial as recorded", f"{name}-time", "ms", note=note)


def _pareto(designs: Sequence[DesignFigures], names: _Names, title: str, name: str, *, by_cost: bool) -> Chart:
    unit = "US dollars a trial" if by_cost else "tokens a trial"
    points = [((each.cost_usd or 0.0) if by_cost else each.mean_tokens, each.kept_rate * 100, each) for each in designs]
    figure, axes = _canvas(height=3.4)
    most = max(x for x, _, _ in points) or 1.0
    least = min(y for _, y, _ in points)
    axes.set_xlim(0, most * 1.35)
    axes.set_ylim(min(least - 12, 88), 106)
    axes.set_yticks([tick for tick in (0, 20, 40, 60, 80, 90, 100) if tick >= axes.get_ylim()[0]])
    axes.set_xlabel(unit)
    axes.set_ylabel("cases kept, %")
    axes.grid(color=_GRID, linewidth=0.8)
    front = sorted((x, y) for x, y, each in points if each.pareto)
    if len(front) > 1:
        axes.plot(*zip(*front, strict=True), color=_AXIS, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
    taken = [_around(axes, x, y) for x, y, _ in points]
    for x, y, each in sorted(points, key=lambda point: point[:2]):
        colour = _OF_PROVENANCE[each.provenance]
        face = colour if each.pareto else "none"
        axes.plot([x], [y], marker="o", markersize=8, color=colour, markerfacecolor=face, markeredgewidth=1.8, zorder=3)
        _label(axes, x, y, names.of(each), taken)
    form = "${:.5f}" if by_cost else "{:,.0f}"
    rows = tuple((names.of(e), f"{y:.0f} %", form.format(x), "yes" if e.pareto else "no") for x, y, e in points)
    note = "Filled: nothing of this group is at least as good in everything and better in something."
    return _chart(figure, title, name, ("design", "cases kept", unit, "on the Pareto front"), rows, note)


def _label(axes: Axes, x: float, y: float, text: str, taken: list[tuple[float, float, float, float]]) -> None:
    """Write *text* beside a point, where no other label stands; with a line to the point where that is further away."""
    left, low = _place(axes, x, y)
    width = len(text) * _LETTER_WIDTH
    for away in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6):
        box = (left + 8, low + away * _LABEL_HEIGHT - 6, left + 8 + width, low + away * _LABEL_HEIGHT + 6)
        if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
            break
    taken.append(box)
    line: dict[str, Any] = {"arrowstyle": "-", "color": _AXIS, "linewidth": 0.7} if away else {}
    axes.annotate(
        text, (x, y), xytext=(8, away * _LABEL_HEIGHT), textcoords="offset points", va="center", color=_INK, fontsize=9,
        arrowprops=line or None, annotation_clip=False,
    )  # fmt: skip


def _place(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Where a point stands in the drawing, in points."""
    left, low = axes.transData.transform((x, y)) * 72 / axes.figure.dpi
    return float(left), float(low)


def _around(axes: Axes, x: float, y: float) -> tuple[float, float, float, float]:
    """The box that the mark of a point takes."""
    left, low = _place(axes, x, y)
    return left - 6, low - 6, left + 6, low + 6


def _tokens(designs: Sequence[DesignFigures], names: _Names, title: str, name: str) -> Chart:
    shares = [(each.tokens.input / max(each.trials, 1), each.tokens.output / max(each.trials, 1)) for each in designs]
    figure, axes = _canvas(height=_height(designs))
    places = range(len(designs))
    colours = [_OF_PROVENANCE[each.provenance] for each in designs]
    axes.barh(places, [read for read, _ in shares], color=colours, height=0.62)
    axes.barh(
        places, [said for _, said in shares], left=[read for read, _ in shares], color=colours, alpha=0.45, height=0.62
    )
    told = [f"{read:,.0f} + {said:,.0f}" for read, said in shares]
    _finish_bars(
        axes,
        [names.of(each) for each in designs],
        [read + said for read, said in shares],
        told,
        "tokens: read, then (lighter) written",
    )
    rows = tuple((names.of(e), f"{read:,.0f}", f"{said:,.0f}") for e, (read, said) in zip(designs, shares, strict=True))
    return _chart(figure, title, name, ("design", "tokens read", "tokens written"), rows)


def _bars(
    designs: Sequence[DesignFigures],
    names: _Names,
    field: str,
    title: str,
    name: str,
    unit: str,
    *,
    form: str = "{:,.0f}",
    note: str = "",
) -> Chart:
    values = [float(getattr(each, field)) for each in designs]
    figure, axes = _canvas(height=_height(designs))
    axes.barh(range(len(designs)), values, color=[_OF_PROVENANCE[each.provenance] for each in designs], height=0.62)
    told = [form.format(value) for value in values]
    _finish_bars(axes, [names.of(each) for each in designs], values, told, unit)
    rows = tuple((names.of(each), text) for each, text in zip(designs, told, strict=True))
    return _chart(figure, title, name, ("design", unit), rows, note)


def _finish_bars(axes: Axes, names: Sequence[str], values: Sequence[float], told: Sequence[str], unit: str) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, (max(values) or 1.0) * 1.25)
    axes.set_xlabel(unit)
    axes.grid(visible=True, axis="x", color=_GRID, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    for place, (value, text) in enumerate(zip(values, told, strict=True)):
        axes.annotate(
            text, (value, place), xytext=(4, 0), textcoords="offset points", va="center", color=_INK, fontsize=9
        )


def _height(designs: Sequence[DesignFigures]) -> float:
    return 0.9 + 0.34 * len(designs)


def _canvas(*, height: float) -> tuple[Figure, Axes]:
    """A figure of 6.6 inches by *height*, without a frame."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.6, height), layout="constrained")
    axes = figure.add_subplot()
    figure.patch.set_visible(False)
    axes.patch.set_visible(False)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(_AXIS)
    axes.tick_params(colors=_AXIS, labelcolor=_INK)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    axes.xaxis.set_major_locator(_few_ticks())
    return figure, axes


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6)


def _chart(
    figure: Figure, title: str, name: str, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], note: str = ""
) -> Chart:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = embedded(buffer.getvalue(), name=name, label=f"{title}; its figures are in the table below", colours=_CLASSES)
    return Chart(title=title, svg=svg, columns=columns, rows=rows, note=note)
