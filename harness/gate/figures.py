"""Whether a run takes more calls, tokens, money or time than was accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.config import Tolerated
from harness.gate.baseline import Baseline, BaselineTrial, Figures, figures_of
from harness.records.decision import Change
from harness.records.run import CaseVerdict

_FIELDS = {
    "llm_calls": "llm_calls", "tool_calls": "tool_calls", "tokens": "tokens", "cost": "cost_usd", "latency": "recorded_ms",
}  # fmt: skip
_UNITS = {
    "llm_calls": "model calls",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "cost": "US dollars",
    "latency": "ms recorded",
}


def grown(verdict: CaseVerdict, trial: BaselineTrial, tolerate: Tolerated) -> Iterator[str]:
    """
    Tell what grew beyond what is tolerated.

    The recorded latency of a scripted trial is that of the machine which recorded it, and is not compared.
    """
    if trial.figures is None:
        return
    now = figures_of(verdict)
    for name in _FIELDS:
        if name == "latency" and verdict.provenance == "scripted":
            continue
        told = _excess(name, _number(trial.figures, name), _number(now, name), getattr(tolerate, name))
        if told:
            yield told


def grown_together(
    baselines: Mapping[str, Baseline], verdicts: Iterable[CaseVerdict], tolerate: Tolerated
) -> Iterator[Change]:
    """
    The same for cases that were recorded anew: one sample of a case says little, so all of a set, design and model are
    taken together, and growth is inconclusive, never a regression.
    """
    groups: dict[tuple[str, str, str], list[CaseVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault((verdict.set, verdict.agent, verdict.model), []).append(verdict)
    for (set_name, agent, model), group in groups.items():
        pairs = [
            (trial.figures, figures_of(v))
            for v in group
            if (trial := baselines[set_name].trial(v.cell)) and trial.figures
        ]
        for name in _FIELDS:
            numbers = [(_number(a, name), _number(b, name)) for a, b in pairs]
            known = [(a, b) for a, b in numbers if a is not None and b is not None]
            told = _excess(name, sum(a for a, _ in known), sum(b for _, b in known), getattr(tolerate, name))
            if told:
                yield Change(
                    agent=agent, model=model, set=set_name, case="", contract="", change="flaky", cause="cassette",
                    because=f"{told}, over {len(known)} trials that were recorded anew", at=group[0].at, exit_code=5,
                )  # fmt: skip


def _number(figures: Figures, name: str) -> float | None:
    value: float | None = getattr(figures, _FIELDS[name])
    return value


def _excess(name: str, then: float | None, now: float | None, most: float) -> str:
    """What to say of a figure that grew too much; empty where it did not, or is not known now."""
    if now is None or (then is None and not now):
        return ""
    if then is not None and now <= then * (1 + most) + 1e-12:
        return ""
    before = "none" if then is None else f"{then:g}"
    return f"{_UNITS[name]} went from {before} to {now:g}; tolerated is {most:+.0%}"
