"""CE1, CE2 and CE8–CE11: the executor, what it falls back on, and its stream."""

from __future__ import annotations

import json

import pytest

from harness.contracts import newsdesk
from harness.contracts.newsdesk import (
    falls_back,
    one_action,
    short_loop,
    stream_of_lines,
    stream_problems,
    switched_off,
    told_as_it_happens,
)
from harness.contracts.react_actions import first_block
from harness.records.case import Leg
from harness.records.react_lines import error_line, react_lines
from harness.records.trace import ConfigResolved, ErrorRaised, FallbackUsed, LlmChunk, Thought, Warned
from harness.testing.builders import answer, check, make_case, make_event, model_turn, reasons, tool_use

from .desk_traces import ANSWER, COUNT, GOOD, acted, block, desk, fallback, idle, message, said, thought, used

FAILED = {"status": "failed", "reason": "llm_calls"}
UPDATE = ("update_cluster_priority", {"cluster_id": 120, "nova_prioridade": "P2_ESTRATEGICO"})
WROTE = {"effect": "write", "text": "{}", "expected": None}


def test_ce1_the_loop():
    """At most four messages that all count, with the answer or the fallback behind the last, keep CE1."""
    four = [acted(1), acted(2), acted(3), said(4)]

    assert ["kept"] == reasons(check(short_loop, desk(*GOOD)))
    assert ["kept"] == reasons(check(short_loop, desk(*four)))
    assert ["kept"] == reasons(check(short_loop, desk(idle(1), idle(2), fallback(), answer("8"))))
    assert ["vacuous"] == reasons(check(short_loop, desk(answer("8"))))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([acted(1), acted(2), acted(3), acted(4), said(5)], "5 messages, the most are 4"),
        ([idle(1), said(1)], "message 2 counts as iteration 1"),
        ([message(block("count_clusters", COUNT), 1), used("count_clusters", COUNT), thought(), said(2)],
         "a thought comes after the action that it led to"),
        ([message(block("count_clusters", COUNT), 1), used("count_clusters", COUNT)[0], said(2)],
         "count_clusters has no observation before the next message"),
        ([acted(1)], "the loop ends without an answer or the fallback"),
        ([said(1), said(2)], "the model is asked again after final_answer"),
        ([idle(1), fallback(), idle(2), answer("8")], "the model is asked again after fallback_used"),
    ],
)  # fmt: skip
def test_ce1_another_loop(steps, because):
    """A fifth message, one that does not count, steps in another order and a loop without an end break CE1."""
    assert because in reasons(check(short_loop, desk(*steps)))


def test_ce1_a_shorter_loop():
    """The most messages are those that the trial settled, and never more than four."""
    settled = ConfigResolved(key="max_iterations", asked=9, used=2)

    assert ["3 messages, the most are 2"] == reasons(check(short_loop, desk(settled, acted(1), acted(2), said(3))))
    assert ["kept"] == reasons(check(short_loop, desk(*GOOD, started={"config": {"max_iterations": 9}})))


def test_ce2_one_action():
    """The tool of the first block alone, with what stands behind it told as discarded, keeps CE2."""
    invented = block("count_clusters", COUNT) + '\nObservation: {"count": 99}'
    told = [message(invented, 1), Warned(code="discarded_text"), used("count_clusters", COUNT), said(2)]

    assert ["kept"] == reasons(check(one_action, desk(*GOOD)))
    assert ["kept"] == reasons(check(one_action, desk(*told)))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([message(block("count_clusters", COUNT) + block("get_cluster_details", {"cluster_id": 1}), 1),
          used("count_clusters", COUNT), used("get_cluster_details", {"cluster_id": 1})], "one message runs 2 tools"),
        ([message(block("count_clusters", COUNT), 1), used("get_cluster_details", {"cluster_id": 1})],
         "get_cluster_details runs, and the first block asks for another call"),
        ([message(block("count_clusters", COUNT), 1), used("count_clusters", {})],
         "count_clusters runs, and the first block asks for another call"),
        ([message("Conto.", 1), used("count_clusters", COUNT)], "count_clusters runs, and the message asks for no tool"),
        ([message(block("Final Answer", "8"), 1), used("count_clusters", COUNT)],
         "count_clusters runs, and the message asks for no tool"),
        ([message(f"[{block('count_clusters', COUNT)}]", 1), used("count_clusters", COUNT)],
         "count_clusters runs, and the message asks for no tool"),
        ([message(block("count_clusters", COUNT) + " Observation: 9", 1), used("count_clusters", COUNT)],
         "text behind the first block is not told as discarded"),
        ([message(block("count_clusters", COUNT), 1), thought(), thought("E depois?"), used("count_clusters", COUNT)],
         "one message has 2 thoughts"),
        ([acted(1), message(block("Final Answer", "8"), 2, n_messages=6), answer("8")], "4 messages follow one action"),
        ([message(block("count_clusters", COUNT) + "Observation: 9", 1), Warned(code="discarded_text"), said(2)],
         "the message asks for count_clusters, and it is not run"),
    ],
)  # fmt: skip
def test_ce2_more_than_one(steps, because):
    """A second tool, another call than was asked for, and an invented observation break CE2."""
    assert because in reasons(check(one_action, desk(*steps)))


def test_ce2_what_is_not_run_for_a_reason():
    """A message that is told to be unreadable, or that the end of the trial comes upon, need not run its tool."""
    asked = message(block("count_clusters", COUNT), 1)
    limit = ErrorRaised(kind="tool_calls", message="no more", where="harness")

    assert ["kept"] == reasons(check(one_action, desk(asked, Warned(code="parse_failure"), said(2))))
    assert ["kept"] == reasons(check(one_action, desk(asked, limit, finished=FAILED)))


@pytest.mark.parametrize(
    ("text", "action", "given", "rest"),
    [
        ('{"action": "a", "action_input": {"x": 1}}', "a", {"x": 1}, ""),
        ('Thought: hm\n```json\n{"action": "a", "action_input": {}}\n```\nObservation: 1', "a", {}, "Observation: 1"),
        ('{"thought": "{"} {"x": {"action": "b"}} {"action": "a"}', "a", None, ""),
        (
            '{"action": "Final Answer", "action_input": "```sql\nSELECT 1\n```"}',
            "Final Answer",
            "```sql\nSELECT 1\n```",
            "",
        ),
        ('{"action": 7}', "", None, ""),
    ],
)
def test_the_first_block(text, action, given, rest):
    """The first object with an action is found inside fences and behind other objects, and what follows it is its rest."""
    assert (action, given, rest) == first_block(text)


@pytest.mark.parametrize("text", ["", "no", '[{"action": "a"}]', '{"action": "a"', "{" * 5000, '{"x": 1}'])
def test_no_first_block(text):
    """Prose, lists of actions, broken JSON and objects without an action have none."""
    assert first_block(text) is None


def crashed(number):
    """A message whose tool crashes."""
    return acted(number, error="crash", expected=None)


@pytest.mark.parametrize(
    "steps",
    [
        GOOD,
        [message("", 1, error="server_error"), fallback("llm_error"), answer("8")],
        [message("", 1, error="connection"), fallback("no_llm"), answer("8")],
        [idle(1), idle(2), fallback(), answer("8")],
        [crashed(1), fallback("tool_crash"), answer("8")],
        [acted(1), acted(2), acted(3), acted(4), fallback("exhausted"), answer("8")],
        [acted(1), acted(2), idle(3), idle(4), fallback("parse"), answer("8")],
        [acted(1, *UPDATE, **WROTE), idle(2), idle(3), answer("Mudado.")],
        [idle(1), said(2)],
    ],
)
def test_ce8_falls_back_where_it_failed(steps):
    """The fallback for each failure, and none where the executor answers or has written, keep CE8."""
    assert {"kept", "vacuous"} >= set(reasons(check(falls_back, desk(*steps))))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([idle(1), fallback("whim"), answer("8")], "the fallback gives the reason `whim`"),
        ([acted(1, *UPDATE, **WROTE), idle(2), idle(3), fallback(), answer("8")],
         "the fallback is used after update_cluster_priority wrote"),
        ([idle(1), idle(2), fallback(), fallback(), answer("8")], "the fallback is used 2 times"),
        ([acted(1), fallback("parse"), answer("8")], "the fallback is used, and the executor did not fail"),
        ([idle(1), idle(2), answer("Não consegui.")], "the executor failed (parse) without the fallback"),
        ([message("", 1, error="server_error"), answer("Desculpe.")],
         "the executor failed (no_llm or llm_error) without the fallback"),
        ([crashed(1), said(2)], "the executor failed (tool_crash) without the fallback"),
        ([acted(1), acted(2), acted(3), acted(4), answer("Desculpe.")],
         "the executor failed (exhausted) without the fallback"),
        ([acted(1), acted(2), acted(3), said(4, final="Desculpe.")],
         "the executor failed (exhausted) without the fallback"),
        ([crashed(1), fallback("parse"), answer("8")], "the fallback gives parse, it failed by tool_crash"),
    ],
)  # fmt: skip
def test_ce8_an_apology(steps, because):
    """An apology in place of the fallback, one without need or after a write, and another reason break CE8."""
    assert because in reasons(check(falls_back, desk(*steps)))


def test_ce8_cut_off():
    """A run that its limits or its case cut off has no fallback to use."""
    limit = ErrorRaised(kind="llm_calls", message="no more", where="harness")

    assert ["kept"] == reasons(check(falls_back, desk(idle(1), idle(2), limit, finished=FAILED)))


@pytest.mark.parametrize("flag", ["0", 0, False, "", "yes", None])
def test_ce9_switched_off(flag):
    """Without the flag the deterministic path alone keeps CE9, and any model call breaks it."""
    off = {"config": {"react": flag}}
    plain = [used("count_clusters", COUNT, source="internal"), answer("8")]

    assert ["kept"] == reasons(check(switched_off, desk(*plain, started=off)))
    assert "a model is asked, and the executor is off" in reasons(check(switched_off, desk(*GOOD, started=off)))


def test_ce9_without_an_answer():
    """Off, a tool that a message called and a run without an answer break CE9; on, nothing is asked of it."""
    off = {"config": {"react": "0"}}

    assert ["count_clusters is called by a message, and the executor is off"] == reasons(
        check(switched_off, desk(used("count_clusters", COUNT), answer("8"), started=off))
    )
    assert ["the deterministic pipeline gives no answer"] == reasons(check(switched_off, desk(started=off)))
    for flag in (True, "1", 1, " 1 "):
        assert ["vacuous"] == reasons(check(switched_off, desk(*GOOD, started={"config": {"react": flag}})))


def test_ce10_the_stream():
    """Thought, action, observation and the answer, or an error, keep CE10."""
    failed = [acted(1), ErrorRaised(kind="llm_calls", message="no more")]

    assert ["kept"] == reasons(check(stream_of_lines, desk(*GOOD)))
    assert ["kept"] == reasons(check(stream_of_lines, desk(*failed, finished=FAILED)))
    assert ["kept"] == reasons(check(stream_of_lines, desk(acted(1, error="not_found"), said(2))))


def test_ce10_chunks_do_not_matter():
    """The model's own chunks are no part of the stream."""
    chunk = LlmChunk(call_span="llm-1", index=0, text='{"thought"')

    assert ["kept"] == reasons(check(stream_of_lines, desk(message(block("Final Answer", "8"), 1), chunk, answer("8"))))


def test_ce10_a_projection_of_chunks(monkeypatch):
    """A projection that makes a line of each of the model's chunks breaks CE10: where they end is chance."""
    monkeypatch.setattr(newsdesk, "react_lines", by_chunks)
    steps = [message(block("Final Answer", "8"), 1), LlmChunk(call_span="llm-1", index=0, text="8"), answer("8")]

    assert ["the stream depends on where the model's chunks end"] == reasons(check(stream_of_lines, desk(*steps)))


def by_chunks(events):
    """The stream with a thought for each chunk."""
    chunks = [json.dumps({"type": "thought", "content": e.data.text}) for e in events if e.type == "llm_chunk"]
    return [*chunks, json.dumps(FINAL)]


def test_ce10_an_error_after_the_answer():
    """An error after the answer, and an action without its observation, break CE10."""
    late = [*GOOD, ErrorRaised(kind="late", message="?")]
    unseen = [message(block("count_clusters", COUNT), 1), used("count_clusters", COUNT)[0], answer("8")]

    assert ["an error comes after the stream has ended with the answer"] == reasons(
        check(stream_of_lines, desk(*late, finished=FAILED))
    )
    assert ["the stream is no stream: line 2 is final_answer after action"] == reasons(
        check(stream_of_lines, desk(*unseen))
    )


ACTION = {"type": "action", "tool": "count_clusters", "input": {}}
OBSERVED = {"type": "observation", "content": {"ok": True, "result": 8}}
FINAL = {"type": "final_answer", "content": ANSWER}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([json.dumps(ACTION, indent=1), json.dumps(OBSERVED), json.dumps(FINAL)], "line 1 is 5 lines"),
        (["data: {}", json.dumps(FINAL)], "line 1 is no JSON"),
        (["[]"], "line 1 has no type that is known"),
        (['{"type": "token", "content": "x"}'], "line 1 has no type that is known"),
        ([json.dumps({"type": "final_answer", "content": ANSWER, "ok": True})], "line 1 has not the fields of final_answer"),
        ([json.dumps(ACTION | {"input": "x"})], "line 1 has not the fields of action"),
        ([json.dumps(OBSERVED | {"content": {"ok": True, "error": "x"}})], "line 1 has neither a result nor an error"),
        ([json.dumps(OBSERVED | {"content": {"ok": False}})], "line 1 has neither a result nor an error"),
        ([json.dumps(ACTION), json.dumps(ACTION)], "it does not end with the answer or an error"),
        ([json.dumps(FINAL), json.dumps({"type": "error", "content": "?", "code": "x"})], "line 2 comes after the final_answer"),
        ([json.dumps(ACTION), json.dumps(FINAL)], "line 2 is final_answer after action"),
        ([json.dumps(OBSERVED), json.dumps(OBSERVED), json.dumps(FINAL)], "line 2 is observation after observation"),
        ([], "it does not end with the answer or an error"),
    ],
)  # fmt: skip
def test_ce10_what_a_stream_is_not(lines, problem):
    """Objects over several lines, other fields, steps out of order and lines after the end are found."""
    assert problem == next(stream_problems(lines))


@pytest.mark.parametrize(
    "lines",
    [
        [FINAL],
        [{"type": "error", "content": "?", "code": "x"}],
        [{"type": "thought", "content": "a\nb"}, ACTION, OBSERVED, FINAL],
        [ACTION, {"type": "error", "content": "?", "code": "tool_calls"}],
    ],
)
def test_ce10_what_a_stream_is(lines):
    """An answer or an error at the end, and each action with its observation before it."""
    assert [] == list(stream_problems(map(json.dumps, lines)))


PROJECTED = list(react_lines(desk(*GOOD).events))


@pytest.mark.parametrize(
    ("mutant", "problem"),
    [
        (lambda lines: [json.dumps(json.loads(line), indent=1) for line in lines], "line 1 is 4 lines"),
        (lambda lines: [*lines, error_line("the log is full", "log")], "line 6 comes after the final_answer"),
        (lambda lines: [line for line in lines if "observation" not in line], "line 3 is thought after action"),
        (lambda lines: sorted(lines, key=lambda line: "thought" not in line and "action" not in line),
         "line 3 is thought after action"),
        (lambda lines: lines[:-1], "it does not end with the answer or an error"),
        (lambda lines: [line.replace('{"ok":true,"result":', "").replace("}}}", "}}") for line in lines],
         "line 3 has neither a result nor an error"),
        (lambda lines: [line.replace("}", ',"ts":1}', 1) for line in lines], "line 1 has not the fields of thought"),
    ],
    ids=["printed prettily", "goes on after the end", "no observations", "batched", "no end", "bare results", "more keys"],
)  # fmt: skip
def test_ce10_projections_that_are_wrong(mutant, problem):
    """A projection that is wrong in one way is found; the sound one has no problem."""
    assert [] == list(stream_problems(PROJECTED))
    assert problem == next(stream_problems(mutant(PROJECTED)))


def at(ms, events):
    """*events* at *ms* of the trial's clock."""
    return [make_event(event, ts=ms) for event in events]


def test_ce11_told_before_it_runs():
    """A call that stands in the trace before its tool's time has passed keeps CE11."""
    called, result = used("count_clusters", COUNT, ms=60)
    trace = desk(message(block("count_clusters", COUNT), 1), at(10, [called]), at(70, [result]), said(2))

    assert ["kept"] == reasons(check(told_as_it_happens, trace))


def test_ce11_told_at_the_end():
    """A call that is told when its tool has run, and a thought that comes later than its message, break CE11."""
    called, result = used("count_clusters", COUNT, ms=60)
    together = desk(message(block("count_clusters", COUNT), 1), at(70, [called, result]), said(2))
    late = make_event(Thought(text="Vou ver.", source="react_thought"), turn=1)
    told = desk(acted(1), message(block("Final Answer", "8"), 2), late, answer("8"))

    assert ["count_clusters took 60 ms, and is told 0 ms before its result"] == reasons(
        check(told_as_it_happens, together)
    )
    assert ["a thought of message 1 is told after that of 2"] == reasons(check(told_as_it_happens, told))


def test_a_stopped_leg_has_no_end():
    """A leg that the case cuts off has neither an answer nor a fallback."""
    case = make_case(legs=(Leg(stop_after={"tool_result": 1}),))

    assert ["kept"] == reasons(check(short_loop, desk(acted(1), finished={"status": "cancelled"}), case))


def test_other_calls_are_no_messages():
    """Under no other purpose does the executor ask a model: there it would not be counted."""
    assert ["a model call with purpose agent beside the loop"] == reasons(
        check(short_loop, desk(model_turn("x"), answer("x")))
    )


def test_ce2_runs_nothing_by_itself():
    """A tool that no message asks for breaks CE2 while the executor works; the pipeline's own calls keep it."""
    own = tool_use("count_clusters", {}, text='{"count": 1}', source="internal")
    gave_way = FallbackUsed(origin="react", to="deterministic", reason="parse")

    assert ["count_clusters runs, and no message asks for it"] == reasons(check(one_action, desk(own, *GOOD)))
    assert ["kept"] == reasons(check(one_action, desk(*GOOD[:1], gave_way, own, answer("1"))))
    off = desk(model_turn("x", purpose="judge"), own, answer("1"), started={"config": {"react": "0"}})
    assert ["vacuous"] == reasons(check(one_action, off))
