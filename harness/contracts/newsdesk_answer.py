"""CE6 and CE13: what the news desk's answer looks like, and that its numbers come from the store."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.leaks import leaks_of
from harness.contracts.newsdesk import DESK
from harness.contracts.numbers import words_as_numbers
from harness.contracts.react_actions import decoded
from harness.contracts.view import ToolUse, TrialView
from harness.records.messages import Json
from harness.records.trace import Event

SEARCHES = frozenset({"semantic_search_clusters", "query_clusters", "get_cluster_details"})
OF_NEWS = SEARCHES | {"count_clusters", "update_cluster_priority"}
"""The news desk's own tools; where there are no others, every question is about news."""
_LABEL = re.compile(r"^[ \t>*_#]*(Thought|Action|Action Input|Observation|Final Answer)[*_]*[ \t]*:", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[^\n]*$", re.MULTILINE)
_SOURCES = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|\*\*|__)(?:fontes|not[íi]cias pesquisadas|sources|quellen|источники|来源)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_LABELLED = re.compile(r"(?:\b(?:clusters?|ids?)\b[ \t]*[:#nº°]*[ \t]*|#|[(\[])(?P<id>\d{1,9})\b", re.IGNORECASE)
_COUNTING = re.compile(r"\b(?:quant[oa]s|how many|n[úu]mero de|number of|total de)\b", re.IGNORECASE)
_NEWS = re.compile(r"\b(?:not[íi]cias?|news|clusters?|irrelevantes?)\b", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:sobre|a respeito d|que falam d|about|regarding|mention)", re.IGNORECASE)
_NONE = re.compile(r"\b(?:nenhum|nenhuma|zero|none|no|não há)\b", re.IGNORECASE)


@contract("CE6", designs=DESK, needs=("final_answer",))
def plain_markdown(view: TrialView) -> Iterator[Found]:
    """
    The answer is Markdown for a reader: some text, no JSON, no labels of steps, every fence closed, no name of a tool,
    and a cluster's number only where the user named it or among the sources.
    """
    for final in view.finals:
        yield TRIGGERED
        text = final.data.text
        problem = _form(text) or _named_tool(view, text) or _told_id(view, text)
        if not problem:
            leak = next(iter(leaks_of(view, final)), None)
            problem = f"it holds `{leak.words}`" if leak is not None else ""
        if problem:
            yield broken(final, f"the answer is not for a reader: {problem}")


def _form(text: str) -> str:
    if not _DEFINITION.sub("", text).strip():
        return "it has no text"
    if text.lstrip()[:1] in ("{", "[") and _is_data(text):
        return "it is data and no text"
    label = _LABEL.search(text)
    if label is not None:
        return f"it has the label `{label[1]}`"
    return "a fence is not closed" if _open_fence(text) else ""


def _is_data(text: str) -> bool:
    """Whether *text* is JSON, or a mapping as Python prints it."""
    as_printed = bool(re.match(r"\s*\{\s*'\w+':", text)) and text.rstrip().endswith("}")
    return as_printed or decoded(text) is not None


def _open_fence(text: str) -> bool:
    opened = ""
    for fence in _FENCE.finditer(text):
        mark = fence["mark"]
        if not opened:
            opened = mark
        elif mark.startswith(opened[0]) and len(mark) >= len(opened) and not fence["info"].strip():
            opened = ""
    return bool(opened)


def _named_tool(view: TrialView, text: str) -> str:
    registry = view.started.tools if view.started is not None else ()
    for tool in sorted(tool.name for tool in registry):
        pattern = rf"\b{re.escape(tool)}\b" if "_" in tool else rf"`{re.escape(tool)}\b|\b{re.escape(tool)}\("
        if re.search(pattern, text):
            return f"it names the tool {tool}"
    return ""


def _told_id(view: TrialView, text: str) -> str:
    shown = {id for use in view.uses if use.ok and use.outcome is not None for id in _ids_in(decoded(use.outcome.text))}
    said = " ".join([view.case.question, *view.case.turns, *(turn.get("text", "") for turn in view.case.history)])
    named = set(re.findall(r"\d+", said))
    for match in _LABELLED.finditer(_without_sources(text)):
        if match["id"] not in named and int(match["id"]) in shown:
            return f"it tells the internal number {match['id']}"
    return ""


def _without_sources(text: str) -> str:
    start = _SOURCES.search(text)
    if start is None:
        return text
    following = _NEXT_HEADING.search(text, start.end())
    return text[: start.start()] + (text[following.start() :] if following is not None else "")


def _ids_in(value: Json) -> Iterator[int]:
    if isinstance(value, dict):
        if isinstance(value.get("id"), int):
            yield value["id"]
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _ids_in(inner)


@contract("CE13", kind="B", designs=DESK, needs=("final_answer",))
def numbers_of_the_store(view: TrialView) -> Iterator[Found]:
    """
    A question for a number of news is answered by the store's count, which stands in the answer; an open question on a
    subject is answered from a search.
    """
    final = view.finals[-1] if view.finals else None
    if final is None or view.status != "completed" or view.case.intent == "edit":
        return
    counts = [use for use in view.uses if use.tool == "count_clusters" and use.ok]
    question, uses = _question(view), [use for use in view.uses if use.ok]
    counting = bool(_COUNTING.search(question)) and bool(_NEWS.search(question))
    if counts:
        yield TRIGGERED
        yield from _told_count(view, counts, final)
    elif counting and not _gave_up(view):
        yield TRIGGERED
        searched = any(use.tool in SEARCHES for use in uses)
        if not (_ABOUT.search(question) and searched):
            listed = [use.event for use in uses if use.tool in SEARCHES]
            yield broken([*listed, final], "a number of news is answered without counting in the store")
    elif _ABOUT.search(question) and (_NEWS.search(question) or view.offered <= OF_NEWS) and not _gave_up(view):
        yield TRIGGERED
        if not any(use.tool in SEARCHES for use in uses):
            yield broken(final, "a question on a subject is answered without a search")


def _told_count(view: TrialView, counts: list[ToolUse], final: Event) -> Iterator[Found]:
    """The last count, or the sum of several, stands in the answer."""
    numbers = [_count(use) for use in counts]
    told = {reading for number in view.answer_numbers for reading in number.readings}
    told |= words_as_numbers(final.data.text, view.case.lang)
    wanted = {number for number in (numbers[-1], sum(number or 0 for number in numbers)) if number is not None}
    if not wanted or wanted & told or (0 in wanted and _NONE.search(final.data.text)):
        return
    witness = [counts[-1].event, counts[-1].result, final]
    yield broken(witness, f"the store counts {numbers[-1]}, and the answer does not say so")


def _count(use: ToolUse) -> int | None:
    """What the store's rows say, else what the tool says."""
    result = use.outcome
    truth = result.expected if result is not None else None
    value = (
        truth if isinstance(truth, dict) and "count" in truth else decoded(result.text if result is not None else "")
    )
    count = value.get("count") if isinstance(value, dict) else None
    return count if isinstance(count, int) else None


def _gave_up(view: TrialView) -> bool:
    """Whether every tool that could have told failed, so that there was nothing to answer from."""
    return bool(view.uses) and not any(use.ok for use in view.uses)


def _question(view: TrialView) -> str:
    return view.started.question if view.started is not None else view.case.question
