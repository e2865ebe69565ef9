"""Whether a run takes more calls, tokens, money or time than was accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

import msgspec

from harness.config import Tolerated
from harness.gate.baseline import BaselineTrial, Figures, figures_of
from harness.gate.fresh import FreshCase, by_group
from harness.gate.samples import ALPHA, MOST_NEEDED
from harness.records.comparison import Interval
from harness.records.decision import Change, Figure, Statistic
from harness.records.run import CaseVerdict
from harness.stats import (
    bootstrap_interval,
    bootstrap_ratio,
    cases_needed,
    clustered_standard_error,
    smallest_detectable_shift,
)

FIGURES: tuple[Figure, ...] = ("llm_calls", "tool_calls", "tokens", "cost", "latency")
_FIELDS = {
    "llm_calls": "llm_calls", "tool_calls": "tool_calls", "tokens": "tokens", "cost": "cost_usd", "latency": "recorded_ms",
}  # fmt: skip
UNITS = {
    "llm_calls": "model calls",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "cost": "US dollars",
    "latency": "ms recorded",
}


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """What is to say of a figure that is not as it was; *lost*: it is not known any more, so it could not be checked."""

    figure: Figure
    because: str
    lost: bool = False


def compared(verdict: CaseVerdict, trial: BaselineTrial) -> tuple[Figure, ...]:
    """
    Figures that are known on both sides.

    The recorded latency of a scripted trial is that of the machine which recorded it, and is not compared.
    """
    if trial.figures is None:
        return ()
    now = figures_of(verdict)
    return tuple(
        name
        for name in _figures(verdict)
        if _number(trial.figures, name) is not None and _number(now, name) is not None
    )


def grown(verdict: CaseVerdict, trial: BaselineTrial, tolerate: Tolerated) -> Iterator[Growth]:
    """Tell what grew beyond what is tolerated, and what is not known any more."""
    if trial.figures is None:
        return
    now = figures_of(verdict)
    for name in _figures(verdict):
        before, after = _number(trial.figures, name), _number(now, name)
        if before is not None and after is None:
            yield Growth(figure=name, because=f"{UNITS[name]} were {before:g}, and are not known now", lost=True)
        elif told := _excess(name, before, after, getattr(tolerate, name)):
            yield Growth(figure=name, because=told)


def grown_together(cases: Iterable[FreshCase], tolerate: Tolerated) -> Iterator[tuple[Statistic | None, Change | None]]:
    """
    The same for cases that were recorded anew: one sample of a case says little, so all of a set, design and model are
    taken together. Growth is a regression where the whole interval lies beyond what is tolerated, else inconclusive.
    """
    for found in by_group(cases).values():
        for name in FIGURES:
            pairs = _pairs(found, name)
            lost = sum(_mean(case.then, name) is not None and _mean(case.now, name) is None for case in found)
            if lost:
                because = f"{UNITS[name]} of {_anew(lost)} are not known, and were when accepted"
                yield None, _change(found, because, kind="error", exit_code=3)
            elif pairs and sum(then for _, then, _ in pairs) > 0:
                yield _together(found, name, pairs, getattr(tolerate, name))
            elif told := _excess(name, 0.0, sum(now for _, _, now in pairs), 0.0):
                yield None, _change(found, f"{told}, over {_anew(len(pairs))}", exit_code=5)


def _together(
    cases: Sequence[FreshCase], name: Figure, pairs: Sequence[tuple[str, float, float]], most: float
) -> tuple[Statistic, Change | None]:
    then, now = sum(before for _, before, _ in pairs), sum(after for _, _, after in pairs)
    statistic = _statistic(cases, name, pairs, most)
    told = _excess(name, then, now, most)
    if not told:
        return msgspec.structs.replace(statistic, outcome="not_worse"), None
    because = f"{told}, over {_anew(len(pairs))}"
    if statistic.interval is not None:
        because += f" (95 % {statistic.interval.lo - 1:+.0%} to {statistic.interval.hi - 1:+.0%})"
    if statistic.outcome == "worse":
        return statistic, _change(cases, because, kind="regression", exit_code=1)
    return statistic, _change(cases, because, exit_code=5)


def _statistic(
    cases: Sequence[FreshCase], name: Figure, pairs: Sequence[tuple[str, float, float]], most: float
) -> Statistic:
    """Bound the growth by BCa; families are drawn whole, so that variants of one question do not count double."""
    set_name, agent, model = cases[0].group
    families = sorted({family for family, _, _ in pairs})
    then = [sum(before for family, before, _ in pairs if family == one) for one in families]
    now = [sum(after for family, _, after in pairs if family == one) for one in families]
    drawn = Statistic(
        agent=agent, model=model, provenance=cases[0].provenance, set=set_name, figure=name, test="none",
        cases=len(pairs), families=len(families), effect=sum(now) / sum(then), outcome="inconclusive",
    )  # fmt: skip
    if len(families) < 2:
        return drawn
    beyond = [after - (1 + most) * before for before, after in zip(then, now, strict=True)]
    if min(then) > 0:
        low, high = bootstrap_ratio(then, now).interval
        worse = low > 1 + most
    else:  # a ratio needs something on the left of it in every draw
        shift = bootstrap_interval(beyond).interval
        scale = sum(then) / len(then)
        low, high = (1 + most + end / scale for end in shift)
        worse = shift.low > 0
    recordings = max(1, min(min(len(case.then), len(case.now)) for case in cases))
    error = clustered_standard_error(beyond, families)
    return msgspec.structs.replace(
        drawn, test="bca", interval=Interval(low, high), outcome="worse" if worse else "inconclusive",
        smallest_detectable=smallest_detectable_shift(error, alpha=2 * ALPHA) / (sum(then) / len(then)),
        needs_trials=_needed(beyond, error, recordings),
    )  # fmt: skip


def _needed(beyond: Sequence[float], error: float, recordings: int) -> int | None:
    """Recordings of each case that would show this excess, if it is recordings that differ and not cases."""
    shift = sum(beyond) / len(beyond)
    if shift <= 0:
        return None
    variance = error * error * len(beyond)
    needed = ceil(recordings * cases_needed(shift, between=variance, alpha=2 * ALPHA) / len(beyond))
    return needed if needed <= MOST_NEEDED else None


def _pairs(cases: Sequence[FreshCase], name: Figure) -> list[tuple[str, float, float]]:
    """Family, and mean of the recordings then and now, of each case where both are known."""
    found = [(case.family, _mean(case.then, name), _mean(case.now, name)) for case in cases]
    return [(family, then, now) for family, then, now in found if then is not None and now is not None]


def _mean(samples: Sequence[BaselineTrial] | Sequence[CaseVerdict], name: Figure) -> float | None:
    """The mean over recordings; None where any is not known."""
    figures = [one.figures if isinstance(one, BaselineTrial) else figures_of(one) for one in samples]
    numbers = [_number(one, name) if one is not None else None for one in figures]
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if len(known) == len(numbers) else None


def _change(cases: Sequence[FreshCase], because: str, *, exit_code: int, kind: str = "flaky") -> Change:
    set_name, agent, model = cases[0].group
    return Change(
        agent=agent, model=model, set=set_name, case="", contract="", change=kind, cause="cassette", because=because,  # type: ignore[arg-type]  # one of the literals
        at=cases[0].now[0].at, exit_code=exit_code,
    )  # fmt: skip


def _anew(cases: int) -> str:
    return f"{cases} {'case that was' if cases == 1 else 'cases that were'} recorded anew"


def _figures(verdict: CaseVerdict) -> tuple[Figure, ...]:
    return tuple(name for name in FIGURES if name != "latency" or verdict.provenance != "scripted")


def _number(figures: Figures, name: str) -> float | None:
    value: float | None = getattr(figures, _FIELDS[name])
    return value


def _excess(name: str, then: float | None, now: float | None, most: float) -> str:
    """What to say of a figure that grew too much; empty where it did not, or is not known now."""
    if now is None or (then is None and not now):
        return ""
    if then is not None and (now <= then or now <= then * (1 + most) + 1e-12):  # without end times nothing is no number
        return ""
    before = "none" if then is None else f"{then:g}"
    return f"{UNITS[name]} went from {before} to {now:g}; tolerated is {most:+.0%}"
