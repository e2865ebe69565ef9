"""
Numbers as people write them: thousands separators, decimal signs and scale words by language.

A token can be read in more than one way (`1.200` is 1.2 in English and 1200 in German); the reading of the text's own
language comes first, the others are kept for rules that must not accuse anybody falsely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_TOKEN = re.compile(
    rf"(?<![{_LETTERS}\d])(?<!\d[.,])(?<![{_LETTERS}]-)(?P<sign>(?<![\d\w)\]])[-−])?"
    rf"(?P<body>\d{{1,3}}(?:[ {_BLANKS}'’]\d{{3}}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    rf"(?P<scale>[ {_BLANKS}]?(?:[{_LETTERS}]{{1,10}}\.?|[十百千万萬亿億兆]{{1,2}}))?"
)
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
    "zh": ("二|两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"),
}  # fmt: skip
"""Words for 2 to 12; the word for one is an article in too many languages."""


def numbers_in(text: str, lang: str = "en") -> list[Number]:
    """The numbers in digits of *text*, in order, read as *lang* (a language code such as `de`) writes them."""
    return list(_numbers(text, lang.partition("-")[0].lower()))


def words_as_numbers(text: str, lang: str = "en") -> set[float]:
    """The numbers from 2 to 12 that *text* writes as words of *lang*."""
    words = _WORDS.get(lang.partition("-")[0].lower(), ())
    lowered = text.lower()
    edge = "" if lang.startswith("zh") else r"\b"
    return {float(n) for n, word in enumerate(words, start=2) if re.search(f"{edge}(?:{word}){edge}", lowered)}


def _numbers(text: str, lang: str) -> Iterator[Number]:
    for match in _TOKEN.finditer(text):
        body = match["body"]
        readings = _readings(body, point=lang in DECIMAL_POINT)
        if not readings:
            continue
        factor, end = _scale(match["scale"], lang), match.end("body")
        if factor != 1.0:
            end = match.end("scale")
        sign = -1.0 if match["sign"] else 1.0
        blanks = any(blank in body for blank in _BLANKS + " ")
        yield Number(
            readings=tuple(round(sign * value * factor, 9) for value in readings),
            start=match.start("sign") if match["sign"] else match.start("body"),
            end=end,
            text=text[match.start("body") : end],
            decimals=_decimals(body, readings[0]),
            pieces=tuple(float(piece) for piece in body.split() if piece.isdigit()) if blanks else (),
        )


def _readings(body: str, *, point: bool) -> tuple[float, ...]:
    compact = re.sub(rf"[ {_BLANKS}'’]", "", body)
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


def _scale(word: str | None, lang: str) -> float:
    if not word:
        return 1.0
    name = word.strip().rstrip(".").lower()
    if name == "m" and not word.startswith("M"):
        return 1.0  # metres
    if name == "b" and not word.startswith("B"):
        return 1.0
    return _SCALES_OF.get(lang, {}).get(name) or _SCALES.get(name, 1.0)


def _decimals(body: str, value: float) -> int:
    """Digits after the decimal sign as shown, if the likeliest reading has one."""
    tail = re.search(r"[.,](\d+)$", body)
    if tail is None:
        return 0
    whole = re.sub(r"\D", "", body)
    return 0 if float(whole) == value else len(tail[1])
