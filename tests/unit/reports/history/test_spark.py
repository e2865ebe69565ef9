"""What a sparkline says is true of its values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.columns import display_width
from harness.reports.history.spark import BARS, PLAIN_BARS, levels, points, sparkline

values = st.lists(st.none() | st.floats(0, 1e12), max_size=30)


@given(values)
def test_a_sparkline_is_as_long_as_its_values(found):
    """One column a value, also where it is not known."""
    assert len(found) == len(sparkline(found)) == display_width(sparkline(found))
    assert [value is None for value in found] == [bar == " " for bar in sparkline(found)]


@given(values, st.integers(2, 100))
def test_the_order_of_values_is_kept(found, count):
    """No bar is higher than that of a greater value."""
    placed = [(value, level) for value, level in zip(found, levels(found, count), strict=True) if value is not None]

    assert all(one <= other for (a, one) in placed for (b, other) in placed if a <= b)


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=30), st.integers(2, 100))
def test_the_least_is_lowest_and_the_greatest_highest(found, count):
    """Unless all are the same, when each is in the middle."""
    placed = levels(found, count)

    if min(found) == max(found):
        assert {(count - 1) // 2} == set(placed)
    else:
        assert (0, count - 1) == (placed[found.index(min(found))], placed[found.index(max(found))])


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(1, 50))
def test_the_unit_of_a_figure_changes_nothing(found, factor):
    """Seconds and milliseconds look the same."""
    assert sparkline(found) == sparkline([value * factor for value in found])


@pytest.mark.parametrize(
    ("found", "expected"),
    [([], ""), ([3], "▄"), ([0, 7], "▁█"), ([1, None, 3], "▁ █"), ([None], " "), (range(8), BARS), ([5, 5], "▄▄")],
)
def test_a_sparkline_looks_like_this(found, expected):
    """Word for word."""
    assert expected == sparkline(found)


def test_a_terminal_without_blocks_gets_other_bars():
    """ASCII, from low to high."""
    assert "_#" == sparkline([1, 2], bars=PLAIN_BARS)
    assert PLAIN_BARS.isascii()


@given(values, st.floats(20, 400), st.floats(10, 100))
def test_a_drawing_stays_inside_its_frame(found, width, height):
    """No stroke is cut off, and every known value has a point."""
    strokes = points(found, width=width, height=height)

    assert sum(value is not None for value in found) == sum(map(len, strokes))
    assert all(0 <= x <= width and 0 <= y <= height for stroke in strokes for x, y in stroke)


def test_a_value_that_is_not_known_breaks_the_line():
    """Nothing is drawn across a run without the figure; up is more."""
    strokes = points([1, 2, None, 1], width=232, height=36)

    assert [[(2, 34), (78, 2)], [(230, 34)]] == strokes
