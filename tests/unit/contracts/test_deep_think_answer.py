"""CD12–CD14: what the loop tells the user, and the context of its calls."""

from __future__ import annotations

import pytest

from harness.contracts.deep_think import enough_passes, one_graph
from harness.contracts.deep_think_answer import (
    context_reaches_all,
    process_word,
    progress_only_grows,
    summary_is_the_answer,
)
from harness.records.case import Leg
from harness.testing.builders import answer, check, make_case, reasons

from .deep_traces import (
    FAILED,
    FIXED,
    GOOD,
    ONE,
    SUMMARY,
    ask,
    corrected,
    passes,
    progress,
    resumed,
    run,
    solution,
    solved,
    summed_up,
    verified,
    verifier,
)


def test_cd12_the_summary():
    """The summary of the last solution, word for word, keeps CD12; a failed run adds a word to it."""
    failed = run(
        solved(), verified(1, 0), summed_up(final=f"Unverified.\n\n{SUMMARY}", complete=False), finished=FAILED
    )
    without = run(solved(), answer("Unverified: nine.", complete=False), finished=FAILED)

    assert ["kept"] == reasons(check(summary_is_the_answer, run(*FIXED)))
    assert ["kept"] == reasons(check(summary_is_the_answer, failed))
    assert ["kept"] == reasons(check(summary_is_the_answer, without))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([solved(), *passes(), answer(ONE)], "the answer is not the summary"),
        ([solved(), *passes(), summed_up(final=ONE)], "the answer is not the summary"),
        (
            [solved(), summed_up(final="Unverified.", complete=False)],
            "the answer does not hold the summary",
        ),
        (
            [solved(), summed_up(), ask("summary", SUMMARY, embeds={"solution": ONE})],
            "2 summaries are made, expected one",
        ),
        (
            [solved(), verified(1, 0), corrected(1), summed_up(ONE)],
            "the summary is made of another text than the last solution",
        ),
        (
            [solved(), summed_up(summary="After the third verification round it is 9.")],
            "the answer speaks of the process: “verification round”",
        ),
    ],
)
def test_cd12_another_answer(steps, because):
    """The raw solution, a summary of an older text, a second summary, and words on the process break CD12."""
    assert because in reasons(check(summary_is_the_answer, run(*steps)))


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("还剩 9 只。", "zh", ""),
        ("经过三轮验证，还剩 9 只。", "zh", "经过三轮验证"),
        ("第2轮迭代后得到 9。", "en", "第2轮迭代"),
        ("The verifier agrees: 9.", "zh", "The verifier"),
        ("Nach der zweiten Prüfrunde: 9.", "de", "Prüfrunde"),
        ("Na segunda rodada de verificação: 9.", "pt", "rodada de verificação"),
        ("После этапа проверки: 9.", "ru", "этапа проверки"),
        ("Newton's method converges; each iteration doubles the digits.", "en", ""),
        ("Verification of invoices takes 2 days; an agent signs them.", "en", ""),
    ],
)
def test_cd12_words_of_the_process(text, lang, expected):
    """Words on rounds and verifiers are found in each language; the same words as a subject are left alone."""
    assert expected == process_word(text, lang)


def test_cd12_words_of_the_question():
    """What the question itself speaks of may stand in the answer."""
    trace = run(
        solved(), summed_up(summary="A verification round costs 3 calls."),
        started={"question": "What does a verification round cost?"},
    )  # fmt: skip

    assert ["kept"] == reasons(check(summary_is_the_answer, trace))


def test_cd13_progress_grows():
    """Progress from 0 to 1 that never falls, with previews of the right length, keeps CD13."""
    assert ["kept"] == reasons(check(progress_only_grows, run(progress(0, 0.5, 0.5, 1.0), solution("x" * 201))))
    assert ["kept"] == reasons(check(progress_only_grows, run(progress(0, 0.5), solution("x" * 200), finished=FAILED)))


@pytest.mark.parametrize(
    ("steps", "finished", "because"),
    [
        (progress(0.5, 0.25), None, "progress falls from 0.5 to 0.25"),
        (progress(1.5), None, "progress is 1.5, expected 0 to 1"),
        (progress(-0.5), None, "progress is -0.5, expected 0 to 1"),
        (progress(0.5, 1.0), FAILED, "progress is 1 in a run that is failed"),
        (solution("x" * 300, preview="x" * 300), None, "the preview has 300 characters, expected 200 and an ellipsis"),
        (solution("x" * 300, preview="x" * 201), None, "the preview has 201 characters, expected 200 and an ellipsis"),
        (solution(preview="Nine…"), None, "the preview of a short solution is not the solution"),
    ],
)
def test_cd13_progress_falls(steps, finished, because):
    """Progress that falls, leaves its range or claims success, and a preview of another length, break CD13."""
    assert because in reasons(check(progress_only_grows, run(steps, finished=finished)))


HISTORY = ({"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hello!"})
GIVEN = make_case(history=HISTORY, knowledge="Sheep run.")
CONTEXT = {"history": "user: Hello", "knowledge": "Sheep run."}


def test_cd14_the_context_is_shown():
    """Every call of a solver or verifier that is shown what was given keeps CD14; where nothing was, nothing is asked."""
    trace = run(solved(embeds=CONTEXT), verifier(1, embeds=CONTEXT))

    assert ["kept"] == reasons(check(context_reaches_all, trace, GIVEN))
    assert ["vacuous"] == reasons(check(context_reaches_all, run(*GOOD)))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([solved(embeds=CONTEXT), verifier(1)], "the verify call is not shown the conversation so far"),
        ([solved(embeds=CONTEXT), verifier(1)], "the verify call is not shown the background knowledge"),
        ([solved(embeds={"history": "user: Hello"})], "the solve call is not shown the background knowledge"),
        ([solved(embeds=CONTEXT | {"knowledge": "?"})], "the solve call is not shown the background knowledge"),
        (
            [solved(embeds=CONTEXT), verifier(1, embeds=CONTEXT | {"history": "user: Hi"})],
            "the verify call is shown another conversation than the calls before it",
        ),
    ],
)
def test_cd14_the_bare_problem(steps, because):
    """A verifier of the bare problem, and one with another context, break CD14."""
    assert because in reasons(check(context_reaches_all, run(*steps), GIVEN))


def test_cd14_turns():
    """What was said in an earlier turn of the case counts as conversation."""
    case = make_case(question="", turns=("a", "b"))
    legs = [run(*GOOD), run(solved())]

    assert ["the solve call is not shown the conversation so far"] == reasons(check(context_reaches_all, legs, case))


def test_a_finished_run_is_resumed():
    """A leg that resumes a finished run says its summary again; nothing has to be done for it."""
    case = make_case(legs=(Leg(), Leg(resume=True)))
    again = resumed(answer(SUMMARY))

    assert ["kept"] == reasons(check(summary_is_the_answer, [run(*GOOD), again], case))
    assert ["kept"] == reasons(check(one_graph, [run(*GOOD), again], case))
    assert ["kept"] == reasons(check(enough_passes, [run(*GOOD), again], case))
