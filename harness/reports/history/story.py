"""What a history says in words and figures, the same on a terminal, in Markdown and on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from shlex import quote
from typing import NamedTuple

from harness.records.history import CaseHistory, History, TrendPoint, TrendSeries, UnsteadyCase

SAMPLES = (
    "A recording is a sample: runs that replay the same recordings show what changed in prompts, code, cases and contracts,"
    " never the luck of a model. Scripted models show the agent's code alone."
)
_WORDS = {
    "cases": "cases came or went", "golden": "golden cases", "prompt": "prompts", "tool_schema": "tools", "model": "model",
    "world": "world", "code": "agent code", "contracts": "contracts or tapegate's version", "judge": "judge's answers",
    "recordings": "recordings",
}  # fmt: skip


class Figure(NamedTuple):
    """One figure of a series: *of* gives it for a run, None where it is not known; *told* says it to people."""

    name: str
    of: Callable[[TrendPoint], float | None]
    told: Callable[[TrendPoint], str]


def _tokens(point: TrendPoint) -> float:
    return (point.tokens.input + point.tokens.output) / point.trials


def _cost(point: TrendPoint) -> float | None:
    return None if point.cost_usd is None else point.cost_usd / point.trials


def _dollars(cost: float | None) -> str:
    return "–" if cost is None else f"${cost:.4f}"


FIGURES = (
    Figure("kept", lambda point: point.kept_rate, lambda point: f"{point.kept}/{point.trials}"),
    Figure("calls", lambda point: point.llm_calls / point.trials, lambda p: f"{p.llm_calls / p.trials:.1f}"),
    Figure("tokens", _tokens, lambda point: f"{_tokens(point):,.0f}"),
    Figure("cost", _cost, lambda point: _dollars(_cost(point))),
    Figure("recorded ms", lambda p: p.recorded_ms / p.trials, lambda p: f"{p.recorded_ms / p.trials:,.0f}"),
)
"""Rates and means for each trial, so that a run with more cases is no more expensive for it."""


class Moved(NamedTuple):
    """How the newest run differs from the one before, by cases."""

    fell: tuple[CaseHistory, ...]
    rose: tuple[CaseHistory, ...]


def moved(document: History) -> Moved:
    """Cases that were kept in the run before and are not in the newest, and the other way round."""
    pairs = [(case, case.states[-2:]) for case in document.cases if len(case.states) > 1]
    return Moved(
        tuple(case for case, states in pairs if states in {".x", ".k", ".?"}),
        tuple(case for case, states in pairs if states in {"x.", "k.", "?."}),
    )


def headline(document: History) -> tuple[str, str]:
    """The verdict on the newest run in a word, and in a sentence."""
    runs = document.runs
    if not runs:
        return "NO HISTORY", "no run is kept that could show a trend"
    if len(runs) == 1:
        return "ONE RUN", f"{runs[0].kept} of {runs[0].trials} trials kept; a trend needs another run"
    fell, rose = moved(document)
    since = f"since run {runs[-2].run}"
    if fell:
        more = f", {_cases(len(rose))} kept again" if rose else ""
        return "FELL", f"{_cases(len(fell))} no longer kept {since}{more}"
    if rose:
        return "ROSE", f"{_cases(len(rose))} kept again {since}"
    return (
        "STEADY",
        f"the newest of {len(runs)} runs keeps what the one before kept: {runs[-1].kept} of {runs[-1].trials}",
    )


def figures(document: History) -> tuple[Figure, ...]:
    """The figures that some run has a value of, other than nothing."""
    points = [point for series in document.series for point in series.points]
    return tuple(figure for figure in FIGURES if figure.name == "kept" or any(figure.of(point) for point in points))


def span(document: History) -> str:
    """From when to when, and what is left out."""
    runs = document.runs
    told = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"
    if runs:
        told += f" from {moment(runs[0].began)} to {moment(runs[-1].began)} UTC"
    if document.left_out:
        told += f"; {document.left_out} partial or unfinished left out"
    return told


def moment(began: str) -> str:
    """The time of a run to the minute."""
    return began[:16].replace("T", " ")


def who(series: TrendSeries | CaseHistory | UnsteadyCase) -> str:
    """A design with its model, and who answered where the model's name does not say it."""
    answered = "" if series.provenance == series.model else f" ({series.provenance})"
    return f"{series.agent} × {series.model}{answered}"


def changes(document: History, most: int = 5) -> tuple[tuple[str, str], ...]:
    """The last *most* runs before which something changed: the run, and what, over all designs."""
    found: dict[str, dict[str, set[str]]] = {run.run: {} for run in document.runs}
    fresh = dict.fromkeys(found, 0)
    for series in document.series:
        for point in series.points[1:]:
            for name in point.changed:
                found[point.run].setdefault(name, set()).add(series.agent)
            fresh[point.run] += point.new_recordings
    told = []
    for run, names in found.items():
        parts = [f"{_WORDS[name]} of {_designs(agents)}" for name, agents in names.items() if name in _WORDS]
        parts += [f"{fresh[run]} new recordings"] if fresh[run] else []
        if parts:
            told.append((run, ", ".join(parts)))
    return tuple(told[-most:])


def samples(series: TrendSeries) -> str:
    """How many recordings the points of *series* stand on, in a few words."""
    count = sum(point.new_recordings for point in series.points)
    fresh = sum(bool(point.new_recordings) for point in series.points[1:])
    same = "the same in every run" if not fresh else f"made in {fresh + 1} of {len(series.points)} runs"
    return f"{count} recordings, {same}"


def restless(document: History) -> tuple[CaseHistory, ...]:
    """Cases whose verdict changed: those that fell just now first, then by how often it did."""
    fell = set(moved(document).fell)
    changed = [case for case in document.cases if _turns(case)]
    return tuple(sorted(changed, key=lambda case: (case not in fell, -_turns(case), who(case), case.set, case.case)))


def never_kept(document: History) -> str:
    """How many cases of each design failed in every run, in words; empty where none did."""
    counts = Counter(who(case) for case in document.cases if not _turns(case))
    return ", ".join(f"{_cases(count)} of {name}" for name, count in sorted(counts.items()))


def next_step(document: History) -> tuple[str, str]:
    """The next command, and what it is good for."""
    runs = document.runs
    fell = moved(document).fell
    if fell:
        told = f"harness diff {quote(runs[-2].run)} {quote(runs[-1].run)} --case {quote(fell[0].case)}"
        return told, "shows what the agent did otherwise"
    for case in document.unsteady:
        if case.kind == "nondeterminism":
            told = f"harness diff {' '.join(map(quote, case.runs))} --case {quote(case.case)}"
            return told, "shows where the two part"
    if not runs:
        return "harness run", "makes a run"
    return "harness history --runs", "lists the runs by name"


def _turns(case: CaseHistory) -> int:
    """How often the verdict changed from one run to the next."""
    return sum(one != other for one, other in pairwise(case.states.replace("-", "")))


def _cases(count: int) -> str:
    return f"{count} case{'' if count == 1 else 's'}"


def _designs(agents: set[str]) -> str:
    """One or two by name, more by number."""
    return " and ".join(sorted(agents)) if len(agents) < 3 else f"{len(agents)} designs"
