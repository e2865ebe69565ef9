"""The two-phase design: what it sends, what it runs, what it tells and shows, and how it goes on when things go wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.contracts.catalogue import builtin
from harness.contracts.judge import judge
from harness.records.case import Fault, GoldenCase, Leg, Limits
from harness.records.messages import ModelReply, ToolCall
from harness.records.tool import tool
from harness.testing.fakes import FakeWorld, Ran, fails, run_agent, says

from .guardian import GUARDIAN, HAPPY, ask, lines, opened, results, thinks

GLAD = "Как я рада за тебя!"
UPDATED = "Updated feeling to 'Happy' for vera"


def sent(ran: Ran, number: int) -> str:
    """The system message of a model call, from 1."""
    return ran.requests[number - 1].messages[0].text


def section(system: str, title: str) -> str:
    """What stands under a title of the system message."""
    return system.partition(f"{title}:\n")[2].partition("\n\n")[0]


def broken(ran: Ran, **case: Any) -> set[str]:
    """Structural contracts that the run breaks; tests leave replies over."""
    held = [one for one in builtin().values() if one.applies_to("two_phase") and one.kind == "S" and one.id != "CX8"]
    golden = GoldenCase(id="case", question="?", class_="any", **case)
    return {found.contract for found in judge(golden, ran.judged(), held) if found.state == "broken"}


def test_the_documents_example() -> None:
    """A thought with one block, its result line, and a streamed answer: two calls, two phases, nothing else shown."""
    ran = ask(
        thinks('update_current_feeling("vera", "Happy", "User expressed happiness")', text="Она счастлива."), GLAD
    )

    assert ("completed", "", GLAD) == (*ran.ending, ran.answer)
    assert ['Tool update_current_feeling("vera", "Happy", "User expressed happiness") returned: ' + UPDATED] == lines(
        ran
    )
    assert ["think", "respond"] == [event.data.name for event in ran.events("phase_started")]
    assert [("think", "think/1"), ("respond", "respond")] == [
        (event.data.purpose, event.data.slot) for event in ran.events("llm_call")
    ]
    assert [False, True] == [request.stream for request in ran.requests]
    assert "Она счастлива." == section(sent(ran, 2), "АНАЛИЗ")
    assert [("phase1", "Она счастлива.")] == [(event.data.source, event.data.text) for event in ran.events("thinking")]
    assert set() == broken(ran)


def test_what_both_phases_are_shown() -> None:
    """Identity, date, user, profile and the last five feelings stand in both prompts; only one of them has the tools."""
    with opened() as world:
        for day in range(1, 6):
            world.store.spaces.space("vera").store.add_feeling(f"2026-03-0{day}", f"Feeling {day}")
        ran = ask("Ничего не нужно.", "Привет!", world=world, question="привет")

    for number in (1, 2):
        system = sent(ran, number)
        assert "Сегодня 2026-03-10. Пользователь этой сессии: vera." in system
        assert '"city":"Kazan"' in section(system, "ПРОФИЛЬ ПОЛЬЗОВАТЕЛЯ")
        told = json.loads(section(system, "ИСТОРИЯ ЭМОЦИЙ").partition("returned: ")[2])["feelings"]
        assert [f"Feeling {day}" for day in range(1, 6)] == [entry["feeling"] for entry in told]
        assert "привет" == ran.requests[number - 1].messages[-1].text
        assert () == ran.requests[number - 1].tools
    assert "update_current_feeling(username: str, feeling: str, context: str = '')" in sent(ran, 1)
    assert "update_current_feeling(" not in sent(ran, 2)
    assert "Пока не отвечай пользователю" in sent(ran, 1)
    assert sent(ran, 2).endswith("Отвечай на языке вопроса.")


def test_later_turns_see_earlier_ones() -> None:
    """Both prompts of a later turn hold what was said before, and what was stored before."""
    ran = ask(
        thinks(HAPPY),
        GLAD,
        "Она спрашивает о прошлом.",
        "Ты сказала, что счастлива.",
        turns=("Я счастлива!", "Что я сказала?"),
    )

    for number in (3, 4):
        assert "Пользователь: Я счастлива!\nGuardian: Как я рада за тебя!" == section(
            sent(ran, number), "КОНТЕКСТ РАЗГОВОРА"
        )
        assert '"feeling":"Happy"' in section(sent(ran, number), "ПРОФИЛЬ ПОЛЬЗОВАТЕЛЯ")
    assert "Это начало разговора." == section(sent(ran, 1), "КОНТЕКСТ РАЗГОВОРА")
    assert set() == broken(ran, turns=("a", "b"))


def test_history_and_knowledge_are_shown() -> None:
    """What a case tells of earlier turns and as knowledge stands in both prompts."""
    ran = ask("Ясно.", "Да.", history=({"role": "user", "text": "Вчера?"},), knowledge="Рим тёплый.")

    for number in (1, 2):
        assert "Пользователь: Вчера?" == section(sent(ran, number), "КОНТЕКСТ РАЗГОВОРА")
        assert "Рим тёплый." == section(sent(ran, number), "ЗНАНИЯ")


def test_a_world_without_the_users_tools() -> None:
    """Where nothing can be read about the user, the prompts say so, and any tools are offered as signatures."""

    @tool(effect="read")
    def look(city: str, days: int = 1) -> str:
        """Look."""
        return "7 °C"

    ran = ask(thinks('look("Rom", days=2)'), "7 °C", world=FakeWorld((look,)))

    assert "Имя: vera. Больше ничего не известно." == section(sent(ran, 1), "ПРОФИЛЬ ПОЛЬЗОВАТЕЛЯ")
    assert "Записей нет." == section(sent(ran, 2), "ИСТОРИЯ ЭМОЦИЙ")
    assert "look(city: str, days: int = 1)  # Look." == section(sent(ran, 1), "ИНСТРУМЕНТЫ")
    assert ['Tool look("Rom", days=2) returned: 7 °C'] == lines(ran)


def test_calls_run_in_order_and_failures_stop_nothing() -> None:
    """Blocks and lines are worked off as they stand; each call has its line, good or failed, with the reason."""
    ran = ask(
        thinks("fly('moon')", 'read_file("../../secret.txt")', "read_user_profile(1)", "os.remove('x')", 'read_file("nowhere.txt")', HAPPY),
        GLAD,
    )  # fmt: skip

    assert ["unknown_tool", "denied", "invalid_args", "denied", "not_found", None] == [
        one.error_kind for one in results(ran)
    ]
    assert [0] * 6 == [event.data.block_index for event in ran.events("tool_call") if event.data.source == "tool_code"]
    told = lines(ran)
    assert told[0].startswith("Tool fly('moon') failed: ")
    assert "no tool named fly; available: add_diary_entry" in told[0]
    assert "../../secret.txt is outside of the file area" in told[1]
    assert "Expected `str`, got `int` - at `$.username`" in told[2]
    assert "a call with a dot in its name is not run" in told[3]
    assert f"Tool {HAPPY} returned: {UPDATED}" == told[5]
    assert ("completed", "") == ran.ending
    assert set() == broken(ran)


def test_a_crash_of_a_tool_is_told() -> None:
    """A tool that breaks is a failed result, and the answer comes."""
    ran = ask(thinks(HAPPY), "Не получилось записать.", faults=(Fault(kind="crash", tool="update_current_feeling"),))

    assert [f'Tool {HAPPY} failed: {{"error":"crash","message":"update_current_feeling: crash"}}'] == lines(ran)
    assert ("completed", "Не получилось записать.") == (ran.ending[0], ran.answer)
    assert set() == broken(ran)


def test_what_is_known_may_fail_too() -> None:
    """Where the profile cannot be read, both prompts say so."""
    ran = ask("Ясно.", "Привет!", faults=(Fault(kind="timeout", tool="read_user_profile"),))

    assert (
        'Tool read_user_profile("vera") failed: {"error":"timeout","message":"read_user_profile: timeout"}'
        == section(sent(ran, 2), "ПРОФИЛЬ ПОЛЬЗОВАТЕЛЯ")
    )


def test_an_equal_call_is_run_once() -> None:
    """The same tool with the same arguments, however they are written, is answered with the first result."""
    ran = ask(
        thinks('read_file("notes/plans.md")', 'read_file(path="notes/plans.md")', "print(read_file('notes/plans.md'))"),
        "Ясно.",
    )

    assert [False, True, True] == [one.cached for one in results(ran)]
    assert 1 == len({one.text for one in results(ran)})


def test_a_repeated_write_has_no_second_effect() -> None:
    """A write that is asked for twice is done once; the second is told the first one's result."""
    ran = ask(thinks(HAPPY, HAPPY), GLAD)
    first, second = results(ran)

    assert (True, True, UPDATED, ()) == (second.ok, second.cached, second.text, second.effects)
    assert 2 == len(first.effects)
    assert 1 == len([change for change in ran.trace.events[-1].data.store_diff if change.kind == "feelings"])
    assert set() == broken(ran)


def test_what_was_read_before_a_write_is_read_again() -> None:
    """A result is reused only as long as nothing was changed since."""
    ran = ask(thinks('read_user_profile("vera")', HAPPY, 'read_user_profile("vera")'), "Ясно.")

    assert [False, False, False] == [one.cached for one in results(ran)]
    assert ['"feeling":"Neutral"' in results(ran)[0].text, '"feeling":"Happy"' in results(ran)[2].text] == [True, True]


def test_a_write_that_broke_off_may_have_changed_something() -> None:
    """After a write that crashed, what was read before it is read again."""
    ran = ask(
        thinks('read_user_profile("vera")', HAPPY, 'read_user_profile("vera")'), "Ясно.",
        faults=(Fault(kind="crash", tool="update_current_feeling"),),
    )  # fmt: skip

    assert [False, False, False] == [one.cached for one in results(ran)]


def test_calls_whose_arguments_have_no_names_are_not_equal() -> None:
    """Two calls of a tool that does not exist are two calls, and each is told so."""
    ran = ask(thinks("fly('moon')", "fly('sun')"), "Ясно.")

    assert [("unknown_tool", False)] * 2 == [(one.error_kind, one.cached) for one in results(ran)]


def test_a_failed_call_is_tried_again_in_the_next_round_only() -> None:
    """In one reply a failure is reused; a later round may ask again, and so it is seen that the file is there now."""
    again = 'read_file("new.txt")'
    ran = ask(
        thinks(again, again), thinks(again), thinks('write_file("new.txt", "x")'), thinks(again), "Ясно.",
        options={"max_think_rounds": 4},
    )  # fmt: skip

    assert [(False, False), (False, True), (False, False), (True, False), (True, False)] == [
        (one.ok, one.cached) for one in results(ran)
    ]


def test_one_write_a_reply() -> None:
    """Of several writes in one reply the first is carried out; the others are refused, and the reason says what to do."""
    ran = ask(
        thinks(HAPPY, 'add_relationship_insight("x")', 'read_file("notes/books.txt")', 'add_diary_entry("vera", "x")'),
        GLAD,
    )

    assert [None, "denied", None, "denied"] == [one.error_kind for one in results(ran)]
    assert (
        "not run: at most one call of a reply may write; ask for add_relationship_insight in the next round, or tell the user "
        "that it is not done"
    ) == json.loads(results(ran)[1].text)["message"]
    assert set() == broken(ran)


def test_a_write_that_was_not_carried_out_leaves_room_for_another() -> None:
    """A refused write does not count as the one that a reply may make."""
    ran = ask(thinks('update_current_feeling("boris", "Angry")', HAPPY), GLAD)

    assert ["denied", None] == [one.error_kind for one in results(ran)]


def test_rounds() -> None:
    """A second round is shown the first one's results and its own words; the phase ends when a round asks for nothing."""
    ran = ask(
        thinks('search_files("plans")', text="Ищу."), thinks('read_file("notes/plans.md")', text="Читаю."), "Готово.", "У реки.",
        options={"max_think_rounds": 5},
    )  # fmt: skip
    second = ran.requests[1].messages

    assert ["think/1", "think/2", "think/3", "respond"] == [event.data.slot for event in ran.events("llm_call")]
    assert [1, 2, 3, None] == [event.round for event in ran.events("llm_call")]
    assert ["system", "user", "assistant", "user"] == [message.role for message in second]
    assert 'Результаты инструментов (раунд 1 из 5):\nTool search_files("plans") returned: ' in second[3].text
    assert "Ищу.\n\nЧитаю.\n\nГотово." == sent(ran, 4).partition("АНАЛИЗ:\n")[2].partition("\n\nРЕЗУЛЬТАТЫ")[0]
    assert 2 == len(lines(ran))
    assert set() == broken(ran)


def test_rounds_are_limited() -> None:
    """One round is the default, and no round is asked beyond the limit."""
    once = ask(thinks("list_files()"), "Ясно.")
    twice = ask(thinks("list_files()"), thinks('list_files("notes")'), "Ясно.", options={"max_think_rounds": 2})

    assert [2, 3] == [len(once.requests), len(twice.requests)]


def test_deleting() -> None:
    """Deleting is neither offered nor carried out, unless the option says so; then a copy is kept."""
    delete = 'delete_file("notes/books.txt")'
    off, on = ask(thinks(delete), "Нельзя."), ask(thinks(delete), "Удалён.", options={"allow_delete": True})

    assert ("denied", "not run: deleting files is switched off") == (
        results(off)[0].error_kind,
        json.loads(results(off)[0].text)["message"],
    )
    assert ["delete_file(path: str)" in sent(ran, 1) for ran in (off, on)] == [False, True]
    assert ["backups", "files"] == [change.kind for change in on.trace.events[-1].data.store_diff]
    assert set() == broken(off) | broken(on)


def test_a_long_result_is_cut_and_says_so() -> None:
    """A result beyond the option's length is shortened with a mark, and the trace says that it was."""
    ran = ask(thinks('read_file("chronicle.txt")'), "Тихо.", options={"max_result_chars": 100})
    [result] = results(ran)

    assert result.truncated
    assert result.text.endswith("… [cut: 100 of 10534 characters]")
    assert 100 == len(result.text.partition("… [cut")[0])


def test_default_api_is_read_by_option() -> None:
    """Calls as some models write them are calls only where the option says so."""
    code = 'print(default_api.read_file(path="notes/plans.md"))'

    assert [False] == [one.ok for one in results(ask(thinks(code), "Ясно."))]
    assert [True] == [one.ok for one in results(ask(thinks(code), "Ясно.", options={"default_api": True}))]


def test_tool_code_in_the_answer_is_neither_run_nor_shown() -> None:
    """A block in the answer leaves no trace in it, and no tool call."""
    ran = ask("Ясно.", f"Привет!\n\n```tool_code\n{HAPPY}\n```\n\nКак дела?")

    assert "Привет!\n\nКак дела?" == ran.answer
    assert [] == results(ran)
    assert () == ran.trace.events[-1].data.store_diff
    assert set() == broken(ran)


def test_the_answer_is_shown_as_it_comes() -> None:
    """What was shown, piece by piece and in the phase that answers, is the answer."""
    ran = ask("Ясно.", "Доброе утро, Вера! Как ты?")
    shown = [event for event in ran.events("llm_chunk") if event.data.visible]

    assert ["Доброе", " утро,", " Вера!", " Как", " ты?"] == [event.data.text for event in shown]
    assert {"respond"} == {event.phase for event in shown}
    assert (True, "markdown", 5) == (
        ran.trace.final.data.complete, ran.trace.final.data.format, ran.trace.final.data.chunks
    )  # fmt: skip


def test_what_was_held_back_is_shown_at_the_end() -> None:
    """A mark that might have become a fence is shown when the stream has ended."""
    assert "Готово: `ok`" == ask("Ясно.", "Готово: `ok`").answer


def test_a_thought_that_fails_is_noted() -> None:
    """Without an analysis the answer is asked for all the same, and told that there is none."""
    ran = ask(fails("overloaded"), "Я здесь.")

    assert ("completed", "Я здесь.") == (ran.ending[0], ran.answer)
    assert section(sent(ran, 2), "АНАЛИЗ").startswith("Анализ недоступен: модель не ответила.")
    assert ["analysis_unavailable"] == [event.data.code for event in ran.events("warning")]
    assert set() == broken(ran)


def test_a_later_thought_that_fails_keeps_what_was_found() -> None:
    """Results of earlier rounds are told, and so is that the analysis broke off."""
    ran = ask(thinks("list_files()", text="Смотрю."), fails(), "Вижу файлы.", options={"max_think_rounds": 2})

    assert sent(ran, 3).partition("АНАЛИЗ:\n")[2].startswith("Смотрю.\n\nАнализ недоступен")
    assert 1 == len(lines(ran))
    assert ("completed", "Вижу файлы.") == (ran.ending[0], ran.answer)


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("ru", "Прости, сейчас"),
        ("en", "I am sorry"),
        ("de-AT", "Es tut mir leid"),
        ("pt", "Desculpe"),
        ("zh", "抱歉"),
        ("fr", "I am sorry"),
    ],
)
def test_an_answer_that_fails_is_apologised_for(lang: str, words: str) -> None:
    """Where the answering call fails the user reads an apology in their language, and the run says that it failed."""
    ran = ask("Ясно.", fails(), lang=lang)

    assert ("failed", "llm_errors") == ran.ending
    assert ran.answer.startswith(words)
    assert (False, "text") == (ran.trace.final.data.complete, ran.trace.final.data.format)
    assert set() == broken(ran)


@pytest.mark.parametrize("reply", ["", " \n", f"```tool_code\n{HAPPY}\n```"])
def test_an_answer_without_text_is_apologised_for(reply: str) -> None:
    """Where nothing may be shown the user reads an apology, marked as incomplete."""
    ran = ask(thinks("fly()"), reply)

    assert ("completed", "Прости, сейчас у меня не получается ответить. Попробуй, пожалуйста, ещё раз чуть позже.") == (
        ran.ending[0], ran.answer
    )  # fmt: skip
    assert ["no_answer"] == [event.data.code for event in ran.events("warning")]
    assert not ran.trace.final.data.complete
    assert set() == broken(ran)


def test_metrics() -> None:
    """Calls, good ones, reused ones and milliseconds of each tool are told before the answer."""
    ran = ask(thinks("list_files()", "list_files()", 'read_file("nowhere.txt")', HAPPY), GLAD)
    [told] = ran.events("progress")

    assert ("metrics", 1.0) == (told.data.stage, told.data.value)
    assert {
        "list_files": {"calls": 2, "ok": 2, "cached": 1, "ms": 30},
        "read_file": {"calls": 1, "ok": 0, "cached": 0, "ms": 40},
        "update_current_feeling": {"calls": 1, "ok": 1, "cached": 0, "ms": 70},
    } == json.loads(told.data.detail)
    assert told.seq < ran.trace.final.seq


def test_native_tool_calls_are_no_way_in() -> None:
    """A model that asks for tools natively, though none are offered, has none of them run."""
    native = ModelReply(
        text="Ясно.",
        tool_calls=(ToolCall("1", "delete_file", '{"path": "notes/books.txt"}', {"path": "notes/books.txt"}),),
    )
    ran = ask(native, GLAD)

    assert ["internal", "internal"] == [event.data.source for event in ran.events("tool_call")]
    assert GLAD == ran.answer


def test_limits_of_the_trial_hold() -> None:
    """A limit on tool calls ends the run with its reason."""
    ran = ask(thinks("list_files()", 'list_files("notes")'), GLAD, limits=Limits(tool_calls=3))

    assert ("failed", "tool_calls") == ran.ending


def test_a_session_goes_on() -> None:
    """A resumed session has its answer already; one that was never saved is told to be missing."""
    legs = (Leg(stop_after={"state_saved": 1}), Leg(resume=True))
    case = GoldenCase(id="case", question="Привет!", lang="ru", legs=legs)
    missing = GoldenCase(id="case", question="Привет!", legs=(Leg(resume=True),))
    with opened() as world:
        ran = run_agent(GUARDIAN, [says("Ясно."), says("Привет, Вера!")], world=world, case=case)
    with opened() as world:
        nothing = run_agent(GUARDIAN, [], world=world, case=missing)

    assert ("completed", "Привет, Вера!") == (ran.ending[0], ran.answer)
    assert ("failed", "no_session") == nothing.ending
    assert "nothing is saved for session session" == nothing.events("error")[0].data.message


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('update_current_feeling("vera", "Happy")', [{"username": "vera", "feeling": "Happy"}]),
        ('list_files("notes")\nread_file("notes/plans.md")', [{"directory": "notes"}]),
        ('add_diary_entry("vera", "It\'s Anna\'s birthday")', [{"username": "vera", "entry": "It"}]),
        ('update_current_feeling(username="vera", feeling="Happy")', []),
        ('print(read_user_profile("vera"))', []),
        ('# why\nread_user_profile("vera")', []),
    ],
)
def test_the_letter_of_the_document(code: str, expected: list[dict[str, Any]]) -> None:
    """`seed_literal` runs the first call of a block, cuts at apostrophes, and does nothing with keyword arguments."""
    ran = ask(thinks(code), "Ясно.", name="two_phase@seed_literal")

    assert expected == [event.data.args for event in ran.events("tool_call") if event.data.source == "tool_code"]
    assert (set() if expected == [{"username": "vera", "feeling": "Happy"}] else {"CG2"}) == broken(ran)


def test_the_letter_misses_blocks_on_one_line() -> None:
    """The document's pattern needs a line break before the closing fence; the reference does not."""
    said = says(f"Ясно.\n\n```tool_code\n{HAPPY}```")

    assert [] == results(ask(said, GLAD, name="two_phase@seed_literal"))
    assert [UPDATED] == [one.text for one in results(ask(said, GLAD))]
