"""The arena of the page: each group of designs that are compared, with its figures, charts and pairs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.records.comparison import Comparison, DesignFigures, Group, PairTest
from harness.reports.html.charts import Chart, draw_group


class ArenaPart(msgspec.Struct, frozen=True, kw_only=True):
    """One group."""

    name: str
    group: Group
    designs: tuple[DesignFigures, ...]
    pairs: tuple[PairTest, ...]
    charts: tuple[Chart, ...]


def arena_parts(comparison: Comparison | None) -> list[ArenaPart]:
    """Take *comparison* apart by its groups, and draw each that has designs to be seen beside each other."""
    if comparison is None:
        return []
    return [_part(comparison, group, number) for number, group in enumerate(comparison.groups)]


def _part(comparison: Comparison, group: Group, number: int) -> ArenaPart:
    designs = tuple(each for each in comparison.designs if _belongs(each.provenance, each.sets, (each.name,), group))
    pairs = tuple(each for each in comparison.pairs if _belongs(each.provenance, each.sets, (each.a, each.b), group))
    drawn = draw_group(group, designs, f"chart-{number}") if len(designs) > 1 and group.cases else []
    name = f"{', '.join(group.sets)}, {group.provenance}"
    return ArenaPart(name=name, group=group, designs=designs, pairs=pairs, charts=tuple(drawn))


def _belongs(provenance: str, sets: Sequence[str], names: Sequence[str], group: Group) -> bool:
    return provenance == group.provenance and sets == group.sets and set(names) <= set(group.designs)
