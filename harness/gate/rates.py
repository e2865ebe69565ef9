"""What recordings that were made anew change: how often contracts break in them, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from harness.config import GateConfig
from harness.gate.cause import cause_of
from harness.gate.changes import broken_in, change_of
from harness.gate.figures import grown_together
from harness.gate.fresh import FreshCase, sampled
from harness.gate.policy import blocks, excuse
from harness.gate.samples import Tests
from harness.records.decision import Change, ChangeKind, Sampled, Statistic


class Rates:
    """The statistics of one decision; empty where no recording differs from the accepted ones."""

    def __init__(self, policy: GateConfig) -> None:
        self._policy = policy
        self.statistics: list[Statistic] = []
        self.samples: list[Sampled] = []
        self.needs_trials: int | None = None

    def changes(self, cases: Sequence[FreshCase], today: date) -> Iterator[Change]:
        """
        Everything that *cases* say: a contract that breaks more often is a regression where a test says so, for the
        case, for the contract over all cases of its set, design and model, or for all contracts; else it is open.
        """
        if not cases:
            return

        def counts(contract: str, case: FreshCase) -> bool:
            return blocks(contract, self._policy) and not excuse(contract, case, self._policy.quarantine, today)

        tests = Tests(cases, counts)
        self.statistics += tests.statistics.values()
        self.samples += sampled(cases, counts)
        for case in cases:
            yield from self._of_case(case, tests)
        for statistic, change in grown_together(cases, self._policy.tolerate):
            self.statistics += [statistic] if statistic else []
            if change:
                yield change
                if change.exit_code == 5 and statistic:
                    self._need(statistic.needs_trials)

    def _of_case(self, case: FreshCase, tests: Tests) -> Iterator[Change]:
        first = case.now[0]
        cause = cause_of(first, case.accepted, case.accepted.trials[0])
        because = f"recorded anew since it was accepted: {len(case.now)} samples"
        yield change_of(first, "new", cause, because, trial=None)
        reasons = {name: (why, at) for verdict in case.now for name, why, at in broken_in(verdict)}
        for contract in sorted(case.broken(lambda name, _: blocks(name, self._policy))):
            why, at = reasons.get(contract) or ("it is no longer broken", first.at)
            yield self._rated(case, contract, cause, why, at, tests)

    def _rated(self, case: FreshCase, contract: str, cause: str, why: str, at: str, tests: Tests) -> Change:
        then, now = case.tallies(contract, tests.counts)
        told = f"broken in {now.trials - now.passes} of {now.trials} recordings, {then.trials - then.passes} of {then.trials} accepted"
        found = tests.verdict(case, contract) if now.rate < then.rate else None
        kind: ChangeKind
        demands = 0
        if now.passes == now.trials:
            kind = "fixed"
        elif now.rate >= then.rate:
            kind = "still_broken"
        elif found is not None:
            kind, demands = "regression", 1
            told += f"; {_told(found)}"
        else:
            kind, demands = "flaky", 5
            self._need(tests.needed(case, contract))
        return change_of(
            case.now[0], kind, cause, f"{why} ({told})", contract=contract, at=at, trial=None, exit_code=demands
        )

    def _need(self, trials: int | None) -> None:
        self.needs_trials = max(self.needs_trials or 0, trials or 0) or None


def _told(found: Statistic) -> str:
    over = "" if found.case else f"over {found.cases} cases of the set "
    what = f"`{found.contract}` " if found.contract and not found.case else ""
    test = "McNemar's exact test" if found.test == "mcnemar" else "permutation test"
    return f"{what}{over}worse by {-found.effect:.0%}, {test} p = {found.p_value:.2g}, Holm {found.p_adjusted:.2g}"
