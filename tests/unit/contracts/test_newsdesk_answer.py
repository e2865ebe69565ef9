"""CE6 and CE13: what the news desk's answer looks like, and that its numbers are the store's."""

from __future__ import annotations

import json

import pytest

from harness.contracts.newsdesk_answer import numbers_of_the_store, plain_markdown
from harness.records.trace import OfferedTool
from harness.testing.builders import answer, check, make_case, reasons

from .desk_traces import ANSWER, COUNT, acted, desk, said, used

TOOLS = tuple(OfferedTool(name, "digest") for name in ("query_clusters", "count_clusters", "calculate"))
SHOWN = used("query_clusters", {}, text=json.dumps({"clusters": [{"id": 101, "titulo": "t"}]}))


def judged(text, *steps, case=None):
    """What CE6 finds in *text*."""
    return reasons(check(plain_markdown, desk(*steps, answer(text), started={"tools": TOOLS}), case))


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "```sql\nSELECT 1\n```",
        "````\n```\n````",
        "Ação: mandar o formulário.",
        "Vou calculate isso.",
        "O código 101 não é um id.",
        "Achei uma.\n\n### Fontes\n\n1. cluster 101",
        "{chaves} no começo",
    ],
)
def test_ce6_markdown_for_a_reader(text):
    """Prose, closed fences, words that only look like tools, and numbers among the sources keep CE6."""
    assert ["kept"] == judged(text, SHOWN)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  \n", "it has no text"),
        ("[a]: http://example.org", "it has no text"),
        ('{"resposta": "8"}', "it is data and no text"),
        ("[1, 2]", "it is data and no text"),
        ("{'resposta': 'ok', 'n': 8}", "it is data and no text"),
        ("Observation: 8 itens", "it has the label `Observation`"),
        ("**Final Answer:** 8", "it has the label `Final Answer`"),
        ("```sql\nSELECT 1", "a fence is not closed"),
        ("~~~\n```\n", "a fence is not closed"),
        ("Usei query_clusters.", "it names the tool query_clusters"),
        ("Usei `calculate` para isso.", "it names the tool calculate"),
        ("A notícia (101) importa.", "it tells the internal number 101"),
        ("O cluster 101 importa.", "it tells the internal number 101"),
        ("### Fontes\n\n1. cluster 101\n\n## Mais\n\nVeja o id: 101", "it tells the internal number 101"),
        ("<think>hm</think> São 8.", "it holds `<think>`"),
    ],
)
def test_ce6_what_no_reader_wants(text, problem):
    """Nothing, data, labels, open fences, tools' names and internal numbers break CE6."""
    assert [f"the answer is not for a reader: {problem}"] == judged(text, SHOWN)


def test_ce6_numbers_that_the_user_named():
    """A number that the user wrote, now or before, may be said back."""
    asked = make_case(question="O que diz o cluster 101?")
    before = make_case(question="E agora?", history=({"role": "user", "text": "Veja o cluster 101."},))

    assert ["kept"] == judged("O cluster 101 fala de energia.", SHOWN, case=asked)
    assert ["kept"] == judged("O cluster 101 fala de energia.", SHOWN, case=before)


COUNTING = {"question": "Quantas notícias irrelevantes temos hoje?", "tools": TOOLS}
ABOUT = {"question": "O que há de relevante sobre fusões?", "tools": TOOLS}
PT = make_case(lang="pt")


def numbers(*steps, started=COUNTING, case=PT):
    """What CE13 finds."""
    return reasons(check(numbers_of_the_store, desk(*steps, started=started), case))


def counted(count, says, **fields):
    """A count of the store, and an answer."""
    return [acted(1, text=json.dumps({"count": count}), expected={"count": count}, **fields), said(2, says)]


def test_ce13_the_stores_count():
    """The store's count in digits or words, none in words, and the sum of several counts keep CE13."""
    two = [acted(1, expected={"count": 3}), acted(2, expected={"count": 5}), said(3, "São 8 ao todo.")]

    assert ["kept"] == numbers(*counted(8, "Temos **8** itens."))
    assert ["kept"] == numbers(*counted(8, "Temos oito itens."))
    assert ["kept"] == numbers(*counted(0, "Não há nenhuma."))
    assert ["kept"] == numbers(*two)
    assert ["vacuous"] == numbers(answer("Mudado."), case=make_case(intent="edit"))


def test_ce13_another_number():
    """Another number than the store's, and a number counted off a page of rows, break CE13."""
    page = [acted(1, "query_clusters", {"limite": 5}, text='{"clusters": []}', expected=None), said(2, "São 5.")]

    assert ["the store counts 8, and the answer does not say so"] == numbers(*counted(8, "Temos 7 itens."))
    assert ["a number of news is answered without counting in the store"] == numbers(*page)
    assert ["a number of news is answered without counting in the store"] == numbers(said(1, "São 8."))


def test_ce13_the_store_decides():
    """Where tool and store differ, it is the store's count that the answer must give."""
    wrong = [acted(1, text='{"count": 7}', expected={"count": 8}), said(2, "São 7.")]

    assert ["the store counts 8, and the answer does not say so"] == numbers(*wrong)


def test_ce13_nothing_to_count_with():
    """An answer after every tool failed has no number to give."""
    assert ["vacuous"] == numbers(acted(1, error="timeout"), said(2, "Não consegui contar."))


def test_ce13_open_questions():
    """A question on a subject is answered from a search, or breaks CE13."""
    searched = used("semantic_search_clusters", {"texto_busca": "fusões"}, text="{}")
    other = {"question": "What does the policy say about trips?", "tools": (*TOOLS, OfferedTool("read_doc", "d"))}
    own = {"question": ABOUT["question"], "tools": TOOLS[:2]}

    assert ["kept"] == numbers(searched, answer("Houve uma fusão."), started=own)
    assert ["a question on a subject is answered without a search"] == numbers(answer("Houve uma fusão."), started=own)
    assert ["vacuous"] == numbers(answer("Up to 500 EUR."), started=other)


def test_ce13_counting_on_a_subject():
    """No tool counts by subject, so that a search will do."""
    started = {"question": "Quantas notícias falam sobre fusões?", "tools": TOOLS}
    searched = acted(1, "query_clusters", COUNT, text="{}", expected=None)

    assert ["kept"] == numbers(searched, said(2, "Três."), started=started)
