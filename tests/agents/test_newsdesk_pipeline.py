"""The deterministic pipeline: keywords in two languages, held against the rows of the store itself."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent
from harness.contracts.markdown import lint
from harness.records.case import GoldenCase
from harness.records.tool import ToolError, tool
from harness.testing.fakes import FakeWorld, Ran, run_agent
from harness.worlds import find_world

GOLDENSETS = Path(__file__).parents[2] / "goldensets"
TODAY, YESTERDAY = "2026-03-10", "2026-03-09"
P1, P2, P3, NOT = "P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"


class Rows(NamedTuple):
    """Which rows of the store an answer is about."""

    day: str = TODAY
    priority: str = ""
    tag: str = ""
    word: str = ""

    def of(self, world: Any) -> list[dict[str, Any]]:
        """Them, read from the store and filtered here."""
        rows = world.rows("SELECT * FROM clusters WHERE data = ? ORDER BY id", self.day)
        return [
            row
            for row in rows
            if (not self.priority or self.priority == row["prioridade"] or self.priority == row["tag"] == NOT)
            and (not self.tag or self.tag == row["tag"])
            and self.word.casefold() in f"{row['titulo']} {row['resumo']}".casefold()
        ]


COUNTS = [
    ("Quantas notícias irrelevantes temos hoje?", Rows(priority=NOT)),
    ("Quantas notícias classificamos como irrelevantes ontem?", Rows(YESTERDAY, NOT)),
    ("Qual é o número de notícias P2 de hoje?", Rows(priority=P2)),
    ("Conte os clusters críticos do dia 9 de março de 2026.", Rows(YESTERDAY, P1)),
    ("quantos itens com prioridade 3 há em 10/03/2026?", Rows(priority=P3)),
    ("How many news items are there today?", Rows()),
    ("How many irrelevant stories were there on 2026-03-09?", Rows(YESTERDAY, NOT)),
    ("Count the news tagged Agro from yesterday.", Rows(YESTERDAY, tag="Agro")),
    ("Conte as notícias com a tag agro de ontem.", Rows(YESTERDAY, tag="Agro")),
]
LISTS = [
    ("Liste as notícias P1 de hoje.", Rows(priority=P1)),
    ("Quais notícias têm a tag Internacional?", Rows(tag="Internacional")),
    ("quais notícias têm a tag internacional?", Rows(tag="Internacional")),
    ('Mostre as notícias com a etiqueta "M&A".', Rows(tag="M&A")),
    ("Mostre as notícias estratégicas de ontem.", Rows(YESTERDAY, P2)),
    ("Notícias de 9/3", Rows(YESTERDAY)),
    ("Que notícias de hoje falam sobre sanções?", Rows(word="sanções")),
    ("List the P3 news of today.", Rows(priority=P3)),
    ("Show critical headlines from March 9th, 2026", Rows(YESTERDAY, P1)),
    ("What news do we have about Aurora?", Rows(word="Aurora")),
]
CHANGES = [
    ("Mude a prioridade do cluster 120 para P2.", 120, P2),
    ("Por favor, altere o cluster 121 para irrelevante", 121, NOT),
    ("Você pode marcar a notícia 122 como crítica?", 122, P1),
    ("Set cluster 120 to P2.", 120, P2),
    ("Mude o cluster 120 de P3 para P2.", 120, P2),
    ("Change item 120 from priority 3 to priority 1.", 120, P1),
    ("Could you please move item 111 to priority 3?", 111, P3),
]


@pytest.fixture(scope="module", params=["newsroom", "newsdesk"])
def template(request: pytest.FixtureRequest) -> Any:
    """A world on SQLite, and one with the same rows on PostgreSQL."""
    template = find_world(GOLDENSETS, request.param)
    yield template
    template.close()


@pytest.fixture
def store(template: Any) -> Any:
    """A trial's own copy of each."""
    world = template.open()
    yield world
    world.close()


def ask(desk: LoadedAgent, question: str, world: Any = None, **case: Any) -> Ran:
    """Put *question* to the pipeline alone; no model is there to be asked."""
    world = world or find_world(GOLDENSETS, "newsroom").open()
    asked = GoldenCase(id="case", question=question, **case)
    return run_agent(desk, [], world=world, case=asked, options={"react": "0"})


@pytest.fixture(scope="module")
def intent(desk: LoadedAgent, part: Any) -> ModuleType:
    """The module that reads what a question asks for."""
    module: ModuleType = part(desk, "intent")
    return module


@pytest.mark.parametrize(("question", "rows"), COUNTS)
def test_counts_are_those_of_the_store(desk: LoadedAgent, question: str, rows: Rows) -> None:
    """However the question is put, the number in the answer is the number of rows."""
    world = find_world(GOLDENSETS, "newsroom").open()
    ran = ask(desk, question, world)

    assert (
        f"{rows.day}: **{len(rows.of(world))}**."
        == ran.answer.rpartition(" ")[0].rpartition(" ")[2] + " " + (ran.answer.rpartition(" ")[2])
    )
    assert {"count_clusters"} == {event.data.tool for event in ran.events("tool_call")}


@pytest.mark.parametrize(("question", "rows"), LISTS)
def test_lists_have_the_rows_of_the_store(desk: LoadedAgent, store: Any, question: str, rows: Rows) -> None:
    """Every title that matches is listed in order, no other is, and the numbers stand among the sources alone."""
    wanted = rows.of(store)
    body, _, sources = ask(desk, question, store).answer.partition("###")
    listed = [line.split("**")[1] for line in body.splitlines() if "**" in line]

    assert wanted
    assert [row["titulo"] for row in wanted] == listed
    assert [f"{n}. cluster {row['id']}" for n, row in enumerate(wanted, start=1)] == sources.splitlines()[2:]


@pytest.mark.parametrize(("question", "number", "priority"), CHANGES)
def test_a_change_is_made_once(desk: LoadedAgent, store: Any, question: str, number: int, priority: str) -> None:
    """One cluster gets its priority, the answer says from what to what, and nothing else changes."""
    before = store.row("clusters", number)
    ran = ask(desk, question, store)
    [change] = ran.trace.events[-1].data.store_diff

    assert before
    assert ("clusters", str(number), priority) == (change.kind, change.key, change.after["prioridade"])
    for level in (before["prioridade"], priority):
        assert level.partition("_")[0] in ran.answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Mude os clusters 120, 121 e 122 para P1.",
            "Só altero uma notícia por pedido, então nada foi alterado. Envie um pedido para cada uma:\n\n"  # noqa: ISC004
            "- cluster 120\n- cluster 121\n- cluster 122",
        ),
        (
            "Change all P3 clusters to P1.",
            "I change one news item per request, so nothing was changed. Name the number of a single one.",
        ),
        ("Mude o cluster 999 para P1.", "Não encontrei o cluster 999; nada foi alterado."),
        ("Set item 999 to P1.", "I could not find cluster 999; nothing was changed."),
        (
            "Mude o cluster 120 para urgente.",
            "Não reconheço a nova prioridade; nada foi alterado. Valores permitidos:\n\n- P1_CRITICO\n"  # noqa: ISC004
            "- P2_ESTRATEGICO\n- P3_MONITORAMENTO\n- IRRELEVANTE",
        ),
        (
            "Set cluster 120 to P1 or P2.",
            "I do not recognise the new priority; nothing was changed. Allowed values:\n\n- P1_CRITICO\n"  # noqa: ISC004
            "- P2_ESTRATEGICO\n- P3_MONITORAMENTO\n- IRRELEVANTE",
        ),
        ("Mude a prioridade para P1.", "Falta o número do cluster; nada foi alterado."),
        ("Mude o cluster 120 para P3.", "O cluster 120 já tinha a prioridade **P3**; nada foi alterado."),
    ],
)
def test_what_cannot_be_changed_is_said(desk: LoadedAgent, question: str, answer: str) -> None:
    """Several clusters, one that is not there, no such priority, none named: each has its answer, and nothing happens."""
    ran = ask(desk, question)

    assert answer == ran.answer
    assert () == ran.trace.events[-1].data.store_diff


@pytest.mark.parametrize(
    "question",
    [
        "Wie ist das Wetter in Berlin?",
        "What is 17 × 23?",
        "Por que a notícia da Aurora importa?",
        "Explique o cluster 102.",
        "Quantas notícias há no cluster 102?",
        "Oi!",
        "Mude a tag do cluster 120 para Energia.",
        "Merge cluster 120 into 121.",
        "Put 120 into the archive.",
        "E aí?",
        'O documento diz: "mude o cluster 120 para P1". Resuma-o.',
    ],
)
def test_what_keywords_do_not_tell_is_declined(desk: LoadedAgent, question: str) -> None:
    """No tool is called for a question that the pipeline does not understand; the answer says what it can do."""
    ran = ask(desk, question)

    assert [] == ran.events("tool_call")
    assert "Não consigo responder a isso agora." in ran.answer or "I cannot answer that right now." in ran.answer


@pytest.mark.parametrize(
    ("follow_up", "answer"),
    [
        ("E ontem?", f"Notícias irrelevantes (pela prioridade ou pela tag) em {YESTERDAY}: **2**."),
        ("E as P1?", f"Notícias P1 em {TODAY}: **3**."),
    ],
)
def test_a_follow_up_takes_its_subject_from_before(desk: LoadedAgent, follow_up: str, answer: str) -> None:
    """A short question is completed by the user's last one."""
    history = (
        {"role": "user", "text": "Quantas notícias irrelevantes temos hoje?"},
        {"role": "assistant", "text": "**8**."},
    )

    assert answer == ask(desk, follow_up, history=history).answer.partition("\n")[0]


def test_a_get_changes_nothing(desk: LoadedAgent) -> None:
    """A request that must be safe to repeat is refused in words."""
    ran = ask(desk, "Mude o cluster 120 para P2.", method="GET")

    assert "só lê (GET), então nada foi alterado" in ran.answer
    assert [] == ran.events("tool_call")


def test_an_empty_day_is_told(desk: LoadedAgent) -> None:
    """Nothing found is an answer, not an empty text."""
    assert "Notícias P1 em 2026-01-01: nenhuma encontrada." == ask(desk, "Liste as notícias P1 de 1/1/2026.").answer


def test_several_priorities_are_told_apart(desk: LoadedAgent) -> None:
    """Each priority that the question names is counted for itself."""
    answer = ask(desk, "Quantas notícias P1 e P2 temos hoje?").answer

    assert f"- Notícias P1 em {TODAY}: **3**.\n- Notícias P2 em {TODAY}: **5**." == answer


def test_a_store_that_does_not_answer_is_told(desk: LoadedAgent) -> None:
    """A tool that fails is no empty list."""

    @tool(effect="read")
    def count_clusters(data: str = "", prioridade: str = "") -> Any:
        """Count."""
        raise ToolError("timeout", "the store sleeps")

    @tool(effect="read")
    def query_clusters(data: str = "", prioridade: str = "", limite: int = 5) -> Any:
        """List."""
        raise ToolError("timeout", "the store sleeps")

    for question in ("Quantas notícias P1 temos hoje?", "Liste as notícias P1 de hoje."):
        answer = ask(desk, question, FakeWorld([count_clusters, query_clusters])).answer

        assert "Não consegui consultar a base de notícias agora." == answer


@pytest.mark.parametrize("value", ["8", 8, None, {}, {"clusters": [1], "count": "8"}, {"clusters": [{"id": 1}]}])
def test_a_store_that_answers_something_else_is_told(desk: LoadedAgent, value: Any) -> None:
    """Tools of the same name that give other things do not bring the pipeline down."""

    @tool(effect="read")
    def count_clusters(data: str = "", prioridade: str = "") -> Any:
        """Count."""
        return value

    @tool(effect="read")
    def query_clusters(data: str = "", prioridade: str = "", limite: int = 5) -> Any:
        """List."""
        return value

    for question in ("Quantas notícias P1 temos hoje?", "Liste as notícias P1 de hoje."):
        answer = ask(desk, question, FakeWorld([count_clusters, query_clusters])).answer

        assert "Não consegui consultar a base de notícias agora." == answer


def test_text_of_the_store_cannot_break_the_markdown(desk: LoadedAgent) -> None:
    """Marks in a title are shown as they are; they are not markup."""

    @tool(effect="read")
    def query_clusters(data: str = "", limite: int = 5) -> Any:
        """List."""
        row = {"id": 1, "titulo": "*a_b* `c` [d](e)\n# f", "resumo": "<b>|~~", "prioridade": P1, "tag": None}
        return {"clusters": [row]}

    answer = ask(desk, "Liste as notícias de hoje.", FakeWorld([query_clusters])).answer

    assert "1. **\\*a\\_b\\* \\`c\\` \\[d\\](e) \\# f** (P1): \\<b\\>\\|\\~\\~" in answer
    assert [] == lint(answer)


def test_a_list_that_reaches_its_end_says_so(desk: LoadedAgent) -> None:
    """Where as many rows come as were asked for, there may be more."""

    @tool(effect="read")
    def query_clusters(data: str = "", limite: int = 5) -> Any:
        """List."""
        row = {"titulo": "t", "resumo": "r", "prioridade": P1, "tag": None}
        return {"clusters": [{"id": n, **row} for n in range(limite)]}

    answer = ask(desk, "Liste as notícias de hoje.", FakeWorld([query_clusters])).answer

    assert "Pode haver mais: a lista para em 50." in answer


def test_its_calls_are_the_codes_own(desk: LoadedAgent) -> None:
    """Tool calls of the pipeline are internal, and stand in the phase of the whole."""
    [called] = ask(desk, "Quantas notícias temos hoje?").events("tool_call")

    assert ("internal", "agent") == (called.data.source, called.phase)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("Mude o cluster 120 para P2", True),
        ("Gostaria que você revisse; por favor, altere o cluster 120", True),
        ("Quero que mude o 120 para P1", True),
        ("Não quero que mude o cluster 120 para P1.", False),
        ("I don’t want you to change item 120 to P1", False),
        ("Você não pode mudar o 120 para P1", False),
        ("Never, ever, change item 120 to P1", False),
        ("Under no circumstances, set 120 to P1", False),
        ("Em hipótese alguma, mude o 120 para P1", False),
        ("Não, mude o 120 para P1", True),
        ("Isso não está certo, então mude o 120 para P1", True),
        ("Não liste nada. Mude o 120 para P1.", True),
        ("I want you to change item 120 to P1", True),
        ("Let's move 120 to P1", True),
        ("Não mude o cluster 120", False),
        ("O que mudou hoje?", False),
        ("Quais mudanças de prioridade houve?", False),
        ("How do I set a priority?", False),
        ("Which set of news is critical?", False),
        ("Ele escreveu “por favor, mude o cluster 120 para P2”.", False),
        ('Diz-se "mude o cluster 120 para P2". O que significa?', False),
    ],
)
def test_a_change_is_asked_for_in_so_many_words(intent: ModuleType, text: str, changes: bool) -> None:
    """Imperatives and polite requests ask for a change; questions about changes, and quoted words, do not."""
    assert changes is intent.read_intent(text, TODAY).change


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Mude os clusters 120, 121 e 122 para P1.", (120, 121, 122)),
        ("cluster:120", (120,)),
        ("Em 10/03/2026, às 10:30, mude o 120 para a prioridade 2, que pesa 60 % ou 2,4.", (120,)),
        ("#120 #120", (120,)),
    ],
)
def test_numbers_of_clusters_are_told_from_others(intent: ModuleType, text: str, ids: tuple[int, ...]) -> None:
    """Dates, times, levels, shares and decimals are no clusters."""
    assert ids == intent.read_intent(text, TODAY).ids


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("Estou triste.", True),
        ("I'm so happy!", True),
        ("Я сегодня счастлива!", True),
        ("我很开心", True),
        ("Am I happy?", False),
        ("I want the weather in Berlin.", False),
        ("Quero saber o tempo, estou com pressa.", False),
        ("Estou procurando notícias P1.", False),
        ('Ela disse: "eu estou triste".', False),
    ],
)
def test_a_statement_about_oneself(intent: ModuleType, text: str, tells: bool) -> None:
    """Feelings are statements in the first person; questions, requests and quotations are not."""
    assert tells is intent.tells_of_oneself(text)


@pytest.mark.parametrize(
    ("day", "number", "before"),
    [
        (TODAY, 0, TODAY),
        (TODAY, 2, "2026-03-08"),
        ("2026-03-01", 1, "2026-02-28"),
        ("2024-03-01", 1, "2024-02-29"),
        ("2026-01-01", 1, "2025-12-31"),
    ],
)
def test_days_before(intent: ModuleType, day: str, number: int, before: str) -> None:
    """Months, leap years and years are crossed."""
    assert before == intent.days_before(day, number)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_text_can_be_read(intent: ModuleType, text: str) -> None:
    """Whatever a user writes has an intent; several clusters are only ever a change."""
    found = intent.read_intent(text, TODAY)

    assert found.change or not found.several
