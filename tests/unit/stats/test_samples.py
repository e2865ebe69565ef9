"""Counts of trials, and the refusal of numbers that cannot be."""

from __future__ import annotations

import pytest

from harness.stats import StatsInputError, Tally, tally, tally_recordings, wilson_interval


def test_outcomes_are_counted() -> None:
    """A tally says how many of how many passed."""
    assert Tally(2, 3) == tally([True, False, True])
    assert 2 / 3 == tally([True, False, True]).rate


def test_a_replayed_recording_is_one_sample() -> None:
    """The same recording counts once, however often it is replayed."""
    assert Tally(1, 2) == tally_recordings([("a", True), ("b", False), ("a", True), ("a", True)])


def test_a_recording_with_two_outcomes_is_refused() -> None:
    """One recording cannot both pass and fail: something else decided."""
    with pytest.raises(StatsInputError) as refused:
        tally_recordings([("sha256:a", True), ("sha256:a", False)])

    assert "error[bad-numbers]: recording sha256:a both passed and failed" == str(refused.value)


@pytest.mark.parametrize(
    ("passes", "trials", "text"),
    [
        (0, 0, "at least one trial is needed, not 0"),
        (4, 3, "passes lie between 0 and 3 trials, not at 4"),
        (-1, 3, "passes lie between 0 and 3 trials, not at -1"),
    ],
)
def test_impossible_counts_are_refused(passes: int, trials: int, text: str) -> None:
    """Counts out of range are named with their range."""
    with pytest.raises(StatsInputError) as refused:
        wilson_interval(passes, trials)

    assert f"error[bad-numbers]: {text}" == str(refused.value)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, float("nan")])
def test_a_confidence_in_percent_is_refused(confidence: float) -> None:
    """A confidence is a share, and neither 0 nor 1."""
    with pytest.raises(StatsInputError, match="confidence lies between 0 and 1, both excluded, not at"):
        wilson_interval(1, 2, confidence=confidence)
