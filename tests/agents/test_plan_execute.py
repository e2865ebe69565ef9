"""Plan and execute: its two paths, what becomes of items, its limits, and how it goes on after a stop."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from harness.agents.load import LoadedAgent
from harness.records.case import GoldenCase, Leg
from harness.records.messages import ModelReply
from harness.testing.fakes import FakeWorld, Ran, fails, run_agent, says, says_json

QUESTION = "Recherchiere Rom, dann Oslo, dann vergleiche."
FULL = GoldenCase(id="case", question=QUESTION)
PLAN = says_json(thought="zwei Städte", steps=["Rom nachsehen", "Oslo nachsehen"])
LOOK = says_json(thought="nachsehen", action="get_weather", args={"city": "Rom"})
NOTE = says_json(action="write_note", args={"text": "7 °C"})


def finish(result: str) -> ModelReply:
    """The reply that ends an item well."""
    return says_json(action="finish", result=result)


def give_up(result: str) -> ModelReply:
    """The reply that ends an item badly."""
    return says_json(action="fail", result=result)


def fast(**fields: Any) -> ModelReply:
    """A reply on the fast path."""
    usual = {"thought": "t", "action": "get_weather", "args": {"city": "Berlin"}, "answer": "ok", "if_it_fails": "nein"}
    return says_json(**{**usual, **fields})


def purposes(ran: Ran) -> list[str]:
    """What each model call was for."""
    return [event.data.purpose for event in ran.events("llm_call")]


def plans(ran: Ran) -> list[tuple[str, str]]:
    """Each change of the list: the action, and the first letter of each item's status."""
    return [
        (event.data.action, "".join(step.status[:2] + " " for step in event.data.plan).strip())
        for event in ran.events("plan_updated")
    ]


@pytest.mark.parametrize(
    ("question", "path", "why"),
    [
        ("Wie ist das Wetter in Berlin?", "fast", "short, nothing speaks of several steps"),
        ("Quantas notícias classificamos como irrelevantes hoje?", "fast", "short, nothing speaks of several steps"),
        ("Я сегодня счастлива!", "fast", "short, nothing speaks of several steps"),
        ("A farmer has 17 sheep; all but 9 run away. How many are left, and why?", "fast", "short"),
        ("Miss erst in Rom, dann in Oslo.", "full", "sequence: dann"),
        ("Is Rome warmer than Oslo?", "full", "comparison: warmer"),
        ("Finde das Budget.", "full", "research: Finde"),
        ("Какой бюджет у Альфы?", "full", "documents: бюджет"),
        ("Which items are about trade?", "full", "topic: Which items are about"),
        ("Quais notícias tratam do porto?", "full", "topic: Quais notícias tratam"),
        ("找出项目Alpha和Beta，然后比较预算。", "full", "sequence: 然后"),
        ("Tell me as soon as it stops raining.", "full", "condition: as soon as"),
        ("a " * 26, "full", "26 words"),
        ("One. Two. Three.", "full", "3 sentences"),
    ],
)
def test_the_router_reads_words_alone(
    old: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType], question: str, path: str, why: str
) -> None:
    """A question is simple unless its length or one of its words speaks against it."""
    chosen = part(old, "router").route(question)

    assert path == chosen.path
    assert chosen.why.startswith(why)


def test_fast_path(old: LoadedAgent, world: FakeWorld) -> None:
    """One model call, one tool, and an answer that the code fills in; no plan."""
    reply = fast(answer="In {city} sind es {temperature_c} °C, {condition}.", words={"rain": "Regen"})
    ran = run_agent(old, [reply], world=world)

    assert "In Berlin sind es 7 °C, Regen." == ran.answer
    assert ["fast"] == purposes(ran)
    assert ["json_action"] == [event.data.source for event in ran.events("tool_call")]
    assert [] == plans(ran)
    assert ["route", "fast"] == [event.data.name for event in ran.events("phase_started")]


def test_fast_path_without_a_tool(old: LoadedAgent, world: FakeWorld) -> None:
    """The action `none` gives the answer as it is, braces and all."""
    ran = run_agent(old, [fast(action="none", answer="So: {nichts}")], world=world)

    assert "So: {nichts}" == ran.answer
    assert [] == ran.events("tool_call")


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"args": {"city": "Atlantis"}}, "nein"),
        ({"action": "get_time"}, "nein"),
        ({"args": {"town": "Rom"}}, "nein"),
        ({"args": {"city": "Atlantis"}, "if_it_fails": " "}, "get_weather: not_found"),
    ],
)
def test_fast_path_when_the_tool_fails(old: LoadedAgent, world: FakeWorld, fields: dict[str, Any], answer: str) -> None:
    """A tool that fails leaves the answer that the model gave for that, or the plain fact."""
    assert answer == run_agent(old, [fast(**fields)], world=world).answer


def test_full_path(old: LoadedAgent, world: FakeWorld) -> None:
    """Plan, items one after the other, answer; the model reads tool results as text."""
    replies = [PLAN, LOOK, finish("Rom 7"), LOOK, finish("Oslo 7"), says("Gleich warm.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    assert "Gleich warm." == ran.answer
    assert ["plan", "step", "step", "step", "step", "answer"] == purposes(ran)
    assert [
        ("create", "pe pe"),
        ("start", "ru pe"),
        ("finish", "do pe"),
        ("start", "do ru"),
        ("finish", "do do"),
    ] == plans(ran)
    assert ran.requests[2].messages[-1].text.startswith('ERGEBNIS von get_weather:\n{"city":"Rom"')
    assert "[x] 1. Rom nachsehen: Rom 7\n[x] 2. Oslo nachsehen: Oslo 7" in ran.requests[-1].messages[-1].text


def test_one_conversation_that_only_grows(old: LoadedAgent, world: FakeWorld) -> None:
    """Each request starts with the whole of the one before, and offers no native tools."""
    replies = [PLAN, says("?"), LOOK, give_up("zu"), says_json(steps=["weiter"]), finish("ja"), says("Gut.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    for earlier, later in zip(ran.requests, ran.requests[1:], strict=False):
        assert earlier.messages == later.messages[: len(earlier.messages)]
    assert [()] == list({request.tools for request in ran.requests})


def test_the_model_is_shown_its_tools(old: LoadedAgent, world: FakeWorld) -> None:
    """The system prompt lists each tool with its parameters on one line."""
    system = run_agent(old, [fast()], world=world).requests[0].messages[0].text

    assert "\n- get_weather(city): Get the weather of a city.\n" in system
    assert system.endswith("in der Sprache der Frage.")


def test_an_unreadable_reply_is_asked_for_again(old: LoadedAgent, world: FakeWorld) -> None:
    """The model is told what was wrong, at most three times; then the item has failed and no action was guessed."""
    bad = says('{"thought": "ich schreibe", "action": "write_note", "args": "7"}')
    replies = [PLAN, bad, bad, bad, bad, says_json(steps=[]), says("Nichts gelang.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    assert ["plan", "step", "step", "step", "step", "replan", "answer"] == purposes(ran)
    assert "Das war nicht lesbar: args ist kein Objekt." in ran.requests[2].messages[-1].text
    assert ("fail", "fa pe") in plans(ran)
    assert [] == ran.events("tool_call")


def test_a_cut_reply_is_called_cut(old: LoadedAgent, world: FakeWorld) -> None:
    """A reply that ended at the token limit is named as such."""
    cut = says(fast().text + '{"thought": "lang', finish_reason="length")
    ran = run_agent(old, [cut, fast()], world=world)

    assert "Das war nicht lesbar: abgeschnitten." in ran.requests[1].messages[-1].text


def test_an_unreadable_plan_leaves_one_task(old: LoadedAgent, world: FakeWorld) -> None:
    """Without a plan that can be read the question itself is the only item, and the trace says so."""
    ran = run_agent(old, [says("?")] * 4 + [finish("ja"), says("Gut.")], world=world, case=FULL)

    assert ["unreadable_plan"] == [event.data.code for event in ran.events("warning")]
    assert [QUESTION] == [step.text for step in ran.events("plan_updated")[-1].data.plan]


def test_an_unreadable_fast_reply_ends_the_run(old: LoadedAgent, world: FakeWorld) -> None:
    """The fast path has nothing to fall back on."""
    assert ("failed", "unreadable") == run_agent(old, [says("?")] * 4, world=world).ending


def test_a_failed_item_brings_a_replan(old: LoadedAgent, world: FakeWorld) -> None:
    """What is open is dropped, what is done stays, and the failed item is named in the answer."""
    replies = [PLAN, LOOK, finish("Rom 7"), give_up("kein Oslo"), says_json(steps=["Bergen"]), finish("6"), says("So.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    assert ("replan", "do fa pe") in plans(ran)
    assert ("finish", "do fa do") == plans(ran)[-1]
    assert "Aufgabe 2 ist gescheitert: kein Oslo" in ran.requests[4].messages[-1].text
    assert "So.\n\n**Nicht erledigt · not done**\n\n- Oslo nachsehen: kein Oslo" == ran.answer


def test_open_items_are_dropped_by_a_replan(old: LoadedAgent, world: FakeWorld) -> None:
    """A replan takes the place of everything that was still to be done."""
    replies = [PLAN, give_up("zu"), says_json(steps=["Bergen"]), finish("6"), says("Rom nachsehen ging nicht.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    assert ("replan", "fa dr pe") in plans(ran)
    assert "Rom nachsehen ging nicht." == ran.answer


def test_two_replans_at_most(old: LoadedAgent, world: FakeWorld) -> None:
    """After the second replan failed items stay failed, and the rest goes on."""
    more = says_json(steps=["x", "y"])
    replies = [PLAN, give_up("1"), more, give_up("2"), more, give_up("3"), finish("y"), says("Ende.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    assert ["plan", "step", "replan", "step", "replan", "step", "step", "answer"] == purposes(ran)
    assert ("completed", "") == ran.ending


def test_an_unreadable_replan_leaves_the_list(old: LoadedAgent, world: FakeWorld) -> None:
    """A replan that cannot be read changes nothing; the next item comes."""
    replies = [PLAN, give_up("zu"), *[says("?")] * 4, finish("Oslo 7"), says("So.")]
    ran = run_agent(old, replies, world=world, case=FULL)

    assert ("finish", "fa do") == plans(ran)[-1]


def test_three_model_errors_in_a_row_end_the_run(old: LoadedAgent, world: FakeWorld) -> None:
    """Errors with a reply between do not add up; the third in a row ends the run and leaves the list for later."""
    ran = run_agent(old, [fails(), fails(), PLAN, fails(), fails(), fails()], world=world, case=FULL)

    assert ("failed", "llm_errors") == ran.ending
    assert ("start", "ru pe") == plans(ran)[-1]
    assert "" == ran.answer


def test_the_limit_of_model_calls(old: LoadedAgent, world: FakeWorld) -> None:
    """After twenty calls open items are dropped, and what is done is shown as incomplete."""
    ran = run_agent(old, [PLAN, LOOK, finish("Rom 7"), *[LOOK] * 17], world=world, case=FULL)
    final = ran.events("final_answer")[0].data

    assert ("failed", "max_steps", 20) == (*ran.ending, len(ran.requests))
    assert ("drop", "do dr") == plans(ran)[-1]
    assert ("*(unvollständig · incomplete)*\n\n- Rom nachsehen: Rom 7", False) == (final.text, final.complete)


@pytest.mark.parametrize(("text", "reason"), [(" ", "sie war leer"), ('Also: {"action": "x"}', "sie enthielt JSON")])
def test_what_is_no_answer_is_asked_for_again(old: LoadedAgent, world: FakeWorld, text: str, reason: str) -> None:
    """A blank text or one more JSON object is no answer; after four of them the run has failed."""
    start = [PLAN, finish("Rom 7"), finish("Oslo 7")]

    ran = run_agent(old, [*start, says(text), says("So.")], world=world, case=FULL)

    assert "So." == ran.answer
    assert f"Das war keine Antwort: {reason}." in ran.requests[-1].messages[-1].text
    assert ("failed", "no_answer") == run_agent(old, [*start, *[says(text)] * 4], world=world, case=FULL).ending


@pytest.mark.parametrize("saved", range(1, 7))
def test_a_stop_anywhere_changes_nothing(old: LoadedAgent, world: Any, saved: int) -> None:
    """Stopped at any save and resumed, the model is sent the same, nothing is written twice, and the end is the same."""
    replies = [PLAN, NOTE, finish("Rom 7"), give_up("zu"), says_json(steps=[]), says("Rom hat 7 °C.")]
    whole = run_agent(old, replies, world=type(world)(), case=FULL)
    case = GoldenCase(id="case", question=QUESTION, legs=(Leg(stop_after={"state_saved": saved}), Leg(resume=True)))
    ran = run_agent(old, replies, world=world, case=case)

    assert [request.messages for request in whole.requests] == [request.messages for request in ran.requests]
    assert (whole.answer, ["7 °C"]) == (ran.answer, world.written)


def test_nothing_to_resume(old: LoadedAgent, world: FakeWorld) -> None:
    """Nothing saved and nothing asked is said so, in place of a crash."""
    case = GoldenCase(id="case", question="x", legs=(Leg(resume=True),))

    assert ("failed", "no_session") == run_agent(old, [], world=world, case=case).ending
