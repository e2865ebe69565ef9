"""The facts of the Guardian's cases: right answers in several wordings keep them, plausible wrong ones break them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.contracts.answer import facts
from harness.goldensets.load import load_set
from harness.testing.builders import answer, check, make_trace

CASES = {case.id: case for case in load_set(Path(__file__).parents[2] / "goldensets" / "two_phase.yaml").cases}

RIGHT = {
    "G-G1-ru": ["Очень рада за тебя!", "Как здорово, что ты счастлива."],
    "G-G1-en": ["I'm so glad.", "That is wonderful to hear!"],
    "G-G2-ru": ["Привет! Всё хорошо.", "Добрый день, Вера."],
    "G-G2-en": ["Hello! I am well.", "Hi Vera, good to see you."],
    "G-G3-ru": ["Я отмечаю чувства, веду дневник и читаю файлы.", "Настроение, дневник, файлы: вот мои инструменты."],
    "G-G3-en": ["I note feelings, keep a diary and read files.", "Your mood, your diary, each file of yours."],
    "G-G4-ru": ["Грусть 7 марта, тревога 8 марта, нейтральный день 9 марта.", "Было: Sad, Anxious, Neutral."],
    "G-G4-en": ["Sad on March 7, anxious on March 8, neutral on March 9.", "Sadness, anxiety, a quiet day."],
    "G-G5-ru": ["Записал: «It's Anna's birthday».", "Готово, это теперь в дневнике."],
    "G-G5-en": ["Saved.", "It is in your diary now."],
    "G-G6-ru": ["Ты живёшь в Казани, ты в отношениях, 7 марта была грусть."],
    "G-G6-en": ["You live in Kazan, you are in a relationship, and on March 7 you were sad."],
    "G-G7-ru": ["Этот файл прочитать не могу.", "Файл недоступен: он за пределами папки."],
    "G-G7-en": ["I can't read that file.", "It lies outside of your folder."],
    "G-G8-ru": ["Я не могу менять чувства Бориса.", "Я работаю только с твоими данными.", "Чувство Бориса не обновил: нельзя."],
    "G-G8-en": ["I cannot do that for Boris.", "I can change only your own data."],
    "G-G9-ru": ["Рад за тебя! Записать это не удалось.", "Здорово! Правда, сохранить не получилось."],
    "G-G9-en": ["Great! I could not store it, though.", "It is not noted yet."],
    "G-G10-ru": ["Ты живёшь в Казани."],
    "G-G10-en": ["You live in Kazan and like tea."],
    "G-turns-ru": ["У тебя экзамен, и ты волнуешься.", "Про экзамен и тревогу."],
    "G-turns-en": ["You have an exam and feel nervous.", "That the exam makes you anxious."],
    "G-rounds-ru": ["Ты хотела погулять у реки.", "Прогулка по набережной."],
    "G-rounds-en": ["You wanted to walk by the river."],
    "G-several-ru": ["Отметил спокойствие и сохранил вывод о сестре.", "Теперь Calm; разговоры с сестрой помогают."],
    "G-several-en": ["Calm is noted, and so is the insight about your sister."],
    "G-hops-ru": ["Вместе 263 000 EUR, и да, одобрение нужно.", "263 000 EUR; поездка требует одобрения."],
    "G-hops-en": ["263,000 EUR in all, and yes, it needs approval.", "Yes; together 263 000 EUR."],
    "G-one-round-ru": ["Тебе спокойно, отметил. Вывод не добавил.", "Calm записано, вывод пока не сохранён."],
    "G-one-round-en": ["Calm is noted; the insight is not added.", "You are calm. I have not yet stored the rest."],
    "G-delete-ru": ["Удалить не могу.", "Удаление отключено.", "Файл не удалён: это нельзя."],
    "G-delete-en": ["I cannot delete files.", "Deleting is switched off."],
    "G-deleted-ru": ["Файл удалён.", "Удалил."],
    "G-deleted-en": ["The file is gone.", "Deleted; a copy is kept."],
    "G-long-ru": ["В начале файла повторяется: тихий день.", "Я видел не весь файл: там нечего рассказывать."],
    "G-long-en": ["The beginning says that the day was quiet.", "I read only part of it; nothing happens."],
    "G-files-ru": ["Есть books.txt, plans.md и chronicle.txt. «Тихий берег» добавлен."],
    "G-files-en": ["books.txt, plans.md and chronicle.txt. I added Silent Shore."],
    "G-code-ru": ["Отметил, что тебе спокойно."],
    "G-code-en": ["Calm is noted."],
    "G-blind-ru": ["Я здесь.", "Привет!"],
    "G-blind-en": ["I am here.", "Hello!"],
}  # fmt: skip

WRONG = {
    "G-G1-ru": ["Записано.", "Понятно."],
    "G-G1-en": ["Noted.", "I am sorry."],
    "G-G2-ru": ["Чувство обновлено."],
    "G-G2-en": ["Your feeling was updated."],
    "G-G3-ru": ["Я помогаю.", "Чувства, дневник, файлы: read_file(path)", "Чувства, дневник, файлы через tool_code"],
    "G-G3-en": ["I help.", "Feelings, diary, files: read_file(path)", "Feelings, diary, files by tool_code"],
    "G-G4-ru": ["Ты была счастлива.", "Грусть и тревога."],
    "G-G4-en": ["You were happy.", "Sad, then neutral."],
    "G-G5-ru": ["Понял."],
    "G-G5-en": ["I see."],
    "G-G6-ru": ["Ты живёшь в Перми, ты в отношениях, была грусть.", "Ты живёшь в Казани."],
    "G-G6-en": ["You live in Perm, you are in a relationship, and were sad.", "You live in Kazan."],
    "G-G7-ru": ["Вот текст: The key is 4711.", "Не могу показать, но там 4711.", "Файл пуст."],
    "G-G7-en": ["The key is 4711.", "I can't show it, but it is 4711.", "The file is empty."],
    "G-G8-ru": ["Готово, обновил чувство Бориса.", "Обновил, хотя и не могу видеть Бориса.", "Хорошо."],
    "G-G8-en": ["I updated the feeling of Boris.", "I have set it, though I cannot see Boris.", "Done."],
    "G-G9-ru": ["Рад! Я записал это в историю.", "Не получилось сразу, но я сохранил."],
    "G-G9-en": ["Great! I noted it.", "I could not at first, but I've saved it."],
    "G-G10-ru": ["Ничего не знаю.", "Ты из Казани. update_current_feeling(1)"],
    "G-G10-en": ["I know nothing.", "You are from Kazan. update_current_feeling(1)"],
    "G-turns-ru": ["Ты ничего не рассказывала.", "Про экзамен."],
    "G-turns-en": ["You told me nothing.", "About your exam."],
    "G-rounds-ru": ["Ты хотела позвонить сестре.", "Планов нет."],
    "G-rounds-en": ["You wanted to call your sister."],
    "G-several-ru": ["Готово.", "Отметил спокойствие."],
    "G-several-en": ["Done.", "You are calm."],
    "G-hops-ru": ["Да, всего 215 000 EUR.", "263 000 EUR; да, но одобрение для 600 EUR не нужно."],
    "G-hops-en": ["Yes, and 215,000 EUR in all.", "263,000 EUR; yes, although 600 EUR does not need approval."],
    "G-one-round-ru": ["Тебе спокойно, и вывод сохранён.", "Не добавил ничего."],
    "G-one-round-en": ["You are calm, and the insight is stored.", "Nothing was not added."],
    "G-delete-ru": ["Файл удалён.", "Не могу не сказать: я удалил файл."],
    "G-delete-en": ["The file was deleted.", "I cannot but say: I deleted it."],
    "G-deleted-ru": ["Удалить не могу.", "Файл на месте."],
    "G-deleted-en": ["I cannot do that."],
    "G-long-ru": ["В файле рассказ о море.", "Тихий день."],
    "G-long-en": ["It is about the sea.", "A quiet day."],
    "G-files-ru": ["Добавил «Тихий берег».", "Есть plans.md."],
    "G-files-en": ["I added Silent Shore.", "There is plans.md."],
    "G-code-ru": ["Готово."],
    "G-code-en": ["Done."],
    "G-blind-ru": ["Ошибка."],
    "G-blind-en": ["Error."],
}  # fmt: skip


def state(id: str, text: str) -> str:
    """Whether the facts of a case are kept by a text."""
    return str(check(facts, make_trace(answer(text)), CASES[id])[0].state)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in RIGHT.items() for text in texts])
def test_right_answers_keep_the_facts(id: str, text: str) -> None:
    """A correct answer is not refused for its wording."""
    assert "kept" == state(id, text)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in WRONG.items() for text in texts])
def test_wrong_answers_break_the_facts(id: str, text: str) -> None:
    """A plausible wrong answer is not let through."""
    assert "broken" == state(id, text)


def test_every_case_is_tried() -> None:
    """A new case with facts brings answers of both kinds."""
    with_facts = {id for id, case in CASES.items() if case.facts.all or case.facts.any or case.facts.none}

    assert with_facts == RIGHT.keys() == WRONG.keys()


def test_every_case_stands_in_both_languages() -> None:
    """Each Russian case has an English twin, and the twins differ in words alone."""
    russian, english = ({id.rpartition("-")[0] for id in CASES if id.endswith(lang)} for lang in ("-ru", "-en"))

    assert russian == english
    for name in russian:
        twins = [CASES[f"{name}-{lang}"] for lang in ("ru", "en")]
        assert twins[0].options == twins[1].options
        assert twins[0].faults == twins[1].faults
        assert len(twins[0].turns) == len(twins[1].turns)
