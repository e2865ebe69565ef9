"""CG1, CG5–CG7, CG10, CG12 and CG13: thinking first, speaking afterwards."""

from __future__ import annotations

import pytest

from harness.contracts.two_phase import (
    answers_in_the_users_language,
    answers_run_nothing,
    both_phases_know_the_user,
    failures_do_not_spoil_it,
    results_are_told,
    streamed_as_it_comes,
    two_phases,
)
from harness.records.case import Leg
from harness.records.digest import digest
from harness.records.trace import ErrorRaised, Event, LlmChunk, OfferedTool, PhaseFinished, PhaseStarted
from harness.testing.builders import answer, check, make_case, make_event, make_trace, model_turn, reasons, tool_use

HAPPY = 'I note it.\n```tool_code\nupdate_current_feeling("vera", "Happy")\n```'
ARGS = {"username": "vera", "feeling": "Happy"}
NOTE = tool_use("update_current_feeling", ARGS, text="Updated.", args_raw="update(\n'Happy')", effect="write")
FAILED = tool_use("update_current_feeling", {}, text="slow", args_raw="x" * 300, error="timeout", effect="write")
NOTED = digest("Tool update( 'Happy') returned: Updated.")
USER = {"profile": "p", "history_of_feelings": "h"}
TOLD = {**USER, "result/0": NOTED, "thinking": digest("I note it.")}
DENIED = {"status": "failed", "reason": "llm_calls"}
LIMIT = ErrorRaised(kind="llm_calls", message="no more", where="harness")
STOPPED = make_case(legs=(Leg(stop_after={"tool_result": 1}),))
PHASES = ("think", "respond")
FOLLOWED = make_case(history=({"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}))


def phase(name, *steps):
    """*steps* inside a phase."""
    flat = [one for step in steps for one in (step if isinstance(step, list) else [step])]
    inside = [step if isinstance(step, Event) else make_event(step, phase=name) for step in flat]
    return [PhaseStarted(name=name), *inside, PhaseFinished(name=name, ok=True)]


def think(text=HAPPY, *steps, **call):
    """The first phase."""
    return phase("think", model_turn(text, purpose="think", **{"embeds": USER, **call}), *steps)


def shown(*pieces):
    """What the user sees, piece by piece."""
    return [LlmChunk(call_span="", index=0, text=piece, visible=True) for piece in pieces]


def sent(*pieces):
    """What the provider sends, piece by piece."""
    return [LlmChunk(call_span="", index=n, text=piece) for n, piece in enumerate(pieces)]


def respond(text="So good!", *steps, **call):
    """The second phase."""
    return phase("respond", model_turn(text, purpose="respond", **{"embeds": TOLD, **call}), *(steps or [shown(text)]))


def said(*pieces, **fields):
    """The answer in *pieces*."""
    return answer("".join(pieces), chunks=len(pieces), **fields)


WHOLE = make_trace(think(HAPPY, NOTE), respond(), said("So good!"))


def test_cg1_two_phases():
    """Think with its tools, then respond with what the user sees, keep CG1; so do two rounds where they are allowed."""
    rounds = phase("think", model_turn(HAPPY, purpose="think"), NOTE, model_turn("Done.", purpose="think"))
    chained = make_trace(rounds, respond(), said("x"), started={"config": {"max_think_rounds": 2}})

    assert ["kept"] == reasons(check(two_phases, WHOLE))
    assert ["kept"] == reasons(check(two_phases, chained))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([think(), think(), respond()], ["the phases are think, think, respond", "2 model calls to think, at most 1"]),
        ([respond(), think()], ["the phases are respond, think"]),
        ([think()], ["the phases are think", "no model call to respond"]),
        ([think(), phase("respond", model_turn("a", purpose="respond"), model_turn("b", purpose="respond"))],
         ["2 model calls to respond, at most 1"]),
        ([think(), respond(), model_turn("x", purpose="plan")],
         ["a model call with purpose plan beside the two phases"]),
        ([think(), respond("x", NOTE)], ["update_current_feeling is run outside of the phase think"]),
        ([think("x", shown("hm")), respond()], ["the user is shown text of the phase think"]),
    ],
)  # fmt: skip
def test_cg1_merged_phases(steps, because):
    """Repeated, missing and swapped phases, calls beside them, tools while answering, thoughts shown: CG1 breaks."""
    assert because == reasons(check(two_phases, make_trace(*steps)))


def test_cg1_cut_off():
    """A run that is ended at a limit, or stopped on purpose, need not come to its answer."""
    assert ["kept"] == reasons(check(two_phases, make_trace(think(HAPPY, NOTE), LIMIT, finished=DENIED)))
    assert ["kept"] == reasons(
        check(two_phases, make_trace(think(HAPPY, NOTE), finished={"status": "cancelled"}), STOPPED)
    )


def test_cg5_results_and_thought_are_told():
    """A line for each call and the thought without its blocks keep CG5; a thought without calls needs no line."""
    quiet = make_trace(think("They feel well."), respond(embeds=USER | {"thinking": digest("They feel well.")}))

    both = TOLD | {"result/1": digest(f"Tool {'x' * 199}… failed: slow")}

    assert ["kept"] == reasons(check(results_are_told, WHOLE))
    assert ["kept"] == reasons(check(results_are_told, quiet))
    assert ["kept"] == reasons(check(results_are_told, make_trace(think(HAPPY, NOTE, FAILED), respond(embeds=both))))
    assert ["vacuous"] == reasons(check(results_are_told, make_trace(think("", error="timeout"), respond(embeds=USER))))


@pytest.mark.parametrize(
    ("steps", "embeds", "because"),
    [
        ([NOTE, FAILED], TOLD, "the failed result of update_current_feeling is not told"),
        ([NOTE], {**USER, "thinking": TOLD["thinking"]}, "the good result of update_current_feeling is not told"),
        ([FAILED], TOLD, "the failed result of update_current_feeling is not told"),
        ([NOTE], {**TOLD, "result/1": "r"}, "2 results are told, 1 tools were called"),
        ([NOTE], {**USER, "result/0": NOTED}, "what was thought is not told"),
        ([NOTE], {**TOLD, "thinking": digest(HAPPY)},
         "what was thought is told in other words, or with its tool_code blocks"),
    ],
)  # fmt: skip
def test_cg5_left_out(steps, embeds, because):
    """A result left out or made up, a thought left out or told with its blocks, breaks CG5."""
    trace = make_trace(think(HAPPY, *steps), respond(embeds=embeds), said("So good!"))

    assert [because] == reasons(check(results_are_told, trace))


def test_cg5_the_line_of_a_result():
    """A call of 200 characters is told whole; where a later thought failed, a note may stand among the thoughts."""
    look = tool_use("read_file", {}, args_raw="x" * 200, text="ok")
    told = {"result/0": digest(f"Tool {'x' * 200} returned: ok"), "thinking": digest("I note it.")}
    failed = phase("think", model_turn(HAPPY, purpose="think"), NOTE, model_turn(purpose="think", error="timeout"))
    noted = make_trace(failed, respond(embeds={**TOLD, "thinking": "with a note"}))

    assert ["kept"] == reasons(check(results_are_told, make_trace(think(HAPPY, look), respond(embeds=told))))
    assert ["kept"] == reasons(check(results_are_told, noted))


def test_cg6_failures():
    """A failed tool and an answer keep CG6, also where the provider fails afterwards; ending with an apology breaks it."""
    good = make_trace(think(HAPPY, FAILED), respond(), said("So good!"))
    down = make_trace(think(HAPPY, FAILED), respond(error="server_error"), finished={"status": "failed"})
    sorry = make_trace(think(HAPPY, FAILED), said("Sorry."))
    spoilt = make_trace(think(HAPPY, FAILED), respond(), finished={"status": "failed", "reason": "tool"})

    cut = make_trace(think(HAPPY, FAILED), LIMIT, finished=DENIED)
    excused = make_trace(think(HAPPY, FAILED), ErrorRaised(kind="llm_calls", message="no more"), finished=DENIED)

    assert ["vacuous"] == reasons(check(failures_do_not_spoil_it, WHOLE))
    assert ["kept"] == reasons(check(failures_do_not_spoil_it, cut))
    assert ["kept"] == reasons(check(failures_do_not_spoil_it, good))
    assert ["no answer is asked for after update_current_feeling failed"] == reasons(
        check(failures_do_not_spoil_it, excused)
    )
    assert ["kept"] == reasons(check(failures_do_not_spoil_it, down))
    assert ["no answer is asked for after update_current_feeling failed"] == reasons(
        check(failures_do_not_spoil_it, sorry)
    )
    assert ["the run fails after update_current_feeling failed"] == reasons(check(failures_do_not_spoil_it, spoilt))


def streamed(*pieces, came=("So good", " to hear!"), tells=None, text=None):
    """A run whose provider sends *came* and whose user sees *pieces*."""
    whole = "".join(pieces) if text is None else text
    final = answer(whole, chunks=len(pieces) if tells is None else tells)
    return make_trace(think(), respond("".join(came), sent(*came), shown(*pieces)), final)


@pytest.mark.parametrize(
    "trace",
    [
        streamed("So good", " to hear!"),
        streamed("So good to hear!", came=("So good to hear!",)),
        streamed("`x` it is", came=("`", "x` it is")),
        streamed("printed it is", came=("pri", "nted it is")),
        streamed("So good", came=("So good", "\n```tool_code\nf()\n```")),
    ],
)
def test_cg7_streamed(trace):
    """Pieces as they come keep CG7; one piece does where one came, or where the first had to be held back."""
    assert ["kept"] == reasons(check(streamed_as_it_comes, trace))


@pytest.mark.parametrize(
    ("trace", "because"),
    [
        (streamed("So good", text="So good to hear!"), "what was streamed is not the answer"),
        (streamed("So good", " to hear!", tells=1), "2 pieces were streamed, the answer tells of 1"),
        (streamed("So good to hear!"), "2 pieces came, and the answer is shown in one"),
        (streamed("So\n", "```tool_code\nf()\n```"), "the answer holds tool syntax: ````tool_code`"),
        (streamed("Hm ", "tool_code"), "the answer holds tool syntax: `tool_code`"),
    ],
)
def test_cg7_not_as_it_comes(trace, because):
    """Another text than was streamed, another number of pieces, a buffered answer and tool syntax break CG7."""
    assert [because] == reasons(check(streamed_as_it_comes, trace))


def test_cg10_code_in_the_answer():
    """A block in the reply that answers is left out and not run, or CG10 breaks."""
    reply = f"So good!\n{HAPPY}"
    kept = make_trace(think(), respond(reply, shown("So good!")), said("So good!"))
    run = make_trace(think(), respond(reply, NOTE, shown("So good!")), said("So good!"))
    seen = make_trace(think(), respond(reply), said(reply))
    code = HAPPY.partition("\n")[2].replace("tool_code", "python")
    beside = make_trace(think(), respond(f"{reply}\n{code}"), said(f"So good!\n{code}"))

    assert ["vacuous"] == reasons(check(answers_run_nothing, WHOLE))
    assert ["kept"] == reasons(check(answers_run_nothing, beside))
    assert ["kept"] == reasons(check(answers_run_nothing, kept))
    assert ["update_current_feeling is run from the answer"] == reasons(check(answers_run_nothing, run))
    assert ["a tool_code block of the answer is shown to the user"] == reasons(check(answers_run_nothing, seen))


@pytest.mark.parametrize(
    ("question", "lang", "text", "found"),
    [
        ("Я сегодня счастлива!", "ru", "Как я рада за тебя! Что случилось?", "kept"),
        ("Я сегодня счастлива!", "ru", "I am so happy for you!", "the message is in ru, the answer in en"),
        ("I feel happy today!", "ru", "Это прекрасно, я рада!", "the message is in en, the answer in ru"),
        ("Delete notes.txt", "en", "Das ist leider nicht erlaubt.", "the message is in en, the answer in de"),
        ("Delete notes.txt", "en-GB", "That is not allowed, and the file is there.", "kept"),
        ("Delete notes.txt", "", "That is not allowed, and the file is there.", "vacuous"),
        ("17 × 23?", "en", "391", "vacuous"),
    ],
)
def test_cg12_language(question, lang, text, found):
    """The answer is in the language of the message, or of the case, where both can be told."""
    trace = make_trace(think(), respond(text), said(text), started={"question": question, "lang": lang})

    assert [found] == reasons(check(answers_in_the_users_language, trace))


def test_cg13_profile_and_history():
    """Both prompts show profile and feelings, or CG13 breaks."""
    blind = make_trace(think(embeds={"profile": "p"}), respond(embeds={}), said("x"))

    assert ["kept"] == reasons(check(both_phases_know_the_user, WHOLE))
    assert [
        "the call to think is not shown the history_of_feelings",
        "the call to respond is not shown the profile",
    ] == reasons(check(both_phases_know_the_user, blind))


def turn(number, *shown):
    """A turn of a conversation, whose prompts show what was said before."""
    embeds = {"embeds": USER | {f"turn/{n}": digest(text) for n, text in enumerate(shown)}}
    return make_trace(
        think(**embeds), respond(**embeds), said(f"Good {number}!"), started={"question": f"I am {number}."}
    )


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        (("I am 1.", "Good 1!"), ["kept"]),
        (("Good 1!",), [f"the call to {phase} is not shown that “I am 1.” was said before" for phase in PHASES]),
        ((), [f"the call to {phase} is not shown that “I am 1.” was said before" for phase in PHASES]),
    ],
)
def test_cg13_earlier_turns(shown, found):
    """Each turn shows what was asked and answered in the turns before, or CG13 breaks."""
    assert found == reasons(check(both_phases_know_the_user, [turn(1), turn(2, *shown)]))


def test_cg13_history_of_the_case():
    """What the case gives as earlier turns is shown in the first turn."""
    assert ["kept"] == reasons(check(both_phases_know_the_user, turn(1, "hi", "hello"), FOLLOWED))
    assert [f"the call to {phase} is not shown that “hello” was said before" for phase in PHASES] == reasons(
        check(both_phases_know_the_user, turn(1, "hi"), FOLLOWED)
    )


def test_cg13_turns_without_an_answer():
    """What was asked in a turn that failed is no part of the conversation."""
    failed = make_trace(think(), finished={"status": "failed", "reason": "llm_errors"})

    assert ["kept"] == reasons(check(both_phases_know_the_user, [failed, turn(2)]))


def test_cg13_long_conversations():
    """Of a long conversation the last messages are shown, and the beginning of each."""
    long = make_case(history=tuple({"role": "user", "text": f"{n} " + "x" * 3000} for n in range(30)))
    last = [f"{n} " + "x" * (2000 - len(f"{n} ")) for n in range(10, 30)]

    assert ["kept"] == reasons(check(both_phases_know_the_user, turn(1, *last), long))


def test_cg7_is_what_the_model_said():
    """Words that the model did not say, or left out where nothing is to be taken out, break CG7; a cut-out call keeps it."""
    called = 'Done: update_current_feeling("vera", "Happy") for you!'
    good = make_trace(think(), respond(called, shown("Done: update_current_feeling for you!")),
                      said("Done: update_current_feeling for you!"))  # fmt: skip
    other = make_trace(think(), respond("So good!", shown("So bad!")), said("So bad!"))
    less = make_trace(think(), respond("So good, really!", shown("So good")), said("So good"))
    canned = make_trace(think(), respond("", shown("Sorry.")), said("Sorry.", complete=False))

    assert ["kept"] == reasons(check(streamed_as_it_comes, good))
    assert ["kept"] == reasons(check(streamed_as_it_comes, canned))
    assert ["the user is shown “bad”, which the model did not say there"] == reasons(check(streamed_as_it_comes, other))
    assert ["a part of what the model said is not shown"] == reasons(check(streamed_as_it_comes, less))


def test_cg13_shows_what_the_tool_told():
    """An empty text, or another one than the tool told, is not what is known about the user."""
    tools = (OfferedTool("read_user_profile", "d", writes=False),)
    read = tool_use("read_user_profile", {"username": "vera"}, text="{}", args_raw='r("vera")', source="internal")
    started = {"user": "vera", "tools": tools}

    def told(text):
        call = think("Fine.", embeds={"profile": digest(text), "history_of_feelings": "h"})
        return make_trace(phase("think", read), call, started=started)

    assert ["kept"] == reasons(check(both_phases_know_the_user, told('Tool r("vera") returned: {}')))
    missing = ["the call to think is not shown the profile"]
    assert missing == reasons(check(both_phases_know_the_user, told("something else")))
    empty = make_trace(think("Fine.", embeds={"profile": digest(""), "history_of_feelings": "h"}))
    assert missing == reasons(check(both_phases_know_the_user, empty))
