"""CL2, CL3, CL6, CL7, CL9–CL11 and CL13: plan, saved state and good sense."""

from __future__ import annotations

import msgspec

from harness.contracts.lean_plan import (
    answer_after_bookkeeping,
    plan_follows_calls,
    plan_is_shown,
    plan_is_worked_off,
    resumes_where_it_stood,
    saved_each_round,
    search_changes,
    simple_stays_simple,
)
from harness.contracts.plans import render
from harness.records.case import Leg
from harness.records.digest import digest, digest_bytes
from harness.records.trace import Effect, StateLoaded, StateSaved
from harness.testing.builders import answer, check, make_case, make_trace, model_turn, plan_updated, reasons, tool_use

TASKS = ["read Alpha", "read Beta"]
REQUIRED = make_case(plan="required", class_="complex")
NO_PLAN = digest_bytes(b"[]")


def planned(action, **args):
    """A call of the plan tool with its result."""
    return tool_use("manage_plan", {"action": action, **args}, effect="none")


def create(tasks=TASKS):
    """A plan being made, as the lean design tells it."""
    return [model_turn(), planned("create_plan", tasks=tasks), plan_updated("create_plan", *tasks)]


def mark(number, done, text=""):
    """A step being marked in a turn of its own."""
    marked = planned("mark_done", step_index=number)
    return [model_turn(text), marked, plan_updated("mark_done", *TASKS, done=done)]


def shown(*done):
    """The digest of the plan as the model is shown it."""
    return {"plan": digest(render(plan_updated("x", *TASKS, done=done).plan))}


def saved(messages, plan=NO_PLAN):
    """A saved state with these digests."""
    parts = {"messages": messages, "plan": plan}
    return StateSaved(session_id="s", digest=digest(parts), parts=parts)


def test_cl2_plan_shown_as_it_stands():
    """A plan that is shown from its making on, as it changes, keeps CL2."""
    trace = make_trace(create(), model_turn(embeds=shown()), mark(1, [1])[1:], model_turn("x", embeds=shown(1)))

    assert ["kept"] == reasons(check(plan_is_shown, trace))


def test_cl2_stale_missing_and_invented():
    """A stale plan, none where there is one, and one where there is none break CL2."""
    stale = make_trace(create(), model_turn(embeds=shown()), mark(1, [1])[1:], model_turn("x", embeds=shown()))
    missing = make_trace(create(), model_turn("x"))
    invented = make_trace(model_turn(embeds=shown()), create()[1:])

    assert ["the model is shown another plan than the one in force"] == reasons(check(plan_is_shown, stale))
    assert ["there is a plan, and the model is not shown it"] == reasons(check(plan_is_shown, missing))
    assert ["the model is shown a plan, and there is none"] == reasons(check(plan_is_shown, invented))


def test_cl3_plan_follows_the_calls():
    """Changes told once each, and calls that change nothing told not at all, keep CL3."""
    trace = make_trace(
        create(), planned("read_plan"), mark(1, [1]), model_turn(), planned("mark_done", step_index=1),
        tool_use("manage_plan", {"action": "mark_done", "step_index": 9}, error="invalid_args", effect="none"),
    )  # fmt: skip

    assert ["kept"] == reasons(check(plan_follows_calls, trace))


def test_cl3_wrong_told_and_untold():
    """A 0-based index, a change told for nothing, an untold one, and one without a call break CL3."""
    wrong = make_trace(create(), mark(1, [2]))
    nothing = make_trace(create(), planned("read_plan"), plan_updated("read_plan", *TASKS))
    untold = make_trace(create(), planned("mark_done", step_index=1))
    uncalled = make_trace(create(), model_turn("x"), plan_updated("mark_done", *TASKS, done=[1]))
    between = make_trace(create(), model_turn(), plan_updated("mark_done", *TASKS, done=[1]), planned("read_plan"))

    assert ["after mark_done the plan is 1 2✓, expected 1✓ 2"] == reasons(check(plan_follows_calls, wrong))
    assert ["read_plan changed nothing, yet plan_updated says so"] == reasons(check(plan_follows_calls, nothing))
    assert ["mark_done changed the plan, and plan_updated tells it 0 times"] == reasons(
        check(plan_follows_calls, untold)
    )
    for trace in (uncalled, between):
        assert ["the plan changed without a call of manage_plan"] == reasons(check(plan_follows_calls, trace))


def test_cl6_saved_each_round():
    """A state saved after each round, with the plan in force, keeps CL6."""
    plan = digest_bytes(msgspec.json.encode([{"description": t, "status": "PENDING"} for t in TASKS]))
    trace = make_trace(create(), saved("m1", plan), model_turn(), tool_use("t"), saved("m2", plan), model_turn("x"))

    assert ["kept"] == reasons(check(saved_each_round, trace))


def test_cl6_unsaved_stale_and_empty():
    """A round that is not saved, stale messages, no messages, and a stale plan break CL6."""
    unsaved = make_trace(model_turn(), tool_use("t"), model_turn("x"), answer("x"), saved("m"))
    stale = make_trace(
        model_turn(), tool_use("t"), saved("m1"), model_turn(), tool_use("t"), saved("m1"), model_turn("x")
    )
    empty = make_trace(model_turn(), tool_use("t"), StateSaved(session_id="s", digest="d", parts={}), model_turn("x"))
    plan = make_trace(create(), saved("m1"), model_turn("x"))

    assert ["a round of tools is not saved before the next model call"] == reasons(check(saved_each_round, unsaved))
    assert ["the saved messages are those of the round before"] == reasons(check(saved_each_round, stale))
    assert ["the saved state holds no messages"] == reasons(check(saved_each_round, empty))
    assert ["the saved plan is not the plan in force"] == reasons(check(saved_each_round, plan))


LEGS = make_case(legs=(Leg(stop_after={"state_saved": 1}), Leg(resume=True)))
WRITE = {"cluster_id": 120}


def legs(loaded, prefix=("s", "u", "a", "t"), again=()):
    """A leg that writes and is cut off, and one that goes on."""
    write = tool_use("update", WRITE, effect="write", effects=[Effect("cluster", "120", 3, 2)])
    first = make_trace(model_turn(prefix_digests=("s", "u")), write, saved("m1"), finished={"status": "cancelled"})
    second = make_trace(loaded, model_turn("ok", prefix_digests=prefix), again, answer("ok"), first_turn=2)
    return [first, second]


def test_cl7_goes_on():
    """A second leg that loads what was saved and goes on with its messages keeps CL7."""
    loaded = StateLoaded(session_id="s", digest=saved("m1").digest, parts={})

    assert ["kept"] == reasons(check(resumes_where_it_stood, legs(loaded), LEGS))


def test_cl7_other_state_messages_and_repeated_writes():
    """Another state, other messages, no state at all, and a write done again break CL7, in the second leg."""
    good = StateLoaded(session_id="s", digest=saved("m1").digest, parts={})
    other = legs(StateLoaded(session_id="s", digest="old", parts={}))
    restarted = legs(good, prefix=("s", "u2"))
    rewritten = legs(good, again=tool_use("update", WRITE, effect="write"))

    finding = check(resumes_where_it_stood, other, LEGS)[0]
    assert ("the loaded state is not the one saved last", 1) == (finding.because, finding.leg)
    assert ["the first model call does not go on with the saved messages"] == reasons(
        check(resumes_where_it_stood, restarted, LEGS)
    )
    assert ["update repeats a write of an earlier leg"] == reasons(check(resumes_where_it_stood, rewritten, LEGS))
    assert ["resumed without loading the saved state"] == reasons(check(resumes_where_it_stood, legs([]), LEGS))


def test_cl7_the_plan_comes_along():
    """A second leg that shows the saved plan keeps CL7; one that shows none, or another, breaks it."""
    loaded = StateLoaded(session_id="s", digest=saved("m1").digest, parts={})
    first = make_trace(create(), saved("m1"), finished={"status": "cancelled"})

    def resumed(embeds):
        return [first, make_trace(loaded, model_turn("ok", embeds=embeds), answer("ok"), first_turn=2)]

    assert ["kept"] == reasons(check(resumes_where_it_stood, resumed(shown()), LEGS))
    for embeds in ({}, shown(1)):
        assert ["the first model call does not show the saved plan"] == reasons(
            check(resumes_where_it_stood, resumed(embeds), LEGS)
        )


def test_cl9_simple_stays_simple():
    """One round of tools and an answer keep CL9; a plan or an idle call breaks it."""
    simple = make_case(class_="simple")
    good = make_trace(model_turn(), tool_use("get_weather"), model_turn("7"), answer("7"))
    idle = make_trace(model_turn(), model_turn(), tool_use("get_weather"), model_turn("7"), answer("7"))

    assert ["kept"] == reasons(check(simple_stays_simple, good, simple))
    assert ["3 model calls for a simple question with 1 rounds"] == reasons(check(simple_stays_simple, idle, simple))
    assert ["a simple question is planned"] == reasons(check(simple_stays_simple, make_trace(create()), simple))


def test_cl10_worked_off():
    """A plan made first, marked as work is done and finished before the answer keeps CL10."""
    trace = make_trace(
        create(), model_turn(), tool_use("read_doc"), mark(1, [1]), mark(2, [1, 2], "Beta has 95 000 EUR."), answer("x")
    )

    assert ["kept"] == reasons(check(plan_is_worked_off, trace, REQUIRED))
    assert ["vacuous"] == reasons(check(plan_is_worked_off, make_trace(model_turn("x")), make_case(class_="complex")))


def test_cl10_work_of_an_earlier_leg_counts():
    """What was worked out before a stop may be marked after it."""
    first = make_trace(create(), model_turn(), tool_use("read_doc"), saved("m"), finished={"status": "cancelled"})
    second = make_trace(
        StateLoaded(session_id="s", digest="d", parts={}), mark(1, [1]), tool_use("read_doc"), mark(2, [1, 2]),
        answer("x"), first_turn=9,
    )  # fmt: skip

    assert ["kept"] == reasons(check(plan_is_worked_off, [first, second], LEGS))


def test_cl10_none_short_late_and_open():
    """No plan, one of one step, one made late, and one with open steps break CL10."""
    done = plan_updated("mark_done", *TASKS, done=[1, 2])
    short = make_trace(create(["all"]), plan_updated("x", "all", done=[1]), answer("x"))
    late = make_trace(model_turn(), tool_use("read_doc"), create(), done, answer("x"))

    assert ["no plan is made"] == reasons(check(plan_is_worked_off, make_trace(model_turn("x"), answer("x")), REQUIRED))
    assert ["the plan has 1 steps, expected at least 2"] == reasons(check(plan_is_worked_off, short, REQUIRED))
    assert ["read_doc is called before the plan is made"] == reasons(check(plan_is_worked_off, late, REQUIRED))
    assert ["answered with open steps: 1, 2"] == reasons(
        check(plan_is_worked_off, make_trace(create(), answer("x")), REQUIRED)
    )


def test_cl10_burst():
    """Marking everything at once without work breaks CL10 at the first mark that has none."""
    trace = make_trace(
        create(), model_turn(), tool_use("read_doc"), model_turn(), planned("mark_done", step_index=1),
        planned("mark_done", step_index=2), plan_updated("mark_done", *TASKS, done=[1, 2]), answer("x"),
    )  # fmt: skip

    assert ["step 2 is marked done without any work of its own"] == reasons(check(plan_is_worked_off, trace, REQUIRED))


def test_cl11_searches_change():
    """Another query after a failed one keeps CL11; the same one again breaks it."""

    def search(query, **fields):
        return [model_turn(), tool_use("search_docs", {"query": query}, **fields)]

    bad = search("Gamma", error="timeout")
    plan = [model_turn(), planned("read_plan")]
    parallel = [bad, [tool_use("search_docs", {"query": "Gamma"}, error="timeout")] * 3]

    assert ["kept"] == reasons(check(search_changes, make_trace(bad, search("Projekt G"), answer("x"))))
    assert ["search_docs is repeated with the same arguments"] == reasons(
        check(search_changes, make_trace(bad, plan, bad, answer("x")))
    )
    assert ["search_docs is repeated unchanged 3 times"] == reasons(check(search_changes, make_trace(parallel)))


def test_cl13_answer_after_bookkeeping():
    """An answer in a reply of its own keeps CL13; beside a plan call, or before one, it breaks it."""
    beside = make_trace(
        model_turn("x", calls=[("manage_plan", {"action": "mark_done"})]), planned("mark_done"), answer("x")
    )
    before = make_trace(model_turn("x"), answer("x"), planned("mark_done"))

    assert ["kept"] == reasons(check(answer_after_bookkeeping, make_trace(create(), model_turn("x"), answer("x"))))
    assert ["the answer stands beside a call of the plan tool"] == reasons(check(answer_after_bookkeeping, beside))
    assert ["the plan tool is called after the answer"] == reasons(check(answer_after_bookkeeping, before))
