"""How two trajectories differ: the edits from one to the other, and the first turn where they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.diff.align import INSERT, Item, align, shared
from harness.diff.json_diff import json_diff, patched
from harness.diff.turns import Legs, Price, call_content, content, trajectory
from harness.diff.words import word_diff
from harness.records.digest import canonical_json
from harness.records.messages import Json, Usage
from harness.records.trajectory import (
    Call,
    CallEdit,
    Change,
    Diff,
    Divergence,
    Edit,
    EditCounts,
    Trajectory,
    Turn,
)

_MOST_ARGS = 80
"""Characters of arguments that a sentence quotes."""
_LEAST_REPLACED = INSERT // 2
_TEXT_WORDS = 200
"""Words at the start of a text by which two turns are held to be alike."""


def diff_traces(a: Legs, b: Legs, *, price_a: Price | None = None, price_b: Price | None = None) -> Diff:
    """Tell how the trial with the traces *b* differs from that with the traces *a*."""
    return diff(trajectory(a, price=price_a), trajectory(b, price=price_b))


def diff(a: Trajectory, b: Trajectory) -> Diff:
    """Tell how *b* differs from *a*."""
    edits = tuple(_edits(a.turns, b.turns))
    return Diff(
        edits=edits,
        counts=_counted(edits),
        setup=json_diff(a.setup, b.setup),
        outcome=json_diff(a.outcome, b.outcome),
        answer=word_diff(a.answer, b.answer),
        divergence=first_divergence(a, b),
        tokens=_less(_tokens(b.turns), _tokens(a.turns)),
        cost_usd=_cost(a.turns, b.turns),
    )


def applied(turns: Sequence[Turn], edits: Sequence[Edit]) -> list[dict[str, Json]]:
    """
    What the turns of the second trajectory hold, made of the *turns* of the first and the edits alone; see
    `harness.diff.turns.content`.
    """
    made = []
    for edit in edits:
        if edit.kind in ("insert", "regroup"):
            made += [content(turn) for turn in edit.after]
        elif edit.kind != "delete":
            made.append(_applied(turns[edit.a[0]], edit))
    return made


def first_divergence(a: Trajectory, b: Trajectory) -> Divergence | None:
    """
    Name the first turn where two trials part in what they do: tools called, their arguments, their outcomes, then the
    answer. What a model says on the way, and what a design calls its stages, is not looked at, so that designs can
    be compared. None: they do the same.
    """
    for place in range(max(len(a.turns), len(b.turns))):
        one = a.turns[place] if place < len(a.turns) else None
        other = b.turns[place] if place < len(b.turns) else None
        if because := _parted(one, other):
            return Divergence(step=place + 1, a=one, b=other, because=because)
    if a.answer == b.answer:
        return None
    last = len(a.turns)
    return Divergence(
        step=last,
        a=a.turns[-1] if last else None,
        b=b.turns[-1] if last else None,
        because="the same tool calls, but another answer",
    )


def _parted(a: Turn | None, b: Turn | None) -> str:
    """Why two agents part here; empty where they do not."""
    if a is None or b is None or a.error != b.error or _tools(a) != _tools(b):
        return f"{_does(a)}, against {_does(b)}"
    for one, other in zip(a.calls, b.calls, strict=True):
        if changes := json_diff({"args": one.args}, {"args": other.args}):
            return f"`{one.tool}` with {_asked(changes[0])}"
    for one, other in zip(a.calls, b.calls, strict=True):
        if (one.ok, one.error, one.result) != (other.ok, other.error, other.result):
            return f"`{one.tool}` {_ended(one)}, against {_ended(other)}"
    return ""


def _asked(change: Change) -> str:
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in change.path).removeprefix(".args.")
    before = "absent" if change.kind == "add" else _short(canonical_json(change.before).decode())
    after = "absent" if change.kind == "remove" else _short(canonical_json(change.after).decode())
    return f"`{path}` {before}, against {after}"


def _does(turn: Turn | None) -> str:
    if turn is None:
        return "is at its end"
    if turn.error:
        return f"fails ({turn.error})"
    if not turn.calls:
        return f"calls no tool ({turn.purpose})"
    return "calls " + ", ".join(f"`{call.tool}({_short(canonical_json(call.args).decode())})`" for call in turn.calls)


def _ended(call: Call) -> str:
    if call.ok is None:
        return "never ends"
    return f"returns {_short(call.result)}" if call.ok else f"fails ({call.error}: {_short(call.result)})"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_ARGS else text[: _MOST_ARGS - 1] + "…"


def _edits(a: Sequence[Turn], b: Sequence[Turn]) -> Iterator[Edit]:
    weigh = _Likeness(a, b)
    for kind, (i, until_i), (j, until_j) in align(weigh.items_a, weigh.items_b, weigh.cost):
        before, after = tuple(a[i:until_i]), tuple(b[j:until_j])
        one_each = kind in ("replace", "reorder")
        edit = Edit(
            kind=kind,
            a=tuple(range(i, until_i)),
            b=tuple(range(j, until_j)),
            changes=json_diff(_without_calls(before[0]), _without_calls(after[0])) if one_each else (),
            calls=tuple(_call_edits(_calls(before), _calls(after))) if one_each or kind == "regroup" else (),
            before=before if kind != "match" else (),
            after=after if kind != "match" else (),
            tokens=_less(_tokens(after), _tokens(before)),
            cost_usd=_cost(before, after),
        )
        yield edit


def _call_edits(a: Sequence[Call], b: Sequence[Call]) -> Iterator[CallEdit]:
    items_a, items_b = [_call_item(call) for call in a], [_call_item(call) for call in b]

    def cost(i: int, j: int) -> int | None:
        if a[i].tool != b[j].tool:
            return None
        return _LEAST_REPLACED if items_a[i].act == items_b[j].act else INSERT

    for kind, (i, until_i), (j, until_j) in align(items_a, items_b, cost):
        before = a[i] if until_i > i else None
        after = b[j] if until_j > j else None
        both = before is not None and after is not None
        yield CallEdit(
            kind=kind,  # type: ignore[arg-type]  # items without parts are never regrouped
            a=i if before is not None else None,
            b=j if after is not None else None,
            changes=json_diff(call_content(before), call_content(after)) if before and after else (),
            before=before if not both or kind != "match" else None,
            after=after if not both or kind != "match" else None,
        )


def _applied(turn: Turn, edit: Edit) -> dict[str, Json]:
    if edit.kind == "match":
        return content(turn)
    calls = []
    for step in edit.calls:
        if step.kind == "insert" and step.after is not None:
            calls.append(call_content(step.after))
        elif step.a is not None and step.b is not None:
            calls.append(patched(call_content(turn.calls[step.a]), step.changes))
    made: dict[str, Json] = patched(_without_calls(turn), edit.changes)
    return {**made, "calls": calls}


class _Likeness:
    """What it costs to replace a turn by another: less, the more tools, arguments and words they share."""

    def __init__(self, a: Sequence[Turn], b: Sequence[Turn]) -> None:
        self.a, self.b = a, b
        self.items_a, self.items_b = [_item(turn) for turn in a], [_item(turn) for turn in b]
        self.tools_a, self.tools_b = [_tools(turn) for turn in a], [_tools(turn) for turn in b]
        self.words_a, self.words_b = [_first_words(turn) for turn in a], [_first_words(turn) for turn in b]

    def cost(self, i: int, j: int) -> int | None:
        """From `INSERT` / 2 to less than 2 × `INSERT`; None where one calls tools and the other does not."""
        one, other = self.a[i], self.b[j]
        if bool(one.calls) != bool(other.calls):
            return None
        words = shared(self.words_a[i], self.words_b[j])
        if one.calls:
            tools = shared(self.tools_a[i], self.tools_b[j])
            acts = shared(self.items_a[i].parts, self.items_b[j].parts)
            weight = 800 * (1 - tools) + 600 * (1 - acts) + 90 * (1 - words)
        else:
            weight = 1400 * (1 - words)
        strange = 300 if one.purpose != other.purpose else 0
        return _LEAST_REPLACED + strange + round(weight)


def _item(turn: Turn) -> Item:
    parts = tuple(map(_act, turn.calls))
    return Item(canonical_json(content(turn)), b"\n".join(parts), parts)


def _call_item(call: Call) -> Item:
    return Item(canonical_json(call_content(call)), _act(call))


def _act(call: Call) -> bytes:
    return canonical_json([call.tool, call.args])


def _tools(turn: Turn) -> list[bytes]:
    return [call.tool.encode(errors="surrogatepass") for call in turn.calls]


def _first_words(turn: Turn) -> list[bytes]:
    return [word.encode(errors="surrogatepass") for word in turn.text.split(maxsplit=_TEXT_WORDS)[:_TEXT_WORDS]]


def _without_calls(turn: Turn) -> dict[str, Json]:
    return {key: value for key, value in content(turn).items() if key != "calls"}


def _calls(turns: Sequence[Turn]) -> list[Call]:
    return [call for turn in turns for call in turn.calls]


def _tokens(turns: Sequence[Turn]) -> Usage:
    return sum((turn.usage for turn in turns), Usage())


def _less(tokens: Usage, other: Usage) -> Usage:
    return Usage(
        tokens.input - other.input,
        tokens.output - other.output,
        tokens.thinking - other.thinking,
        tokens.cached - other.cached,
    )


def _cost(before: Sequence[Turn], after: Sequence[Turn]) -> float | None:
    """Cost of *after* less that of *before*; None where one of them is unknown."""
    gone, come = [turn.cost_usd for turn in before], [turn.cost_usd for turn in after]
    if None in gone or None in come:
        return None
    return round(sum(cost or 0.0 for cost in come) - sum(cost or 0.0 for cost in gone), 10)


def _counted(edits: Sequence[Edit]) -> EditCounts:
    kinds: dict[str, int] = Counter(edit.kind for edit in edits)
    return EditCounts(**kinds)
