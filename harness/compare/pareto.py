"""The Pareto front: designs that no other one beats in something without losing in something else."""

from __future__ import annotations

from collections.abc import Sequence

from harness.records.comparison import DesignFigures, Objective
from harness.records.run import Provenance


def objectives_of(figures: Sequence[DesignFigures], provenance: Provenance) -> tuple[Objective, ...]:
    """
    What is weighed: the rate, what it cost, calls, and recorded latency.

    Tokens stand in for cost unless every design has one. The latency of a scripted server is nobody's.
    """
    cost: Objective = "tokens" if any(one.cost_usd is None for one in figures) else "cost_usd"
    if provenance in {"live", "local"}:
        return ("kept_rate", cost, "llm_calls", "recorded_ms")
    return ("kept_rate", cost, "llm_calls")


def dominators(figures: Sequence[DesignFigures], objectives: Sequence[Objective]) -> list[tuple[str, ...]]:
    """For each design the names of those that are at least as good in everything and better in something."""
    points = [tuple(_value(one, objective) for objective in objectives) for one in figures]
    return [
        tuple(other.name for other, better in zip(figures, points, strict=True) if _dominates(better, point))
        for point in points
    ]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(mine <= theirs for mine, theirs in zip(one, other, strict=True))


def _value(figures: DesignFigures, objective: Objective) -> float:
    """The smaller, the better; rounded, so that the order of a sum decides nothing."""
    value = {
        "kept_rate": -figures.kept_rate,
        "cost_usd": figures.cost_usd or 0.0,
        "tokens": figures.mean_tokens,
        "llm_calls": figures.llm_calls,
        "recorded_ms": figures.recorded_ms,
    }[objective]
    return round(value, 9)
