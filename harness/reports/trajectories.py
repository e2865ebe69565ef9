"""Trajectory diffs for people: one view, for a terminal or as Markdown. Every text in it may come from a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from harness.records.digest import canonical_json
from harness.records.messages import Json, Usage
from harness.records.run import Cell
from harness.records.trajectory import Call, CallEdit, Change, Diff, Edit, Turn, Words
from harness.reports.documents import DiffDocument, TrialDiff
from harness.reports.screen import Paint, clip, one_line, plain, wrap

MOST_SHOWN = 20
"""Trials that are shown in full; the others are counted."""
_MOST_LINES = 200
"""Lines of one trial."""
_MOST_COLUMNS = 600
"""Columns of one entry, before it is wrapped."""
_MOST_SETUP = 2
_LONGEST_VALUE = 160
_WORDS_AROUND = 8
_COLOURS = {"+": "green", "-": "red", "!": "yellow", ">": "yellow", "*": "yellow"}
_MARKDOWN_WIDTH = 100
_Sign = Literal[" ", "+", "-", "!", ">", "*"]


class _Line(NamedTuple):
    """`+` came, `-` went, `!` changed, `>` moved, `*` was grouped in another way."""

    sign: _Sign
    level: int
    text: str


def render_diff(document: DiffDocument, *, width: int = 80, paint: Paint = plain) -> str:
    """Lay *document* out for a terminal of *width* columns, at least 20."""
    differing = [trial for trial in document.trials if not trial.same]
    blocks = []
    for trial in differing[:MOST_SHOWN]:
        title = wrap(f"DIFFERS  {_name(trial)}", width, later="  ")
        blocks.append(
            "\n".join([paint("DIFFERS", "yellow") + title.removeprefix("DIFFERS"), *_drawn(trial, width, paint)])
        )
    summary = [wrap(line, width, later="  ") for line in _summary(document, differing, quoted=one_line)]
    return "\n\n".join([*blocks, "\n".join(summary)])


def render_diff_markdown(document: DiffDocument) -> str:
    """Lay *document* out as Markdown; whatever a model wrote stands in code spans and fences that it cannot end."""
    differing = [trial for trial in document.trials if not trial.same]
    blocks = [f"## Trajectories: {code_span(document.a)} → {code_span(document.b)}"]
    for trial in differing[:MOST_SHOWN]:
        blocks += [f"### {code_span(_name(trial))}", fenced("\n".join(_drawn(trial, _MARKDOWN_WIDTH, plain)), "diff")]
    return "\n\n".join([*blocks, *_summary(document, differing, quoted=code_span)])


def code_span(text: str) -> str:
    """*text* as a code span of Markdown, in one line."""
    text = one_line(text) or " "
    ticks = "`" * (_longest_ticks(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """*text* as a fenced block of Markdown; it must be free of control characters."""
    ticks = "`" * max(3, _longest_ticks(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _drawn(trial: TrialDiff, width: int, paint: Paint) -> list[str]:
    drawn: list[str] = []
    for sign, level, text in _lines(trial.diff, answered=trial.closest is None):
        margin = f"{sign} {'  ' * level}"
        lines = wrap(clip(one_line(text), _MOST_COLUMNS), width, indent=margin, later=f"{margin}    ").split("\n")
        drawn += [paint(line, _COLOURS[sign]) if sign in _COLOURS else line for line in lines]
        if len(drawn) > _MOST_LINES:
            return [*drawn[:_MOST_LINES], "  … and more; `--json` has all"]
    return drawn


def _lines(diff: Diff, *, answered: bool) -> Iterator[_Line]:
    """*answered*: the answers of both sides are known; of an accepted way they are not."""
    yield _Line(" ", 0, _counts(diff) + _delta(diff.tokens, diff.cost_usd))
    if diff.divergence is not None:
        yield _Line(" ", 0, f"they part at step {diff.divergence.step}: {diff.divergence.because}")
    yield from _setup(diff.setup)
    yield from (_changed(change, 0) for change in diff.outcome)
    for matching, edits in groupby(diff.edits, lambda edit: edit.kind == "match"):
        if matching:
            yield _collapsed(list(edits))
        else:
            for edit in edits:
                yield from _edit_lines(edit)
    if answered:
        yield from _answer(diff.answer)


def _setup(changes: Sequence[Change]) -> Iterator[_Line]:
    """What the agents were given; many changes below one key are only named."""
    for key, group in groupby(changes, lambda change: change.path[:1]):
        below = list(group)
        if len(below) <= _MOST_SETUP:
            yield from (_changed(change, 0) for change in below)
        else:
            named = ", ".join(str(change.path[-1]) for change in below)
            yield _Line("!", 0, f"{key[0]}: {len(below)} differ ({named})")


def _counts(diff: Diff) -> str:
    words = {
        "match": "match", "replace": "replaced", "insert": "inserted", "delete": "deleted", "reorder": "moved",
        "regroup": "regrouped",
    }  # fmt: skip
    told = [f"{getattr(diff.counts, kind)} {word}" for kind, word in words.items() if getattr(diff.counts, kind)]
    return f"steps: {', '.join(told) or 'none'}"


def _collapsed(edits: Sequence[Edit]) -> _Line:
    a, b = [place for edit in edits for place in edit.a], [place for edit in edits for place in edit.b]
    tokens = Usage(*(sum(getattr(edit.tokens, name) for edit in edits) for name in Usage.__struct_fields__))
    costs = [edit.cost_usd for edit in edits]
    cost = None if None in costs else sum(cost or 0.0 for cost in costs)
    return _Line(" ", 0, f"{_steps(a, b)} {'matches' if len(a) == 1 else 'match'}{_delta(tokens, cost)}")


def _edit_lines(edit: Edit) -> Iterator[_Line]:
    delta = _delta(edit.tokens, edit.cost_usd)
    if edit.kind == "insert":
        yield _Line("+", 0, f"{_steps(edit.b)} inserted{_role(edit.after)}{delta}")
        yield from _turn_lines("+", edit.after[0])
    elif edit.kind == "delete":
        yield _Line("-", 0, f"{_steps(edit.a)} deleted{_role(edit.before)}{delta}")
        yield from _turn_lines("-", edit.before[0])
    elif edit.kind == "regroup":
        yield _Line("*", 0, f"{_steps(edit.a)} regrouped into {_steps(edit.b)}{_role(edit.after)}{delta}")
        yield _Line("-", 1, f"was {_grouped(edit.before)}")
        yield _Line("+", 1, f"now {_grouped(edit.after)}")
        yield from _call_lines(edit.calls)
    else:
        moved = edit.kind == "reorder"
        what = f"{_steps(edit.a)} moved to {_steps(edit.b)}" if moved else f"{_steps(edit.a, edit.b)} replaced"
        yield _Line(">" if moved else "!", 0, f"{what}{_role(edit.after)}{delta}")
        yield from (_changed(change, 1) for change in edit.changes)
        yield from _call_lines(edit.calls)


def _turn_lines(sign: _Sign, turn: Turn) -> Iterator[_Line]:
    if turn.error:
        yield _Line(sign, 1, f"fails: {turn.error}")
    if turn.text and not turn.calls:
        yield _Line(sign, 1, f"says: {clip(one_line(turn.text), _LONGEST_VALUE)}")
    if not (turn.error or turn.text or turn.calls):
        yield _Line(sign, 1, "says nothing")
    yield from (_Line(sign, 1, _called(call)) for call in turn.calls)


def _call_lines(edits: Sequence[CallEdit]) -> Iterator[_Line]:
    for edit in edits:
        if edit.kind == "insert" and edit.after is not None:
            yield _Line("+", 1, _called(edit.after))
        elif edit.kind == "delete" and edit.before is not None:
            yield _Line("-", 1, _called(edit.before))
        elif edit.before is not None and (edit.kind == "reorder" or edit.changes):
            moved = " moved" if edit.kind == "reorder" else ""
            yield _Line(">" if moved else "!", 1, f"{edit.before.tool}{moved}")
            yield from (_changed(change, 2) for change in edit.changes)


def _called(call: Call) -> str:
    result = clip(one_line(call.result), _LONGEST_VALUE)
    ended = "" if call.ok is None else f" → {result}" if call.ok else f" fails: {call.error}"
    return f"{call.tool}({_value(call.args)}){ended}"


def _grouped(turns: Sequence[Turn]) -> str:
    return " | ".join(", ".join(f"{call.tool}({_value(call.args)})" for call in turn.calls) for turn in turns)


def _changed(change: Change, level: int) -> _Line:
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in change.path).removeprefix(".")
    if change.kind == "add":
        return _Line("+", level, f"{path}: {_value(change.after)}")
    if change.kind == "remove":
        return _Line("-", level, f"{path}: {_value(change.before)}")
    told = _marked(change.words) if change.words else f"{_value(change.before)} → {_value(change.after)}"
    return _Line("!", level, f"{path}: {told}")


def _answer(words: Sequence[Words]) -> Iterator[_Line]:
    if all(stretch.kind == "same" for stretch in words):
        yield _Line(" ", 0, "the answer is the same")
    else:
        yield _Line("!", 0, f"answer: {_marked(words)}")


def _marked(words: Sequence[Words]) -> str:
    """`[-gone-]{+come+}` with a few words around."""
    told = []
    for place, stretch in enumerate(words):
        if stretch.kind == "same":
            told.append(_around(stretch.text, first=place == 0, last=place == len(words) - 1))
        else:
            text = stretch.text.strip()
            told.append(f"[-{text}-] " if stretch.kind == "gone" else f"{{+{text}+}} ")
    return "".join(told)


def _around(text: str, *, first: bool, last: bool) -> str:
    words = text.split()
    if len(words) <= (1 if first or last else 2) * _WORDS_AROUND:
        return text
    before, after = "" if first else " ".join(words[:_WORDS_AROUND]), "" if last else " ".join(words[-_WORDS_AROUND:])
    return f"{before} … {after} "


def _value(value: Json) -> str:
    return clip(one_line(canonical_json(value).decode()), _LONGEST_VALUE)


def _steps(a: Sequence[int], b: Sequence[int] = ()) -> str:
    """Name turns by their place, from 1; where they stand elsewhere in *b*, both places."""
    there = f" → {_range(b)}" if b and list(b) != list(a) else ""
    return f"{'step' if len(a) == 1 else 'steps'} {_range(a)}{there}"


def _range(places: Sequence[int]) -> str:
    return f"{places[0] + 1}" if len(places) == 1 else f"{places[0] + 1}–{places[-1] + 1}"


def _role(turns: Sequence[Turn]) -> str:
    roles = dict.fromkeys(turn.slot or turn.purpose or "no model call" for turn in turns)
    return f" ({', '.join(roles)})"


def _delta(tokens: Usage, cost_usd: float | None) -> str:
    told = [
        f"{count:+,} {name}"
        for name in ("input", "output", "thinking", "cached")
        if (count := getattr(tokens, name))
    ]  # fmt: skip
    text = f", tokens {' '.join(told)}" if told else ""
    return text + (f", cost {'-' if cost_usd < 0 else '+'}${abs(cost_usd):.6f}" if cost_usd else "")


def _name(trial: TrialDiff) -> str:
    one, other = _cell(trial.a, trial.provenance_a), _cell(trial.b, trial.provenance_b)
    if trial.closest is not None:
        return f"{other}, against accepted way {trial.closest} of {trial.accepted}"
    return one if one == other else f"{one} → {other}"


def _cell(cell: Cell, provenance: str = "") -> str:
    trial = f" trial {cell.trial}" if cell.trial else ""
    who = f" ({provenance})" if provenance not in ("", cell.model) else ""
    return one_line(f"{cell.agent} × {cell.model}{who} {cell.set}/{cell.case}{trial}")


def _summary(document: DiffDocument, differing: Sequence[TrialDiff], *, quoted: Callable[[str], str]) -> Iterator[str]:
    if len(differing) > MOST_SHOWN:
        yield f"and {len(differing) - MOST_SHOWN} more trials that differ; `--case` shows one, `--json` all"
    for run, cells in ((document.a, document.only_a), (document.b, document.only_b)):
        if cells:
            yield f"only in {quoted(run)}: {_few(cells, quoted)}"
    if document.untraced:
        yield f"without a trace, so not compared: {_few(document.untraced, quoted)}"
    same = [trial for trial in document.trials if trial.same]
    apart = sum(bool(trial.diff.setup) for trial in same)
    given = f" ({apart} of them given other options, tools or prompts)" if apart else ""
    count = f"{len(document.trials)} trial{'' if len(document.trials) == 1 else 's'}"
    yield f"{count} compared: {len(same)} the same{given}, {len(differing)} different"


def _few(cells: Sequence[Cell], quoted: Callable[[str], str]) -> str:
    told = "; ".join(quoted(_cell(cell)) for cell in cells[:3])
    return f"{told} and {len(cells) - 3} more" if len(cells) > 3 else told
