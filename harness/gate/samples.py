"""
Whether contracts break more often in new recordings than in the accepted ones, over cases and in each of them.

With one recording a side, McNemar's exact test over the cases; with more, the permutation test that shuffles within each
case. One-sided: the gate asks for losses alone. Both hold the suite fixed, so that variants of one question do not count
double: under "nothing changed" the recordings of a case can be exchanged whatever its family. What is said of other
questions like these (standard error and interval) is clustered by family.

Holm's correction covers every test of a decision that could have been significant, given how many recordings broke at
all: one that could not is no chance of a false alarm (R. E. Tarone, "A modified Bonferroni method for discrete data",
Biometrics 46 (1990) 515–522).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb
from typing import Any

import msgspec

from harness.gate.fresh import Counts, FreshCase, Group, by_group, rates
from harness.records.comparison import Interval
from harness.records.decision import Statistic
from harness.stats import (
    Tally,
    clustered_standard_error,
    holm,
    matched_interval,
    matched_smallest_detectable,
    matched_trials_needed,
    mcnemar_exact,
    permutation_test,
    smallest_detectable_drop,
    smallest_detectable_loss,
    trials_needed,
)

ALPHA = 0.05
"""The chance of a false alarm of all tests of one decision together."""
_TWO_SIDED = 2 * ALPHA
"""What a two-sided test takes for the same limit on the side of losses."""
MOST_NEEDED = 1000
"""More recordings of one case than this nobody makes."""
_Key = tuple[Group, str, str]
"""Group, case (empty: over its cases) and contract (empty: all of them)."""


class Tests:
    """The tests of one decision, corrected together."""

    def __init__(self, cases: Sequence[FreshCase], counts: Counts) -> None:
        self.counts = counts
        asked = {key: chosen for group, found in by_group(cases).items() for key, chosen in self._asked(group, found)}
        drawn = {key: self._statistic(key, chosen) for key, chosen in asked.items()}
        possible = [
            key for key, one in drawn.items() if one.p_value is not None and self._best(asked[key], key) <= ALPHA
        ]
        adjusted = dict(zip(possible, holm([drawn[key].p_value or 0.0 for key in possible]), strict=True))
        self.statistics = {key: _concluded(one, adjusted.get(key)) for key, one in drawn.items()}
        self._hypotheses = max(1, len(possible))

    def verdict(self, case: FreshCase, contract: str) -> Statistic | None:
        """The test by which *contract* got worse for *case*: its own, that over all cases, or that of all contracts."""
        for key in ((case.group, case.case, contract), (case.group, "", contract), (case.group, "", "")):
            found = self.statistics.get(key)
            if found is not None and found.outcome == "worse":
                return found
        return None

    def needed(self, case: FreshCase, contract: str) -> int | None:
        """
        Recordings of *case* on each side that would show its rates with 80 % power, corrected as many times as there are
        tests; None where it did not get worse, or past `MOST_NEEDED`.
        """
        then, now = case.tallies(contract, self.counts)
        if now.rate >= then.rate:
            return None
        return _within(trials_needed(then.rate, now.rate, alpha=_TWO_SIDED / self._hypotheses))

    def _asked(self, group: Group, cases: Sequence[FreshCase]) -> Iterator[tuple[_Key, Sequence[FreshCase]]]:
        """Questions that differ: one contract alone is all of them, and one case alone is the set."""
        contracts = sorted({name for case in cases for name in case.broken(self.counts)})
        yield (group, "", ""), cases
        for contract in contracts:
            if len(contracts) > 1:
                yield (group, "", contract), cases
            if len(cases) > 1:
                for case in cases:
                    if self._best([case], (group, case.case, contract)) <= ALPHA:
                        yield (group, case.case, contract), [case]

    def _strata(self, cases: Sequence[FreshCase], contract: str) -> list[tuple[Tally, Tally]]:
        return [case.tallies(contract, self.counts) for case in cases]

    def _best(self, cases: Sequence[FreshCase], key: _Key) -> float:
        """The smallest p-value that so many broken recordings could have come to."""
        chance = 1.0
        for then, now in self._strata(cases, key[2]):
            passes = then.passes + now.passes
            fewest = max(0, passes - then.trials)
            ways = comb(now.trials, fewest) * comb(then.trials, passes - fewest)
            chance *= ways / comb(then.trials + now.trials, passes)
        return chance

    def _statistic(self, key: _Key, cases: Sequence[FreshCase]) -> Statistic:
        (set_name, agent, model), case, contract = key
        strata = self._strata(cases, contract)
        families = [one.family for one in cases]
        exact = [Fraction(*now) - Fraction(*then) for then, now in strata]
        shifts, effect = [float(shift) for shift in exact], float(sum(exact) / len(exact))
        drawn = Statistic(
            agent=agent, model=model, set=set_name, case=case, contract=contract, provenance=cases[0].provenance,
            test="permutation", cases=len(cases), families=len(set(families)), effect=effect, outcome="inconclusive",
            before=rates([then for then, _ in strata], families), after=rates([now for _, now in strata], families),
            standard_error=clustered_standard_error(shifts, families) if len(set(families)) > 1 else None,
            interval=Interval(*matched_interval(strata, families)), **_power(strata, effect),
        )  # fmt: skip
        if any(then.trials != 1 or now.trials != 1 for then, now in strata):
            return msgspec.structs.replace(drawn, p_value=permutation_test(strata, alternative="worse").p_value)
        lost = sum(then.passes > now.passes for then, now in strata)
        gained = sum(then.passes < now.passes for then, now in strata)
        p_value = mcnemar_exact(lost, gained, alternative="worse")
        return msgspec.structs.replace(drawn, test="mcnemar", p_value=p_value, lost=lost, gained=gained)


def _concluded(drawn: Statistic, adjusted: float | None) -> Statistic:
    if adjusted is not None and adjusted <= ALPHA:
        return msgspec.structs.replace(drawn, p_adjusted=adjusted, outcome="worse")
    outcome = "inconclusive" if drawn.effect < 0 else "not_worse"
    return msgspec.structs.replace(drawn, p_adjusted=adjusted, outcome=outcome)


def _power(strata: Sequence[tuple[Tally, Tally]], effect: float) -> dict[str, Any]:
    """What so many recordings can see, and how many of each case would see what there is."""
    then, now = strata[0]
    if len(strata) == 1:
        return {
            "smallest_detectable": smallest_detectable_drop(then.rate, min(then.trials, now.trials), alpha=_TWO_SIDED),
            "needs_trials": _within(trials_needed(then.rate, now.rate, alpha=_TWO_SIDED)) if effect < 0 else None,
        }
    if all(before.trials == after.trials == 1 for before, after in strata):
        smallest = smallest_detectable_loss(len(strata), alpha=_TWO_SIDED)
    else:
        smallest = matched_smallest_detectable(strata, alpha=_TWO_SIDED)
    needed = matched_trials_needed(strata, effect, alpha=_TWO_SIDED) if effect < 0 else None
    return {"smallest_detectable": smallest, "needs_trials": _within(needed)}


def _within(needed: int | None) -> int | None:
    return needed if needed is not None and needed <= MOST_NEEDED else None
