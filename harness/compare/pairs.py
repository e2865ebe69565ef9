"""Two designs head to head: exact counts always, and what may be said of chance where their recordings are samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import msgspec

from harness.compare.designs import Design, Rivals
from harness.compare.figures import FamilyOf, tally_of
from harness.records.comparison import Interval, PairTest
from harness.records.run import CaseVerdict
from harness.stats import (
    Tally,
    cohens_h,
    holm,
    matched_interval,
    matched_smallest_detectable,
    matched_trials_needed,
    mcnemar_exact,
    pair,
    paired_interval,
    permutation_test,
    smallest_detectable_loss,
)

ALPHA = 0.05
WORTH_SEEING = 0.1
"""A difference of rates that is never to be missed: a pair that would show it is told, even where it shows none."""
EXACT_CASES = 100
"""Up to so many cases the power of single trials is counted out; it takes a fifth of a second."""
SCRIPTED = "scripted: each reply was written by hand, so no chance is in it"
UNPROVEN = "nothing says who answered, so nothing is a sample"
COPIES = "both replay the same recordings: their difference is exact, and no sample of anything"
NOTHING_SHARED = "no case was answered by both"


@dataclass(frozen=True)
class _Case:
    """One case of both: its tallies, and those without the recordings that both sides replay."""

    a: Tally
    b: Tally
    fresh: tuple[Tally, Tally] | None
    family: str


def pair_tests(groups: Sequence[Rivals], *, family_of: FamilyOf) -> list[PairTest]:
    """Hold each two designs of each group against each other; p-values are adjusted over all of them together."""
    tests = [_head_to_head(group, a, b, family_of) for group in groups for a, b in combinations(group.designs, 2)]
    tested = [number for number, test in enumerate(tests) if test.p_value is not None]
    for number, p_adjusted in zip(tested, holm([tests[number].p_value or 0.0 for number in tested]), strict=True):
        detectable = tests[number].smallest_detectable
        sure = detectable is not None and detectable <= WORTH_SEEING
        told = p_adjusted <= ALPHA or sure
        tests[number] = msgspec.structs.replace(
            tests[number],
            p_adjusted=p_adjusted,
            told=told,
            needs_trials=None if told else tests[number].needs_trials,
            because="" if p_adjusted <= ALPHA else _not_significant(p_adjusted, detectable, sure=sure),
        )
    return tests


def _head_to_head(group: Rivals, a: Design, b: Design, family_of: FamilyOf) -> PairTest:
    cases = [
        _case(a.trials[place], b.trials[place], family_of(place))
        for place in group.places
        if place in a.trials and place in b.trials
    ]
    counts = PairTest(
        a=a.name, b=b.name, provenance=group.provenance, sets=group.sets, cases=len(cases),
        wins=sum(case.a.rate > case.b.rate for case in cases), losses=sum(case.a.rate < case.b.rate for case in cases),
        ties=sum(case.a.rate == case.b.rate for case in cases),
    )  # fmt: skip
    fresh = [case for case in cases if case.fresh is not None]
    if not cases:
        return msgspec.structs.replace(counts, because=NOTHING_SHARED, told=False)
    if not group.sampled:
        return msgspec.structs.replace(counts, because=SCRIPTED if group.provenance == "scripted" else UNPROVEN)
    if not fresh:
        return msgspec.structs.replace(counts, because=COPIES)
    return _tested(counts, [case.fresh for case in fresh if case.fresh], [case.family for case in fresh])


def _case(a: Sequence[CaseVerdict], b: Sequence[CaseVerdict], family: str) -> _Case:
    shared = {trial.cassette_digest for trial in a} & {trial.cassette_digest for trial in b} - {""}
    own = [[trial for trial in side if trial.cassette_digest not in shared] for side in (a, b)]
    fresh = (tally_of(own[0]), tally_of(own[1])) if all(own) else None
    return _Case(tally_of(a), tally_of(b), fresh, family)


def _tested(counts: PairTest, cases: Sequence[tuple[Tally, Tally]], families: Sequence[str]) -> PairTest:
    """Every figure of chance; statistics call *b* the baseline, so that a positive difference speaks for *a*."""
    sides = [(b, a) for a, b in cases]
    single = all(one.trials == 1 for both in cases for one in both)
    rate_a, rate_b = (sum(one.rate for one in side) / len(cases) for side in zip(*cases, strict=True))
    effect = round(rate_a - rate_b, 10)
    if single:
        both = pair([b.passes == 1 for b, _ in sides], [a.passes == 1 for _, a in sides])
        test, p_value = "mcnemar_exact", mcnemar_exact(both.lost, both.gained)
        alone = len(set(families)) == len(families)
        interval = paired_interval(both) if alone else matched_interval(sides, families)
        detectable = (
            _detectable(len(cases), min(both.lost, both.gained))
            if len(cases) <= EXACT_CASES
            else matched_smallest_detectable(sides)
        )
    else:
        test, p_value = "stratified_permutation", permutation_test(sides).p_value
        interval = matched_interval(sides, families)
        detectable = matched_smallest_detectable(sides)
    least = max(one.trials for both in cases for one in both) + 1
    return msgspec.structs.replace(
        counts, test=test, p_value=p_value, effect=effect, interval=Interval(*interval), smallest_detectable=detectable,
        effect_size=cohens_h(rate_b, rate_a), tested=len(cases),
        needs_trials=max(least, matched_trials_needed(sides, max(abs(effect), WORTH_SEEING))),
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _detectable(cases: int, against: int) -> float | None:
    """The smallest difference that McNemar's test on *cases* sees, where *against* of them go the other way anyhow."""
    noise = against / cases
    loss = smallest_detectable_loss(cases, gained=noise)
    return None if loss is None else loss - noise


def _not_significant(p_adjusted: float, detectable: float | None, *, sure: bool) -> str:
    chance = f"p = {p_adjusted:.2g} after Holm's adjustment"
    if detectable is None:
        return f"inconclusive: {chance}, and not even the utmost difference would show"
    seen = f"a difference of {100 * detectable:.0f} points would show in four of five comparisons"
    return f"no difference that matters: {chance}, and {seen}" if sure else f"inconclusive: {chance}, and only {seen}"
