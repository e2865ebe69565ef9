"""A run on one screen: the verdict, the table, what is wrong with its evidence, the worst first, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from shlex import quote

from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, RunRecord
from harness.reports.columns import display_width
from harness.reports.screen import Paint, clip, one_line, plain, titled, wrap
from harness.reports.table import table

_HEADERS = ("agent", "model", "provenance", "cases", "known", "broken", "could not check", "calls", "tokens")
_SHORT = ("agent", "model", "prov.", "cases", "known", "broken", "unchk", "calls", "tokens")
_MOST_SHOWN = 8
"""Broken trials that are shown where nothing says how many lines a screen has."""
_RECORDABLE = frozenset({"cassette-missing", "cassette-miss", "cassette-format", "cassette-unreadable"})


def render_run(
    record: RunRecord,
    *,
    width: int = 80,
    height: int | None = None,
    paint: Paint = plain,
    baselined: Iterable[str] = (),
    folder: str = "",
    name: str = "",
) -> str:
    """
    Render *record* for people.

    Args:
        record: The run, marked with what is known.
        width: Columns of the terminal, at least 20.
        height: Lines of the terminal: no more is shown of what is wrong than fits, and one thing in any case. None
            where nothing scrolls away.
        paint: What decorates words.
        baselined: Names of the sets that have a baseline.
        folder: Where the run was written, as the reader may open it.
        name: What `harness report` finds the run by, if not by its id.
    """
    if not record.results:
        return (
            titled("NOTHING RUN", "no declared cell matches", width, paint=paint, colour="yellow")
            + "\n\nhint: `harness list sets` shows what can run"
        )
    broken = _worst_first(v for v in record.results if v.verdict == "broken" and not v.known)
    unchecked = fold(v for v in record.results if v.verdict == "could_not_check")
    head = [_summary(record, width, paint), _table(record.results, width, paint)]
    foot = [
        _never_triggered(record, width),
        _drifts(record.results, width),
        _next_step(record, broken, [group[0] for group in unchecked], set(baselined), name or record.run),
    ]
    room = (
        None if height is None else height - 1 - sum(_lines(part, width) for part in (*head, *foot, "and more") if part)
    )
    evidence = _evidence(unchecked, broken, width=width, room=room, paint=paint, folder=folder)
    return "\n\n".join(part for part in (*head, *evidence, *foot) if part)


def render_verdict(verdict: CaseVerdict, *, width: int = 80, paint: Paint = plain) -> str:
    """Render what is wrong with one trial, as `render_run` does for each; the empty string where nothing is."""
    if verdict.verdict == "kept":
        return ""
    return _broken(verdict, width, paint) if verdict.verdict == "broken" else _unchecked([verdict], width, paint)


def fold(unchecked: Iterable[CaseVerdict]) -> list[list[CaseVerdict]]:
    """
    Put trials that could not be checked for one cause into one group, the largest first.

    Models that have to be recorded stand apart: scripts are there at once, and another model's server may not be.
    """
    groups: dict[tuple[str, str, str, str], list[CaseVerdict]] = {}
    for verdict in unchecked:
        failed = _failed_contract(verdict)
        model = verdict.model if verdict.code in _RECORDABLE else ""
        groups.setdefault((verdict.code, verdict.cause, failed.contract if failed else "", model), []).append(verdict)
    return sorted(groups.values(), key=len, reverse=True)


def record_command(group: Sequence[CaseVerdict]) -> str:
    """The one command that records what the trials of *group* lack; empty where recording does not help."""
    if group[0].code not in _RECORDABLE:
        return ""
    words = ["harness record", *map(quote, sorted({v.set for v in group}))]
    words += [f"--agent {quote(agent)}" for agent in sorted({v.agent for v in group})]
    models = sorted({v.model for v in group})
    cases = sorted({v.case for v in group})
    if len(models) == 1:
        words.append(f"--model {quote(models[0])}")
    if len(cases) == 1:
        words.append(f"--case {quote(cases[0])}")
    if last := max(v.trial for v in group):
        words.append(f"--trials {last + 1}")
    words.append(f"--mode {'missing' if group[0].code == 'cassette-missing' else 'stale'}")
    return one_line(" ".join(words))


def _table(results: Sequence[CaseVerdict], width: int, paint: Paint) -> str:
    groups: dict[tuple[str, str, str], list[CaseVerdict]] = {}
    for verdict in results:
        groups.setdefault((verdict.agent, verdict.model, verdict.provenance), []).append(verdict)
    rows, colours = [], []
    for key, verdicts in sorted(groups.items()):
        known = sum(v.known for v in verdicts)
        broken = sum(v.verdict == "broken" and not v.known for v in verdicts)
        unchecked = sum(v.verdict == "could_not_check" for v in verdicts)
        tokens = sum((v.tokens for v in verdicts), Usage())
        calls = sum(v.llm_calls for v in verdicts)
        rows.append(
            (*key, _cases(verdicts), known, broken, unchecked, f"{calls:,}", f"{tokens.input + tokens.output:,}")
        )
        colours.append(("", "", "", "", "", "red" if broken else "", "yellow" if unchecked else "", "", ""))
    return table(_HEADERS, rows, short=_SHORT, width=width, paint=paint, colours=colours)


def _cases(verdicts: Sequence[CaseVerdict]) -> str:
    """Cases kept of all cases; a case is kept where each of its trials is."""
    every = {(v.set, v.case) for v in verdicts}
    lost = {(v.set, v.case) for v in verdicts if v.verdict != "kept"}
    return f"{len(every) - len(lost)}/{len(every)}"


def _name(verdict: CaseVerdict) -> str:
    trial = f" trial {verdict.trial}" if verdict.trial else ""
    fault = f" with fault {verdict.fault}" if verdict.fault else ""
    return one_line(f"{verdict.agent} × {verdict.model}  {verdict.set}/{verdict.case}{trial}{fault}")


def _evidence(
    unchecked: Sequence[Sequence[CaseVerdict]],
    broken: Sequence[CaseVerdict],
    *,
    width: int,
    room: int | None,
    paint: Paint,
    folder: str,
) -> Iterator[str]:
    """What is wrong, the worst first: one thing, and then as much as *room* has lines for; the rest is counted."""
    most = len(unchecked) + (_MOST_SHOWN if room is None else len(broken))
    found: Iterator[tuple[int, str]] = chain(
        ((len(group), _unchecked(group, width, paint)) for group in unchecked),
        ((1, _broken(verdict, width, paint)) for verdict in broken),
    )
    left = sum(map(len, unchecked)) + len(broken)
    for place, (trials, text) in enumerate(found):
        room = None if room is None else room - _lines(text, width)
        if place and (place >= most or (room is not None and room < 0)):
            break
        left -= trials
        yield text
    if left:
        where = f"{one_line(folder)}/results.jsonl" if folder else "`--json`"
        yield wrap(f"and {left} more trials that are not kept; {where} has all", width, later="  ")


def _worst_first(broken: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    """Trials with more broken contracts before those with fewer, else in the order in which they ran."""
    return sorted(broken, key=lambda verdict: -len(verdict.broken))


def _lines(text: str, width: int) -> int:
    """Lines of a terminal that *text* takes, and the empty one after it."""
    return 1 + sum(max(1, -(-display_width(line) // width)) for line in text.split("\n"))


def _broken(verdict: CaseVerdict, width: int, paint: Paint) -> str:
    findings = [finding for finding in verdict.findings if finding.state == "broken" and not finding.advisory]
    lines = [titled("BROKEN", _name(verdict), width, paint=paint, colour="red")]
    lines += [_finding(finding, verdict, width) for finding in findings]
    return "\n".join(lines)


def _finding(finding: Finding, verdict: CaseVerdict, width: int) -> str:
    where = [f"turn {finding.turn}"] if finding.turn is not None else []
    if finding.witness:
        seqs = ", ".join(map(str, finding.witness[:6])) + (", …" if len(finding.witness) > 6 else "")
        where.append(f"event{'s' if len(finding.witness) > 1 else ''} {seqs}")
    if finding.leg:
        where.append(f"leg {finding.leg}")
    because = clip(one_line(finding.because), 400)
    text = f"{one_line(finding.contract)}: {because}" + (f" ({'; '.join(where)})" if where else "")
    at = finding.at or verdict.at
    lines = [wrap(text, width, indent="  ", later="    ")]
    return "\n".join([*lines, f"    at {one_line(at)}"] if at else lines)


def _unchecked(group: Sequence[CaseVerdict], width: int, paint: Paint) -> str:
    first = group[0]
    failed = _failed_contract(first)
    cause = f", {first.cause.replace('_', ' ')} changed" if first.cause in _CHANGED else ""
    count = f"{len(group)} trials" if len(group) > 1 else "1 trial"
    what = f"contract `{failed.contract}`" if failed else first.code or "no code"
    lines = [
        titled("COULD NOT CHECK", one_line(f"{count}: {what}{cause}"), width, paint=paint, colour="yellow"),
        wrap(_name(first), width, indent="  ", later="    "),
    ]
    lines += [
        wrap(clip(one_line(line), 400), width, indent="    ", later="      ")
        for line in (failed.because if failed else first.because).splitlines()[:8]
        if line.strip()
    ]
    if first.cassette and not failed and first.cassette not in first.because:
        lines.append(f"    in {one_line(first.cassette)}")
    if at := failed.at if failed and failed.at else first.at:
        lines.append(f"    at {one_line(at)}")
    if len(group) > 1:
        lines.append(f"  and {len(group) - 1} more of the same cause")
    command = record_command(group)
    mend = f"`{command}`" if command else f"`harness explain {one_line(first.code)}`" if first.code else ""
    return "\n".join([*lines, f"  mend: {mend}"] if mend else lines)


def _failed_contract(verdict: CaseVerdict) -> Finding | None:
    """The contract that could not be checked, where the trial itself could."""
    if verdict.code:
        return None
    return next((f for f in verdict.findings if f.state == "could_not_check" and not f.advisory), None)


_CHANGED = frozenset({"prompt", "tool_schema", "model", "params", "message", "order"})


def _never_triggered(record: RunRecord, width: int) -> str:
    if record.partial:
        return ""
    findings = [finding for verdict in record.results for finding in verdict.findings]
    vacuous = {finding.contract for finding in findings if finding.state == "vacuous"}
    idle = sorted(vacuous - {finding.contract for finding in findings if finding.state != "vacuous"})
    return (
        wrap(one_line(f"vacuous (never triggered in this run): {', '.join(idle)}"), width, later="  ") if idle else ""
    )


def _drifts(results: Sequence[CaseVerdict], width: int) -> str:
    """One warning for all transport drifts: the logical calls are the same, only their wire form is not."""
    drifts = [verdict.drift for verdict in results if verdict.drift]
    if not drifts:
        return ""
    count = f"{len(drifts)} trials" if len(drifts) > 1 else "1 trial"
    return wrap(f"warning: transport drift in {count}: {clip(one_line(drifts[0]), 300)}", width, later="  ")


def _summary(record: RunRecord, width: int, paint: Paint) -> str:
    totals = record.totals
    counts = [f"{totals.kept} of {totals.trials} trials kept"]
    if totals.broken:
        counts.append(f"{totals.broken} broken" + (f" ({totals.known} known)" if totals.known else ""))
    if totals.could_not_check:
        counts.append(f"{totals.could_not_check} could not be checked")
    ms = sum(verdict.replay_ms for verdict in record.results)
    word, colour = _headline(record)
    told = f"{', '.join(counts)}; run {one_line(record.run)}{', partial' if record.partial else ''}, {ms:,.0f} ms"
    return titled(word, told, width, paint=paint, colour=colour)


def _headline(record: RunRecord) -> tuple[str, str]:
    if record.totals.could_not_check:
        return "COULD NOT CHECK", "yellow"
    if record.totals.broken > record.totals.known:
        return "BROKEN", "red"
    return "KEPT", "green"


def _next_step(
    record: RunRecord, broken: Sequence[CaseVerdict], unchecked: Sequence[CaseVerdict], baselined: set[str], name: str
) -> str:
    if unchecked:
        return "hint: mend what could not be checked first; nothing is known of those trials"
    if broken:
        one = broken[0]
        run = quote(one_line(name))
        contract = quote(one_line(one.broken[0])) if one.broken else "CODE"
        again = f"harness run {quote(one.set)} --agent {quote(one.agent)} --case {quote(one.case)}"
        return (
            f"hint: `harness report {run} --format html` shows every step; `harness explain {contract}` says what is held\n"
            f"      `{one_line(again)}` runs the first again"
        )
    fresh = sorted({verdict.set for verdict in record.results} - baselined)
    if fresh and not record.partial:
        return one_line(
            f'hint: `harness accept {quote(name)} --reason "…"` makes this the baseline of {", ".join(fresh)}'
        )
    return ""
