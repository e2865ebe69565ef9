"""Charts: drawn for groups of designs that are compared, in a form that the page's policy takes."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from harness.records.comparison import Comparison, DesignFigures, Group
from harness.records.messages import Usage
from harness.reports.html.charts import draw_charts


def figures(agent: str, *, kept: float = 1.0, tokens: int = 900, cost: float | None = None, **changes) -> DesignFigures:
    """The figures of one design over ten trials."""
    fields = {
        "agent": agent, "profile": "reference", "model": "m", "provenance": "local", "cases": 10, "trials": 10, "kept": 10,
        "kept_rate": kept, "interval": None, "llm_calls": 2.0, "tool_calls": 1.0, "tokens": Usage(input=tokens, output=100),
        "cost_usd": cost, "recorded_ms": 12.0, "sets": ("shared",), "mean_tokens": (tokens + 100) / 10,
    }  # fmt: skip
    return DesignFigures(**(fields | changes))


def compared(*designs: DesignFigures) -> Comparison:
    """A comparison of one group."""
    group = Group(
        provenance=designs[0].provenance, sets=("shared",), designs=tuple(one.name for one in designs), cases=10
    )
    return Comparison(run="r1", sets=("shared",), designs=designs, pairs=(), matrix=(), groups=(group,))


@pytest.fixture(scope="module")
def charts():
    """Charts of two designs with prices."""
    return draw_charts(
        compared(figures("a", cost=0.25, pareto=True), figures("b$x$<&", kept=0.5, tokens=90_000, cost=2.0))
    )


def test_there_is_a_picture_of_each_kind(charts):
    """Quality against cost, tokens, cost and time, each with its figures."""
    assert [
        "Kept against cost: shared, local", "Tokens of a trial: shared, local", "Cost of a trial: shared, local",
        "Time of a trial as recorded: shared, local",
    ] == [chart.title for chart in charts]  # fmt: skip
    assert (("a × m", "100 %", "$0.25000", "yes"), ("b$x$<& × m", "50 %", "$2.00000", "no")) == charts[0].rows
    assert (("a × m", "90", "10"), ("b$x$<& × m", "9,000", "10")) == charts[1].rows


def test_the_policy_takes_them(charts):
    """No style, script, address or size of its own; every id is used, and no two charts share one."""
    seen: set[str] = set()
    for chart in charts:
        root = ET.fromstring(chart.svg)
        for element in root.iter():
            tag = element.tag.rpartition("}")[2]
            assert tag not in {"style", "script", "image", "a", "metadata", "foreignObject"}
            assert not [name for name in element.attrib if name == "style" or name.startswith("on")]
            assert element.get("href", "#").startswith("#")
        ids = set(re.findall(r' id="([^"]+)"', chart.svg))
        assert not ids & seen
        assert all(f"#{one}" in chart.svg for one in ids)
        seen |= ids
        assert ("img", None) == (root.get("role"), root.get("width"))


def test_colours_are_those_of_the_page(charts):
    """No colour of the drawing is left, so that dark mode holds."""
    for chart in charts:
        assert not re.search(r"#(?:[0-9a-fA-F]{6})\b", chart.svg)
        assert 'class="fill-local' in chart.svg or "fill-local" in chart.svg


def test_names_are_text(charts):
    """A formula in a name is none, and markup is escaped."""
    assert "b$x$&lt;&amp; × m" in charts[0].svg


def test_without_prices_tokens_stand_in():
    """No cost is drawn where nobody knows it; a script's times come with a warning."""
    charts = draw_charts(compared(figures("a", provenance="scripted"), figures("b", provenance="scripted")))

    assert [title.partition(":")[0] for title in (chart.title for chart in charts)] == [
        "Kept against tokens", "Tokens of a trial", "Time of a trial as recorded",
    ]  # fmt: skip
    assert "A script answers at once: these times say nothing of a model." == charts[-1].note


def test_drawing_twice_is_the_same():
    """Two reports of one run are the same bytes."""
    twice = compared(figures("a"), figures("b"))

    assert draw_charts(twice) == draw_charts(twice)


def test_one_design_is_no_group():
    """There is nothing to compare, so nothing is drawn."""
    assert [] == draw_charts(compared(figures("a")))
