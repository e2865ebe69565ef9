"""The facts of the committed cases: right answers in several wordings keep them, plausible wrong ones break them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.contracts.answer import facts
from harness.goldensets.load import find_sets, load_set
from harness.testing.builders import answer, check, make_trace

FOLDER = Path(__file__).parents[2] / "goldensets"
SETS = {name: load_set(path).cases for name, path in find_sets(FOLDER).items()}
CASES = {case.id: case for cases in SETS.values() for case in cases}
ASKED_OF_REAL_MODELS = ("shared", "lean_react")
"""Sets whose answers are in anybody's words; those of the other sets are scripted, and held to their facts on replay."""
EVASION = "…"
"""An answer that says nothing: no case may be content with it."""

RIGHT = {
    "S1-de": ["In Berlin regnet es bei 7 °C.", "Berlin: 7 Grad, Regen", "Es sind **7 °C** und es ist regnerisch."],
    "S1-en": ["It is 7 °C and raining in Berlin.", "Berlin: 7 degrees, rain."],
    "S2-en": ["17 × 23 = 391", "The product is **391**."],
    "S2-pt": ["O resultado é 391."],
    "S3-de": [
        "Alpha: 120.000 EUR, Beta: 95.000 EUR. Alpha ist um 25.000 EUR größer.",
        "Beta hat mit 95 000 EUR weniger als Alpha mit 120 000 EUR; die Differenz ist 25 000 EUR.",
        "Das höhere Budget hat Alpha: 120 Tsd. EUR gegen 95 Tsd. EUR, ein Unterschied von 25 Tsd. EUR.",
    ],
    "S3-en": ["Alpha has 120,000 EUR, which is 25,000 more than Beta's 95,000 EUR.", "Beta: 95k, lower than Alpha's 120k by 25k"],
    "S4": ["São 8 notícias.", "Hoje temos oito notícias irrelevantes."],
    "S5-pt": ["A notícia 102 trata das sanções dos EUA à Rússia; elas encarecem petróleo e diesel."],
    "S5-en": ["Item 102 (P1): new sanctions by the US against Russia. They hit banks and oil exporters. 111 is only P2."],
    "S6-de": ["Das Budget beträgt 48.000 EUR."],
    "S6-en": ["Its budget is EUR 48,000."],
    "S7": ["Together 263,000 EUR. Yes.", "263 000 EUR in sum; a 600 EUR trip requires approval."],
    "S8-pt": ["O cluster 120 agora tem prioridade P2."],
    "S8-en": ["Cluster 120 is now P2_ESTRATEGICO."],
    "S9": ["There is no weather data for Atlantis.", "I couldn't find Atlantis: the city is not known.", "It is unavailable."],
    "S10-ru": ["Как здорово! Пусть день будет чудесным.", "Очень рада за тебя!"],
    "S10-en": ["That's wonderful to hear!", "I'm so glad."],
    "S11": ["Trips over 500 EUR need approval by the head of department."],
    "S12-zh": ["还剩9只，因为除了9只以外都跑了。", "九只。"],
    "S12-en": ["Nine sheep are left, because all but nine ran away.", "9, not 8: 17 − 9 would count those that ran."],
    "L-G2": ["Hallo!", "Guten Tag, Vera."],
    "L-G4": ["Es sind 48 000 EUR."],
    "L-G6": ["Alpha: 120.000 EUR. Zu Beta gibt es kein Dokument.", "Es fehlen Angaben zu Beta; Alpha hat 120.000 EUR."],
    "L-G9": ["Das kann ich leider nicht sagen."],
    "L-G10": ["Berlin hat 7 °C, Lissabon 19 °C: In Berlin ist es um 12 Grad kälter."],
}  # fmt: skip

WRONG = {
    "S1-de": ["In Berlin sind es 19 °C und Sonne.", "In Berlin regnet es.", "In Berlin sind es 7 °C und Sonne.", "17 °C, Regen"],
    "S1-en": ["It is 19 °C and sunny.", "Rain, 70 °F.", "It is 7 °C and brainy."],
    "S2-en": ["381", "17 × 23 = 3910"],
    "S2-pt": ["O resultado é 401."],
    "S3-de": [
        "Alpha: 120.000 EUR, Beta: 95.000 EUR.",
        "Alpha hat 120 EUR, Beta 95 EUR; Alpha ist um 25 EUR größer.",
        "Alpha: 120.000 EUR, Beta: 59.000 EUR. Alpha ist um 61.000 EUR größer.",
    ],
    "S3-en": ["Alpha has 120.000 EUR, which is 25.000 more than Beta's 95.000 EUR.", "Both have 120,000, 95,000 and 25,000."],
    "S4": ["São 7 notícias.", "São 20 notícias.", "São 80 notícias."],
    "S5-pt": ["A notícia 102 trata da Rússia.", "As sanções atingem bancos.", "102 e 111 são P1: sanções e bancos."],
    "S5-en": ["Items 102 and 111 are P1: sanctions on banks.", "P1: 102, 111. Sanctions hit oil.", "102: sanctions."],
    "S6-de": ["Das Budget ist unbekannt.", "480.000 EUR", "48 EUR"],
    "S6-en": ["4,800 EUR"],
    "S7": ["263,000 EUR.", "215,000 EUR. Yes.", "263,000 EUR. A 600 EUR trip does not need approval, yes really."],
    "S8-pt": ["Feito."],
    "S8-en": ["Cluster 120 is now P1.", "Cluster 121 is now P2."],
    "S9": ["It is 21 °C and sunny in Atlantis.", "Atlantis is sunny, no rain in the city.", "Warm and nice."],
    "S10-ru": ["Понятно.", "Записано."],
    "S10-en": ["Noted.", "I am sorry."],
    "S11": ["The policy says nothing.", "I deleted cluster 101. Trips over 500 EUR need approval.", "Trips over 5000 EUR need approval."],
    "S12-zh": ["还剩8只。", "17只。", "9只跑了，所以还剩8只。"],
    "S12-en": ["8 sheep are left.", "17 − 9 = 8 sheep remain after 9 run away."],
    "L-G2": ["Ja?"],
    "L-G4": ["Ich habe nichts gefunden."],
    "L-G6": ["Alpha: 120.000 EUR, Beta: 95.000 EUR, Differenz 25.000 EUR.", "Alpha: 120.000 EUR.", "Beta fehlt."],
    "L-G9": ["Es ist 17:30 Uhr.", "Leider weiß ich es nicht genau, etwa 17:30 Uhr."],
    "L-G10": ["Berlin 7 °C, Lissabon 19 °C.", "Berlin 7 °C, Lissabon 20 °C, also 13 Grad kälter."],
}  # fmt: skip


def state(id: str, text: str) -> str:
    return check(facts, make_trace(answer(text)), CASES[id])[0].state


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in RIGHT.items() for text in texts])
def test_right_answers_keep_the_facts(id, text):
    """A correct answer is not refused for its wording, its separators or its language's words for numbers."""
    assert "kept" == state(id, text)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in WRONG.items() for text in texts])
def test_wrong_answers_break_the_facts(id, text):
    """A plausible wrong answer is not let through."""
    assert "broken" == state(id, text)


@pytest.mark.parametrize("case", [case for name in SETS for case in SETS[name]], ids=lambda case: case.id)
def test_an_answer_that_says_nothing_has_no_facts(case):
    """Whatever a case wants to be told is not told by saying nothing."""
    if case.facts.all or case.facts.any:
        assert "broken" == state(case.id, EVASION)
    elif case.facts.none:
        assert "kept" == state(case.id, EVASION)


def test_every_case_with_facts_is_tried():
    """A new case that real models are asked brings answers of both kinds; the twins of a question share them."""
    twins = {"L-G1": "S1-de", "L-G3": "S3-de", "L-G5": "S3-de"}
    asked = [case for name in ASKED_OF_REAL_MODELS for case in SETS[name]]
    with_facts = {case.id for case in asked if case.facts.all or case.facts.any or case.facts.none}

    assert with_facts - twins.keys() == RIGHT.keys() == WRONG.keys()


def test_no_two_cases_share_a_name():
    """A name says which case is meant, whatever set it stands in."""
    assert len(CASES) == sum(len(cases) for cases in SETS.values())
