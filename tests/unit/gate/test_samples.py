"""Rates of new recordings against accepted ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gate.samples import ALPHA, chance_of_as_bad, trials_needed


def test_the_lady_tasting_tea() -> None:
    """Fisher's own figures: 1 in 70 for four of four, 17 in 70 for at least three."""
    assert 1 / 70 == pytest.approx(chance_of_as_bad(0, 4, 4, 4))
    assert 17 / 70 == pytest.approx(chance_of_as_bad(1, 4, 3, 4))


def test_how_many_trials_settle_it() -> None:
    """Three on each side for never against always; none where nothing got worse."""
    assert (3, None, None) == (trials_needed(0, 1, 1, 1), trials_needed(1, 1, 1, 1), trials_needed(1, 2, 0, 2))


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_it_is_a_probability_that_falls_with_evidence(then: int, now: int, data: st.DataObject) -> None:
    """Between 0 and 1, 1 where nothing broke, and no larger for one more broken trial in place of a kept one."""
    before = data.draw(st.integers(0, then))
    after = data.draw(st.integers(0, now - 1))
    fewer, more = chance_of_as_bad(before, then, after, now), chance_of_as_bad(before, then, after + 1, now)

    assert 0 < more <= fewer + 1e-9 <= 1 + 2e-9
    assert 1.0 == pytest.approx(chance_of_as_bad(before, then, 0, now))


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_what_is_needed_is_enough(then: int, now: int, data: st.DataObject) -> None:
    """With as many trials as it asks for, the same rates are significant."""
    before, after = data.draw(st.integers(0, then)), data.draw(st.integers(0, now))
    needed = trials_needed(before, then, after, now)
    if needed is not None:
        old, new = round(before / then * needed), round(after / now * needed)

        assert chance_of_as_bad(old, needed, new, needed) <= ALPHA
