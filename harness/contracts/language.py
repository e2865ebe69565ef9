"""Guess the language of a text by its script and its commonest words; says nothing where it cannot tell."""

from __future__ import annotations

import re

_COMMON: dict[str, frozenset[str]] = {
    "en": frozenset(["the", "and", "is", "are", "of", "to", "in", "that", "it", "for", "with", "was", "this", "not", "you", "be", "have", "which", "but", "from", "on", "as", "at"]),
    "de": frozenset(["der", "die", "das", "und", "ist", "sind", "nicht", "ein", "eine", "mit", "für", "von", "den", "dem", "im", "zu", "auf", "es", "ich", "sie", "wird", "auch", "bei"]),
    "pt": frozenset(["o", "os", "as", "e", "é", "são", "não", "um", "uma", "com", "para", "de", "do", "da", "dos", "das", "em", "no", "na", "que", "por", "foi", "mais", "ao"]),
    "es": frozenset(["el", "los", "las", "y", "es", "son", "no", "un", "una", "con", "para", "de", "del", "la", "en", "que", "por", "fue", "más", "al", "lo", "se", "su"]),
    "fr": frozenset(["le", "les", "et", "est", "sont", "ne", "pas", "un", "une", "avec", "pour", "de", "du", "des", "la", "en", "que", "qui", "dans", "sur", "au", "il", "ce"]),
    "it": frozenset(["il", "lo", "gli", "e", "è", "sono", "non", "un", "una", "con", "per", "di", "del", "della", "in", "che", "nel", "i", "la", "da", "si", "come", "più"]),
}  # fmt: skip
_WORD = re.compile(r"[a-zà-öø-ÿß]+")
_SCRIPTS = (
    ("zh", "[一-鿿]"),
    ("ru", "[а-яё]"),
    ("ja", "[぀-ヿ]"),
    ("ko", "[가-힯]"),
    ("ar", "[؀-ۿ]"),
    ("el", "[α-ωά-ώ]"),
)
FEWEST_HITS = 2
"""Common words that a language must show before it is named."""


def language_of(text: str) -> str | None:
    """
    The language code of *text*: zh, ja, ko, ru, ar, el by script; en, de, pt, es, fr, it by their commonest words.

    None where nothing, or two languages equally, speak for it. Code is left out.
    """
    prose = re.sub(r"(?s)```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", " ", text).lower()
    letters = sum(map(str.isalpha, prose))
    if not letters:
        return None
    if re.search("[぀-ヿ]", prose):
        return "ja"
    for code, script in _SCRIPTS:
        if len(re.findall(script, prose)) > letters * 0.3:
            return code
    words = _WORD.findall(prose)
    hits = sorted(((sum(word in common for word in words), code) for code, common in _COMMON.items()), reverse=True)
    (most, best), (second, _) = hits[:2]
    return best if most >= FEWEST_HITS and most > second else None
