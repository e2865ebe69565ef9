"""The router: whether a question goes down the fast path, decided by its words alone."""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_WORDS = 25
MOST_SENTENCES = 2

_COMPLEX = {
    "sequence": r"\b(dann|danach|anschließend|then|afterwards|depois|em seguida|затем|потом)\b|然后|接着",
    "comparison": r"\b(vergleich|compar|сравн|unterschied|differen|kälter|wärmer|colder|warmer)|比较|相差",
    "research": r"\b(recherchier|untersuch|finde|suche|research|find|search|investigat|encontr|procur|pesquis|найди|найти)"
    r"|查找|搜索|研究",
    "documents": r"\b(projekt|project|projeto|проект|budget|orçamento|бюджет|dokument|document|summar|zusammen|resum)"
    r"|项目|预算|文件|总结",
    "topic": r"\b(welche|which|quais|какие)\b.*\b(über|betreffen|about|concern|sobre|tratam|о|об)\b|哪些",
    "condition": r"\b(beobachte|sobald|as soon as|assim que|как только)\b|一旦",
}
_SENTENCE_END = re.compile(r"[.!?。！？]+(?:\s|$)")


class Route(NamedTuple):
    """The path of a question, with the heuristic that chose it."""

    path: str
    """`fast` or `full`."""
    why: str


def route(question: str) -> Route:
    """Send *question* down the fast path unless its length or one of its words speaks against it."""
    words = len(question.split())
    if words > MOST_WORDS:
        return Route("full", f"{words} words")
    sentences = len(_SENTENCE_END.findall(question))
    if sentences > MOST_SENTENCES:
        return Route("full", f"{sentences} sentences")
    for name, pattern in _COMPLEX.items():
        if found := re.search(pattern, question, re.IGNORECASE):
            return Route("full", f"{name}: {found.group(0)}")
    return Route("fast", "short, nothing speaks of several steps")
