"""A history on one screen: the verdict, each design's figures as sparklines, what does not hold still, the next step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.records.history import History, TrendSeries, UnsteadyCase
from harness.reports.columns import display_width
from harness.reports.history import story
from harness.reports.history.spark import BARS, sparkline
from harness.reports.screen import Paint, clip, one_line, plain, titled, wrap
from harness.reports.table import table

_COLOURS = {"FELL": "red", "ROSE": "green", "STEADY": "green"}
_POINTS = (24, 16, 12, 8)
"""Points of a sparkline, as many as the terminal has room for."""
_MOST_CASES = 8
_MOST_UNSTEADY = 5
_MARKS = ". kept  x broken  k known  ? not checked  - not run"


def render_history(document: History, *, width: int = 80, paint: Paint = plain, bars: str = BARS) -> str:
    """
    Render *document* for a terminal of *width* columns, at least 20.

    Args:
        document: What to render.
        width: Columns of the terminal.
        paint: What decorates words.
        bars: Eight characters from low to high.
    """
    word, sentence = story.headline(document)
    command, use = story.next_step(document)
    told = f"{one_line(sentence)} ({story.span(document)})"
    parts = [
        titled(word, told, width, paint=paint, colour=_COLOURS.get(word, "yellow")),
        _designs(document, width, bars),
        _restless(document, width),
        "\n\n".join(_unsteady(document.unsteady, width, paint)),
        _changes(document, width),
        *(
            wrap(f"could not be read: {one_line(run.run)}: {one_line(run.because)}", width, later="  ")
            for run in document.skipped[:3]
        ),
        wrap(story.SAMPLES, width, later="  ") if document.series else "",
        f"hint: `{one_line(command)}` {use}",  # never wrapped, so that a command can be copied
    ]
    return "\n\n".join(part for part in parts if part)


def render_runs(document: History, *, width: int = 80, paint: Paint = plain) -> str:
    """Render the runs of *document*, the newest first, so that people find the one that they mean."""
    rows, colours = [], []
    for run in reversed(document.runs):
        rows.append(
            (
                run.run, story.moment(run.began), run.state, f"{run.kept}/{run.trials}", run.known, run.broken - run.known,
                run.could_not_check, "–" if run.exit_code is None else run.exit_code,
            )
        )  # fmt: skip
        broken, unchecked = run.broken > run.known, bool(run.could_not_check)
        colours.append(("", "", "", "", "", "red" if broken else "", "yellow" if unchecked else "", ""))
    headers = ("run", "began (UTC)", "state", "kept", "known", "broken", "could not check", "exit")
    short = ("run", "began (UTC)", "state", "kept", "known", "broken", "unchk", "exit")
    parts = [
        table(headers, rows, short=short, width=width, paint=paint, colours=colours) if rows else "no run is known",
        *(
            wrap(f"could not be read: {one_line(run.run)}: {one_line(run.because)}", width, later="  ")
            for run in document.skipped
        ),
        wrap(
            "hint: a unique part of a name is enough: `harness report RUN`, `harness diff RUN RUN`", width, later="  "
        ),
    ]
    return "\n\n".join(parts)


def _designs(document: History, width: int, bars: str) -> str:
    """A table with as many points as fit, else a name and its figures for each design."""
    if not document.series:
        return ""
    shown = story.figures(document)
    headers = ["design", *(_header(figure) for figure in shown)]
    for most in _POINTS:
        rows = [
            [one_line(story.who(series)), *(_cell(series, figure, bars, most) for figure in shown)]
            for series in document.series
        ]
        columns = [max(map(display_width, column)) for column in zip(headers, *rows, strict=True)]
        if sum(columns) + 2 * (len(columns) - 1) <= width:
            return table(headers, rows, width=width)
    return "\n".join(
        line
        for row in rows
        for line in (wrap(row[0], width, later="  "), _figures(zip(headers[1:], row[1:], strict=True), width))
    )


def _figures(cells: Iterator[tuple[str, str]], width: int) -> str:
    """Each figure in one piece; a line ends where the next does not fit."""
    lines = [""]
    for header, cell in cells:
        piece = f"  {header} {cell}"
        if lines[-1] and display_width(lines[-1]) + display_width(piece) > width:
            lines.append("")
        lines[-1] += piece if display_width(piece) <= width else wrap(piece, width, indent="  ", later="    ")
    return "\n".join(lines)


def _cell(series: TrendSeries, figure: story.Figure, bars: str, most: int) -> str:
    points = series.points[-most:]
    return f"{sparkline([figure.of(point) for point in points], bars=bars)} {figure.told(points[-1])}"


def _header(figure: story.Figure) -> str:
    return figure.name if figure.name == "kept" else f"{figure.name}/trial"


def _restless(document: History, width: int) -> str:
    cases = story.restless(document)
    lines = []
    if cases:
        rows = [
            [one_line(story.who(case)), one_line(f"{case.set}/{case.case}"), case.states[-_POINTS[0] :]]
            for case in cases[:_MOST_CASES]
        ]
        lines = [table(["changed its verdict", "case", "runs"], rows, width=width), wrap(_MARKS, width, indent="  ")]
    if len(cases) > _MOST_CASES:
        lines.append(wrap(f"and {len(cases) - _MOST_CASES} more; `--json` has all", width, indent="  "))
    if never := story.never_kept(document):
        lines.append(wrap(f"kept in none of these runs: {one_line(never)}", width, later="  "))
    return "\n".join(lines)


def _unsteady(cases: Sequence[UnsteadyCase], width: int, paint: Paint) -> Iterator[str]:
    for case in cases[:_MOST_UNSTEADY]:
        word = "FLAKY" if case.kind == "recordings" else "NONDETERMINISTIC"
        name = one_line(f"{story.who(case)} {case.set}/{case.case}")
        because = wrap(clip(one_line(case.because), 400), width, indent="  ", later="    ")
        yield f"{titled(word, name, width, paint=paint, colour='yellow')}\n{because}"
    if len(cases) > _MOST_UNSTEADY:
        yield wrap(f"and {len(cases) - _MOST_UNSTEADY} more; `--json` has all", width, later="  ")


def _changes(document: History, width: int) -> str:
    told = story.changes(document)
    if not told:
        return ""
    return "\n".join(
        ["changed before", *(wrap(one_line(f"{run}  {what}"), width, indent="  ", later="    ") for run, what in told)]
    )
