"""A comparison of designs on one screen: tables of each group, where designs part, what was left out, the verdict, what next."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from harness.records.comparison import Comparison
from harness.reports.comparison_rows import (
    GroupTold,
    Table,
    all_kept,
    case_name,
    contract_table,
    counted,
    exact_table,
    exact_words,
    groups_told,
    headline,
    left_out_words,
    matrix_table,
    not_all_kept,
    open_words,
    pair_table,
    parting_words,
    quality_table,
    title_of,
    work_table,
)
from harness.reports.screen import Paint, clip, one_line, plain, titled, wrap
from harness.reports.table import table

_MOST_CASES = 12
_MOST_PARTINGS = 8
_MOST_OPEN = 6
_MOST_LEFT_OUT = 6
_MOST_COLUMNS = 240
_COLOURS = {0: "green", 3: "yellow", 4: "yellow", 5: "yellow"}


def render_comparison(comparison: Comparison, *, width: int = 80, paint: Paint = plain) -> str:
    """
    Lay *comparison* out for a terminal.

    Args:
        comparison: What `harness.compare` found.
        width: Columns of the terminal, at least 20.
        paint: What decorates words.
    """
    blocks = [block for told in groups_told(comparison) for block in _group(told, width, paint)]
    if comparison.left_out:
        lines = left_out_words(comparison)
        more = (
            [f"and {len(lines) - _MOST_LEFT_OUT} more reasons; `--json` has all"] if len(lines) > _MOST_LEFT_OUT else []
        )
        blocks.append("\n".join(_line(line, width) for line in (*lines[:_MOST_LEFT_OUT], *more)))
    word, about = headline(comparison)
    run = f"; run {comparison.run}" if comparison.run else ""
    colour = _COLOURS.get(comparison.exit_code, "yellow")
    blocks.append(titled(word, one_line(f"{about}{run}"), width, paint=paint, colour=colour))
    if hint := _hint(comparison):
        blocks.append(one_line(f"hint: {hint}"))  # in one line, so that its command can be copied
    return "\n\n".join(blocks)


def _group(told: GroupTold, width: int, paint: Paint) -> Iterator[str]:
    yield paint(wrap(one_line(title_of(told.group)), width, later="  "), "bold")
    quality = quality_table(told)
    marks = ["dim" if one.dominated_by else "green" if one.pareto else "" for one in told.figures]
    colours = [[mark if mark == "dim" else ""] * (len(quality.headers) - 1) + [mark] for mark in marks]
    yield table(quality.headers, quality.rows, short=quality.short, width=width, paint=paint, colours=colours)
    yield _table(work_table(told), width)
    yield wrap(_weighed(told), width, later="  ")
    if (contracts := contract_table(told)).rows:
        yield f"{_table(contracts, width)}\n{wrap(_kept_by_all(told), width, later='  ')}"
    if (pairs := pair_table(told)).rows:
        yield _table(pairs, width)
    if (exact := exact_table(told)).rows:
        yield _table(exact, width)
    words = [*exact_words(told), *open_words(told)[:_MOST_OPEN]]
    if words:
        yield "\n".join(_line(word, width) for word in words)
    yield from _cases(told, width)


def _weighed(told: GroupTold) -> str:
    if not told.group.objectives:
        return "no front: no case was answered by all of them"
    names = {"kept_rate": "rate", "cost_usd": "US$", "llm_calls": "LLM calls", "recorded_ms": "ms"}
    weighed = ", ".join(names.get(objective, objective) for objective in told.group.objectives)
    return f"figures are means of a trial; the front weighs {weighed}"


def _kept_by_all(told: GroupTold) -> str:
    return f"and {counted(all_kept(told), 'contract')} kept wherever triggered"


def _cases(told: GroupTold, width: int) -> Iterator[str]:
    """Cases that not every design kept, then where designs part on these, or on any where there is none."""
    rows = not_all_kept(told)
    if rows:
        yield _table(matrix_table(told, rows[:_MOST_CASES]), width)
    kept = f"every design kept {counted(len(told.rows) - len(rows), 'case')}"
    more = f"; {len(rows) - _MOST_CASES} more cases were not kept by all" if len(rows) > _MOST_CASES else ""
    yield wrap(kept + more, width, later="  ")
    partings = [(row, found) for row in rows or told.rows if (found := parting_words(told, row))]
    if partings:
        lines = [f"{case_name(told, row)}: {found[0][1]}" for row, found in partings[:_MOST_PARTINGS]]
        if rest := len(partings) - len(lines):
            lines.append(f"and on {counted(rest, 'case')} more; `--json` has all")
        title = wrap("why they differ, the earliest parting of a case:", width, later="  ")
        yield "\n".join([title, *(_line(line, width, indent="  ") for line in lines)])


def _table(shown: Table, width: int) -> str:
    return table(shown.headers, shown.rows, short=shown.short, width=width)


def _line(text: str, width: int, *, indent: str = "") -> str:
    return wrap(clip(one_line(text), _MOST_COLUMNS), width, indent=indent, later=f"{indent}  ")


def _hint(comparison: Comparison) -> str:
    if comparison.exit_code == 3:
        return "`harness run` says of each trial what could not be checked, and which command mends it"
    if comparison.exit_code == 4:
        return "`harness compare AGENT AGENT --set SET` replays two designs on the same questions"
    if comparison.exit_code == 5:
        models = " ".join(f"--model {quote(model)}" for model in sorted({one.model for one in comparison.designs}))
        return f"`harness record {' '.join(map(quote, comparison.sets))} {models} --trials {comparison.needs_trials}` makes more samples"
    row = next((row for row in comparison.matrix if any(part.divergence for part in row.why)), None)
    if row is None or not comparison.run:
        return ""
    parting = next(part for part in row.why if part.divergence)
    a, b = parting.a.split(" × "), parting.b.split(" × ")
    agents = f"--agent {quote(a[0])} --agent {quote(b[0])}" if a[0] != b[0] else f"--agent {quote(a[0])}"
    models = f"--model {quote(a[1])}" if a[1] == b[1] else f"--model {quote(a[1])} --model {quote(b[1])}"
    return (
        f"`harness diff {comparison.run} {agents} {models} --case {quote(row.case)}` shows both trajectories of a case"
    )
