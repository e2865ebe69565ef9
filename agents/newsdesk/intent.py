"""
What a question asks of the news store, as far as its words tell: Portuguese and English.

The deterministic pipeline answers from it, and the executor holds writing actions to it: a model that “reclassifies”
a cluster while it answers a reading question is refused by words, not by trust.
"""

from __future__ import annotations

import re
from calendar import monthrange
from typing import NamedTuple

PRIORITIES = ("P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE")
"""Every priority that the store knows."""

FOLLOW_UP_WORDS = 6
"""A question that only adds to an earlier one has at most so many words."""


class Intent(NamedTuple):
    """What a question asks for; what its words do not tell is empty."""

    change: bool
    """Whether it asks for a change of the store."""
    several: bool
    """Whether that change is of more than one cluster."""
    counting: bool
    news: bool
    """Whether it is about the news store at all."""
    ids: tuple[int, ...]
    priorities: tuple[str, ...]
    tag: str
    of_tag: bool
    """Whether it speaks of tags at all."""
    day: str
    """The day that is named, `YYYY-MM-DD`, or empty."""
    keywords: tuple[str, ...]


def read_intent(text: str, today: str) -> Intent:
    """Read *text*, asked on the day *today* (`YYYY-MM-DD`). What stands in quotation marks asks for nothing."""
    tag = _tag(text)
    plain = _QUOTED.sub(" ", text)
    day, rest = _day(plain, today)
    priorities, without_levels = _priorities(rest)
    ids = tuple(dict.fromkeys(int(number) for number in _NUMBER.findall(without_levels)))
    change = any(not _is_denied(plain[: match.end()]) for match in _CHANGE.finditer(plain))
    if change:  # “from P3 to P2” names two
        priorities = _priorities(_TARGET.split(rest)[-1])[0] or priorities
    return Intent(
        change=change,
        several=change and (len(ids) > 1 or bool(_ALL.search(plain))),
        counting=bool(_COUNT.search(plain)),
        news=bool(_NEWS.search(plain)) or bool(tag),
        ids=ids,
        priorities=priorities,
        tag=tag,
        of_tag=bool(_OF_TAG.search(plain)),
        day=day,
        keywords=_keywords(rest),
    )


def tells_of_oneself(text: str) -> bool:
    """Whether *text* is a statement in the first person, such as how somebody feels, and neither question nor request."""
    plain = _QUOTED.sub(" ", text)
    asks = "?" in text or _NEWS.search(plain) or _REQUEST.search(plain)
    return not asks and bool(_FIRST_PERSON.search(plain))


def follows_up(text: str) -> bool:
    """Whether *text* only adds to an earlier question, such as “E ontem?”."""
    return bool(_FOLLOW_UP.match(text)) and len(text.split()) <= FOLLOW_UP_WORDS


def is_portuguese(text: str) -> bool:
    """Whether *text* reads as Portuguese; anything else is answered in English where code has to answer."""
    return bool(_PORTUGUESE.search(text))


def days_before(day: str, number: int) -> str:
    """The day *number* days before *day*, both `YYYY-MM-DD`."""
    year, month, date = (int(part) for part in day.split("-"))
    for _ in range(number):
        date -= 1
        if not date:
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)
            date = monthrange(year, month)[1]
    return f"{year:04d}-{month:02d}-{date:02d}"


_QUOTED = re.compile(r"[\"“”«»„][^\"“”«»„]*[\"“”«»„]|‘[^’]*’|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
_VERBS = (
    r"(?:mud(?:e|ar|a)|alter(?:e|ar|a)|atualiz(?:e|ar|a)|tro(?:que|car)|defin(?:a|ir)|colo(?:que|car)|mar(?:que|car)"
    r"|reclassifi(?:que|car)|classifi(?:que|car)|pass(?:e|ar)|mov(?:a|er)|promov(?:a|er)|rebaix(?:e|ar)|ajust(?:e|ar)"
    r"|change|set|update|mark|move|make|reclassify|classify|raise|lower|promote|demote|put|turn|switch)"
)
_CHANGE = re.compile(
    r"(?:^|[.!?;:,\n]\s*|\b(?:e|and|ent[aã]o|then|please|favor|pode|podes|poderia|(?:quero|queria|gostaria|preciso)"
    r"(?: que)?|(?:can|could|would|will) you|(?:want|need|like) (?:you )?to|vamos|let us|let['’]s)\s+)"
    r"(?:(?:please|por favor),?\s+)?"
    rf"(?:me\s+)?{_VERBS}\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_LEADING_NO = re.compile(r"^\s*(?:n[ãa]o|no)\s*,", re.IGNORECASE)
_NEVER = re.compile(
    r"\b(?:nunca|jamais|em hip[óo]tese alguma|de (?:jeito|modo) (?:nenhum|algum)|never|(?:under|in) no \w+|on no account)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:n[ãa]o|nem|not|cannot|nor|neither)\b|n['’]t\b", re.IGNORECASE)
_TARGET = re.compile(r"\b(?:para|to|como|as|into)\b", re.IGNORECASE)
_ALL = re.compile(
    r"\b(?:todos|todas|ambos|ambas|cada|v[áa]rios|v[áa]rias|all|every|each|both|several)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\b(?:quant[oa]s?|cont(?:e|ar|agem)|n[úu]mero de|total de|how many|count|number of|total of)\b", re.IGNORECASE
)
_NEWS = re.compile(
    r"\b(?:not[íi]cias?|clusters?|itens|items?|news|stor(?:y|ies)|mat[ée]rias?|manchetes?|headlines?|irrelevantes?"
    r"|irrelevant|prioridades?|priorit(?:y|ies)|P[123])\b",
    re.IGNORECASE,
)
_LEVELS = (
    ("P1_CRITICO", r"\b(?:p|(?:prioridade|priority|n[íi]vel|level)\s+p?)[ -]?1(?:_CRITICO)?\b|\bcr[íi]tic[oa]s?\b|\bcritical\b"),
    ("P2_ESTRATEGICO", r"\b(?:p|(?:prioridade|priority|n[íi]vel|level)\s+p?)[ -]?2(?:_ESTRATEGICO)?\b|\bestrat[ée]gic[oa]s?\b|\bstrategic\b"),
    ("P3_MONITORAMENTO", r"\b(?:p|(?:prioridade|priority|n[íi]vel|level)\s+p?)[ -]?3(?:_MONITORAMENTO)?\b|\bmonitoramento\b|\bmonitoring\b"),
    ("IRRELEVANTE", r"\birrelevantes?\b|\birrelevant\b"),
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w/.,%-])(?<!\d:)\d{1,9}(?![\w/-]|\s*%|[.,:]\d)")
_TAG = re.compile(
    r"\b(?:tags?|etiquetas?|r[óo]tulos?|tagged(?: as| with)?|marcad[oa]s? como)\s+(?:(?:de|d[ao]|is|=|é)\s+|:\s*)?"
    r"(?:[\"“'‘`]([^\"”'’`]{1,40})[\"”'’`]|([^\W\d_][\w&-]*))",
    re.IGNORECASE,
)
_OF_TAG = re.compile(r"\b(?:tags?|etiquetas?|r[óo]tulos?)\b", re.IGNORECASE)
_NO_TAG = frozenset(["do", "da", "de", "para", "to", "of", "the", "o", "a", "from", "on", "e", "and"])
_ABOUT = re.compile(
    r"\b(?:sobre|a respeito d[eao]s?|que (?:falam|tratam) d[eao]s?|que mencionam|about|regarding|mention(?:ing)?)\s+"
    r"([^?.!\n]+)",
    re.IGNORECASE,
)
_STOP_WORDS = frozenset(
    ["para", "com", "uma", "uns", "umas", "dos", "das", "nos", "nas", "pelo", "pela", "que", "por", "hoje", "ontem",
     "anteontem", "setor", "prioridade", "the", "and", "for", "from", "with", "today", "yesterday", "sector", "priority"]
)  # fmt: skip
_DAY_WORDS = (
    (r"\banteontem\b|\bday before yesterday\b", 2),
    (r"\bontem\b|\byesterday\b", 1),
    (r"\bhoje\b|\btoday\b", 0),
)
_MONTHS = (
    "jan", "fev feb", "mar", "abr apr", "mai may", "jun", "jul", "ago aug", "set sep", "out oct", "nov", "dez dec",
)  # fmt: skip
_MONTH_OF = {prefix: number for number, names in enumerate(_MONTHS, start=1) for prefix in names.split()}
_NAMED = r"(jan|fev|feb|mar|abr|apr|mai|may|jun|jul|ago|aug|set|sep|out|oct|nov|dez|dec)[a-zç]*"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})\b",
        r"\b(?P<d>\d{1,2})/(?P<m>\d{1,2})(?:/(?P<y>\d{4}))?\b",
        rf"\b(?P<d>\d{{1,2}})(?:º)?\s+(?:de\s+)?(?P<name>{_NAMED})\b(?:\s+(?:de\s+)?(?P<y>\d{{4}}))?",
        rf"\b(?P<name>{_NAMED})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y>\d{{4}}))?",
    )
)
_FIRST_PERSON = re.compile(r"\b(?:eu|estou|sinto|i|i['’]m|ich|mir|я|мне|меня)\b|我", re.IGNORECASE)
_REQUEST = re.compile(
    r"\b(?:quero|queria|preciso|gostaria|want|need|like to|möchte|brauche|хочу|нужно)\b|我(?:想|要)", re.IGNORECASE
)
_FOLLOW_UP = re.compile(r"\s*(?:e|and|what about|how about)\b", re.IGNORECASE)
_PORTUGUESE = re.compile(
    r"[ãõçâêô]|\b(?:que|quant[oa]s?|quais|qual|not[íi]cias?|hoje|ontem|mude|liste|mostre|para|não|há|uma|dos|das|tem|sobre"
    r"|prioridade|altere|atualize|conte|com|os|em|por)\b",
    re.IGNORECASE,
)


def _is_denied(text: str) -> bool:
    """Whether the end of *text*, a verb, is what its clause says not to do, or its sentence says never to."""
    sentence = _LEADING_NO.sub(",", _SENTENCE_END.split(text)[-1])  # “no, change …” corrects what came before
    return bool(_NEVER.search(sentence) or _NOT.search(sentence.rpartition(",")[2]))


def _tag(text: str) -> str:
    for match in _TAG.finditer(text):
        name = (match[1] or match[2]).strip()
        if name.casefold() not in _NO_TAG:
            return name
    return ""


def _day(text: str, today: str) -> tuple[str, str]:
    """The day that *text* names, and *text* without it."""
    for pattern in _DATES:
        match = pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        month = _MONTH_OF[groups["name"][:3].casefold()] if groups.get("name") else int(groups["m"])
        year, date = int(groups["y"] or today[:4]), int(groups["d"])
        if 1 <= month <= 12 and year >= 1 and 1 <= date <= monthrange(year, month)[1]:
            return f"{year:04d}-{month:02d}-{date:02d}", pattern.sub(" ", text)
    for words, back in _DAY_WORDS:
        if re.search(words, text, re.IGNORECASE):
            return days_before(today, back), text
    return "", text


def _priorities(text: str) -> tuple[tuple[str, ...], str]:
    """The priorities that *text* names, and *text* without them."""
    found = []
    for level, pattern in _LEVELS:
        if re.search(pattern, text, re.IGNORECASE):
            found.append(level)
            text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return tuple(found), text


def _keywords(text: str) -> tuple[str, ...]:
    match = _ABOUT.search(text)
    words = re.findall(r"[^\W\d_]{3,}", match[1]) if match else []
    return tuple(word for word in dict.fromkeys(words) if word.casefold() not in _STOP_WORDS)[:5]
