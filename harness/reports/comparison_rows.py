"""What a comparison of designs says, as tables of words: the same for a terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.records.comparison import (
    Comparison,
    DesignFigures,
    Group,
    Interval,
    KeepRate,
    LeftOut,
    MatrixCell,
    MatrixRow,
    PairTest,
    Parting,
)

Rows = list[list[str]]
NONE = "–"
_ANSWERED = {
    "live": "a hosted provider",
    "local": "a model served on loopback",
    "scripted": "scripts",
    "none": "nobody that is named",
}
_TESTS = {"mcnemar_exact": "McNemar", "stratified_permutation": "permutation"}


class Table(NamedTuple):
    """Headers, the same for narrow screens, and rows of as many cells; *strange* columns hold words of others."""

    headers: Sequence[str]
    short: Sequence[str]
    rows: Rows
    strange: tuple[int, ...] = ()


class GroupTold(NamedTuple):
    """A group with all that is said of it; designs are numbered from 1 in the order of *figures*."""

    group: Group
    figures: tuple[DesignFigures, ...]
    pairs: tuple[PairTest, ...]
    rows: tuple[MatrixRow, ...]

    def number(self, name: str) -> str:
        """The number of the design *name*."""
        return str(self.group.designs.index(name) + 1)

    def cell(self, row: MatrixRow, name: str) -> MatrixCell | None:
        """What the design *name* came to in *row*."""
        return next((cell for cell in row.cells if cell.design == name), None)


def groups_told(comparison: Comparison) -> list[GroupTold]:
    """Each group of *comparison* with its designs, pairs and cases."""
    told = []
    for group in comparison.groups:
        key = (group.provenance, group.sets)
        rows = [row for row in comparison.matrix if row.set in group.sets]
        told.append(
            GroupTold(
                group,
                tuple(one for one in comparison.designs if (one.provenance, one.sets) == key),
                tuple(pair for pair in comparison.pairs if (pair.provenance, pair.sets) == key),
                tuple(row for row in rows if sum(cell.design in group.designs for cell in row.cells) > 1),
            )
        )
    return told


def title_of(group: Group) -> str:
    """Which designs on which cases, and who answered them."""
    model = _one_model(group)
    return (
        f"{', '.join(group.sets)}: {counted(len(group.designs), 'design')}"
        f"{f' × {model}' if model not in {'', 'scripted'} else ''} answered by {_ANSWERED[group.provenance]}, "
        f"{counted(group.cases, 'case')} that all of them ran"
    )


def quality_table(told: GroupTold) -> Table:
    """How much each design kept, and whether another beats it."""
    rows = [
        [
            str(number), one.agent if _one_model(told.group) else one.name, f"{one.kept}/{one.trials}", percent(one.kept_rate), interval(one.interval),
            _front(one, told) if told.group.objectives else NONE,
        ]
        for number, one in enumerate(told.figures, start=1)
    ]  # fmt: skip
    return Table(
        ("#", "design", "trials kept", "rate", "95 % interval", "front"),
        ("#", "design", "kept", "rate", "95 %", "front"),
        rows,
        strange=(1,),
    )


def work_table(told: GroupTold) -> Table:
    """What each design took for one trial."""
    rows = [
        [
            str(number), decimal(one.llm_calls), decimal(one.tool_calls), decimal(one.turns), decimal(one.parallelism, 2),
            *(f"{round(tokens / max(one.trials, 1)):,}" for tokens in (
                one.tokens.input, one.tokens.output, one.tokens.cached, one.tokens.thinking,
            )),
            NONE if one.cost_usd is None else f"{one.cost_usd:.4f}", f"{round(one.recorded_ms):,}",
        ]
        for number, one in enumerate(told.figures, start=1)
    ]  # fmt: skip
    return Table(
        ("#", "LLM calls", "tool calls", "turns", "at once", "input", "output", "cached", "thinking", "US$", "ms"),
        ("#", "LLM", "tools", "turns", "par.", "in", "out", "cached", "think", "US$", "ms"),
        rows,
    )


def contract_table(told: GroupTold) -> Table:
    """Contracts that not every trial kept: kept of triggered, for each design."""
    rows = []
    for (contract, advisory), by_design in sorted(_rates(told).items()):
        if any(rate.kept < rate.triggered for rate in by_design.values()):
            cells = [by_design.get(one.name) for one in told.figures]
            name = f"{contract} (advisory)" if advisory else contract
            rows.append([name, *(f"{cell.kept}/{cell.triggered}" if cell else NONE for cell in cells)])
    return _by_design("contract", told, rows)


def all_kept(told: GroupTold) -> int:
    """How many contracts each trial kept that triggered them."""
    rates = _rates(told).values()
    return sum(all(rate.kept == rate.triggered for rate in by_design.values()) for by_design in rates)


def pair_table(told: GroupTold) -> Table:
    """Pairs with samples: counts, and what they prove."""
    rows = [
        [
            f"{told.number(pair.a)} – {told.number(pair.b)}", str(pair.wins), str(pair.losses), str(pair.ties),
            _TESTS.get(pair.test, pair.test), p_value(pair.p_value), p_value(pair.p_adjusted), points(pair.effect),
            interval(pair.interval, signed=True), percent(pair.smallest_detectable), str(pair.needs_trials or NONE),
        ]
        for pair in told.pairs
        if pair.test
    ]  # fmt: skip
    return Table(
        (
            "pair",
            "wins",
            "losses",
            "ties",
            "test",
            "p",
            "Holm",
            "difference",
            "95 % interval",
            "would show",
            "trials needed",
        ),
        ("pair", "+", "-", "=", "test", "p", "Holm", "diff.", "95 %", "80 %", "need"),
        rows,
    )


def exact_table(told: GroupTold) -> Table:
    """Pairs without a test, whose cases do not all end alike."""
    rows = [
        [f"{told.number(pair.a)} – {told.number(pair.b)}", str(pair.wins), str(pair.losses), str(pair.ties)]
        for pair in told.pairs
        if not pair.test and (pair.wins or pair.losses)
    ]
    return Table(("pair", "wins", "losses", "ties"), ("pair", "+", "-", "="), rows)


def exact_words(told: GroupTold) -> list[str]:
    """Why pairs have no test, each reason once, with how many of them end alike."""
    reasons: dict[str, list[PairTest]] = {}
    for pair in told.pairs:
        if not pair.test:
            reasons.setdefault(pair.because, []).append(pair)
    return [
        f"{counted(len(pairs), 'pair')} without a test ({because})"
        f"; {counted(sum(not pair.wins and not pair.losses for pair in pairs), 'pair')} the same on every case"
        for because, pairs in reasons.items()
    ]


def open_words(told: GroupTold) -> list[str]:
    """What is to be said of each pair whose test is not significant."""
    return [
        f"{told.number(pair.a)} – {told.number(pair.b)}: {pair.because}"
        for pair in told.pairs
        if pair.test and pair.because
    ]


def matrix_table(told: GroupTold, rows: Sequence[MatrixRow]) -> Table:
    """What each design came to on *rows*."""
    return _by_design("case", told, [[case_name(told, row), *_cells(told, row)] for row in rows])


def not_all_kept(told: GroupTold) -> list[MatrixRow]:
    """Cases that not every design kept: first those on which designs come to different ends."""
    rows = [row for row in told.rows if any(cell is None or cell.verdict != "kept" for cell in _of_group(told, row))]
    return sorted(rows, key=lambda row: len({cell and cell.verdict for cell in _of_group(told, row)}) == 1)


def case_name(told: GroupTold, row: MatrixRow) -> str:
    """The case of *row*, with its set where the group has several."""
    return f"{row.set}/{row.case}" if len(told.group.sets) > 1 else row.case


def parting_words(told: GroupTold, row: MatrixRow) -> list[tuple[int, str]]:
    """Where each two designs part on the case of *row*, the earliest first, with the turn."""
    partings = [one for one in row.why if one.a in told.group.designs and one.b in told.group.designs]
    return sorted(((_step(one), _parted(told, one)) for one in partings), key=lambda told_: told_[0])


def left_out_words(comparison: Comparison) -> list[str]:
    """Cases and trials that are not compared, folded by set and reason."""
    folded: dict[tuple[str, str, str], list[LeftOut]] = {}
    for left in comparison.left_out:
        folded.setdefault((left.set, left.kind, left.because), []).append(left)
    return [
        f"{set_name}: {_which(lefts)} {'counted in pairs only' if kind == 'partly' else 'left out'}: {because}"
        for (set_name, kind, because), lefts in folded.items()
    ]


def headline(comparison: Comparison) -> tuple[str, str]:
    """The verdict in capital letters, and what it rests on."""
    unchecked = sum(left.kind == "unchecked" for left in comparison.left_out)
    unlike = sum(left.kind == "unlike" for left in comparison.left_out)
    what = f"{counted(len({one.name for one in comparison.designs}), 'design')} on {counted(len(comparison.matrix), 'case')}"
    if comparison.exit_code == 3:
        found = [counted(unchecked, "trial") + " without a verdict"] if unchecked else []
        found += [counted(unlike, "case") + " not the same for all"] if unlike else []
        return "COULD NOT CHECK", f"{' and '.join(found)}; otherwise {what}"
    if comparison.exit_code == 4:
        return "NOTHING COMPARED", "no two designs of one provenance answered the same case"
    open_ = sum(not pair.told for pair in comparison.pairs)
    if comparison.exit_code == 5:
        needs = f"; about {comparison.needs_trials} trials of each case would tell" if comparison.needs_trials else ""
        return "INCONCLUSIVE", f"{what}: {counted(open_, 'pair')} left to chance{needs}"
    return "COMPARED", f"{what}, {counted(len(comparison.pairs), 'pair')}" + (
        f" ({open_} left to chance)" if open_ else ""
    )


def counted(count: int, noun: str) -> str:
    """*count* with *noun* in its number."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def decimal(value: float, places: int = 1) -> str:
    """*value* with *places* behind the point."""
    return f"{value:,.{places}f}"


def percent(share: float | None) -> str:
    """A share in percent."""
    return NONE if share is None else f"{100 * share:.0f} %"


def points(difference: float | None) -> str:
    """A difference of rates in points."""
    return NONE if difference is None else f"{100 * difference:+.0f}"


def interval(ends: Interval | None, *, signed: bool = False) -> str:
    """Both ends in percent, or in points with a sign."""
    if ends is None:
        return NONE
    if signed:
        return f"{100 * ends.lo:+.0f} to {100 * ends.hi:+.0f}"
    return f"{100 * ends.lo:.0f} to {100 * ends.hi:.0f} %"


def p_value(value: float | None) -> str:
    """A chance, to two digits."""
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else f"{value:.2g}" if value < 0.095 else f"{value:.2f}"


def _front(one: DesignFigures, told: GroupTold) -> str:
    if one.pareto:
        return "on it"
    return "beaten by " + ", ".join(told.number(name) for name in one.dominated_by)


def _rates(told: GroupTold) -> dict[tuple[str, bool], dict[str, KeepRate]]:
    rates: dict[tuple[str, bool], dict[str, KeepRate]] = {}
    for one in told.figures:
        for rate in one.contracts:
            rates.setdefault((rate.contract, rate.advisory), {})[one.name] = rate
    return rates


def _by_design(header: str, told: GroupTold, rows: Rows) -> Table:
    headers = (header, *(str(number) for number in range(1, len(told.figures) + 1)))
    return Table(headers, headers, rows, strange=tuple(range(len(headers))))


def _of_group(told: GroupTold, row: MatrixRow) -> list[MatrixCell | None]:
    return [told.cell(row, name) for name in told.group.designs]


def _cells(told: GroupTold, row: MatrixRow) -> list[str]:
    return [_cell(cell) for cell in _of_group(told, row)]


def _cell(cell: MatrixCell | None) -> str:
    if cell is None:
        return NONE
    if cell.verdict == "could_not_check":
        return "unchecked"
    count = f"{cell.kept}/{cell.trials} " if cell.trials > 1 else ""
    broken = " ".join(cell.broken[:3]) + (" …" if len(cell.broken) > 3 else "")
    return f"{count}kept" if cell.verdict == "kept" else f"{count}broken {broken}".rstrip()


def _one_model(group: Group) -> str:
    """The model of every design of *group*; empty where there are several."""
    models = {name.rpartition(" × ")[2] for name in group.designs}
    return models.pop() if len(models) == 1 else ""


def _step(parting: Parting) -> int:
    return parting.divergence.step if parting.divergence is not None else 1 << 30


def _parted(told: GroupTold, parting: Parting) -> str:
    pair = f"{told.number(parting.a)} and {told.number(parting.b)}"
    if parting.divergence is None:
        return f"{pair} do the same"
    return f"{pair} part at turn {parting.divergence.step}: {parting.divergence.because}"


def _which(lefts: Sequence[LeftOut]) -> str:
    cases = list(dict.fromkeys(left.case for left in lefts))
    if len(cases) <= 3:
        return ", ".join(cases)
    return f"{len(cases)} cases ({', '.join(cases[:2])}, …)"
