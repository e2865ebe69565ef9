"""What a reader needs first: the verdict, the red cases with why, and the next command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from urllib.parse import quote as encoded

import msgspec

from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Cell, RunRecord
from harness.reports.problems import Problem, problems_of
from harness.reports.screen import clip, one_line
from harness.reports.terminal import fold, record_command

MOST_RED = 40
"""Trials that the first page names; the list of cases has all."""
_LONGEST = 600


class DesignRow(msgspec.Struct, kw_only=True):
    """One design in the table of the first page."""

    agent: str
    model: str
    provenance: str
    cases: int = 0
    cases_kept: int = 0
    trials: int = 0
    known: int = 0
    broken: int = 0
    could_not_check: int = 0
    llm_calls: int = 0
    tokens: int = 0


class Red(msgspec.Struct, frozen=True, kw_only=True):
    """One trial that is not kept, with what is wrong with it."""

    verdict: CaseVerdict
    link: str
    problems: tuple[Problem, ...]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The first page."""

    designs: tuple[DesignRow, ...]
    red: tuple[Red, ...]
    """Broken and not known, or not checked."""
    more_red: int
    known: tuple[Red, ...]
    more_known: int
    next_steps: tuple[tuple[str, str], ...]
    """What to do, and the command that does it."""
    provenance: dict[str, int]
    """Trials by who answered them."""


def summarised(record: RunRecord) -> Summary:
    """Tell what came of *record*."""
    red = [v for v in record.results if v.verdict != "kept" and not v.known]
    known = [v for v in record.results if v.verdict != "kept" and v.known]
    provenance: dict[str, int] = {}
    for verdict in record.results:
        provenance[verdict.provenance] = provenance.get(verdict.provenance, 0) + 1
    red.sort(key=lambda verdict: verdict.verdict != "could_not_check")
    return Summary(
        designs=tuple(_designs(record.results)),
        red=tuple(_red(verdict) for verdict in red[:MOST_RED]),
        more_red=max(len(red) - MOST_RED, 0),
        known=tuple(_red(verdict) for verdict in known[:MOST_RED]),
        more_known=max(len(known) - MOST_RED, 0),
        next_steps=tuple(_next_steps(record, red)),
        provenance=provenance,
    )


def case_link(cell: Cell, *, step: int | None = None, leg: int = 0) -> str:
    """The address, inside of the page, of a trial and of a step in it; steps of a later leg are `leg.step`."""
    parts = (cell.set, cell.case, cell.agent, cell.model, str(cell.trial))
    link = "#/case/" + "/".join(encoded(part, safe="", errors="replace") for part in parts)
    return link if step is None else f"{link}/step/{f'{leg}.' if leg else ''}{step}"


def _red(verdict: CaseVerdict) -> Red:
    found = tuple(problem for problem in problems_of(verdict) if problem.kind != "advisory")
    shown = tuple(msgspec.structs.replace(each, because=clip(one_line(each.because), _LONGEST)) for each in found[:6])
    return Red(verdict=verdict, link=case_link(verdict.cell), problems=shown)


def _designs(results: Sequence[CaseVerdict]) -> Iterator[DesignRow]:
    groups: dict[tuple[str, str, str], list[CaseVerdict]] = {}
    for verdict in results:
        groups.setdefault((verdict.agent, verdict.model, verdict.provenance), []).append(verdict)
    for (agent, model, provenance), verdicts in sorted(groups.items()):
        every = {(v.set, v.case) for v in verdicts}
        lost = {(v.set, v.case) for v in verdicts if v.verdict != "kept"}
        tokens = sum((v.tokens for v in verdicts), Usage())
        yield DesignRow(
            agent=agent,
            model=model,
            provenance=provenance,
            cases=len(every),
            cases_kept=len(every) - len(lost),
            trials=len(verdicts),
            known=sum(v.known for v in verdicts),
            broken=sum(v.verdict == "broken" and not v.known for v in verdicts),
            could_not_check=sum(v.verdict == "could_not_check" for v in verdicts),
            llm_calls=sum(v.llm_calls for v in verdicts),
            tokens=tokens.input + tokens.output,
        )


def _next_steps(record: RunRecord, red: Sequence[CaseVerdict]) -> Iterator[tuple[str, str]]:
    for group in fold(v for v in red if v.verdict == "could_not_check"):
        count = f"{len(group)} trial{'' if len(group) == 1 else 's'}"
        if command := record_command(group):
            yield f"Record what {count} lack{'s' if len(group) == 1 else ''}", command
        elif group[0].code:
            yield f"Read why {count} could not be checked", one_line(f"harness explain {quote(group[0].code)}")
    broken = next((v for v in red if v.verdict == "broken"), None)
    if broken:
        again = f"harness run {quote(broken.set)} --agent {quote(broken.agent)} --case {quote(broken.case)}"
        yield "After mending, run the first red case again", one_line(again)
    if not red and record.results:
        yield "Hold this run against the accepted verdicts", one_line(f"harness gate {quote(record.run)}")
        yield "See how it differs from another run", one_line(f"harness diff OTHER {quote(record.run)}")
