"""A history as one HTML page: it loads nothing, runs no script, and its policy says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.records.history import CaseHistory, History, TrendSeries
from harness.reports.history import story
from harness.reports.history.spark import points
from harness.reports.screen import neutralise

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
_BASE = FOLDER.parent / "html" / "base.css"
_WIDTH, _HEIGHT = 160.0, 36.0
"""Of a sparkline, in CSS pixels."""
_MARKS = {
    ".": ("kept", "kept"), "x": ("broken", "broken"), "k": ("known", "broken, known"), "?": ("could_not_check", "not checked"),
    "-": ("", "not run"),
}  # fmt: skip
_COLOURS = {"FELL": "broken", "ROSE": "kept", "STEADY": "kept"}


def page(document: History) -> str:
    """
    Render *document* as a page of its own.

    Raises:
        UsageError: Jinja2 is not installed.
    """
    style = _BASE.read_text(encoding="utf-8") + (FOLDER / "history.css").read_text(encoding="utf-8")
    word, sentence = story.headline(document)
    command, use = story.next_step(document)
    return _environment().get_template("history.html.j2").render(
        policy=_policy(style), style=_markup(style), document=document, story=story, word=word, sentence=sentence,
        colour=_COLOURS.get(word, "could_not_check"), command=command, use=use, figures=story.figures(document),
        drawing=_drawing, alternative=_alternative, marks=_MARKS, strip=_strip, width=_WIDTH, height=_HEIGHT,
    )  # fmt: skip


def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ModuleNotFoundError:
        raise UsageError(
            "no-reports",
            "a page needs Jinja2, which is not installed",
            hint='pip install "tapegate[reports]"; `--format markdown` needs nothing',
        ) from None
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # names of cases and agents come from files that people send
        finalize=lambda value: neutralise(value, keep_lines=True) if type(value) is str else value,
    )


def _policy(style: str) -> str:
    """Nothing runs, nothing is loaded, and one style is used, by its hash (CSP Level 3, 2.3.1)."""
    from harness.reports.html.assets import source_hash

    return f"default-src 'none'; style-src {source_hash(style)}; base-uri 'none'; form-action 'none'"


def _drawing(series: TrendSeries, figure: story.Figure) -> list[str]:
    """The strokes of a sparkline, as the attribute `points` of SVG's polyline takes them."""
    strokes = points([figure.of(point) for point in series.points], width=_WIDTH, height=_HEIGHT)
    return [" ".join(f"{x:g},{y:g}" for x, y in stroke) for stroke in strokes]


def _alternative(series: TrendSeries, figure: story.Figure) -> str:
    """What a sparkline shows, for people who do not see it."""
    told = [figure.told(point) for point in series.points]
    if len(set(told)) == 1:
        return (
            f"{figure.name}: {told[-1]} in each of {len(told)} runs" if len(told) > 1 else f"{figure.name}: {told[-1]}"
        )
    known = [point for point in series.points if figure.of(point) is not None]
    least, most = min(known, key=lambda p: figure.of(p) or 0.0), max(known, key=lambda p: figure.of(p) or 0.0)
    return f"{figure.name}: from {told[0]} to {told[-1]}, least {figure.told(least)}, most {figure.told(most)}"


def _strip(case: CaseHistory) -> list[tuple[str, int]]:
    """The marks of *case*, with how many runs each stands for before it changes."""
    told: list[tuple[str, int]] = []
    for mark in case.states:
        if told and told[-1][0] == mark:
            told[-1] = (mark, told[-1][1] + 1)
        else:
            told.append((mark, 1))
    return told


def _markup(text: str) -> Any:
    """The style, which a template must not escape: it is ours, and its hash stands in the policy."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 – files of this package
