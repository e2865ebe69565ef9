"""
Cases that were recorded anew: what their distinct recordings come to, beside those that were accepted.

A sample is a recording, so copies of one are one, and a replay of an accepted recording is none. Scripted trials are
never here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from harness.gate.baseline import BaselineCase, BaselineTrial
from harness.records.comparison import Interval
from harness.records.decision import Rate, Sampled
from harness.records.run import CaseVerdict, Provenance
from harness.stats import Tally, clustered_rate_interval, flakiness, wilson_interval

Group = tuple[str, str, str]
"""Set, agent and model."""


class FreshCase(msgspec.Struct, frozen=True, kw_only=True):
    """One case of one design and model, with its distinct recordings, accepted and new; at least one of each."""

    group: Group
    case: str
    family: str
    provenance: Provenance
    accepted: BaselineCase
    then: tuple[BaselineTrial, ...]
    now: tuple[CaseVerdict, ...]

    def tallies(self, contract: str, counts: Counts) -> tuple[Tally, Tally]:
        """Recordings that kept *contract*, then and now; that kept every one that counts where *contract* is empty."""
        then = [self._broke(trial.broken, contract, counts) for trial in self.then]
        now = [self._broke(verdict.broken, contract, counts) for verdict in self.now]
        return Tally(then.count(False), len(then)), Tally(now.count(False), len(now))

    def broken(self, counts: Counts) -> set[str]:
        """Contracts that count and that some recording broke."""
        named = {name for trial in self.then for name in trial.broken}
        named |= {name for verdict in self.now for name in verdict.broken}
        return {name for name in named if counts(name, self)}

    def _broke(self, broken: Iterable[str], contract: str, counts: Counts) -> bool:
        return any(counts(name, self) for name in broken) if not contract else contract in broken


Counts = Callable[[str, FreshCase], bool]
"""Whether a contract counts for a case: it blocks, and no quarantine excuses it."""


def fresh_cases(
    verdicts: Iterable[tuple[CaseVerdict, BaselineCase]], families: Mapping[str, Mapping[str, str]]
) -> tuple[FreshCase, ...]:
    """
    Put trials together by case.

    Args:
        verdicts: Trials of recordings that were not accepted, each with what was accepted for its case.
        families: Family of a case by set and id; a case that is not in it is a family of its own.
    """
    together: dict[tuple[str, str, str, str], tuple[BaselineCase, dict[str, CaseVerdict]]] = {}
    for verdict, accepted in verdicts:
        key = (verdict.set, verdict.agent, verdict.model, verdict.case)
        now = together.setdefault(key, (accepted, {}))[1]
        copied = now.get(verdict.cassette_digest)
        now[verdict.cassette_digest] = _both(copied, verdict) if copied else verdict
    return tuple(
        FreshCase(
            group=(set_name, agent, model),
            case=case,
            family=families.get(set_name, {}).get(case, case),
            provenance=next(iter(now.values())).provenance,
            accepted=accepted,
            then=_distinct(accepted.trials),
            now=tuple(now.values()),
        )
        for (set_name, agent, model, case), (accepted, now) in together.items()
    )


def by_group(cases: Iterable[FreshCase]) -> dict[Group, list[FreshCase]]:
    """The cases of each set, agent and model."""
    groups: dict[Group, list[FreshCase]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return groups


def sampled(cases: Sequence[FreshCase], counts: Counts) -> Iterator[Sampled]:
    """What each case came to, then and now."""
    for case in cases:
        then, now = case.tallies("", counts)
        set_name, agent, model = case.group
        yield Sampled(
            agent=agent, model=model, provenance=case.provenance, set=set_name, case=case.case, before=rate(then),
            after=rate(now), flakiness=flakiness(*now) if now.trials > 1 else None,
        )  # fmt: skip


def rate(tally: Tally) -> Rate:
    """*tally* with its interval."""
    return Rate(kept=tally.passes, trials=tally.trials, interval=Interval(*wilson_interval(*tally)))


def rates(tallies: Sequence[Tally], families: Sequence[str]) -> Rate:
    """All cases together, with an interval that counts variants of one question as what they are worth."""
    interval = clustered_rate_interval(tallies, families)
    return Rate(
        kept=sum(one.passes for one in tallies), trials=sum(one.trials for one in tallies), interval=Interval(*interval)
    )


def _both(one: CaseVerdict, copy: CaseVerdict) -> CaseVerdict:
    """Two trials of one recording as the one sample that they are: it broke what either broke, as judges may differ."""
    state = "broken" if "broken" in {one.verdict, copy.verdict} else one.verdict
    return msgspec.structs.replace(one, verdict=state, findings=(*one.findings, *copy.findings))


def _distinct(trials: Iterable[BaselineTrial]) -> tuple[BaselineTrial, ...]:
    """Each accepted recording once, with everything that any trial of it broke."""
    found: dict[str, BaselineTrial] = {}
    for trial in trials:
        copied = found.get(trial.cassette_digest, trial)
        broken = tuple(sorted({*copied.broken, *trial.broken}))
        found[trial.cassette_digest] = msgspec.structs.replace(copied, broken=broken)
    return tuple(found.values())
