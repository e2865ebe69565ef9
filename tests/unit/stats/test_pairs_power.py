"""The power of McNemar's exact test on single paired trials, against brute force."""

from __future__ import annotations

from importlib import import_module
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import StatsInputError, mcnemar_exact, pairs_needed, pairs_power, smallest_detectable_loss


@pytest.mark.parametrize(("lost", "gained", "pairs"), [(0.3, 0.1, 12), (0.5, 0.0, 9), (0.2, 0.2, 15), (1.0, 0.0, 7)])
def test_power_of_pairs_is_counted_out(lost: float, gained: float, pairs: int) -> None:
    """Adding up every possible outcome that the test rejects gives the same power."""
    expected = 0.0
    for losses in range(pairs + 1):
        for gains in range(pairs - losses + 1):
            ways = comb(pairs, losses) * comb(pairs - losses, gains)
            chance = ways * lost**losses * gained**gains * (1 - lost - gained) ** (pairs - losses - gains)
            expected += chance * (mcnemar_exact(losses, gains) <= 0.05)

    assert pytest.approx(expected, abs=1e-9) == pairs_power(lost, gained, pairs)


@pytest.mark.parametrize(("lost", "gained"), [(0.2, 0.1), (0.25, 0.0), (0.05, 0.3), (0.04, 0.01), (0.1, 0.081)])
def test_needed_pairs_reach_the_power(lost: float, gained: float) -> None:
    """So many cases reach 80 %, and one fewer does not."""
    needed = pairs_needed(lost, gained)

    assert needed is not None
    assert pairs_power(lost, gained, needed) >= 0.8 > pairs_power(lost, gained, needed - 1)


def test_limits_in_integers_and_in_floating_point_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """McNemar's limits for up to 300 changed cases are the same by both ways of finding them."""
    module = import_module("harness.stats.pairs_power")
    exact = [module._largest_rejected(changed, 0.05) for changed in range(1, 301)]
    module._largest_rejected.cache_clear()
    monkeypatch.setattr(module, "EXACT_CHANGES", 0)
    floating = [module._largest_rejected(changed, 0.05) for changed in range(1, 301)]
    module._largest_rejected.cache_clear()

    assert exact == floating


def test_a_loss_among_single_trials() -> None:
    """Twenty cases see a loss of 37 % of them, a hundred one of 8 %; gains beside it make it harder to see."""
    found = [smallest_detectable_loss(20), smallest_detectable_loss(100), smallest_detectable_loss(100, gained=0.05)]

    assert [0.37, 0.08, 0.19] == [loss and round(loss, 2) for loss in found]
    assert pytest.approx(0.8, abs=1e-6) == pairs_power(found[2] or 0, 0.05, 100)


@given(st.floats(0, 0.5), st.floats(0, 0.5), st.integers(1, 80))
def test_losses_and_gains_mirror_each_other(lost: float, gained: float, pairs: int) -> None:
    """Power is a chance, and is the same in both directions."""
    assert 0 <= pairs_power(lost, gained, pairs) <= 1
    assert pytest.approx(pairs_power(lost, gained, pairs), abs=1e-9) == pairs_power(gained, lost, pairs)


def test_what_cannot_be_seen_is_none() -> None:
    """Equal flows need no number, nor do those that nobody could run enough cases for; five cases see no loss at all."""
    assert pairs_needed(0.1, 0.1) is None
    assert pairs_needed(0.251, 0.249) is None
    assert smallest_detectable_loss(5) is None
    assert 6 == pairs_needed(1.0, 0.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pairs_power(0.7, 0.7, 3), "the chance of a change lies between 0 and 1, not at 1.4"),
        (lambda: pairs_power(-0.1, 0.2, 3), "the chance of a loss lies between 0 and 1, not at -0.1"),
        (lambda: pairs_power(0.1, 0.0, 0), "at least one trial is needed, not 0"),
        (lambda: pairs_needed(0.2, 0.1, power=80), "power lies between 0 and 1, both excluded, not at 80"),
        (lambda: smallest_detectable_loss(9, gained=2), "the chance of a gain lies between 0 and 1, not at 2"),
    ],
)
def test_what_means_nothing_is_refused(call, text: str) -> None:
    """Numbers out of range are named."""
    with pytest.raises(StatsInputError) as refused:
        call()

    assert text == refused.value.message
