"""Trajectory diffs in the page: what is listed of each, and what is unpacked when one is opened."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from harness.records.run import CaseVerdict, Cell
from harness.records.trajectory import Diff
from harness.reports.html.chunks import ChunkWriter, Scrub, packed_json
from harness.reports.screen import clip, one_line

Json = Any
_BECAUSE = 200


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Two trials held against each other; *diff* is None where one of them left no trace that can be read."""

    a: CaseVerdict
    b: CaseVerdict
    diff: Diff | None
    why_not: str = ""


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared: *kind* `run`, each trial of run *a* with itself in run *b*; `design`, designs of one run."""

    kind: Literal["run", "design"]
    a: str
    b: str
    pairs: Iterable[Difference]
    """Made one by one as they are written."""
    only_a: tuple[Cell, ...] = ()
    only_b: tuple[Cell, ...] = ()
    left_out: int = 0
    """Pairs that nobody asked for and that would be too many."""


def written(differences: Differences, chunks: ChunkWriter, scrub: Scrub) -> dict[str, Json]:
    """Write each diff into *chunks*; tell what the page lists."""
    rows = [_row(pair, chunks, scrub) for pair in differences.pairs]
    return {
        "kind": differences.kind,
        "a": differences.a,
        "b": differences.b,
        "pairs": rows,
        "only_a": [_place(cell) for cell in differences.only_a],
        "only_b": [_place(cell) for cell in differences.only_b],
        "left_out": differences.left_out,
    }


def _row(pair: Difference, chunks: ChunkWriter, scrub: Scrub) -> dict[str, Json]:
    row: dict[str, Json] = {
        "a": _side(pair.a),
        "b": _side(pair.b),
        "same": False,
        "because": clip(pair.why_not, _BECAUSE),
    }
    if pair.diff is None:
        return row | {"unread": True}
    parted = pair.diff.divergence
    row |= {
        "same": pair.diff.same,
        "because": clip(one_line(parted.because), _BECAUSE) if parted else "",
        "counts": pair.diff.counts,
        "tokens": pair.diff.tokens.input + pair.diff.tokens.output,
    }
    if not pair.diff.same or pair.diff.setup:
        row["chunk"], row["place"] = chunks.add(packed_json(pair.diff, scrub))
    return row


def _side(verdict: CaseVerdict) -> dict[str, Json]:
    return _place(verdict.cell) | {
        "verdict": verdict.verdict, "known": verdict.known, "provenance": verdict.provenance, "broken": verdict.broken,
    }  # fmt: skip


def _place(cell: Cell) -> dict[str, Json]:
    return {"set": cell.set, "case": cell.case, "agent": cell.agent, "model": cell.model, "trial": cell.trial}
