"""Figures of new recordings: growth is bounded by BCa over families, and is red only where all of the interval is."""

from __future__ import annotations

from math import inf

import msgspec
import pytest

from harness.config import Tolerated
from harness.gate.figures import FIGURES
from harness.records.decision import Decision, Statistic
from harness.records.messages import Usage

from .verdicts import accepted, judged, record, scripted, told, verdict

TEN = [f"S{n}" for n in range(10)]


def decided(then: dict[str, int], now: dict[str, int], families: dict[str, str] | None = None, **policy) -> Decision:
    """What the gate says where each case took so many tokens."""
    before = accepted(*(verdict(case, tokens=Usage(count, 0)) for case, count in then.items()))
    after = record(*(verdict(case, tokens=Usage(count, 0), cassette_digest="d2") for case, count in now.items()))
    return judged(msgspec.structs.replace(after, manifest={"families": {"shared": families or {}}}), before, **policy)


def tokens(decision: Decision) -> Statistic:
    """The test of the tokens."""
    (found,) = [one for one in decision.statistics if one.figure == "tokens"]
    return found


def test_growth_of_every_case_is_a_regression() -> None:
    """A quarter more in each of ten cases: the whole interval lies beyond a tenth."""
    decision = decided(
        {case: 1000 + 10 * n for n, case in enumerate(TEN)}, {case: 1250 + 12 * n for n, case in enumerate(TEN)}
    )

    found = tokens(decision)
    assert ("bca", "worse", 10, 10, 1) == (
        found.test, found.outcome, found.cases, found.families, decision.exit_code,
    )  # fmt: skip
    assert 1.1 < found.interval.lo <= found.effect <= found.interval.hi
    assert decision.changes[0].because.startswith(
        "tokens went from 10450 to 13040; tolerated is +10%, over 10 cases that"
    )


def test_growth_of_one_case_is_inconclusive() -> None:
    """One case that doubled may be luck: what more recordings must settle is said."""
    decision = decided(dict.fromkeys(TEN, 1000), dict.fromkeys(TEN, 1000) | {"S3": 4000})

    found = tokens(decision)
    assert (5, "inconclusive") == (decision.exit_code, found.outcome)
    assert found.interval.lo <= 1.1 < found.effect
    assert found.smallest_detectable > 0.2
    assert decision.needs_trials == found.needs_trials
    assert found.needs_trials > 1


def test_variants_of_one_question_do_not_count_double() -> None:
    """Ten cases of two families that grew say less than ten cases of their own."""
    then = {case: 1000 + 10 * n for n, case in enumerate(TEN)}
    now = {case: 1150 + 40 * n for n, case in enumerate(TEN)}
    apart, together = (
        tokens(decided(then, now)),
        tokens(decided(then, now, {case: str(n % 2) for n, case in enumerate(TEN)})),
    )

    assert (10, 2) == (apart.families, together.families)


def test_one_family_bounds_nothing() -> None:
    """With one family alone there is no interval, and growth stays open."""
    decision = decided({"S1": 1000}, {"S1": 2000})

    found = tokens(decision)
    assert ("none", None, 5) == (found.test, found.interval, decision.exit_code)


def test_what_is_tolerated_passes() -> None:
    """A tenth more is what the policy lets be, and the figures are shown all the same."""
    decision = decided(dict.fromkeys(TEN, 1000), dict.fromkeys(TEN, 1100))

    assert (0, "not_worse") == (decision.exit_code, tokens(decision).outcome)
    assert set(FIGURES) == {one.figure for one in decision.statistics if one.figure}


def test_a_case_that_took_nothing_then_is_weighed_by_differences() -> None:
    """A ratio of nothing is no number: the excess over what is tolerated is bounded in its place."""
    decision = decided({case: 0 if case == "S0" else 1000 for case in TEN}, dict.fromkeys(TEN, 2000))

    assert (1, "worse") == (decision.exit_code, tokens(decision).outcome)


def test_a_figure_that_is_lost_could_not_be_checked() -> None:
    """A cost that was known when accepted and is null now is exit 3: a gate on it could never fire again."""
    exact = judged(record(verdict(cost_usd=None)), accepted(verdict()))
    anew = judged(record(verdict(cost_usd=None, cassette_digest="d2")), accepted(verdict()))

    assert (3, "US dollars were 0.01, and are not known now") == (exact.exit_code, exact.changes[0].because)
    assert (3, "US dollars of 1 case that was recorded anew are not known, and were when accepted") == (
        anew.exit_code, anew.changes[0].because,
    )  # fmt: skip


@pytest.mark.parametrize("figure", ["cost", "latency"])
def test_every_figure_of_an_exact_trial_may_be_tolerated(figure: str) -> None:
    """What is tolerated is read for each figure by itself."""
    changes = {"cost": {"cost_usd": 0.015}, "latency": {"recorded_ms": 150}}[figure]

    assert [1, 0] == [
        judged(record(verdict(**changes)), accepted(verdict()), tolerate=Tolerated(**{figure: share})).exit_code
        for share in (0.4, 0.6)
    ]


def test_growth_that_is_tolerated_without_end_is_none() -> None:
    """`inf` switches a figure off, also where there was nothing of it."""
    now, then = record(scripted(tool_calls=0, llm_calls=9)), accepted(scripted(tool_calls=0, llm_calls=2))
    endless = Tolerated(tool_calls=inf, llm_calls=inf)

    assert [] == told(judged(now, then, tolerate=endless))
