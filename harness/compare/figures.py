"""What a design came to over its cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from harness.compare.designs import Design, Place
from harness.records.comparison import DesignFigures, Interval, KeepRate
from harness.records.messages import Usage
from harness.records.run import CaseVerdict
from harness.stats import Tally, clustered_rate_interval

FamilyOf = Callable[[Place], str]
"""The family that a case belongs to: variants of one question hang together."""


def tally_of(trials: Sequence[CaseVerdict]) -> Tally:
    """Trials of one case that were kept, of all of them."""
    return Tally(sum(trial.verdict == "kept" for trial in trials), len(trials))


def figures_of(
    design: Design, places: Sequence[Place], *, sets: tuple[str, ...] = (), family_of: FamilyOf = "/".join
) -> DesignFigures:
    """
    Sum up the trials of *design* in *places*, each of which it answered.

    Args:
        design: The design.
        places: Cases; each weighs the same in every mean.
        sets: The sets of its group.
        family_of: The family of each case.
    """
    cases = [design.trials[place] for place in places]
    trials = [trial for case in cases for trial in case]
    tallies = [tally_of(case) for case in cases]
    calls, steps = sum(t.llm_calls + t.tool_calls for t in trials), sum(t.steps for t in trials)
    interval = None
    if design.sampled and cases:
        interval = Interval(*clustered_rate_interval(tallies, [family_of(place) for place in places]))
    return DesignFigures(
        agent=design.agent, profile=design.profile, model=design.model, provenance=design.provenance, sets=sets,
        cases=len(cases), trials=len(trials), kept=sum(tally.passes for tally in tallies),
        kept_rate=_mean([tally.rate for tally in tallies]), interval=interval,
        llm_calls=mean_of(cases, lambda trial: trial.llm_calls),
        tool_calls=mean_of(cases, lambda trial: trial.tool_calls),
        tokens=sum((trial.tokens for trial in trials), Usage()),
        mean_tokens=mean_of(cases, lambda trial: trial.tokens.input + trial.tokens.output),
        cost_usd=_cost(cases), turns=mean_of(cases, lambda trial: trial.turns),
        parallelism=round(calls / steps, 6) if steps else 0.0,
        recorded_ms=mean_of(cases, lambda trial: trial.recorded_ms), contracts=keep_rates(trials),
    )  # fmt: skip


def mean_of(cases: Sequence[Sequence[CaseVerdict]], of: Callable[[CaseVerdict], float]) -> float:
    """The mean over *cases* of the mean of their trials; 0 where there is none."""
    return _mean([fmean(map(of, trials)) for trials in cases])


def keep_rates(trials: Sequence[CaseVerdict]) -> tuple[KeepRate, ...]:
    """How often each contract was kept among the trials that triggered it, by name; where it is advisory, apart."""
    kept: dict[tuple[str, bool], int] = {}
    triggered: dict[tuple[str, bool], int] = {}
    for trial in trials:
        states: dict[tuple[str, bool], set[str]] = {}
        for finding in trial.findings:
            states.setdefault((finding.contract, finding.advisory), set()).add(finding.state)
        for key, seen in states.items():
            if seen & {"kept", "broken"}:
                triggered[key] = triggered.get(key, 0) + 1
                kept[key] = kept.get(key, 0) + ("broken" not in seen)
    return tuple(
        KeepRate(contract=name, kept=kept[name, advisory], triggered=triggered[name, advisory], advisory=advisory)
        for name, advisory in sorted(triggered)
    )


def _cost(cases: Sequence[Sequence[CaseVerdict]]) -> float | None:
    """Mean cost of a trial; None where one is not priced."""
    if not cases or any(trial.cost_usd is None for case in cases for trial in case):
        return None
    return mean_of(cases, lambda trial: trial.cost_usd or 0.0)


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 10) if values else 0.0
