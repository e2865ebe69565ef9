"""Parts of the news desk: observations that stay JSON, and answers that can be shown."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent


@pytest.fixture(scope="module")
def observations(desk: LoadedAgent, part: Any) -> ModuleType:
    """The module that cuts observations."""
    module: ModuleType = part(desk, "observations")
    return module


@pytest.fixture(scope="module")
def answers(desk: LoadedAgent, part: Any) -> ModuleType:
    """The module that holds answers to what can be shown."""
    module: ModuleType = part(desk, "answers")
    return module


def encoded(value: Any) -> str:
    """A tool's value as the text that would be sent."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


texts = st.text(max_size=8) | st.builds(lambda text, n: text * n, st.text(min_size=1, max_size=5), st.integers(1, 2000))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=60) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_an_observation_fits_and_stays_json(observations: ModuleType, value: Any) -> None:
    """What fits is untouched; what does not is a JSON object within the length, marked as cut."""
    text = encoded(value)
    cut = observations.cut_by_items(value, text)

    assert len(cut) <= observations.LONGEST
    if len(text) <= observations.LONGEST:
        assert text == cut
    else:
        assert json.loads(cut)["truncado"] is True


@given(st.integers(0, 200), st.integers(1, 400))
def test_a_list_keeps_as_many_whole_items_as_fit(observations: ModuleType, number: int, size: int) -> None:
    """The items shown are the first ones, unchanged, and one more would not fit."""
    rows = [{"id": n, "titulo": "x" * size} for n in range(number)]
    value = {"clusters": rows}
    text = encoded(value)
    cut = json.loads(observations.cut_by_items(value, text))
    kept = cut["clusters"]

    assert rows[: len(kept)] == kept
    if "truncado" in cut:
        one_more = {"clusters": rows[: len(kept) + 1], "truncado": True}
        assert len(encoded(one_more)) > observations.LONGEST


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a" * 5000, {"texto": "a" * 2900}),
        ([{"n": n, "t": "b" * 90} for n in range(50)], {"itens": [{"n": 0, "t": "b" * 90}]}),
        ({"texto": "c" * 5000, "artigos": [1, 2]}, {"artigos": [1, 2]}),
        ({"a": ["d" * 4000]}, {"a": ["d" * 800 + "…"]}),
        ({"e" * 4000: 1}, {}),
    ],
    ids=["text", "list", "long field", "one long item", "hopeless"],
)
def test_what_is_left_of_a_long_value(observations: ModuleType, value: Any, kept: dict[str, Any]) -> None:
    """Texts, lists, and objects with long fields keep their beginnings."""
    cut = json.loads(observations.cut_by_items(value, encoded(value)))

    assert cut.pop("truncado") is True
    assert kept.keys() == cut.keys() - ({"texto"} if "artigos" in kept else set())
    for name, part in kept.items():
        assert part[:1] == cut[name][:1]


@pytest.mark.parametrize(
    "text",
    [
        "Temos **8** notícias.",
        "Ação: envie o formulário.",
        '```json\n{"a": 1}\n```',
        "~~~\n```\n~~~",
        "````md\n```sql\nSELECT 1\n```\n````",
        "Foram 101 pessoas e 102 carros.",
        "Resumo.\n\n### Fontes\n\n1. Aurora (cluster 101)\n2. #102",
        "Summary.\n\n**Sources:**\n\n1. cluster 101",
        "Só calculate isto mentalmente.",
        "O cluster 7 não existe.",
        "[101 motivos](https://example.com)",
        "O cluster 120 agora é P2.",
    ],
)
def test_an_answer_for_a_reader(answers: ModuleType, text: str) -> None:
    """Numbers in prose, sources with numbers, fences in fences: nothing to object to."""
    assert "" == answers.problem_of(text, tools=["calculate", "query_clusters"], ids={101, 102, 120}, said="Mude o 120")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1}', "não JSON"),
        ('["a"]', "não JSON"),
        ("**Observation:** 8", "rótulo"),
        ("> Final Answer: 8", "rótulo"),
        ("```\nSELECT 1", "não está fechado"),
        ("````\nx\n```", "não está fechado"),
        ("```a\n```b", "não está fechado"),
        ("Usei query_clusters.", "ferramenta query_clusters"),
        ("Usei `calculate`.", "ferramenta calculate"),
        ("calculate(1)", "ferramenta calculate"),
        ("O cluster 101 importa.", "101"),
        ("Aurora (id: 101)", "101"),
        ("Aurora [102]", "102"),
        ("Aurora (101, 102)", "101"),
        ("Ver #101.", "101"),
        ("### Fontes\n\n1. cluster 101\n\n## Mais\n\nO cluster 102.", "102"),
    ],
)
def test_an_answer_that_cannot_be_shown(answers: ModuleType, text: str, reason: str) -> None:
    """JSON, labels of steps, open fences, tools, and internal numbers outside of the sources."""
    assert reason in answers.problem_of(text, tools=["calculate", "query_clusters"], ids={101, 102}, said="P1?")


def test_numbers_of_clusters_are_collected(answers: ModuleType) -> None:
    """Every `id` that a tool showed, at any depth; nothing else that is a number."""
    value = {"id": 1, "clusters": [{"id": 2, "n": 9}, {"x": {"id": 3}}], "id_text": {"id": "alpha"}}

    assert {1, 2, 3} == answers.ids_in(value)
    assert set() == answers.ids_in("8")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_answer_can_be_judged(answers: ModuleType, text: str) -> None:
    """Whatever a model answers, there is a verdict."""
    assert isinstance(answers.problem_of(text, tools=["t"], ids={1}, said=""), str)
