"""How hard a question looks, by its words alone, and how many rounds that is worth."""

from __future__ import annotations

import math
import re
from typing import Literal

Difficulty = Literal["easy", "medium", "hard"]

EASY_WORDS = 12
HARD_WORDS = 60
SHARE: dict[Difficulty, float] = {"easy": 1 / 3, "medium": 2 / 3, "hard": 1.0}
"""The part of the rounds that a difficulty gets."""
_WORD = re.compile(r"[㐀-鿿぀-ヿ]|\w+")
_DEMANDING = re.compile(
    r"证明|设计|推导|比较|优化|方案|\b(prove|design|derive|compare|optimi[sz]e|architect|beweise|entwirf|vergleich"
    r"|prov[ae]|projet[ae]|compar[ae]|докаж|спроектируй|сравни)",
    re.IGNORECASE,
)


def difficulty_of(problem: str, *, images: int = 0) -> Difficulty:
    """
    Guess the difficulty of *problem*: by its length (two CJK characters count as a word), by verbs such as “prove”, and
    by *images*.
    """
    found = _WORD.findall(problem)
    single = sum(1 for word in found if len(word) == 1 and ord(word) > 0x2FFF)
    words = len(found) - single // 2
    points = (words > EASY_WORDS) + (words > HARD_WORDS) + bool(_DEMANDING.search(problem)) + bool(images)
    return ("easy", "medium", "hard", "hard", "hard")[points]


def rounds_for(difficulty: Difficulty, most: int, *, least: int) -> int:
    """How many of *most* rounds a question of *difficulty* gets: at least *least*, never more than *most*."""
    return min(most, max(least, math.ceil(most * SHARE[difficulty])))
