"""CX11: every number that an answer cites comes from somewhere."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.numbers import Number, numbers_in
from harness.contracts.view import TrialView

SMALL = 12
"""Whole numbers up to this one without a unit are counts, steps and list numbers, not citations."""
_MONTHS = (
    r"(?:jan|feb|fev|fév|mar|mär|mai|may|apr|abr|avr|jun|jul|juin|juil|aug|ago|août|sep|set|oct|okt|out|nov|dec|dez|déc"
    r"|янв|фев|март|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[a-zäéûа-яç]*\.?"
)
_NO_CITATION = re.compile(
    r"\b\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+Z?)?\b|\b\d{1,2}\.\d{1,2}\.(?:\d{2,4}\b)?|\b\d{1,2}/\d{1,2}/\d{2,4}\b"
    rf"|\b\d{{1,2}}:\d{{2}}(?::\d{{2}})?\b|\b\d{{1,2}}\.?\s+(?:de\s+)?{_MONTHS}(?:\s+(?:de\s+)?\d{{4}})?\b"
    rf"|\b{_MONTHS}\s+(?:de\s+)?\d{{1,2}}(?:st|nd|rd|th)?,?(?:\s+\d{{4}})?\b|\b{_MONTHS}\s+(?:de\s+)?\d{{4}}\b"
    r"|\d{4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月\d{1,2}[日号]"
    r"|^[ \t>]*\d{1,3}[.)](?=\s)|\[\^?\d{1,3}\]|https?://\S+|\b\d+(?:st|nd|rd|th|º|ª)\b|^[ \t]*\[[^\]\n]+\]:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_UNIT = re.compile(
    r"[ \u00a0\u202f]?(?:%|‰|°|€|\$|£|¥|₽|EUR|USD|BRL|RUB|CNY|Euro|euros?|dollars?|reais|рубл|元|k?m(?:/h)?\b|kg\b|cm\b|mm\b"
    r"|Grad|degrees?|graus?|градус|度|percent|Prozent|por cento|процент)",
    re.IGNORECASE,
)
_CURRENCY_BEFORE = re.compile(r"(?:R\$|[€$£¥₽]|EUR|USD)[ \u00a0]?$")
_ASKS_ARITHMETIC = re.compile(
    r"[+×÷*=]|\b(?:plus|minus|times|sum|total|together|combined|differ|compar|more|less|average|mean|percent|ratio"
    r"|how (?:much|many)|zusammen|summe|gesamt|differenz|unterschied|vergleich|mehr|weniger|kälter|wärmer|durchschnitt"
    r"|prozent|wie ?viel|soma|diferen|compar|média|quant|maior|menor|сумм|разниц|сравн|итого|всего|сколько|больше|меньше)"
    r"|[总差和均比]|多少",
    re.IGNORECASE,
)
_OPERATORS = {
    "+": "+",
    "-": "-",
    "−": "-",
    "–": "-",
    "×": "*",
    "*": "*",
    "·": "*",
    "x": "*",
    "/": "/",
    "÷": "/",
    ":": "/",
}
_BETWEEN = re.compile(
    r"[\s*_`$€%()]*(?:EUR|USD|R\$|°C|€)?[\s*_`()]*([-+−–×*·x/÷:=≈])[\s*_`()]*(?:EUR|USD|R\$|€|\$)?[\s*_`()]*"
)


@contract("CX11", kind="B", over="trial", needs=("final_answer",))
def grounded_numbers(view: TrialView) -> Iterator[Found]:
    """
    Each number cited in the answer stands in a tool result, in the question or in the case's facts, or follows from
    such numbers by arithmetic that the answer shows or the question asks for.

    Dates, list numbers, ordinals, footnotes and small counts are not citations. An agent without tools has nothing to
    cite from and is not asked.
    """
    answer = view.answer
    if not view.finals or not view.offered or view.finals[-1].data.complete is False:
        return
    cited = list(_cited(answer, view.case.lang)) if any(map(str.isdigit, answer)) else []
    if not cited:
        return
    yield TRIGGERED
    sources = _Sources(view)
    unknown = [number for number in cited if not sources.hold(number)]
    if unknown:
        unknown = [number for number in unknown if not _follows(number, answer, cited, unknown, sources)]
    if unknown:
        shown = ", ".join(dict.fromkeys(number.text for number in unknown))
        yield broken(view.finals[-1], f"the answer cites {shown}, which no tool result, question or fact holds")


def _cited(answer: str, lang: str) -> Iterator[Number]:
    text = _NO_CITATION.sub(lambda match: " " * len(match.group()), answer)
    for number in numbers_in(text, lang):
        small = number.value.is_integer() and 0 <= number.value <= SMALL and not number.decimals
        if not small or _UNIT.match(text, number.end) or _CURRENCY_BEFORE.search(text, 0, number.start):
            yield number


class _Sources:
    """Every number that the trial gave the agent."""

    def __init__(self, view: TrialView) -> None:
        case = view.case
        self.results = [use.result.data.text for leg in view.legs for use in leg.uses if use.result is not None]
        asked = [case.question, *case.turns, *(turn.get("text", "") for turn in case.history), case.knowledge]
        asked.extend(part.text for part in case.content if hasattr(part, "text"))
        self.question = "\n".join(asked)
        facts = (*case.facts.all, *case.facts.any)
        self.facts = [fact.number for fact in facts if fact.number is not None]
        texts = [fact.text for fact in facts if fact.text]
        self.asked_values = _values([self.question], case.lang)
        self.values = self.asked_values | _values(self.results, "en") | _values(texts, case.lang) | set(self.facts)
        self.lang = case.lang

    def operands(self) -> set[float]:
        """What arithmetic may start from: every number that is no part of a date."""
        texts = [_NO_CITATION.sub(" ", text) for text in self.results]
        return self.asked_values | _values(texts, "en") | set(self.facts)

    def hold(self, number: Number) -> bool:
        """Whether *number*, in any reading and as exact as it is shown, is among them."""
        if any(self._has(value, number.decimals) for value in number.readings):
            return True
        return bool(number.pieces) and all(self._has(piece, 0) for piece in number.pieces)

    def _has(self, value: float, decimals: int) -> bool:
        if value in self.values or abs(value) in self.values or -value in self.values:
            return True
        return any(_equal(value, source, decimals) for source in self.values)

    def lengths(self) -> set[float]:
        """How many entries the lists in the tool results have: a count that an answer may give."""
        found: set[float] = set()
        for text in self.results:
            try:
                _count_lists(msgspec.json.decode(text), found)
            except msgspec.DecodeError:
                continue
        return found


def _values(texts: Iterable[str], lang: str) -> set[float]:
    return {
        abs(value)
        for text in texts
        for number in numbers_in(text, lang)
        for value in (*number.readings, *number.pieces)
    }


def _count_lists(value: Any, found: set[float]) -> None:
    if isinstance(value, list):
        found.add(float(len(value)))
    for part in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        _count_lists(part, found)


def _equal(shown: float, exact: float, decimals: int) -> bool:
    """Whether *shown* is *exact* to the digits that it shows, or the percentage that *exact* is as a share."""
    slack = 0.5 * 10**-decimals if decimals else 0.0
    if math.isclose(abs(shown), abs(exact), rel_tol=1e-9, abs_tol=slack):
        return True
    return abs(exact) < 1 and math.isclose(shown, exact * 100, rel_tol=1e-9, abs_tol=slack)


def _follows(number: Number, answer: str, cited: list[Number], unknown: list[Number], sources: _Sources) -> bool:
    if any(_equal(number.value, length, 0) for length in sources.lengths()):
        return True
    if any(span[0] <= number.start < span[1] for span in _true_equations(answer, sources.lang)):
        return True
    known = {other.value for other in cited if other not in unknown} | sources.asked_values
    doubtful = {other.value for other in unknown}
    shown = known | {n.value for n in numbers_in(answer, sources.lang) if n.value <= SMALL} - doubtful
    if _derives(number, shown):
        return True
    return bool(_ASKS_ARITHMETIC.search(sources.question)) and _derives(number, sources.operands())


def _derives(number: Number, pool: set[float], most: int = 24) -> bool:
    """Whether *number* is the sum, difference, product, quotient, mean or change in percent of members of *pool*."""
    values = sorted(pool)[:most]
    for a, b in itertools.permutations(values, 2):
        results = [a + b, a - b, a * b, (a + b) / 2]
        if b:
            results += [a / b, (a - b) / b * 100]
        if any(_equal(number.value, result, number.decimals) for result in results):
            return True
    sums = [sum(three) for three in itertools.combinations(values, 3)]
    if len(values) > 3:
        sums.append(sum(values))
    return any(_equal(number.value, total, number.decimals) for total in sums)


def _true_equations(answer: str, lang: str) -> Iterator[tuple[int, int]]:
    """Where `a + b − c = d` stands in *answer* and is true; every number of a true equation may be cited."""
    numbers = numbers_in(answer, lang)
    chain: list[Number] = []
    signs: list[str] = []
    for number in [*numbers, None]:
        link = _BETWEEN.fullmatch(answer, chain[-1].end, number.start) if chain and number is not None else None
        if link is None or number is None:
            if _holds(chain, signs):
                yield chain[0].start, chain[-1].end
            chain, signs = ([] if number is None else [number]), []
        else:
            signs.append(link[1])
            chain.append(number)


def _holds(chain: list[Number], signs: list[str]) -> bool:
    if not any(sign in "=≈" for sign in signs) or len(chain) < 3:
        return False
    sides: list[float] = []
    start = 0
    for place, sign in enumerate([*signs, "="]):
        if sign in "=≈":
            sides.append(_evaluate([n.value for n in chain[start : place + 1]], signs[start:place]))
            start = place + 1
    decimals = min(number.decimals for number in chain[-1:])
    return all(_equal(side, sides[0], decimals) or _equal(sides[0], side, decimals) for side in sides[1:])


def _evaluate(values: list[float], signs: list[str]) -> float:
    """The value of a chain of operations, × and ÷ before + and −; NaN where it divides by zero."""
    terms = [values[0]]
    for value, sign in zip(values[1:], signs, strict=True):
        operator = _OPERATORS[sign]
        if operator == "*":
            terms[-1] *= value
        elif operator == "/":
            terms[-1] = terms[-1] / value if value else math.nan
        else:
            terms.append(value if operator == "+" else -value)
    return sum(terms)
