"""CX11: every number that an answer cites comes from somewhere."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.numbers import Number, numbers_in
from harness.contracts.view import TrialView
from harness.records.case import TextContent

SMALL = 12
"""Whole numbers up to this one without a unit are counts, steps and list numbers, not citations."""
# Most answers need none of the longer patterns: `re` compiles them where they are used, and remembers them.
_MONTHS = (
    r"(?:jan|feb|fev|fév|mar|mär|mai|may|apr|abr|avr|jun|jul|juin|juil|aug|ago|août|sep|set|oct|okt|out|nov|dec|dez|déc"
    r"|янв|фев|март|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[a-zäéûа-яç]*\.?"
)
_DATES = (  # begins with a digit and nothing else, so that the search is quick
    r"[0-9](?<!\d\d)(?:\d{3}-\d{2}(?:-\d{2})?(?:T[\d:.]+Z?)?|\d?\.\d{1,2}\.(?:\d{2,4})?|\d?/\d{1,2}/\d{2,4}|\d?:\d{2}(?::\d{2})?"
    rf"|\d?\.?\s+(?:de\s+)?{_MONTHS}(?:\s+(?:de\s+)?\d{{4}})?|\d*(?:st|nd|rd|th|º|ª)\b"
    r"|\d{3}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d?月\d{1,2}[日号])"
)
_MONTH_FIRST = rf"\b{_MONTHS}\s+(?:(?:de\s+)?\d{{1,2}}(?:st|nd|rd|th)?(?!\d),?(?:\s+\d{{4}})?|(?:de\s+)?\d{{4}})\b"
_MARKS = r"(?m:^[ \t>]*\d{1,3}[.)](?=\s)|\[\^?\d{1,3}\]|https?://\S+|^[ \t]*\[[^\]\n]+\]:.*$)"
_UNIT = re.compile(
    r"[ \u00a0\u202f]?(?:%|‰|°|€|\$|£|¥|₽|EUR|USD|BRL|RUB|CNY|Euro|euros?|dollars?|reais|рубл|元|k?m(?:/h)?\b|kg\b|cm\b|mm\b"
    r"|Grad|degrees?|graus?|градус|度|percent|Prozent|por cento|процент)",
    re.IGNORECASE,
)
_CURRENCY_BEFORE = re.compile(r"(?:R\$|[€$£¥₽]|EUR|USD)[ \u00a0]?$")
_ASKS_ARITHMETIC = (
    r"[+×÷*=]|\b(?:plus|minus|times|sum|total|together|combined|differ|compar|more|less|average|mean|percent|ratio"
    r"|how (?:much|many)|zusammen|summe|gesamt|differenz|unterschied|vergleich|mehr|weniger|kälter|wärmer|durchschnitt"
    r"|prozent|wie ?viel|soma|diferen|compar|média|quant|maior|menor|сумм|разниц|сравн|итого|всего|сколько|больше|меньше)"
    r"|[总差和均比]|多少"
)
_NAMES_ARITHMETIC = (
    r"\b(?:total|sum|differ|combined|altogether|average|mean|summe|gesamt|insgesamt|zusammen|differenz|durchschnitt|soma"
    r"|diferen|média|сумм|разниц|итого|всего|средн)|[总共差]|平均"
)
"""An answer that names an operation shows it."""
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
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
_BETWEEN = r"[\s*_`$€%()]*(?:EUR|USD|R\$|°C|€)?[\s*_`()]*([-+−–×*·x/÷:=≈])[\s*_`()]*(?:EUR|USD|R\$|€|\$)?[\s*_`()]*"


@contract("CX11", kind="B", over="trial", needs=("final_answer",))
def grounded_numbers(view: TrialView) -> Iterator[Found]:
    """
    Each number cited in the answer stands in a tool result, in the question or in the case's facts, or follows from
    such numbers by arithmetic that the answer shows or the question asks for.

    Dates, list numbers, ordinals, footnotes and small counts are not citations. An agent without tools has nothing to
    cite from and is not asked.
    """
    if not view.finals or not view.offered or not view.finals[-1].data.complete:
        return
    answer = view.answer
    likely = [number for number in view.answer_numbers if not _is_count(number, answer)]
    if not likely:
        return
    yield TRIGGERED
    sources = _Sources(view)
    tokens = sources.tokens()
    likely = [number for number in likely if number.text not in tokens]
    if not likely:
        return
    unknown = [
        number
        for number in _outside(likely, answer, re.compile(_DATES, re.IGNORECASE), re.compile(_MARKS))
        if not sources.hold(number)
    ]
    if unknown:
        unknown = _outside(unknown, answer, re.compile(_MONTH_FIRST, re.IGNORECASE))
        unknown = _unexplained(unknown, view, sources)
    if unknown:
        shown = ", ".join(dict.fromkeys(number.text for number in unknown))
        yield broken(view.finals[-1], f"the answer cites {shown}, which no tool result, question or fact holds")


def _outside(numbers: list[Number], text: str, *patterns: re.Pattern[str]) -> list[Number]:
    """*numbers* without those in a match of *patterns*: dates, ordinals, list numbers, footnotes, addresses."""
    spans = [match.span() for pattern in patterns for match in pattern.finditer(text)]
    return [number for number in numbers if not any(first <= number.start < end for first, end in spans)]


def _is_count(number: Number, text: str) -> bool:
    """Whether *number* may be a mere count, step or list number: small, whole, and without a unit."""
    if number.decimals or not 0 <= number.value <= SMALL or not number.value.is_integer():
        return False
    return not _UNIT.match(text, number.end) and not _CURRENCY_BEFORE.search(text[: number.start][-5:])


class _Sources:
    """Every number that the trial gave the agent."""

    def __init__(self, view: TrialView) -> None:
        case = self.case = view.case
        self.lang = case.lang
        self.results = [use.result.data.text for leg in view.legs for use in leg.uses if use.result is not None]
        asked = [case.question, *case.turns, *(turn.get("text", "") for turn in case.history), case.knowledge]
        asked.extend(part.text for part in case.content if isinstance(part, TextContent))
        self.question = "\n".join(asked)

    def tokens(self) -> set[str]:
        """Every run of digits and separators as it stands."""
        found = set(_DIGITS.findall(self.question))
        return found.union(*map(_DIGITS.findall, self.results))

    @cached_property
    def asked_values(self) -> set[float]:
        """The numbers of the question."""
        return _values([self.question], self.lang)

    @cached_property
    def stated(self) -> set[float]:
        """The numbers of the case's facts."""
        facts = (*self.case.facts.all, *self.case.facts.any)
        texts = [fact.text for fact in facts if fact.text]
        return _values(texts, self.lang) | {fact.number for fact in facts if fact.number is not None}

    @cached_property
    def values(self) -> set[float]:
        """Every number, in every reading; results are JSON, whose texts may be in the language of the case."""
        return self.asked_values | self.stated | self._of_results(self.results)

    def operands(self) -> set[float]:
        """What arithmetic may start from: every number that is no part of a date."""
        texts = [re.sub(_DATES, " ", text, flags=re.IGNORECASE) for text in self.results]
        return self.asked_values | self.stated | self._of_results(texts)

    def _of_results(self, texts: list[str]) -> set[float]:
        found = _values(texts, "en")
        return found if self.lang == "en" else found | _values(texts, self.lang)

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
            except (msgspec.DecodeError, RecursionError):
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


def _unexplained(unknown: list[Number], view: TrialView, sources: _Sources) -> list[Number]:
    """Those of *unknown* that no arithmetic explains: none shown, none asked for, and no count of a list."""
    doubtful = {number.value for number in unknown}
    shown = {n.value for n in view.answer_numbers if n.value not in doubtful} | sources.asked_values
    left = [number for number in unknown if not _derives(number, shown)]
    if left:
        equations = _true_equations(view.answer, view.answer_numbers)
        left = [n for n in left if not any(first <= n.start < end for first, end in equations)]
    if left:
        lengths = sources.lengths()
        left = [number for number in left if number.value not in lengths]
    if left and (
        re.search(_ASKS_ARITHMETIC, sources.question, re.IGNORECASE)
        or re.search(_NAMES_ARITHMETIC, view.answer, re.IGNORECASE)
    ):
        operands = sources.operands()
        left = [number for number in left if not _derives(number, operands)]
    return left


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


def _true_equations(answer: str, numbers: list[Number]) -> list[tuple[int, int]]:
    """Where `a + b − c = d` stands in *answer* and is true; every number of a true equation may be cited."""
    if "=" not in answer and "≈" not in answer:
        return []
    found: list[tuple[int, int]] = []
    chain: list[Number] = []
    signs: list[str] = []
    for number in [*numbers, None]:
        link = (
            re.compile(_BETWEEN).fullmatch(answer, chain[-1].end, number.start)
            if chain and number is not None
            else None
        )
        if link is None or number is None:
            if _holds(chain, signs):
                found.append((chain[0].start, chain[-1].end))
            chain, signs = ([] if number is None else [number]), []
        else:
            signs.append(link[1])
            chain.append(number)
    return found


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
