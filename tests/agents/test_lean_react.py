"""The lean loop: what it sends, what it survives, where it ends, and how it goes on after a stop."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from harness.agents.load import LoadedAgent
from harness.contracts.catalogue import builtin
from harness.contracts.judge import judge
from harness.records.case import GoldenCase, Leg, Limits
from harness.records.messages import Message, ThinkingBlock, ToolCall
from harness.testing.fakes import FakeWorld, Ran, call, calls, fails, run_agent, says

CREATE = call("manage_plan", action="create_plan", tasks=["lesen", "schreiben"])
BERLIN = call("get_weather", city="Berlin")
NOTE = call("write_note", text="7 °C")
HEAD = "AKTUELLER PLAN (automatischer Hinweis):"


def done(number: int) -> ToolCall:
    """The call that ticks a step off."""
    return call("manage_plan", action="mark_done", step_index=number)


def two_legs(saved: int) -> GoldenCase:
    """A case that is cut off at a save and resumed."""
    return GoldenCase(
        id="case", question="Miss und notiere.", legs=(Leg(stop_after={"state_saved": saved}), Leg(resume=True))
    )


def sent(ran: Ran, number: int) -> list[tuple[str, str]]:
    """Role and text of each message of a model call, from 1."""
    return [(message.role, message.text) for message in ran.requests[number - 1].messages]


def broken(ran: Ran, case: GoldenCase) -> set[str]:
    """Names of the contracts that the run breaks."""
    held = [contract for contract in builtin().values() if contract.applies_to("lean_react") and contract.kind == "S"]
    return {found.contract for found in judge(case, ran.judged(), held) if found.state == "broken"}


def test_a_text_is_the_answer(lean: LoadedAgent, world: FakeWorld) -> None:
    """A reply without tool calls is the answer, word for word, and the conversation is saved with it."""
    ran = run_agent(lean, [says(" Hallo!\n")], world=world)

    assert ("completed", "") == ran.ending
    assert " Hallo!\n" == ran.answer
    assert ["state_saved", "final_answer", "trial_finished"] == [event.type for event in ran.trace.events[-3:]]


def test_what_the_model_is_sent(lean: LoadedAgent, world: FakeWorld) -> None:
    """System prompt with date, user and company, the question, every tool and the planner, no plan section."""
    ran = run_agent(lean, [says("Hallo!")], world=world, options={"company": "die Wetterwarte"})
    request = ran.requests[0]
    system = request.messages[0].text

    assert ["system", "user"] == [message.role for message in request.messages]
    assert "KI-Agent für die Wetterwarte." in system
    assert "Heute ist 2026-03-10. Angemeldet ist vera." in system
    assert system.endswith("in der Sprache der Frage.")
    assert "PLAN:" not in system
    assert ["get_weather", "broken_tool", "write_note", "manage_plan"] == [tool.name for tool in request.tools]
    assert ("auto", "gpt-4.1-mini", None) == (request.tool_choice, request.model, request.temperature)


def test_history_and_knowledge_are_sent(lean: LoadedAgent, world: FakeWorld) -> None:
    """Earlier turns stand before the question, and knowledge in the system prompt."""
    case = GoldenCase(
        id="case", question="Und jetzt?", knowledge="Rom ist warm.", history=({"role": "user", "text": "Vorhin?"},)
    )
    ran = run_agent(lean, [says("Ja.")], world=world, case=case)

    assert [("user", "Vorhin?"), ("user", "Und jetzt?")] == sent(ran, 1)[1:]
    assert sent(ran, 1)[0][1].endswith("WISSEN:\nRom ist warm.")


def test_tool_then_answer(lean: LoadedAgent, world: FakeWorld) -> None:
    """The reply goes back with its text, its calls and their results; then the answer comes."""
    ran = run_agent(lean, [calls(BERLIN, text="Ich sehe nach."), says("7 °C")], world=world)
    assistant, result = ran.requests[1].messages[2:]

    assert ("assistant", "Ich sehe nach.", "get_weather") == (
        assistant.role,
        assistant.text,
        assistant.tool_calls[0].name,
    )
    assert ("tool", "call_1", '{"city":"Berlin","temperature_c":7,"condition":"rain"}') == (
        result.role,
        result.tool_call_id,
        result.text,
    )
    assert "7 °C" == ran.answer


def test_two_calls_in_one_response(lean: LoadedAgent, world: FakeWorld) -> None:
    """Both calls run, in order, and each result goes under its own id."""
    ran = run_agent(lean, [calls(BERLIN, NOTE), says("ok")], world=world)
    results = ran.requests[1].messages[3:]

    assert ["get_weather", "write_note"] == [event.data.tool for event in ran.events("tool_call")]
    assert ["call_1", "call_2"] == [message.tool_call_id for message in results]


def test_one_write_a_turn(lean: LoadedAgent, world: Any) -> None:
    """A second writing call in one response is not run, and the model is told to ask for it in the next turn."""
    second = call("write_note", text="Regen")
    ran = run_agent(lean, [calls(NOTE, BERLIN, second), calls(second), says("ok")], world=world)
    results = [(event.data.ok, event.data.error_kind) for event in ran.events("tool_result")]

    assert [(True, None), (True, None), (False, "denied"), (True, None)] == results
    assert "höchstens ein schreibender Aufruf pro Zug" in ran.requests[1].messages[-1].text
    assert ["7 °C", "Regen"] == world.written


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        (call("get_time"), "unknown_tool", "no tool named get_time; available: broken_tool, get_weather"),
        (call("get_weather", town="Rom"), "invalid_args", "invalid arguments for get_weather"),
        (call("get_weather", '{"city": "Ro'), "invalid_args", "arguments for get_weather are not a JSON object"),
        (call("broken_tool"), "crash", "broken_tool failed: RuntimeError: wires crossed"),
        (call("get_weather", city="Atlantis"), "not_found", "no such city"),
        (call("manage_plan", action="mark_done", step_index=1), "invalid_args", "Kein aktiver Plan."),
    ],
)
def test_a_call_that_fails_is_a_result(
    lean: LoadedAgent, world: FakeWorld, wrong: ToolCall, kind: str, said: str
) -> None:
    """Whatever is wrong with a call, the model reads of it, and the loop goes on."""
    ran = run_agent(lean, [calls(wrong), says("Das ging nicht.")], world=world)
    result = ran.events("tool_result")[0].data

    assert (False, kind) == (result.ok, result.error_kind)
    assert said in ran.requests[1].messages[-1].text
    assert ("completed", "") == ran.ending


def test_plan_from_first_to_last_step(lean: LoadedAgent, world: FakeWorld) -> None:
    """Create, work, tick off, answer: at the end every step is done."""
    replies = [calls(CREATE), calls(BERLIN), calls(done(1), NOTE), calls(done(2)), says("Fertig.")]
    ran = run_agent(lean, replies, world=world)
    plans = [event.data for event in ran.events("plan_updated")]

    assert ["create_plan", "mark_done", "mark_done"] == [plan.action for plan in plans]
    assert [("lesen", "DONE"), ("schreiben", "DONE")] == [(step.text, step.status) for step in plans[-1].plan]
    assert ("completed", "Fertig.") == (ran.ending[0], ran.answer)


def test_reading_the_plan_is_no_update(lean: LoadedAgent, world: FakeWorld) -> None:
    """Only a change of the plan is told as one."""
    replies = [calls(CREATE), calls(call("manage_plan", action="read_plan")), calls(done(9)), says("ok")]
    ran = run_agent(lean, replies, world=world)

    assert ["create_plan"] == [event.data.action for event in ran.events("plan_updated")]


def test_the_plan_is_a_note_at_the_end(lean: LoadedAgent, world: FakeWorld) -> None:
    """A note follows each change of the plan and nothing else; what was sent before is never touched."""
    ran = run_agent(lean, [calls(CREATE), calls(BERLIN), calls(done(1)), says("ok")], world=world)
    notes = [[text for role, text in sent(ran, n) if text.startswith(HEAD)] for n in (1, 2, 3, 4)]

    assert [0, 1, 1, 2] == [len(found) for found in notes]
    assert sent(ran, 2)[-1] == ("user", notes[3][0])
    assert sent(ran, 4)[-1] == ("user", notes[3][1])
    assert f"{HEAD}\n[x] 1. lesen\n[ ] 2. schreiben\n\nOffen ist Schritt 2: schreiben." in notes[3][1]
    for earlier, later in zip(ran.requests, ran.requests[1:], strict=False):
        assert earlier.messages == later.messages[: len(earlier.messages)]
        assert earlier.tools == later.tools


def test_the_note_asks_for_the_answer_when_all_is_done(lean: LoadedAgent, world: FakeWorld) -> None:
    """With no step open the note says that it is time to answer."""
    ran = run_agent(lean, [calls(CREATE), calls(done(1), done(2)), says("ok")], world=world)

    assert sent(ran, 3)[-1][1].endswith("\n\nAlle Schritte sind erledigt. Beantworte jetzt die Frage.")


def test_a_call_names_the_plan_that_it_shows(lean: LoadedAgent, world: FakeWorld) -> None:
    """Each model call carries the digest of the plan as it stands, and none before there is one."""
    ran = run_agent(lean, [calls(CREATE), calls(done(1)), says("ok")], world=world)
    plans = [event.data.digest for event in ran.events("plan_updated")]

    assert [None, *plans] == [event.data.embeds.get("plan") for event in ran.events("llm_call")]


def test_plan_in_the_system_prompt(lean: LoadedAgent, world: FakeWorld) -> None:
    """With `plan_injection=system` the plan stands in the system prompt, as it is now, and in no note."""
    ran = run_agent(
        lean, [calls(CREATE), calls(done(1)), says("ok")], world=world, options={"plan_injection": "system"}
    )

    assert "PLAN:" not in sent(ran, 1)[0][1]
    assert sent(ran, 2)[0][1].endswith("AKTUELLER PLAN:\n[ ] 1. lesen\n[ ] 2. schreiben")
    assert sent(ran, 3)[0][1].endswith("AKTUELLER PLAN:\n[x] 1. lesen\n[ ] 2. schreiben")
    assert not any(text.startswith(HEAD) for _, text in sent(ran, 3))


def test_one_model_error_is_survived(lean: LoadedAgent, world: FakeWorld) -> None:
    """After a failed call the same request is sent again, a little later."""
    ran = run_agent(lean, [fails(), says("ok")], world=world)

    assert ("completed", "") == ran.ending
    assert ran.requests[0].messages == ran.requests[1].messages
    assert ran.trace.events[-1].ts >= 1000


def test_three_model_errors_in_a_row_end_the_run(lean: LoadedAgent, world: FakeWorld) -> None:
    """The third error in a row ends the run with its reason; errors with a reply between do not add up."""
    apart = run_agent(lean, [fails(), fails(), calls(BERLIN), fails(), fails(), says("ok")], world=world)
    in_a_row = run_agent(lean, [calls(BERLIN), fails(), fails(), fails()], world=world)

    assert ("completed", "") == apart.ending
    assert ("failed", "llm_errors") == in_a_row.ending
    assert "the provider is down" == in_a_row.events("error")[0].data.message
    assert "" == in_a_row.answer


def test_an_empty_reply_is_nudged_once(lean: LoadedAgent, world: FakeWorld) -> None:
    """An empty reply costs a step and brings a nudge; the model may recover."""
    ran = run_agent(lean, [calls(BERLIN), says(" "), says("7 °C")], world=world)

    assert ("user", "Deine Antwort war leer. Beantworte die Frage oder rufe ein Werkzeug auf.") == sent(ran, 3)[-1]
    assert ("completed", "7 °C") == (ran.ending[0], ran.answer)


def test_two_empty_replies_end_the_run(lean: LoadedAgent, world: FakeWorld) -> None:
    """A model that has nothing to say after the nudge is not asked again; replies between start the count anew."""
    assert ("failed", "empty_reply") == run_agent(lean, [says(""), says("")], world=world).ending
    assert ("completed", "") == run_agent(lean, [says(""), calls(BERLIN), says(""), says("ok")], world=world).ending


def test_the_step_limit(lean: LoadedAgent, world: FakeWorld) -> None:
    """After twenty steps the run has failed, and what was last said is shown as incomplete."""
    replies = [calls(call("get_weather", city=f"Stadt {n}"), text=f"Noch {n}.") for n in range(20)]
    ran = run_agent(lean, replies, world=world)
    final = ran.events("final_answer")[0].data

    assert ("failed", "max_steps", 20) == (*ran.ending, len(ran.requests))
    assert ("*(unvollständig · incomplete)*\n\nNoch 19.", False) == (final.text, final.complete)


def test_every_call_is_a_step(lean: LoadedAgent, world: FakeWorld) -> None:
    """Failed and empty calls count towards the limit as all others do."""
    replies = [fails(), says(""), calls(BERLIN), fails()]
    ran = run_agent(lean, replies, world=world, options={"max_steps": 4})

    assert ("failed", "max_steps") == ran.ending
    assert [1, 2, 3, 4] == [event.round for event in ran.events("llm_call")]


def test_a_repeated_call_is_pointed_out_once(lean: LoadedAgent, world: FakeWorld) -> None:
    """The third equal call brings a warning and a note; planner calls do not count."""
    ran = run_agent(lean, [calls(BERLIN)] * 4 + [says("ok")], world=world)
    note = (
        "Du hast get_weather schon dreimal mit denselben Argumenten aufgerufen. Versuche etwas anderes oder antworte."
    )

    assert ["repeated_call"] == [event.data.code for event in ran.events("warning")]
    assert ("user", note) == sent(ran, 4)[-1]
    assert 1 == sum(text == note for _, text in sent(ran, 5))


def test_a_plan_may_be_read_again_and_again(lean: LoadedAgent, world: FakeWorld) -> None:
    """Equal calls of the planner are no reason to warn."""
    ran = run_agent(lean, [calls(call("manage_plan", action="read_plan"))] * 4 + [says("ok")], world=world)

    assert [] == ran.events("warning")


def test_an_earlier_answer_is_not_shown_again(lean: LoadedAgent, world: FakeWorld) -> None:
    """What is shown at the limit was said about this question, not about one before it."""
    case = GoldenCase(id="case", question="Und jetzt?", history=({"role": "assistant", "text": "Vorhin schien sie."},))
    ran = run_agent(lean, [calls(BERLIN)] * 3, world=world, case=case, options={"max_steps": 3})

    assert ("failed", "max_steps") == ran.ending
    assert [] == ran.events("final_answer")


def test_thinking_goes_back_untouched(lean: LoadedAgent, world: FakeWorld) -> None:
    """Thinking blocks return with the tool results, signatures and order as they were."""
    blocks = (ThinkingBlock("thinking", "Berlin.", "sig"), ThinkingBlock("redacted", data="b3BhcXVl"))
    ran = run_agent(lean, [calls(BERLIN, thinking=blocks), says("ok")], world=world)

    assert blocks == ran.requests[1].messages[2].thinking


def test_streaming_shows_the_text_as_it_comes(lean: LoadedAgent, world: FakeWorld) -> None:
    """With `stream` the text of replies is shown piece by piece; the answer is the same."""
    ran = run_agent(lean, [calls(BERLIN), says("Sieben Grad.")], world=world, options={"stream": True})
    shown = [event.data for event in ran.events("llm_chunk") if event.data.text]

    assert all(request.stream for request in ran.requests)
    assert all(chunk.visible for chunk in shown)
    assert "Sieben Grad." == ran.answer


def test_state_is_saved_each_round(lean: LoadedAgent, world: FakeWorld) -> None:
    """Between a tool round and the next model call the state is saved."""
    ran = run_agent(lean, [calls(CREATE), calls(BERLIN), says("ok")], world=world)
    order = [event.type for event in ran.trace.events if event.type in ("llm_call", "state_saved")]

    assert ["llm_call", "state_saved"] * 3 == order


def test_a_stopped_session_goes_on(lean: LoadedAgent, world: Any) -> None:
    """The second leg starts with what was saved: conversation, plan and step count; what was written stays written."""
    replies = [calls(CREATE), calls(NOTE), calls(done(1), done(2)), says("Notiert.")]
    ran = run_agent(lean, replies, world=world, case=two_legs(2))
    resumed = ran.requests[2]

    assert ["cancelled", "completed"] == [trace.events[-1].data.status for trace in ran.trial.traces]
    assert "tool" == resumed.messages[-1].role
    assert ran.requests[1].messages == resumed.messages[: len(ran.requests[1].messages)]
    assert [3, 4] == [event.round for event in ran.trial.traces[1].events if event.type == "llm_call"]
    assert ["7 °C"] == world.written
    assert "Notiert." == ran.answer


def test_a_write_is_not_repeated_after_a_stop(lean: LoadedAgent, world: Any) -> None:
    """A resumed model that asks for the very write again is told that it is done; another write is run."""
    again, other = call("write_note", '{ "text" : "7 °C" }'), call("write_note", text="Regen")
    ran = run_agent(lean, [calls(NOTE), calls(again), calls(other), says("ok")], world=world, case=two_legs(1))

    assert ["7 °C", "Regen"] == world.written
    assert "Nicht ausgeführt: write_note hat genau das vor der Unterbrechung schon getan." in (
        ran.requests[2].messages[-1].text
    )


@pytest.mark.parametrize("saved", [1, 2, 3, 4])
def test_a_stop_anywhere_changes_nothing(lean: LoadedAgent, world: Any, saved: int) -> None:
    """Stopped after any round and resumed, the model is sent the same, and the run ends the same."""
    replies = [calls(CREATE), calls(NOTE), calls(done(1), done(2)), says("Notiert.")]
    whole = run_agent(lean, replies, world=type(world)())
    ran = run_agent(lean, replies, world=world, case=two_legs(saved))

    assert len(whole.requests) == len(ran.requests)
    assert [r.messages[2:] for r in whole.requests] == [r.messages[2:] for r in ran.requests]
    assert ("Notiert.", ["7 °C"]) == (ran.answer, world.written)


def test_nothing_to_resume(lean: LoadedAgent, world: FakeWorld) -> None:
    """Nothing saved and nothing asked is said so, in place of a crash."""
    ran = run_agent(lean, [], world=world, case=GoldenCase(id="case", question="x", legs=(Leg(resume=True),)))

    assert ("failed", "no_session") == ran.ending
    assert "nothing is saved for session session" == ran.events("error")[0].data.message


def test_an_older_session_still_loads(lean: LoadedAgent) -> None:
    """A plan saved as `planner` is read, its calls get today's name, and calls without a result are dropped."""
    package = importlib.import_module(lean.build.__module__)
    old, left = ToolCall("1", "planner", "{}", {}), ToolCall("2", "write_note", "{}", {})
    saved = [
        Message("user", "?"),
        Message("assistant", "", (old, left)),
        Message("tool", "ok", (), "1"),
        Message("assistant", "", (left,)),
    ]

    assert [
        Message("user", "?"),
        Message("assistant", "", (ToolCall("1", "manage_plan", "{}", {}),)),
        Message("tool", "ok", (), "1"),
    ] == package._readable(saved)


def test_the_letter_of_the_document_breaks_what_the_reference_keeps(lean: LoadedAgent) -> None:
    """A provider that is down, and a plan that moves through the system prompt, are what `seed_literal` fails on."""
    case = GoldenCase(id="case", question="x", limits=Limits(llm_calls=20))
    down = {
        name: run_agent(lean, [fails()] * 30, case=case, name=name)
        for name in ("lean_react", "lean_react@seed_literal")
    }
    planned = {
        name: run_agent(lean, [calls(CREATE), calls(done(1)), says("ok")], case=case, name=name)
        for name in ("lean_react", "lean_react@seed_literal")
    }

    assert ("failed", "llm_errors") == down["lean_react"].ending
    assert ("failed", "llm_calls") == down["lean_react@seed_literal"].ending
    assert set() == broken(down["lean_react"], case) == broken(planned["lean_react"], case)
    assert {"CX6", "CL12"} <= broken(down["lean_react@seed_literal"], case)
    assert {"CX10"} <= broken(planned["lean_react@seed_literal"], case)
