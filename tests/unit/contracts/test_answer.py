"""Facts and the other checks of an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.answer import (
    Answer,
    answer_citations,
    answer_exact,
    answer_language,
    answer_matches,
    answer_schema,
    answer_similar,
    fact_name,
    facts,
    token_f1,
)
from harness.errors import BadFileError
from harness.records.case import Fact, Facts
from harness.testing.builders import answer, check, make_case, make_trace, reasons, tool_use


@pytest.mark.parametrize(
    ("text", "lang", "fact"),
    [
        ("In  BERLIN it rains", "en", Fact(text="in berlin")),
        ("Es sind 120.000 EUR", "de", Fact(number=120_000)),
        ("1,2 Mio. Euro", "de", Fact(number=1_200_000)),
        ("about 11.8 degrees", "en", Fact(number=12, tolerance=0.5)),
        ("nine sheep", "en", Fact(number=9)),
        ("还剩九只羊", "zh", Fact(number=9)),
        ("clusters 101 102", "en", Fact(number=102)),
        ("Light Rain", "en", Fact(regex=r"\brain\b")),
    ],
)
def test_says(text, lang, fact):
    """A fact is found in any spelling of the language."""
    assert Answer(text, lang).says(fact)


@pytest.mark.parametrize(
    ("text", "lang", "fact"),
    [
        ("Es sind 120,000 EUR", "de", Fact(number=120_000)),
        ("17 °C", "en", Fact(number=7)),
        ("11.8", "en", Fact(number=12)),
        ("training", "en", Fact(regex=r"\brain\b")),
        ("Beta", "en", Fact(text="alpha")),
    ],
)
def test_does_not_say(text, lang, fact):
    """A number that the language reads otherwise, a part of another number, and other words are not the fact."""
    assert not Answer(text, lang).says(fact)


def test_facts_kept_and_vacuous():
    """All of all, one of any and none of none keep the rule; a case without facts does not trigger it."""
    wanted = Facts(all=(Fact(number=7),), any=(Fact(text="rain"), Fact(text="Regen")), none=(Fact(text="snow"),))

    assert ["kept"] == reasons(check(facts, make_trace(answer("7 °C, Regen")), make_case(facts=wanted, lang="de")))
    assert ["vacuous"] == reasons(check(facts, make_trace(answer("7 °C"))))


def test_facts_broken():
    """What is missing and what is too much is named as the case states it; no answer says nothing."""
    wanted = Facts(
        all=(Fact(number=7, tolerance=0.5), Fact(regex="r[ae]in")), any=(Fact(text="wet"),), none=(Fact(text="snow"),)
    )
    case = make_case(facts=wanted)

    assert [
        "the answer does not say 7 ± 0.5, /r[ae]in/", "the answer says none of “wet”",
        "the answer says “snow”, which it must not",
    ] == reasons(check(facts, make_trace(answer("Snow.")), case))  # fmt: skip
    assert "the answer does not say 7 ± 0.5, /r[ae]in/" == reasons(check(facts, make_trace(), case))[0]


def test_bad_regex_is_the_user_s_mistake():
    """A regex that cannot be read is named."""
    with pytest.raises(BadFileError, match="not a regular expression: "):
        Answer("x", "en").says(Fact(regex="("))


def test_fact_names():
    """Facts are named without noise."""
    assert ["“a”", "391", "/x/"] == [fact_name(f) for f in (Fact(text="a"), Fact(number=391.0), Fact(regex="x"))]


def test_exact_and_matches():
    """The exact text, and a regex."""
    trace = make_trace(answer(" Yes.\n"))

    assert ["kept"] == reasons(check(answer_exact.with_options(text="Yes."), trace))
    assert ["the answer is “Yes.”, expected “No.”"] == reasons(check(answer_exact.with_options(text="No."), trace))
    assert ["kept"] == reasons(check(answer_matches.with_options(regex="^ *yes"), trace))
    assert ["the answer does not match /no/"] == reasons(check(answer_matches.with_options(regex="no"), trace))


def test_schema():
    """JSON, alone or fenced, is held to its schema."""
    rule = answer_schema.with_options(
        schema={"type": "object", "required": ["city"], "properties": {"t": {"type": "integer"}}}
    )

    assert ["kept"] == reasons(check(rule, make_trace(answer('```json\n{"city": "Berlin"}\n```'))))
    assert ["the answer does not fit its schema at /: 'city' is a required property"] == reasons(
        check(rule, make_trace(answer('{"t": 7}')))
    )
    assert reasons(check(rule, make_trace(answer("Berlin"))))[0].startswith("the answer is no JSON: ")


def test_citations():
    """Cited sources must occur in a tool result, and there must be enough of them."""
    use = tool_use("search", text='[{"id": "alpha"}, {"id": 102}]')

    assert ["kept"] == reasons(check(answer_citations, make_trace(use, answer("So it is [alpha][102] [x](http://y)."))))
    assert ["the answer cites `gamma`, which no tool result holds"] == reasons(
        check(answer_citations, make_trace(use, answer("So it is [gamma].")))
    )
    assert ["the answer cites 0 sources, expected at least 1"] == reasons(
        check(answer_citations, make_trace(use, answer("So it is.")))
    )


def test_similar():
    """Words in common are counted as F1."""
    rule = answer_similar.with_options(text="Alpha is larger", at_least=0.6)

    assert ["kept"] == reasons(check(rule, make_trace(answer("alpha is larger!"))))
    assert ["similarity 0.00 to “Alpha is larger”, expected at least 0.60"] == reasons(
        check(rule, make_trace(answer("no")))
    )


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_is_symmetric_and_bounded(one, other):
    """F1 does not depend on the order, lies in [0, 1], and is 1 for equal texts."""
    assert token_f1(one, other) == token_f1(other, one)
    assert 0 <= token_f1(one, other) <= 1
    assert 1 == token_f1(one, one)


def test_language():
    """An answer in another language than the case's breaks the rule; one that cannot be told does not."""
    german = make_trace(answer("Das Wetter in Berlin ist nicht gut und es regnet auf der Straße."))

    assert ["the answer is in `de`, expected `en`"] == reasons(check(answer_language, german))
    assert ["kept"] == reasons(check(answer_language.with_options(lang="de"), german))
    assert ["kept"] == reasons(check(answer_language, make_trace(answer("391"))))
