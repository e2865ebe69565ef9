"""What is said of the trials that a run of affected ones left out."""

from __future__ import annotations

import pytest

from harness.records.run import CaseVerdict, RunRecord, Totals
from harness.reports.affected_text import render_affected


def told(left_out: int, ran: int, known: int = 0, **causes: int) -> str:
    """What is said of a run of *ran* trials."""
    results: tuple[CaseVerdict, ...] = tuple(
        CaseVerdict(
            agent="a",
            profile="reference",
            model="m",
            provenance="local",
            set="s",
            case="c",
            trial=number,
            verdict="kept",
        )
        for number in range(ran)
    )
    manifest = {"affected": {"left_out": left_out, "known": known, "causes": causes}}
    return render_affected(
        RunRecord(run="r", results=results, totals=Totals(), exit_code=0, manifest=manifest), width=100
    )


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            told(9, 0),
            "UNCHANGED  9 trials follow from the same files as when accepted\n\nhint: `harness gate` replays them all",
        ),
        (
            told(1, 0, known=1),
            (
                "UNCHANGED  1 trial follows from the same files as when accepted; 1 of them as known failures\n\n"
                "hint: `harness gate` replays them all"
            ),
        ),
        (
            told(8, 2, known=3, code=2, golden=1),
            (
                "AFFECTED  2 of 10 trials, by what changed since they were accepted: code 2, golden 1\n"
                "  left out: 8 trials follow from the same files as when accepted; 3 of them as known failures"
            ),
        ),
        (told(0, 2, tapegate=2), "AFFECTED  2 of 2 trials, by what changed since they were accepted: tapegate 2"),
        (told(0, 0), ""),
        (render_affected(RunRecord(run="r", results=(), totals=Totals(), exit_code=0)), ""),
    ],
)
def test_how_much_and_why(said: str, text: str) -> None:
    """How many are left out, and what brought the others in; a whole run says nothing."""
    assert text == said
