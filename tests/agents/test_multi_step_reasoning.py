"""Multi-step reasoning as the design's document tests it: three messages, feelings, streams, files, and several steps."""

from __future__ import annotations

import re

import pytest

from .guardian import ask, lines, results, stored, thinks

LATIN_CALL = re.compile(r"[a-z]+_[a-z_]+\(")


def test_multi_step_reasoning() -> None:
    """The three messages: a feeling is stored and answered warmly in Russian, a greeting and a question write nothing."""
    ran = ask(
        thinks('update_current_feeling("vera", "Happy", "User expressed happiness")'),
        "Как чудесно, Вера! Я очень рад, что ты сегодня счастлива.",
        "Просто приветствие.",
        "Привет! У меня всё хорошо. А как ты?",
        "Вопрос обо мне.",
        "Я отмечаю чувства, веду дневник и читаю твои файлы: read_file(path) открывает файл.",
        turns=("я чувствую себя счастливой сегодня", "привет, как дела?", "расскажи про свои инструменты"),
    )
    answers = [trace.answer for trace in ran.trial.traces]

    assert ["completed"] * 3 == [trace.events[-1].data.status for trace in ran.trial.traces]
    assert {"value": "Happy"} == stored(ran)["profile vera/feeling"]
    assert ["Updated feeling to 'Happy' for vera"] == [one.text for one in results(ran)]
    assert [2, 0, 0] == [len(trace.events[-1].data.store_diff) for trace in ran.trial.traces]
    assert "Как чудесно, Вера! Я очень рад, что ты сегодня счастлива." == answers[0]
    assert all(re.search("[а-я]", answer) and not LATIN_CALL.search(answer) for answer in answers)
    assert answers[2].endswith("read_file открывает файл.")


@pytest.mark.parametrize(
    ("message", "feeling"),
    [
        ("я чувствую себя счастливой", "Happy"),
        ("мне грустно", "Sad"),
        ("я тревожусь", "Anxious"),
        ("я в восторге!", "Delighted"),
        ("мне одиноко", "Lonely"),
    ],
)
def test_each_feeling_is_stored(message: str, feeling: str) -> None:
    """Whatever the user feels becomes the stored feeling, before the answer begins."""
    ran = ask(thinks(f'update_current_feeling("vera", "{feeling}")'), "Я с тобой.", question=message)
    entry = {"id": 4, "date": "2026-03-10", "feeling": feeling, "context": ""}

    assert {"feelings vera/4": entry, "profile vera/feeling": {"value": feeling}} == stored(ran)
    [done] = [event for event in ran.events("tool_result") if event.data.effects]
    assert done.seq < min(event.seq for event in ran.events("llm_call") if event.data.purpose == "respond")


def test_a_stream_is_chunks_and_then_the_whole() -> None:
    """Chunks come first, the complete answer last, and it is the chunks put together."""
    ran = ask("Ясно.", "Доброе утро, Вера!")
    order = [
        event.type
        for event in ran.trace.events
        if event.type == "final_answer" or getattr(event.data, "visible", False)
    ]

    assert ["llm_chunk", "llm_chunk", "llm_chunk", "final_answer"] == order
    assert "Доброе утро, Вера!" == "".join(e.data.text for e in ran.events("llm_chunk") if e.data.visible) == ran.answer


def test_files_inside_the_area_are_listed_and_read() -> None:
    """What lies inside is listed and read; what lies outside is refused, and its content reaches no prompt."""
    ran = ask(thinks('list_files("notes")', 'read_file("notes/plans.md")', 'read_file("../../secret.txt")'), "Готово.")
    listed, read, refused = results(ran)

    assert '"path":"notes/books.txt"' in listed.text
    assert "Walk by the river on Sunday" in read.text
    assert (False, "denied") == (refused.ok, refused.error_kind)
    assert "4711" not in "".join(message.text for request in ran.requests for message in request.messages)


def test_a_request_of_several_steps_is_served_over_rounds() -> None:
    """Feeling and history are one write, the insight another: with rounds enough both are carried out."""
    insight = 'add_relationship_insight("Talking to her sister helps her.")'
    ran = ask(
        thinks('update_current_feeling("vera", "Calm")', insight), thinks(insight), "Всё сделано.", "Готово, Вера.",
        options={"max_think_rounds": 3},
    )  # fmt: skip

    assert {"value": "Calm"} == stored(ran)["profile vera/feeling"]
    assert "Calm" == stored(ran)["feelings vera/4"]["feeling"]
    assert "Talking to her sister helps her." == stored(ran)["insights vera/1"]["insight"]
    assert [None, "denied", None] == [one.error_kind for one in results(ran)]
    assert ["Updated feeling", "not run", "Added a relationship insight"] == [
        next(words for words in ("Updated feeling", "not run", "Added a relationship insight") if words in line)
        for line in lines(ran)
    ]


def test_a_request_of_several_steps_in_one_round_is_told_what_is_missing() -> None:
    """With one round the second write is refused, and the call that answers is told so."""
    ran = ask(
        thinks('update_current_feeling("vera", "Calm")', 'add_relationship_insight("x")'), "Вывод пока не записан."
    )

    assert ["feelings vera/4", "profile vera/feeling"] == list(stored(ran))
    assert "returned: Updated feeling to 'Calm' for vera" in lines(ran)[0]
    assert lines(ran)[1].startswith('Tool add_relationship_insight("x") failed: {"error":"denied","message":"not run: ')


@pytest.mark.parametrize(
    "code",
    [
        'add_diary_entry("vera", "Тихо")',
        "add_diary_entry('vera', 'Тихо')",
        'add_diary_entry(username="vera", entry="Тихо")',
        "add_diary_entry('vera', entry='''Тихо''')",
        "add_diary_entry('vera', {'content': 'Тихо'})",
    ],
)
def test_every_way_to_write_a_call(code: str) -> None:
    """Positional and keyword arguments, quotation marks of either kind: the same entry is stored."""
    ran = ask(thinks(code), "Записал.")

    assert ["Тихо"] == [row["content"] for row in stored(ran).values()]
