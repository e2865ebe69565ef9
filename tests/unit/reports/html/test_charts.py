"""Charts: drawn for groups of designs that are compared, in a form that the page's policy takes."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from harness.records.comparison import Comparison, DesignFigures, Group, PairTest
from harness.records.messages import Usage
from harness.reports.html.arena import arena_parts
from harness.reports.html.charts import Chart


def figures(agent: str, *, kept: float = 1.0, tokens: int = 900, cost: float | None = None, **changes) -> DesignFigures:
    """The figures of one design over ten trials."""
    fields = {
        "agent": agent, "profile": "reference", "model": "m", "provenance": "local", "cases": 10, "trials": 10, "kept": 10,
        "kept_rate": kept, "interval": None, "llm_calls": 2.0, "tool_calls": 1.0, "tokens": Usage(input=tokens, output=100),
        "cost_usd": cost, "recorded_ms": 12.0, "sets": ("shared",), "mean_tokens": (tokens + 100) / 10,
    }  # fmt: skip
    return DesignFigures(**(fields | changes))


def compared(*designs: DesignFigures, pairs: tuple[PairTest, ...] = ()) -> Comparison:
    """A comparison of one group for each kind of answers."""
    groups = tuple(
        Group(
            provenance=who,
            sets=("shared",),
            designs=tuple(one.name for one in designs if one.provenance == who),
            cases=10,
        )
        for who in dict.fromkeys(one.provenance for one in designs)
    )
    return Comparison(run="r1", sets=("shared",), designs=designs, pairs=pairs, matrix=(), groups=groups)


def drawn(*designs: DesignFigures) -> tuple[Chart, ...]:
    """The charts of the one group of these designs."""
    (part,) = arena_parts(compared(*designs))
    return part.charts


@pytest.fixture(scope="module")
def charts():
    """Charts of two designs with prices."""
    return drawn(figures("a", cost=0.25, pareto=True), figures("b$x$<&", kept=0.5, tokens=90_000, cost=2.0))


def test_there_is_a_picture_of_each_kind(charts):
    """Quality against cost, tokens, cost and time, each with its figures."""
    assert [
        "Kept against cost", "Tokens of a trial", "Cost of a trial",
        "Time of a trial as recorded",
    ] == [chart.title for chart in charts]  # fmt: skip
    assert (("a", "100 %", "$0.25000", "yes"), ("b$x$<&", "50 %", "$2.00000", "no")) == charts[0].rows
    assert (("a", "90", "10"), ("b$x$<&", "9,000", "10")) == charts[1].rows


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
    assert "b$x$&lt;&amp;" in charts[0].svg


def test_without_prices_tokens_stand_in():
    """No cost is drawn where nobody knows it; a script's times come with a warning."""
    charts = drawn(figures("a", provenance="scripted"), figures("b", provenance="scripted"))

    assert [chart.title for chart in charts] == [
        "Kept against tokens", "Tokens of a trial", "Time of a trial as recorded",
    ]  # fmt: skip
    assert "A script answers at once: these times say nothing of a model." == charts[-1].note


def test_drawing_twice_is_the_same():
    """Two reports of one run are the same bytes."""
    assert drawn(figures("a"), figures("b")) == drawn(figures("a"), figures("b"))


def test_models_are_named_where_they_differ():
    """One agent with two models is two designs."""
    charts = drawn(figures("a"), figures("a", model="n"))

    assert ["a × m", "a × n"] == [row[0] for row in charts[1].rows]


def test_one_design_is_no_picture():
    """There is nothing to compare, so nothing is drawn."""
    assert () == drawn(figures("a"))


def test_groups_keep_to_themselves():
    """Designs and pairs stand where they were compared: provenance is never mixed."""
    pair = PairTest(a="a × m", b="b × m", cases=10, wins=1, losses=0, ties=9, provenance="local", sets=("shared",))
    scripted = [figures(agent, provenance="scripted") for agent in "ab"]
    local, other = arena_parts(compared(figures("a"), figures("b"), *scripted, pairs=(pair,)))

    assert ("shared, local", (pair,)) == (local.name, local.pairs)
    assert ("shared, scripted", ()) == (other.name, other.pairs)
    assert [{"local"}, {"scripted"}] == [{each.provenance for each in part.designs} for part in (local, other)]


def test_nothing_compared_is_nothing_drawn():
    """A run of one design has no arena."""
    assert [] == arena_parts(None)
