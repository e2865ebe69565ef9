"""What a design came to."""

from __future__ import annotations

import pytest

from harness.compare.designs import designs_of
from harness.compare.figures import figures_of
from harness.records.comparison import KeepRate
from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.stats import wilson_interval

from .builders import local, outcomes, verdict


def figures(*verdicts, **how):
    """The figures of the one design of these verdicts, over all its cases."""
    (design,) = designs_of(verdicts)
    return figures_of(design, tuple(design.trials), **how)


def test_each_case_weighs_the_same():
    """Three trials of one case do not outvote one trial of another."""
    found = figures(
        *(verdict("a", "S1", trial, kept=False, llm_calls=8, recorded_ms=100) for trial in range(3)),
        verdict("a", "S2", llm_calls=2, recorded_ms=20),
    )

    assert (2, 4, 1, 0.5, 5.0, 60.0) == (
        found.cases, found.trials, found.kept, found.kept_rate, found.llm_calls, found.recorded_ms,
    )  # fmt: skip


def test_tokens_are_summed_and_averaged():
    """Thinking is part of the output, and cached tokens of the input."""
    found = figures(
        verdict("a", "S1", tokens=Usage(100, 20, thinking=5, cached=50)), verdict("a", "S2", tokens=Usage(300, 40))
    )

    assert (Usage(400, 60, thinking=5, cached=50), 230.0) == (found.tokens, found.mean_tokens)


def test_cost_is_unknown_where_a_trial_has_none():
    """A mean over some of them would be a lie."""
    priced = [verdict("a", "S1", cost_usd=0.5), verdict("a", "S2", cost_usd=0.25)]

    assert 0.375 == figures(*priced).cost_usd
    assert None is figures(*priced, verdict("a", "S3")).cost_usd


def test_parallelism_is_calls_by_steps():
    """Four model calls and six tool calls in five steps; without any step there is none."""
    assert 2.0 == figures(verdict("a", "S1", llm_calls=4, tool_calls=6, turns=2, steps=5)).parallelism
    assert 0.0 == figures(verdict("a", "S1", llm_calls=0, tool_calls=0, turns=0, steps=0)).parallelism


def test_only_samples_have_an_interval():
    """Wilson's, of trials that are independent; none for scripts, which say nothing of others."""
    found = figures(*local("a", [True, True, False]))

    assert pytest.approx(tuple(wilson_interval(2, 3))) == (found.interval.lo, found.interval.hi)
    assert None is figures(*outcomes("a", [True, True, False])).interval


def test_an_interval_knows_families():
    """Six trials of two families that all were kept are worth two."""
    found = figures(*local("a", [[True, True]] * 3), family_of=lambda place: "ab"[place[1] == "S1"])

    assert tuple(wilson_interval(2, 2)) == (found.interval.lo, found.interval.hi)


def test_contracts_are_counted_where_they_triggered():
    """One that broke and held in one trial is broken there; advisory ones stand apart."""
    findings = [
        Finding(contract="CX3", state="kept"), Finding(contract="CX3", state="broken"),
        Finding(contract="CX9", state="vacuous"), Finding(contract="lint", state="broken", advisory=True),
    ]  # fmt: skip
    found = figures(
        verdict("a", "S1", findings=tuple(findings)),
        verdict("a", "S2", findings=(Finding(contract="CX3", state="kept"), Finding(contract="lint", state="kept"))),
    )

    assert (
        KeepRate(contract="CX3", kept=1, triggered=2),
        KeepRate(contract="lint", kept=1, triggered=1),
        KeepRate(contract="lint", kept=0, triggered=1, advisory=True),
    ) == found.contracts


def test_without_a_case_there_is_nothing():
    """No figure, and no interval."""
    (design,) = designs_of(local("a", [True]))
    found = figures_of(design, [])

    assert (0, 0, 0.0, None, None) == (found.cases, found.trials, found.kept_rate, found.interval, found.cost_usd)
