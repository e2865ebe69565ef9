"""
Trends over past runs: how each design's figures went, what changed between runs, and which cases do not hold still.

A sample is a recording. A run that replays the recordings of the run before brings no new one: what differs between
the two follows from a change of code, prompts, cases or contracts, never from the luck of a model. So a trend says at
each run how many recordings were new and what else changed, and designs with scripted and real models stand apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.records.history import CaseHistory, TrendPoint, TrendSeries
from harness.records.messages import Usage
from harness.records.run import VerdictState
from harness.reports.history.past import PastRun, PastTrial, Who

CHANGES = (
    "cases", "golden", "prompt", "tool_schema", "model", "world", "code", "contracts", "judge", "recordings",
)  # fmt: skip
"""What can change from one run to the next, in the order in which it is told: the trials, a lock's digests, recordings."""
_MARKS: dict[VerdictState, str] = {"kept": ".", "broken": "x", "could_not_check": "?"}
ABSENT = "-"
KNOWN = "k"


def trends(runs: Sequence[PastRun]) -> tuple[TrendSeries, ...]:
    """The figures of each design, with each model and provenance apart, over *runs*, which are in the order of time."""
    grouped: dict[Who, list[tuple[PastRun, list[PastTrial]]]] = {}
    for run in runs:
        for who, trials in _by_design(run.trials).items():
            grouped.setdefault(who, []).append((run, trials))
    return tuple(
        TrendSeries(agent=who.agent, model=who.model, provenance=who.provenance, points=_points(past))
        for who, past in sorted(grouped.items())
    )


def restless(runs: Sequence[PastRun]) -> tuple[CaseHistory, ...]:
    """
    Each case that was not kept in all of *runs*, with a mark for each: `.` kept, `x` broken, `k` broken and known, `?`
    not checked, `-` not run. A case stands for all of its trials, by the gravest.
    """
    marks: dict[tuple[Who, str, str], list[str]] = {}
    for place, run in enumerate(runs):
        for trial in run.trials:
            row = marks.setdefault((trial.who, trial.set, trial.case), [ABSENT] * len(runs))
            row[place] = max(row[place], _mark(trial), key="-.kx?".index)
    return tuple(
        CaseHistory(
            agent=who.agent, model=who.model, provenance=who.provenance, set=set_, case=case, states="".join(row)
        )
        for (who, set_, case), row in sorted(marks.items())
        if set(row) - {".", ABSENT}
    )


def _mark(trial: PastTrial) -> str:
    return KNOWN if trial.known and trial.verdict == "broken" else _MARKS[trial.verdict]


def _by_design(trials: Iterable[PastTrial]) -> dict[Who, list[PastTrial]]:
    grouped: dict[Who, list[PastTrial]] = {}
    for trial in trials:
        grouped.setdefault(trial.who, []).append(trial)
    return grouped


def _points(past: Sequence[tuple[PastRun, list[PastTrial]]]) -> tuple[TrendPoint, ...]:
    seen: set[str] = set()
    before: Sequence[PastTrial] = ()
    points = []
    for run, trials in past:
        recordings = {trial.cassette_digest for trial in trials if trial.cassette_digest}
        points.append(_point(run, trials, fresh=len(recordings - seen), changed=_changed(before, trials)))
        seen |= recordings
        before = trials
    return tuple(points)


def _point(run: PastRun, trials: Sequence[PastTrial], *, fresh: int, changed: tuple[str, ...]) -> TrendPoint:
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    kept = sum(trial.verdict == "kept" for trial in trials)
    return TrendPoint(
        run=run.run,
        began=run.began,
        trials=len(trials),
        kept=kept,
        broken=sum(trial.verdict == "broken" for trial in trials),
        known=sum(trial.known for trial in trials),
        could_not_check=sum(trial.verdict == "could_not_check" for trial in trials),
        kept_rate=kept / len(trials),
        llm_calls=sum(trial.llm_calls for trial in trials),
        tool_calls=sum(trial.tool_calls for trial in trials),
        tokens=Usage(
            input=sum(trial.input_tokens for trial in trials),
            output=sum(trial.output_tokens for trial in trials),
            cached=sum(trial.cached_tokens for trial in trials),
            thinking=sum(trial.thinking_tokens for trial in trials),
        ),
        cost_usd=sum(costs) if len(costs) == len(trials) else None,
        recorded_ms=sum(trial.recorded_ms for trial in trials),
        new_recordings=fresh,
        changed=changed,
    )


def _changed(before: Sequence[PastTrial], now: Sequence[PastTrial]) -> tuple[str, ...]:
    """What differs between two runs of one design, where both say it; nothing before the first."""
    if not before:
        return ()
    old, new = ({trial.place: trial for trial in trials} for trials in (before, now))
    found = {"cases"} if old.keys() != new.keys() else set()
    for cell in old.keys() & new.keys():
        one, other = old[cell], new[cell]
        found |= {name for name in one.lock.keys() & other.lock.keys() if one.lock[name] != other.lock[name]}
        if one.cassette_digest and other.cassette_digest and one.cassette_digest != other.cassette_digest:
            found.add("recordings")
    return tuple(name for name in CHANGES if name in found)
