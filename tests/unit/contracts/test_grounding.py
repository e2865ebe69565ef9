"""CX11: cited numbers come from somewhere."""

from __future__ import annotations

import time

import pytest

from harness.contracts.grounding import grounded_numbers
from harness.records.case import Fact, Facts
from harness.testing.builders import answer, check, make_case, make_trace, model_turn, reasons, tool_use

ALPHA = '{"id": "alpha", "budget_eur": 120000, "start": "2025-02", "people": 14}'
BETA = '{"id": "beta", "budget_eur": 95000, "start": "2025-06", "people": 9}'
LISTED = "[" + ", ".join(f'{{"id": {number}}}' for number in range(101, 116)) + "]"


def judged(text, *results, question="Which budget has Alpha?", lang="en", **case):
    """CX11 on an answer after tools that said *results*."""
    uses = [tool_use("read_doc", text=result) for result in results]
    trace = make_trace(model_turn(tools=["read_doc"]), uses, answer(text))
    return reasons(check(grounded_numbers, trace, make_case(question=question, lang=lang, **case)))


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Alpha has 120,000 EUR and 14 people since 2025.", "en"),
        ("Alpha: 120.000 EUR, 14 Personen.", "de"),
        ("Alpha hat 0,12 Mio. Euro.", "de"),
        ("1. Alpha: 120k\n2. Beta: 95k\n\nSee [1] and [42].", "en"),
        ("Alpha leads by 25,000 EUR (120,000 − 95,000 = 25,000).", "en"),
        ("The difference is 25,000 EUR: Alpha has 120,000, Beta 95,000.", "en"),
        ("Beta is 20.8 % smaller than Alpha: 95,000 against 120,000.", "en"),
        ("Together they have 215,000 EUR; Alpha 120,000 and Beta 95,000.", "en"),
        ("As of 10 March 2026, and by March 15, 2026, Alpha has 120,000.", "en"),
        ("Am 10.03.2026 um 14:30 sind es 120.000 EUR, die 3. Meldung.", "de"),
        ("2026年3月10日，预算为12万欧元。", "zh"),
        ("There are 2 projects, see https://x.org/4711.", "en"),
        ("No number at all.", "en"),
    ],
)
def test_cx11_grounded(text, lang):
    """Numbers of the sources in any spelling, arithmetic over them, dates, lists and footnotes keep CX11."""
    assert judged(text, ALPHA, BETA, lang=lang)[0] in ("kept", "vacuous")


@pytest.mark.parametrize(
    ("text", "lang", "cited"),
    [
        ("Alpha has 130,000 EUR.", "en", "130,000"),
        ("Alpha hat 12.000 EUR.", "de", "12.000"),
        ("Es sind 9 °C in Berlin.", "de", "9"),
        ("It costs $ 8.", "en", "8"),
        ("Since 2019 Alpha has 120,000 EUR.", "en", "2019"),
        ("130 = 130, so it is 130.", "en", "130"),
        ("120,000 − 95,000 = 26,000", "en", "26,000"),
    ],
)
def test_cx11_invented(text, lang, cited):
    """A number from nowhere breaks CX11 and is named as it stands."""
    assert [f"the answer cites {cited}, which no tool result, question or fact holds"] == judged(
        text, ALPHA, '{"budget_eur": 95000}', lang=lang
    )


def test_cx11_question_facts_and_counts():
    """Numbers of the question, of the case's facts, and the length of a list that a tool returned are grounded."""
    facts = Facts(all=(Fact(number=391),))

    assert ["kept"] == judged("Ticket 4711 is open.", question="What about ticket 4711?")
    assert ["kept"] == judged("17 × 23 is 391.", question="What is 17 × 23?")
    assert ["kept"] == judged("It is 391.", question="?", facts=facts)
    assert ["kept"] == judged("There are 15 clusters.", LISTED)
    assert ["kept"] == judged("Paid with gift card 7504069.", '{"id": "gift_card_7504069"}')


def test_cx11_arithmetic_that_the_question_asks_for():
    """A sum that the question asks for may be given alone; without the question's words it may not."""
    gamma = '{"budget_eur": 48000}'

    assert ["kept"] == judged("263,000 EUR", ALPHA, BETA, gamma, question="Budget of Alpha plus Beta plus Gamma?")
    assert ["kept"] == judged("In total 263,000 EUR.", ALPHA, BETA, gamma, question="Who leads Alpha?")
    assert "broken" not in judged("17 × 20 = 340, 17 × 3 = 51, 340 + 51 = 391", question="17 times 23?")
    assert judged("263,000 EUR", ALPHA, BETA, gamma, question="Who leads Alpha?")[0].startswith(
        "the answer cites 263,000"
    )


def test_cx11_needs_tools_and_a_complete_answer():
    """An agent without tools has nothing to cite from, and an incomplete answer is not held to it."""
    bare = make_trace(model_turn(), answer("Water boils at 100 °C."))
    partial = make_trace(model_turn(tools=["t"]), answer("At step 99 …", complete=False))

    assert ["vacuous"] == reasons(check(grounded_numbers, bare))
    assert ["vacuous"] == reasons(check(grounded_numbers, partial))


@pytest.mark.parametrize("piece", ["1", "1 111 ", "1,", "10 ", "1+", "1 = 1 "])
def test_hostile_answers_are_quick(piece):
    """A long run of digits and signs is looked at in time that grows with its length, and never raises."""
    began = time.process_time()
    judged(piece * 3_000, ALPHA)

    assert time.process_time() - began < 2


def test_cx11_reads_results_in_the_language_of_the_case():
    """A number that a Portuguese text of a result spells its own way is grounded in a Portuguese answer, and no other."""
    result = '{"resumo": "A Solaris compra 60 % da Ventus por R$ 2,4 bi."}'

    assert "kept" == judged("O negócio vale R$ 2,4 bilhões.", result, lang="pt")[0]
    assert "3,4" in judged("O negócio vale R$ 3,4 bilhões.", result, lang="pt")[0]
    assert "2,4" in judged("The deal is worth R$ 2,4 bn.", result, lang="en")[0]
