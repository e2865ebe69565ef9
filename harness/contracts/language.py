"""Guess the language of a text by its script and its commonest words; says nothing where it cannot tell."""

from __future__ import annotations

import re

_COMMON: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the and is are of to in that it for with was this not you be have which but from on as at i my feel happy"
        " sad glad today what how hello your we very there has can will they their its he she please am so an if do",
        "de": "der die das und ist sind nicht ein eine mit für von den dem im zu auf es ich sie wird auch bei mir mich dir"
        " dich du wir heute bin hast habe hat wie was dass oder als aus nach wenn sehr kann noch nur über zum zur am so"
        " an einen einem einer des aber freut guten",
        "pt": "o os as e é são não um uma com para de do da dos das em no na que por foi mais ao eu meu minha você hoje"
        " estou está feliz muito mas como isso ele ela pelo pela também já tem seu sua ou se me te bom olá fico",
        "es": "el los las y es son no un una con para de del la en que por fue más al lo se su yo mi hoy estoy está feliz"
        " muy pero como ella también ya hay este me te hola",
        "fr": "le les et est sont ne pas un une avec pour de du des la en que qui dans sur au il ce je mon ma suis vous"
        " nous très mais comme elle aussi se sa son bonjour me te",
        "it": "il lo gli e è sono non un una con per di del della in che nel i la da si come più io mio mia oggi molto ma"
        " anche ho hai mi ti se ciao",
    }.items()
}
_MARKS = {"de": "[ßäö]", "pt": "[ãõ]", "es": "[ñ¿¡]"}
"""Letters that speak for one language, as much as a common word does."""
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
"""Common words, or letters of its own, that a language must show before it is named."""


def language_of(text: str) -> str | None:
    """
    The language code of *text*: zh, ja, ko, ru, ar, el by script; en, de, pt, es, fr, it by their commonest words and by
    letters of their own.

    None where nothing, or two languages equally, speak for it. Code is left out.
    """
    prose = re.sub(r"(?s)```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", " ", text).lower()
    letters = sum(map(str.isalpha, prose))
    if not letters:
        return None
    plain = prose.isascii()
    if not plain:
        if re.search("[぀-ヿ]", prose):
            return "ja"
        for code, script in _SCRIPTS:
            if len(re.findall(script, prose)) > letters * 0.3:
                return code
    words = _WORD.findall(prose)
    found = {code: sum(word in common for word in words) for code, common in _COMMON.items()}
    for code, letters_of in () if plain else _MARKS.items():
        found[code] += re.search(letters_of, prose) is not None
    (most, best), (second, _) = sorted(((hits, code) for code, hits in found.items()), reverse=True)[:2]
    return best if most >= FEWEST_HITS and most > second else None
