"""
Numbers as people write them: thousands separators, decimal signs and scale words by language.

A token can be read in more than one way (`1.200` is 1.2 in English and 1200 in German); the reading of the text's own
language comes first, the others are kept for rules that must not accuse anybody falsely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

DECIMAL_POINT = frozenset({"en", "zh", "ja", "ko", "th", "he", "hi"})
"""Languages that write 1.5; all others write 1,5."""


class Number(NamedTuple):
    """A number in a text at [*start*, *end*); *readings* holds what it can mean, the likeliest first."""

    readings: tuple[float, ...]
    start: int
    end: int
    text: str
    decimals: int
    pieces: tuple[float, ...] = ()
    """Where only blanks join groups of digits, the groups by themselves: `101 102` may be two numbers."""

    @property
    def value(self) -> float:
        """The likeliest reading."""
        return self.readings[0]


_BLANKS = "\u00a0\u202f\u2009"
_LETTERS = "A-Za-zÀ-ÖØ-öø-ɏЀ-ӿ_"
_TOKEN = re.compile(  # begins with a digit and nothing else, so that the search skips quickly over what is none
    rf"([0-9０-９]{{1,3}}(?:[ {_BLANKS}'’]\d{{3}}(?!\d))+(?:[.,]\d+)?|[0-9０-９]+(?:[.,]\d+)*)"
    rf"([ {_BLANKS}]?(?:[{_LETTERS}]{{1,10}}\.?|[十百千万萬亿億兆]{{1,2}}))?"
)
_LETTER = re.compile(f"[{_LETTERS}]")
_GROUPING = re.compile(rf"[ {_BLANKS}'’]")
_SCALES: dict[str, float] = {
    "k": 1e3, "tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "тыс": 1e3, "тысяч": 1e3, "тысячи": 1e3, "тысяча": 1e3,
    "mille": 1e3, "千": 1e3, "万": 1e4, "萬": 1e4, "十万": 1e5, "百万": 1e6, "千万": 1e7, "亿": 1e8, "億": 1e8,
    "十亿": 1e9, "mio": 1e6, "mill": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6, "mn": 1e6,
    "milhão": 1e6, "milhões": 1e6, "millón": 1e6, "millones": 1e6, "млн": 1e6, "миллион": 1e6, "миллиона": 1e6,
    "миллионов": 1e6, "mrd": 1e9, "milliarde": 1e9, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9, "bn": 1e9,
    "bilhão": 1e9, "bilhões": 1e9, "млрд": 1e9, "миллиард": 1e9, "миллиарда": 1e9, "миллиардов": 1e9,
    "trilhão": 1e12, "trilhões": 1e12, "trillion": 1e12,
}  # fmt: skip
_SCALES_OF: dict[str, dict[str, float]] = {
    "en": {"billion": 1e9, "billions": 1e9, "b": 1e9, "m": 1e6},
    "de": {"billion": 1e12, "billionen": 1e12, "trillion": 1e18},
    "pt": {"mil": 1e3, "mi": 1e6, "bi": 1e9, "tri": 1e12},
    "es": {"mil": 1e3},
    "it": {"mila": 1e3, "milioni": 1e6, "milione": 1e6, "miliardi": 1e9, "miliardo": 1e9},
}
_WORDS: dict[str, tuple[str, ...]] = {
    "en": ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    "de": ("zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"),
    "pt": ("dois|duas", "três", "quatro", "cinco", "seis", "sete", "oito", "nove", "dez", "onze", "doze"),
    "es": ("dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce"),
    "fr": ("deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"),
    "ru": ("два|две", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять", "десять", "одиннадцать", "двенадцать"),
    "zh": ("(?<!十)(?:二|两)", "三", "四", "五", "六", "七", "八", "九", "十(?![一二])", "十一", "十二"),
}  # fmt: skip
"""Words for 2 to 12; the word for one is an article in too many languages."""


def numbers_in(text: str, lang: str = "en") -> list[Number]:
    """The numbers in digits of *text*, in order, read as *lang* (a language code such as `de`) writes them."""
    return list(_numbers(text, lang.partition("-")[0].lower()))


def words_as_numbers(text: str, lang: str = "en") -> set[float]:
    """The numbers from 2 to 12 that *text* writes as words of *lang*."""
    pattern = _word_pattern(lang.partition("-")[0].lower())
    found = {match.lastindex for match in pattern.finditer(text)} if pattern is not None else set()
    return {float(index + 1) for index in found if index is not None}


@lru_cache(maxsize=32)
def _word_pattern(lang: str) -> re.Pattern[str] | None:
    """One group for each number from 2 on."""
    words = _WORDS.get(lang)
    if words is None:
        return None
    groups = "|".join(f"({word})" for word in words)
    return re.compile(groups if lang == "zh" else rf"\b(?:{groups})\b", re.IGNORECASE)


def _numbers(text: str, lang: str) -> Iterator[Number]:
    for match in _TOKEN.finditer(text):
        start, end = match.span(1)
        before = text[start - 1] if start else ""
        if before and (_LETTER.match(before) or (before == "-" and start > 1 and _LETTER.match(text[start - 2]))):
            continue  # part of a name: P1, gpt-4
        body = match[1]
        readings = (float(body),) if body.isdigit() else _readings(body, point=lang in DECIMAL_POINT)
        if not readings:
            continue
        if before in ("-", "−") and not (start > 1 and (text[start - 2].isalnum() or text[start - 2] in ")]")):
            start -= 1
            readings = tuple([-value for value in readings])
        factor = _scale(match[2], lang) if match[2] else 1.0
        if factor != 1.0:
            end = match.end(2)
            readings = tuple([round(value * factor, 9) for value in readings])
        groups = body.split()
        yield Number(
            readings=readings,
            start=start,
            end=end,
            text=text[match.start(1) : end],
            decimals=_decimals(body, readings[0] / factor),
            pieces=tuple([float(piece) for piece in groups if piece.isdigit()]) if len(groups) > 1 else (),
        )


def _readings(body: str, *, point: bool) -> tuple[float, ...]:
    compact = _GROUPING.sub("", body)
    dots, commas = compact.count("."), compact.count(",")
    if not dots and not commas:
        return (float(compact),)
    if dots and commas:
        last = "." if compact.rfind(".") > compact.rfind(",") else ","
        return _as_float(compact, decimal=last) if compact.count(last) == 1 else ()
    sign = "." if dots else ","
    groups = compact.split(sign)
    grouped = groups[0] != "0" and len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    if len(groups) > 2:
        return (float("".join(groups)),) if grouped else ()
    decimal = _as_float(compact, decimal=sign)
    if not grouped:
        return decimal
    whole = (float("".join(groups)),)
    return decimal + whole if (sign == ".") == point else whole + decimal


def _as_float(compact: str, *, decimal: str) -> tuple[float, ...]:
    other = "," if decimal == "." else "."
    return (float(compact.replace(other, "").replace(decimal, ".")),)


def _scale(word: str, lang: str) -> float:
    name = word.strip().rstrip(".").lower()
    if name == "m" and not word.startswith("M"):
        return 1.0  # metres
    if name == "b" and not word.startswith("B"):
        return 1.0
    return _SCALES_OF.get(lang, {}).get(name) or _SCALES.get(name, 1.0)


def _decimals(body: str, value: float) -> int:
    """Digits after the decimal sign as shown, if the likeliest reading has one."""
    if body.isdigit():
        return 0
    tail = max(body.rfind("."), body.rfind(","))
    if tail < 0 or float(re.sub(r"\D", "", body)) == abs(value):
        return 0
    return len(body) - tail - 1
