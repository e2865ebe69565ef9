"""
Recording trials of a case one after the other, until Wald's test has decided whether enough of them are kept.

Only a live or a local model gives samples: what a script says was written by hand. A recording is one sample however
often it is replayed, so it counts once by the digest of its responses, also where it was there before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UsageError
from harness.evaluate import Judged, record
from harness.matrix import PlannedCell, RunPlan
from harness.recording import RecordOutcome
from harness.records.run import CaseVerdict, Cell
from harness.records.sampling import SampledCase, Sampling, SamplingDecision
from harness.sources import answered_by
from harness.stats.samples import Tally
from harness.stats.sequential import SequentialTest
from harness.trials import Project, replay

MOST_REPEATS = 3
"""Recordings in a row that only repeat others: a cache answers in the place of the model, and more of them tell nothing."""
VerdictOf = Callable[[PlannedCell], Awaitable[CaseVerdict]]
_Key = tuple[str, str, str, str]


def record_sequentially(
    project: Project, chosen: RunPlan, test: SequentialTest, **how: Any
) -> tuple[RecordOutcome, Sampling]:
    """
    Record the trials of *chosen* case by case, and of each case no more than *test* needs.

    Args:
        project: The project that `plan` opened.
        chosen: What `plan` listed: of each case, the most trials that may be made.
        test: What is asked of each case.
        how: As `harness.recording.record` takes it, but for the modes that make no trials.

    Raises:
        UsageError: A model that draws nothing is among those chosen, or too few trials are planned to decide anything.
    """
    _refuse_what_draws_nothing(project, chosen)
    _refuse_too_few(chosen, test)
    judged = Judged(project, {planned.cell.set for planned in chosen.cells})

    async def verdict_of(planned: PlannedCell) -> CaseVerdict:
        return judged.verdict(await replay(project, planned, port="fast"), planned.case)

    sampler = Sampler(chosen.cells, test, verdict_of)
    outcome = record(project, chosen, sampler=sampler, **how)
    return outcome, Sampling(p0=test.bad, p1=test.good, alpha=test.alpha, beta=test.beta, cases=tuple(sampler.cases()))


@dataclass(slots=True)
class _Case:
    """What is known of one case so far."""

    planned: int = 0
    todo: int = 0
    tried: int = 0
    recorded: int = 0
    kept: int = 0
    unchecked: int = 0
    repeated: int = 0
    repeats_in_a_row: int = 0
    samples: dict[str, CaseVerdict] = field(default_factory=dict)

    @property
    def tally(self) -> Tally:
        """Samples, and how many of them were kept."""
        return Tally(sum(verdict.verdict == "kept" for verdict in self.samples.values()), len(self.samples))

    def add(self, verdict: CaseVerdict) -> None:
        """Count a recording that is there now."""
        if verdict.verdict == "could_not_check":
            self.unchecked += 1
        elif verdict.cassette_digest in self.samples:
            self.repeated += 1
            self.repeats_in_a_row += 1
        else:
            self.samples[verdict.cassette_digest] = verdict
            self.repeats_in_a_row = 0


class Sampler:
    """
    Says before each trial whether its case still needs it, and counts each trial as soon as it is recorded.

    Args:
        cells: Every trial that is there or may be made.
        test: What is asked of each case.
        verdict_of: Judges the recording of a trial.
    """

    def __init__(self, cells: Sequence[PlannedCell], test: SequentialTest, verdict_of: VerdictOf) -> None:
        self._test = test
        self._verdict_of = verdict_of
        self._cases: dict[_Key, _Case] = {}
        for planned in cells:
            self._cases.setdefault(_key(planned.cell), _Case()).planned += 1

    async def begin(self, kept: Iterable[PlannedCell], todo: Iterable[PlannedCell]) -> None:
        """Count the recordings that are *kept*; *todo* are the trials that may be made."""
        for planned in kept:
            case = self._cases[_key(planned.cell)]
            case.kept += 1
            case.add(await self._verdict_of(planned))
            case.repeats_in_a_row = 0  # what is there says nothing of how the model draws today
        for planned in todo:
            self._cases[_key(planned.cell)].todo += 1

    async def goes_on(self, planned: PlannedCell) -> bool:
        """Whether the trial *planned* is still needed."""
        case = self._cases[_key(planned.cell)]
        needed = self._test.decide(case.tally) == "undecided" and case.repeats_in_a_row < MOST_REPEATS
        case.tried += needed
        return needed

    async def recorded(self, planned: PlannedCell) -> None:
        """Count the trial that was just made."""
        case = self._cases[_key(planned.cell)]
        case.recorded += 1
        case.add(await self._verdict_of(planned))

    def cases(self) -> Iterable[SampledCase]:
        """What each case came to, in the order of the plan."""
        for key, case in self._cases.items():
            decision = self._test.decide(case.tally)
            yield _told(key, case, decision)


def _told(key: _Key, case: _Case, decision: SamplingDecision) -> SampledCase:
    agent, model, set_name, name = key
    verdicts = list(case.samples.values())
    saved = 0 if decision == "undecided" else case.todo - case.tried
    costs = [verdict.cost_usd for verdict in verdicts if verdict.cost_usd is not None]
    repeats = decision == "undecided" and case.repeats_in_a_row >= MOST_REPEATS and case.todo > case.tried
    return SampledCase(
        agent=agent, model=model, set=set_name, case=name, provenance=verdicts[0].provenance if verdicts else "none",
        decision=decision, passes=case.tally.passes, samples=case.tally.trials, planned=case.planned,
        recorded=case.recorded, kept=case.kept, repeated=case.repeated, unchecked=case.unchecked, saved_trials=saved,
        saved_calls=_share(saved, [verdict.llm_calls for verdict in verdicts]),
        saved_tokens=_share(saved, [verdict.tokens.input + verdict.tokens.output for verdict in verdicts]),
        saved_cost_usd=saved * sum(costs) / len(costs) if costs else None,
        because=f"{MOST_REPEATS} recordings in a row repeat others byte for byte" if repeats else "",
    )  # fmt: skip


def _share(trials: int, figures: Sequence[int]) -> int:
    """What *trials* more would take, by the mean of *figures*."""
    return round(trials * sum(figures) / len(figures)) if figures else 0


def _key(cell: Cell) -> _Key:
    return (cell.agent, cell.model, cell.set, cell.case)


def _refuse_what_draws_nothing(project: Project, chosen: RunPlan) -> None:
    for model in dict.fromkeys(planned.cell.model for planned in chosen.cells):
        if answered_by(project, model) == "scripted":
            raise UsageError(
                "bad-arguments",
                f"--sequential is for models that draw their answers; what `{model}` says was written by hand",
                hint="name a live or a local model with --model",
            )
        declared = project.model(model)
        if declared and declared.sampling.get("temperature") == 0:
            raise UsageError(
                "bad-arguments",
                f"`{model}` is asked at temperature 0, so that its trials are copies of each other and no samples",
                hint=f'declare another temperature under [tool.harness.models."{model}"], or record one trial',
            )


def _refuse_too_few(chosen: RunPlan, test: SequentialTest) -> None:
    planned: dict[_Key, int] = {}
    for cell in (planned.cell for planned in chosen.cells):
        planned[_key(cell)] = planned.get(_key(cell), 0) + 1
    most = max(planned.values(), default=0)
    fewest = next(n for n in range(1, 1_000_000) if _can_decide(test, n))
    if planned and most < fewest:
        raise UsageError(
            "bad-arguments",
            f"planned trials of a case: {most}; fewer than {fewest} decide nothing between the rates {test.bad:g} and {test.good:g}",
            hint=f"`--trials {test.fixed_trials}` leaves room for a decision either way",
        )


def _can_decide(test: SequentialTest, trials: int) -> bool:
    """Whether that many trials can come to a decision at all: all kept, or none."""
    return any(test.decide(Tally(passes, trials)) != "undecided" for passes in (0, trials))
