"""
The deterministic pipeline: counts, lists and single changes of priority by keywords alone, without a model.

It answers where the executor is switched off or has failed. What it does not understand it says that it cannot do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.agents.protocol import AgentContext, Question, ToolOutcome
from harness.records.messages import Json

from .intent import PRIORITIES, Intent, follows_up, is_portuguese, read_intent
from .wording import ENGLISH, PORTUGUESE, Wording, bullets, escaped

LONGEST_LIST = 50
UNCERTAIN = frozenset({"timeout", "crash"})
"""Failures after which nobody knows whether the store changed."""


class Pipeline:
    """Answers from keywords, through the tools of the trial."""

    def __init__(self, ctx: AgentContext) -> None:
        self._ctx = ctx

    async def answer(self, question: Question, *, may_write: bool = True) -> str:
        """
        Answer *question* in Markdown; never empty.

        Args:
            question: What is asked, with its history and its method: a GET changes nothing.
            may_write: False after a change whose outcome is unknown.
        """
        today = self._ctx.clock.today()
        words = wording_for(question)
        intent = read_intent(question.text, today)
        if intent.change:
            return await self._change(intent, question, words, may_write=may_write)
        if follows_up(question.text):
            intent = _with_subject(intent, question, today)
        if not intent.news or intent.change or intent.ids:
            return words.cannot
        if intent.counting and not intent.keywords:
            return await self._count(intent, words, today)
        if intent.priorities or intent.tag or intent.day or intent.keywords:
            return await self._list(intent, words, today)
        return words.cannot

    async def _change(self, intent: Intent, question: Question, words: Wording, *, may_write: bool) -> str:
        if question.method == "GET":
            return words.reading_only
        if intent.several:
            items = bullets([f"cluster {number}" for number in intent.ids])
            return words.one_at_a_time.format(items=items) if items else words.no_list
        if not intent.news or (intent.of_tag and not intent.priorities):
            return words.cannot
        if not intent.ids:
            return words.which
        if len(intent.priorities) != 1:
            return words.allowed.format(levels=bullets(list(PRIORITIES)))
        if not may_write:
            return words.not_now
        args: dict[str, Json] = {"cluster_id": intent.ids[0], "nova_prioridade": intent.priorities[0]}
        return told_change(await self._call("update_cluster_priority", args), args, words)

    async def _count(self, intent: Intent, words: Wording, today: str) -> str:
        lines = []
        for level in intent.priorities or (None,):
            found = await self._counted(intent, level)
            if found is None:
                return words.store_silent
            what = _what(level, intent, words)
            lines.append(words.counted.format(what=what, day=intent.day or today, n=found))
        return lines[0] if len(lines) == 1 else bullets(lines)

    async def _counted(self, intent: Intent, level: str | None) -> int | None:
        """How many there are, the tag in whichever case the store has it; None where the store does not say."""
        count: int | None = 0
        for tag in _spellings(intent.tag):
            outcome = await self._call("count_clusters", _given(data=intent.day, prioridade=level, tag=tag))
            said = outcome.value.get("count") if outcome.ok and isinstance(outcome.value, dict) else None
            count = said if isinstance(said, int) else None
            if count != 0:
                break
        return count

    async def _list(self, intent: Intent, words: Wording, today: str) -> str:
        day = intent.day or today
        parts: list[str] = []
        ids: list[int] = []
        for level in intent.priorities or (None,):
            found = await self._found(intent, level)
            if found is None:
                return words.store_silent
            what = _what(level, intent, words)
            if not found:
                parts.append(words.none_found.format(what=what, day=day))
                continue
            parts.append(words.listed.format(what=what, day=day, n=len(found)))
            parts.append("\n".join(f"{n}. {_line(cluster)}" for n, cluster in enumerate(found, start=1)))
            if len(found) == LONGEST_LIST:
                parts.append(words.perhaps_more.format(n=LONGEST_LIST))
            ids += [cluster["id"] for cluster in found]
        if ids:
            parts.append(f"### {words.sources}")
            parts.append("\n".join(f"{n}. cluster {number}" for n, number in enumerate(ids, start=1)))
        return "\n\n".join(parts)

    async def _found(self, intent: Intent, level: str | None) -> list[dict[str, Json]] | None:
        """The clusters that match, the tag in whichever case the store has it; None where the store does not say."""
        found: list[dict[str, Json]] | None = []
        for tag in _spellings(intent.tag):
            args = _given(data=intent.day, prioridade=level, tag=tag, palavras_chave=list(intent.keywords))
            outcome = await self._call("query_clusters", {**args, "limite": LONGEST_LIST})
            found = _clusters_of(outcome)
            if found != []:
                break
        return found

    async def _call(self, name: str, args: dict[str, Json]) -> ToolOutcome:
        return await self._ctx.tools.call(name, args, source="internal")


def wording_for(question: Question) -> Wording:
    """The language in which code answers *question*: that of all that its user wrote."""
    said = " ".join([*_asked_before(question), question.text])
    return PORTUGUESE if is_portuguese(said) else ENGLISH


def told_change(outcome: ToolOutcome, args: Mapping[str, Json], words: Wording) -> str:
    """What came of a change, in one sentence; only a change of priority is told in full."""
    if outcome.ok and not {"cluster_id", "nova_prioridade"} <= args.keys():
        return words.done
    number, after = args["cluster_id"], short(args["nova_prioridade"])
    if outcome.ok and outcome.effects:
        value = outcome.value if isinstance(outcome.value, dict) else {}
        return words.changed.format(id=number, before=short(str(value.get("antes", "?"))), after=after)
    if outcome.ok:
        return words.unchanged.format(id=number, after=after)
    if outcome.error_kind == "not_found":
        return words.not_found.format(id=number)
    if outcome.error_kind in UNCERTAIN:
        return words.uncertain.format(id=number)
    return words.failed.format(id=number)


def short(priority: str) -> str:
    """A priority as people say it: `P1` for `P1_CRITICO`."""
    return priority.partition("_")[0]


def _with_subject(intent: Intent, question: Question, today: str) -> Intent:
    """The intent of a follow-up question: the subject of the user's last question, with what is new in this one."""
    asked = _asked_before(question)
    if not asked:
        return intent
    before = read_intent(asked[-1], today)
    return before._replace(
        day=intent.day or before.day,
        priorities=intent.priorities or before.priorities,
        tag=intent.tag or before.tag,
        ids=intent.ids,
    )


def _asked_before(question: Question) -> list[str]:
    return [message.text for message in question.history if message.role == "user"]


def _what(level: str | None, intent: Intent, words: Wording) -> str:
    what = words.irrelevant if level == "IRRELEVANTE" else words.level.format(level=short(level)) if level else ""
    what = what or words.everything
    if intent.tag:
        what += words.tagged.format(tag=escaped(intent.tag))
    if intent.keywords:
        what += words.about.format(words=", ".join(intent.keywords))
    return what


def _clusters_of(outcome: ToolOutcome) -> list[dict[str, Json]] | None:
    """The clusters of a query; None where it failed, or gave something else."""
    found = outcome.value.get("clusters") if outcome.ok and isinstance(outcome.value, dict) else None
    if not isinstance(found, list) or not all(isinstance(row, dict) and _fits(row) for row in found):
        return None
    return found


def _fits(row: Mapping[str, Json]) -> bool:
    return "id" in row and all(isinstance(row.get(name), str) for name in ("titulo", "resumo", "prioridade"))


def _line(cluster: dict[str, Json]) -> str:
    marks = ", ".join(escaped(mark) for mark in (short(cluster["prioridade"]), cluster.get("tag")) if mark)
    return f"**{escaped(cluster['titulo'])}** ({marks}): {escaped(cluster['resumo'])}"


def _spellings(tag: str) -> Sequence[str]:
    return tuple(dict.fromkeys((tag, tag[:1].upper() + tag[1:], tag.upper()))) if tag else ("",)


def _given(**args: Json) -> dict[str, Json]:
    return {name: value for name, value in args.items() if value}
