"""What recordings that were made anew come to, in words: the same lines for a terminal and for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.records.comparison import Interval
from harness.records.decision import Decision, Rate, Sampled, Statistic
from harness.reports.screen import clip, one_line

_TESTS = {"mcnemar": "McNemar's exact test", "permutation": "permutation test within each case"}
_OUTCOMES = {"worse": "WORSE", "inconclusive": "inconclusive", "not_worse": "not worse"}
_NAMES = {
    "llm_calls": "model calls",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "cost": "cost",
    "latency": "recorded latency",
}
_MOST_CASES = 8
"""Cases whose rates are shown by themselves."""


def told_samples(decision: Decision) -> Iterator[tuple[str, list[str]]]:
    """A title and lines for each set, design and model that was recorded anew; nothing where nothing was."""
    groups: dict[tuple[str, str, str], list[Statistic]] = {}
    for one in decision.statistics:
        groups.setdefault((one.set, one.agent, one.model), []).append(one)
    for (set_name, agent, model), found in groups.items():
        cases = [one for one in decision.samples if (one.set, one.agent, one.model) == (set_name, agent, model)]
        whole = next((one for one in found if not (one.figure or one.case or one.contract)), found[0])
        families = f" in {whole.families} families" if whole.families < whole.cases else ""
        title = (
            f"{one_line(f'{agent} × {model}')} on {one_line(set_name)}, answered by: {whole.provenance}; "
            f"{_count(whole.cases, 'case')}{families} recorded anew"
        )
        yield title, [line for part in (_of_rates(found), _of_figures(found), _of_cases(cases)) for line in part]


def rate_text(rate: Rate) -> str:
    """`2 of 3 (95 % 21–94 %)`, the interval being Wilson's."""
    return f"{rate.kept} of {rate.trials} (95 % {100 * rate.interval.lo:.0f}–{100 * rate.interval.hi:.0f} %)"


def _of_rates(found: Sequence[Statistic]) -> Iterator[str]:
    for one in found:
        if one.figure is not None:
            continue
        if one.before is not None and one.after is not None:
            yield f"{_what(one)}: kept {rate_text(one.after)} recordings, accepted {rate_text(one.before)}; change {_points(one)}"
        yield f"{_tested(one)}: {_OUTCOMES[one.outcome]}"
        if one.outcome == "inconclusive":
            yield f"{_power(one, 'points of the rate', 100)}"


def _of_figures(found: Sequence[Statistic]) -> Iterator[str]:
    for one in found:
        if one.figure is None or (one.effect == 1 and one.outcome == "not_worse"):
            continue
        bounds = (
            f" (95 % ×{one.interval.lo:.2f}–×{one.interval.hi:.2f}, BCa)"
            if one.interval
            else " (too few families to bound it)"
        )
        yield f"{_NAMES[one.figure]} ×{one.effect:.2f}{bounds}: {_OUTCOMES[one.outcome]}"
        if one.outcome == "inconclusive" and one.test == "bca":
            yield f"{_power(one, '% of growth', 100)}"


def _of_cases(cases: Sequence[Sampled]) -> Iterator[str]:
    several = [one for one in cases if one.after.trials > 1 or one.before.trials > 1]
    for one in several[:_MOST_CASES]:
        flickers = f", flakiness {one.flakiness:.2f}" if one.flakiness is not None else ""
        yield f"{clip(one_line(one.case), 40)}: {rate_text(one.after)}, accepted {rate_text(one.before)}{flickers}"
    if len(several) > _MOST_CASES:
        yield f"and {len(several) - _MOST_CASES} more cases; `harness gate --json` has them all"


def _what(one: Statistic) -> str:
    parts = [clip(one_line(part), 60) for part in (one.case, one.contract) if part]
    return " ".join(parts) or "all blocking contracts"


def _points(one: Statistic) -> str:
    told = [f"95 % {_signed(one.interval)}"] if one.interval is not None else []
    told += [f"standard error {100 * one.standard_error:.0f}"] if one.standard_error is not None else []
    return f"{100 * one.effect:+.0f} points" + (f" ({', '.join(told)})" if told else "")


def _signed(interval: Interval) -> str:
    return f"{100 * interval.lo:+.0f} to {100 * interval.hi:+.0f}"


def _tested(one: Statistic) -> str:
    counts = f"{_count(one.lost, 'case')} lost, {one.gained} gained, " if one.lost is not None else ""
    adjusted = "could not have been significant" if one.p_adjusted is None else f"Holm {one.p_adjusted:.2g}"
    p_value = f"p = {one.p_value:.2g}, " if one.p_value is not None else ""
    return f"{_TESTS.get(one.test, one.test)}: {counts}{p_value}{adjusted}"


def _power(one: Statistic, unit: str, scale: int) -> str:
    smallest = one.smallest_detectable
    seen = f"the smallest loss seen with 80 % power is {scale * smallest:.0f} {unit}" if smallest is not None else (
        "no loss, however large, is seen with 80 % power"
    )  # fmt: skip
    if one.figure is not None and smallest is not None:
        seen = f"the smallest growth seen with 80 % power is {scale * smallest:.0f} %"
    needs = (
        f"; about {one.needs_trials} recordings of each case, on each side, would show this one"
        if one.needs_trials
        else ""
    )
    return seen + needs


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
