"""CG2–CG4, CG8, CG9 and CG11: the tools that a two-phase design runs while it thinks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.tool_code import Asked, Block, blocks_in, same_value
from harness.contracts.view import ToolUse, TrialView
from harness.records.messages import Json
from harness.records.trace import Effect

TWO_PHASE = ("two_phase",)
LIMITS = frozenset({"llm_calls", "rounds", "tool_calls", "writes", "stopped"})
"""Reasons for which a run may end before everything is done."""
FEELING_TOOL = "update_current_feeling"
FILE_PATHS = {
    "read_file": "path", "write_file": "path", "list_files": "directory", "get_file_info": "path",
    "delete_file": "path",
}  # fmt: skip
"""The parameter of each file tool that names what it touches."""
USER_KINDS = frozenset({"profile", "feelings", "diary", "insights", "files", "backups"})
"""Kinds of rows that belong to a user, whose name begins their keys, as in `vera/notes.txt`."""
_SAYS_DONE = r"\b(?:updated|saved|stored|added|written|wrote|created|recorded|deleted|removed|changed)\b|обновл|сохран|добавл|запис|удал"
_SAYS_NOT = r"\b(?:not|n't|nothing|no|failed|unchanged|already|denied|error|could ?n[o']t)\b|\bне\b|\bуже\b|ошибк|отказ"

Way = tuple[Asked | None, ...]
"""One way to answer a block: a call for each statement, and a refusal (None) for what is no call."""


@contract("CG2", designs=TWO_PHASE, needs=("llm_result",))
def every_block_run(view: TrialView) -> Iterator[Found]:
    """
    The calls in the tool_code blocks of a thought are run as they stand there, in order and with the same arguments;
    none is passed over, and what is no call is answered with a failure.
    """
    for call in view.calls_for("think"):
        if call.reply is None or call.turn is None:
            continue
        blocks, uses = blocks_in(call.reply.text), view.uses_in(call.turn)
        if not blocks and not uses:
            continue
        yield TRIGGERED
        wrong = _not_as_asked(view, blocks, uses)
        if wrong:
            yield broken([call.result, *(use.event for use in uses)], wrong)


def _not_as_asked(view: TrialView, blocks: Sequence[Block], uses: list[ToolUse]) -> str:
    """What is wrong with *uses* as the answer to *blocks*, or nothing; each block may be answered in several ways."""
    cut = view.stopped or ended_at_a_limit(view)
    places = {0}
    for number, block in enumerate(blocks, start=1):
        ways = _ways(view, block)
        after = {place + len(way) for place in places for way in ways if _answers(view, way, uses[place:], cut=cut)}
        if not after:
            return f"block {number} {_difference(view, ways[0], uses[min(places) :])}"
        places = after
    if max(places) >= len(uses):
        return ""
    return f"{uses[max(places)].tool} is run, which no block asks for"


def _ways(view: TrialView, block: Block) -> list[Way]:
    """The ways in which *block* may be answered, the strictest first."""
    if block.asked is None:
        return [(None,)] if block.closed else [(None,), ()]
    each: Way = tuple(one if one.tool else None for one in block.asked)
    if not block.closed:
        return [each, (None,), ()]
    sound = each and all(one is not None and _bound(view, one) is not None for one in each)
    return [each] if sound else [each, (None,)]


def _answers(view: TrialView, way: Way, uses: list[ToolUse], *, cut: bool) -> bool:
    """Whether *uses* begin with one call for each part of *way*; some may be missing where the trial was *cut*."""
    pairs = list(zip(way, uses, strict=False))
    return (cut or len(pairs) == len(way)) and all(_fits(view, one, use) for one, use in pairs)


def _bound(view: TrialView, asked: Asked) -> dict[str, Json] | None:
    """The arguments of *asked* by name; None where there is no such tool, or they do not fit it."""
    for tool in view.started.tools if view.started is not None else ():
        if tool.name == asked.tool:
            return asked.bound(tool.parameters, tool.required)
    return None


def _fits(view: TrialView, asked: Asked | None, use: ToolUse) -> bool:
    if asked is None:
        return not use.ok
    args = _bound(view, asked)
    if args is None:
        return use.tool == asked.tool and not use.ok
    return use.tool == asked.tool and use.args is not None and same_value(use.args, args)


def _difference(view: TrialView, wanted: Way, uses: list[ToolUse]) -> str:
    ran = uses[: max(len(wanted), 1)]
    names = [one.tool if one is not None else "nothing that may be run" for one in wanted]
    if names != [use.tool for use in ran]:
        return f"asks for {', '.join(names) or 'nothing'}, run are {', '.join(use.tool for use in ran) or 'none'}"
    odd = next(use for one, use in zip(wanted, ran, strict=False) if not _fits(view, one, use))
    return f"gives {odd.tool} other arguments than it ran with"


@contract("CG3", designs=TWO_PHASE, needs=("tool_call",))
def blocks_are_data(view: TrialView) -> Iterator[Found]:
    """
    Only registered tools run, and only for plain calls with literal arguments; no block is ever evaluated, and nothing
    is written but by a block.
    """
    registry = {tool.name for tool in view.started.tools} if view.started is not None else set()
    for use in view.uses:
        if use.data.source != "tool_code":
            if use.wrote:
                yield broken([use.event, use.result], f"{use.tool} writes, and no block asks for it")
            continue
        yield TRIGGERED
        if not use.ok:
            continue
        if use.tool not in registry:
            yield broken([use.event, use.result], f"{use.tool} is run, which is no tool of this trial")
        call = view.by_turn.get(use.turn) if use.turn is not None else None
        blocks = blocks_in(call.reply.text) if call is not None and call.reply is not None else []
        if not any(one.tool == use.tool for block in blocks for one in block.asked or ()):
            witness = [call.result if call is not None else None, use.event]
            yield broken(witness, f"{use.tool} is run, and no block calls it plainly with literals")


@contract("CG4", designs=TWO_PHASE, needs=("tool_call",))
def own_user_only(view: TrialView) -> Iterator[Found]:
    """A tool works for the user of the session alone: another username is refused, and no row of another is changed."""
    user = view.started.user if view.started is not None else ""
    for use in view.uses:
        named = (use.args or {}).get("username")
        if use.outcome is None or (named is None and not use.outcome.effects):
            continue
        yield TRIGGERED
        if named not in (None, user) and (use.ok or use.outcome.effects):
            yield broken([use.event, use.result], f"{use.tool} worked for {named}, the user is {user or 'nobody'}")
            continue
        others = [owner for effect in use.outcome.effects if (owner := _owner(effect)) not in ("", user)]
        if others:
            yield broken([use.event, use.result], f"{use.tool} changed a row of {others[0]}, the user is {user}")


def _owner(effect: Effect) -> str:
    """Whose row *effect* changed, where its key begins with the name of the user."""
    owner, slash, _ = effect.key.partition("/")
    return owner if slash and effect.kind in USER_KINDS else ""


@contract("CG8", designs=TWO_PHASE, needs=("tool_result",))
def results_tell_the_truth(view: TrialView) -> Iterator[Found]:
    """The text of a writing tool's result says that something was changed exactly where something was."""
    for use in view.uses:
        result = use.outcome
        if use.data.effect != "write" or result is None or result.cached:
            continue
        yield TRIGGERED
        says = _says_done(result.text)
        if says is True and not result.effects:
            yield broken([use.event, use.result], f"{use.tool} says “{_short(result.text)}”, and nothing was changed")
        elif says is False and result.effects:
            yield broken([use.event, use.result], f"{use.tool} changed the store, and says “{_short(result.text)}”")


def _says_done(text: str) -> bool | None:
    """
    Whether the *text* of a result says that something was changed. A sentence does so before its first quotation or
    not at all; an object with an error says no, and any other one shows a state and claims nothing (None).
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        value = text
    if isinstance(value, dict):
        return False if "error" in value else None
    start = re.split(r"[\"'“«:]", str(value), maxsplit=1)[0]
    done = re.search(_SAYS_DONE, start, re.IGNORECASE)
    return done is not None and re.search(_SAYS_NOT, start, re.IGNORECASE) is None


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:59]}…"


@contract("CG9", designs=TWO_PHASE, needs=("tool_call",))
def inside_the_sandbox(view: TrialView) -> Iterator[Found]:
    """File tools touch nothing outside their folder, by any spelling of a path, and delete only where that is allowed."""
    for use in view.uses:
        if use.tool not in FILE_PATHS or use.outcome is None:
            continue
        yield TRIGGERED
        path = (use.args or {}).get(FILE_PATHS[use.tool], "")
        if use.ok and not (isinstance(path, str) and is_inside(path)):
            yield broken([use.event, use.result], f"{use.tool} worked on {path}, which is outside of its folder")
        for effect in use.outcome.effects:
            if not is_inside(effect.key):
                yield broken(
                    [use.event, use.result], f"{use.tool} changed {effect.key}, which is outside of its folder"
                )
        if use.tool == "delete_file" and use.ok and not view.config.get("allow_delete"):
            yield broken([use.event, use.result], "delete_file worked, and deleting is not allowed")


def is_inside(path: str) -> bool:
    """Whether *path*, read as a path below a folder, stays in that folder at every step."""
    if path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", path) or "\0" in path:
        return False
    depth = 0
    for part in re.split(r"[/\\]+", path):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            return False
    return True


@contract("CG11", kind="B", designs=TWO_PHASE, needs=("trial_finished",))
def feelings_are_noted(view: TrialView) -> Iterator[Found]:
    """
    Where the case tells of a feeling, it is noted for the user before the answer begins; where it expects no writes,
    nothing is written.
    """
    if FEELING_TOOL not in view.offered or view.stopped:
        return
    if any(rule.tool == FEELING_TOOL for rule in view.case.tools.required):
        yield TRIGGERED
        user = view.started.user if view.started is not None else ""
        answering = next((call.event.seq for call in view.calls_for("respond")), len(view.events))
        noted = [use for use in view.uses if use.tool == FEELING_TOOL and (use.args or {}).get("username") == user]
        if not noted:
            yield broken(view.finished_event, f"the user tells of a feeling, and it is not noted for {user}")
        elif noted[0].event.seq > answering:
            yield broken(noted[0].event, "the feeling is noted after the answer began")
    elif view.case.writes == 0:
        yield TRIGGERED
        for use in view.uses:
            if use.wrote:
                yield broken([use.event, use.result], f"{use.tool} writes, and the message gives no reason to")
                return


def ended_at_a_limit(view: TrialView) -> bool:
    """Whether the trial was ended from outside; what an agent says of itself does not count."""
    told = any(error.data.where == "harness" and error.data.kind in LIMITS for error in view.by_type.get("error", ()))
    return view.finished is not None and view.status != "completed" and view.finished.reason in LIMITS and told
