"""Deep thinking: what each stage is sent, which way a run takes, what becomes of tools and failures on it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.records.case import ImageContent, TextContent
from harness.records.messages import ImagePart
from harness.testing.fakes import call, calls, fails, says, says_json
from harness.testing.mutants import broken_in, findings

from .deep_runs import BETTER, FIRST, MENDED, PASS, QUESTION, SUMMARY, case, course, deep, fail, phases, sent, who

BERLIN = call("get_weather", city="Berlin")
NOTE = call("write_note", text="9")
HISTORY = ({"role": "user", "text": "Do sheep run?"}, {"role": "assistant", "text": "They do {at times}."})


def test_the_plain_way() -> None:
    """Solve, improve, three checks, summary: the summary is the answer, word for word, and no contract is broken."""
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, says(" **9** sheep are left.\n"))

    assert ["solve", "improve", "verify", "verify", "verify", "summary"] == course(ran)
    assert ["init", "solve", "improve", "verify", "verify", "verify", "summary"] == phases(ran)
    assert ("completed", "") == ran.ending
    assert "**9** sheep are left." == ran.answer
    assert set() == broken_in(findings(case(), ran))


def test_what_the_solver_is_sent(world: Any) -> None:
    """Date, user, title, problem and five demands, with every tool; the improver also sees the solution."""
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, SUMMARY, world=world)
    system, user = (message.text for message in ran.requests[0].messages)
    demands = [line for line in user.splitlines() if line.startswith("- ")]

    assert "今天是 2026-03-10，当前用户是 vera。" in system
    assert system.endswith("用提问所用的语言回答。")
    assert user.startswith("### Deep Thinking 迭代 1 ###\n\n**问题陈述：**\n" + QUESTION)
    assert 5 == len(demands)
    assert ["get_weather", "broken_tool", "write_note"] == [tool.name for tool in ran.requests[0].tools]
    assert "### Deep Thinking 迭代 2 ###" in ran.requests[1].messages[1].text
    assert "**现有解答：**\n9 did not run away.\n" in ran.requests[1].messages[1].text


def test_what_verifiers_are_sent(world: Any) -> None:
    """Problem, whole solution and four demands, word for word the same for each verifier, and no tools."""
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, SUMMARY, world=world)
    checks = [request for request in ran.requests if who(request) == "verify"]
    user = checks[0].messages[1].text

    assert f"**问题：**\n{QUESTION}\n\n**待评审的解答：**\n{BETTER.text}\n" in user
    assert 4 == len([line for line in user.splitlines() if line.startswith("- ")])
    assert [checks[0].messages] * 3 == [check.messages for check in checks]
    assert all(not check.tools and check.json_schema for check in checks)
    assert '"severity": "critical、gap 或 minor"' in checks[0].messages[0].text


def test_settings_of_the_nodes() -> None:
    """Each stage has the temperature and the tokens of its node; what nodes leave open comes from `llm_params`."""
    params = {"temperature": 1.5, "top_p": 0.9}
    stages = {"verification": "gpt-4o", "summary": "gpt-4.1-nano"}
    ran = deep(
        says("plan"), FIRST, BETTER, fail(), MENDED, PASS, SUMMARY,
        enable_planning=True, required_verifications=1, llm_params=params, model_stages=stages,
    )  # fmt: skip

    assert [
        ("gpt-4.1", 0.3, 1000, 0.9),
        ("gpt-4.1", 0.7, 2000, 0.9),
        ("gpt-4.1", 0.7, 2000, 0.9),
        ("gpt-4o", 0.2, 1500, 0.9),
        ("gpt-4.1", 0.5, 1500, 0.9),
        ("gpt-4o", 0.2, 1500, 0.9),
        ("gpt-4.1-nano", 0.3, 1500, 0.9),
    ] == [(asked.model, asked.temperature, asked.max_tokens, asked.top_p) for asked in ran.requests]


def test_a_model_that_refuses_sampling_is_asked_without() -> None:
    """What a model would answer with a 400 is left out, and the trace says so."""
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, SUMMARY, model_stages={"verification": "claude-opus-5"})
    resolved = [event.data for event in ran.events("config_resolved")]

    assert [None, None, None] == [asked.temperature for asked in ran.requests if who(asked) == "verify"]
    assert [1500] * 3 == [asked.max_tokens for asked in ran.requests if who(asked) == "verify"]
    assert ("temperature of verification", 0.2, None, "claude-opus-5 takes no temperature") == (
        resolved[0].key,
        resolved[0].asked,
        resolved[0].used,
        resolved[0].why,
    )


def test_a_plan_is_shown_to_every_solver() -> None:
    """The planner gets problem and instruction; solver, improver and corrector get its plan, verifier and summary not."""
    ran = deep(
        says(" 1. Count the ones that stay\n"), FIRST, BETTER, fail(), MENDED, PASS, PASS, PASS, SUMMARY,
        enable_planning=True,
    )  # fmt: skip
    shown = "**思考计划：**\n1. Count the ones that stay\n"

    assert QUESTION in sent(ran, "plan")[0]
    assert "请为这个问题写一份思考计划" in sent(ran, "plan")[0]
    assert all(shown in text for purpose in ("solve", "improve", "correct") for text in sent(ran, purpose))
    assert not any(shown in text for purpose in ("verify", "summary") for text in sent(ran, purpose))
    assert "plan" == phases(ran)[1]
    assert set() == broken_in(findings(case(plan="required"), ran))


def test_without_a_plan_after_four_failures() -> None:
    """A plan that does not come is told and left out."""
    ran = deep(*[fails()] * 4, FIRST, BETTER, PASS, PASS, PASS, SUMMARY, enable_planning=True)
    fallback = ran.events("fallback_used")[0].data

    assert ("plan", "no_plan", "the provider is down") == (fallback.origin, fallback.to, fallback.reason)
    assert "思考计划" not in sent(ran, "solve")[0]
    assert "completed" == ran.ending[0]


def test_without_improvement() -> None:
    """With the option off the first solution is verified; so it is when the improver fails."""
    plain = deep(FIRST, PASS, PASS, PASS, SUMMARY, enable_self_improvement=False)
    failed = deep(FIRST, fails("bad_request"), PASS, PASS, PASS, SUMMARY)

    assert "improve" not in course(plain)
    assert FIRST.text in sent(plain, "verify")[0]
    assert FIRST.text in sent(failed, "verify")[0]
    assert "unimproved" == failed.events("fallback_used")[0].data.to


def test_a_failed_solution_is_corrected_and_verified_anew() -> None:
    """The corrector gets the solution and the issues; its text, and nothing older, is verified and summed up."""
    ran = deep(FIRST, BETTER, PASS, fail("say why", where="last line"), MENDED, PASS, PASS, PASS, SUMMARY)
    asked = sent(ran, "correct")[0]

    assert ["correct", "verify", "verify", "verify", "summary"] == course(ran)[4:]
    assert f"**现有解答：**\n{BETTER.text}\n\n**评审指出的问题：**\n1. [gap] last line: say why\n" in asked
    assert all(MENDED.text in text for text in (*sent(ran, "verify")[2:], *sent(ran, "summary")))
    assert not any(BETTER.text in text for text in (*sent(ran, "verify")[2:], *sent(ran, "summary")))
    assert ["solve", "improve", "correct"] == [event.data.origin for event in ran.events("solution")]
    assert set() == broken_in(findings(case(), ran))


def test_history_and_knowledge_are_everywhere() -> None:
    """Planner, solvers, verifiers and summary see the earlier turns and the background, braces and all."""
    asked = case(history=HISTORY, knowledge="A sheep that {stays} is left.")
    replies = (says("plan"), FIRST, BETTER, fail(), MENDED, PASS, PASS, PASS, SUMMARY)
    ran = deep(*replies, asked=asked, enable_planning=True)
    context = "**对话历史：**\n用户：Do sheep run?\n助手：They do {at times}.\n\n**背景知识：**\nA sheep that {stays} is left.\n"

    assert 9 == len(ran.requests)
    assert all(context in request.messages[1].text for request in ran.requests)
    assert set() == broken_in(findings(asked, ran))


def test_images_reach_whoever_solves(tmp_path: Any) -> None:
    """Planner, solver, improver and corrector get the image; verifiers and the summary get a placeholder for it."""
    picture = tmp_path / "sheep.png"
    picture.write_bytes(b"\x89PNG")
    asked = case(question="", content=(ImageContent(image=str(picture)), TextContent(text="How many?")))
    replies = (says("plan"), FIRST, BETTER, fail(), MENDED, PASS, PASS, PASS, SUMMARY)
    ran = deep(*replies, asked=asked, enable_planning=True)
    images = [[part for part in request.messages[1].content if isinstance(part, ImagePart)] for request in ran.requests]

    assert [1, 1, 1, 0, 1, 0, 0, 0, 0] == list(map(len, images))
    assert "image/png" == images[0][0].media_type
    assert "How many?\n\n（原题附图 1 张，此处看不到：[图片 1]）" in sent(ran, "verify")[0]
    assert "[图片 1]" in sent(ran, "summary")[0]
    assert set() == broken_in(findings(asked, ran))


def test_a_picture_without_a_word(tmp_path: Any) -> None:
    """A question that is an image alone is a problem all the same, and is verified as one."""
    picture = tmp_path / "sheep.png"
    picture.write_bytes(b"\x89PNG")
    asked = case(question="", content=(ImageContent(image=str(picture)),))
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, SUMMARY, asked=asked)

    assert "**问题陈述：**\n（问题在图片里）\n" in sent(ran, "solve")[0]
    assert "**问题：**\n（问题在图片里）\n" in sent(ran, "verify")[0]
    assert set() == broken_in(findings(asked, ran))


def test_tools_are_for_solving_alone(world: Any) -> None:
    """Solver, improver and corrector may look things up; planner, verifiers and summary are offered nothing."""
    ran = deep(
        says("plan"), calls(BERLIN), FIRST, BETTER, fail(), MENDED, PASS, PASS, PASS, SUMMARY,
        world=world, enable_planning=True,
    )  # fmt: skip
    offered = {(purpose, bool(asked.tools)) for purpose, asked in zip(course(ran), ran.requests, strict=True)}

    assert {
        ("plan", False), ("solve", True), ("improve", True), ("correct", True), ("verify", False), ("summary", False),
    } == offered  # fmt: skip
    assert set() == broken_in(findings(case(), ran))


def test_what_tools_found_is_known_later(world: Any) -> None:
    """The improver and the corrector see the good results of tools, once each, and no failed ones."""
    berlin = '- get_weather({"city":"Berlin"}) → {"city":"Berlin","temperature_c":7,"condition":"rain"}'
    asked = calls(BERLIN, BERLIN, call("get_weather", city="Atlantis"))
    ran = deep(asked, FIRST, BETTER, fail(), MENDED, PASS, PASS, PASS, SUMMARY, world=world)

    for purpose in ("improve", "correct"):
        assert f"**已经查到的资料：**\n{berlin}\n\n" in sent(ran, purpose)[0]
    assert "资料：" not in sent(ran, "verify")[0]


def test_steps_with_tools_are_limited(world: Any) -> None:
    """After so many turns with tools the model is asked once more, without a choice of tools, and must answer."""
    ran = deep(*[calls(BERLIN)] * 2, FIRST, BETTER, PASS, PASS, PASS, SUMMARY, world=world, max_tool_steps=2)

    assert ["auto", "auto", "none", "auto"] == [asked.tool_choice for asked in ran.requests[:4]]
    assert 2 == len(ran.events("tool_call"))
    assert "completed" == ran.ending[0]


def test_tools_at_the_last_step_end_the_run(world: Any) -> None:
    """A model that asks for tools where it must answer has come to no text; nothing of it is run."""
    ran = deep(calls(BERLIN), calls(NOTE), world=world, max_tool_steps=1)

    assert ("failed", "llm_errors") == ran.ending
    assert "the model of stage initial came to no text" == ran.events("error")[0].data.message
    assert [] == world.written
    assert set() == broken_in(findings(case(), ran))


def test_one_write_a_turn_and_none_twice(world: Any) -> None:
    """A second write of one reply is refused, and so is one that was carried out in an earlier stage."""
    second = call("write_note", text="nine")
    ran = deep(
        calls(NOTE, second), calls(second), FIRST, calls(NOTE), BETTER, PASS, PASS, PASS, SUMMARY, world=world
    )  # fmt: skip
    refused = [event.data.text for event in ran.events("tool_result") if not event.data.ok]

    assert ["9", "nine"] == world.written
    assert 2 == len(refused)
    assert "每次回复最多调用一个改动数据的工具，write_note 没有执行" in refused[0]
    assert "write_note 的这一改动已经完成，没有重做。" in refused[1]
    assert set() == broken_in(findings(case(), ran))


def test_a_failed_write_may_be_tried_again(world: Any) -> None:
    """Only writes that were carried out are refused later."""
    wrong = call("write_note", text=9)
    ran = deep(calls(wrong), calls(wrong), FIRST, BETTER, PASS, PASS, PASS, SUMMARY, world=world)

    assert ["invalid_args", "invalid_args"] == [event.data.error_kind for event in ran.events("tool_result")]


@pytest.mark.parametrize("reply", [BETTER, says(f" {BETTER.text}\n")])
def test_a_correction_that_changes_nothing_is_not_verified(reply: Any) -> None:
    """The corrector is told so in the same conversation; its next text is verified."""
    ran = deep(FIRST, BETTER, fail(), reply, MENDED, PASS, PASS, PASS, SUMMARY)
    again = ran.requests[4].messages

    assert ["assistant", "user"] == [message.role for message in again[2:]]
    assert "这与原来的解答一字不差" in again[3].text
    assert 3 == ran.events("solution")[-1].data.version
    assert set() == broken_in(findings(case(), ran))


def test_corrections_that_never_change_anything_end_the_run() -> None:
    """Three times the same text, and the run fails without an answer."""
    ran = deep(FIRST, BETTER, fail(), *[BETTER] * 3)

    assert ("failed", "llm_errors") == ran.ending
    assert "3 corrections did not change the solution" == ran.events("error")[0].data.message
    assert "" == ran.answer


def test_an_empty_solution_ends_the_run() -> None:
    """Nothing is verified where there is nothing."""
    ran = deep(says(" \n"))

    assert ("failed", "llm_errors") == ran.ending
    assert ["solve"] == course(ran)


def test_a_text_that_was_cut_off_is_told() -> None:
    """A reply that ran out of tokens goes on to the verifiers, with a warning in its turn."""
    ran = deep(says("9 did not", finish_reason="length"), BETTER, PASS, PASS, PASS, SUMMARY)
    warned = ran.events("warning")[0]

    assert ("truncated_output", "initial", 1) == (warned.data.code, warned.data.detail, warned.turn)


def test_progress_grows_and_previews_are_cut() -> None:
    """Progress counts the plan, the passes and the summary, never falls, and shows 200 characters of a solution."""
    long = says("9" * 201)
    ran = deep(says("plan"), long, BETTER, PASS, fail(), MENDED, PASS, PASS, PASS, SUMMARY, enable_planning=True)
    told = [(event.data.stage, round(event.data.value, 2)) for event in ran.events("progress")]

    assert [
        ("initializing", 0.0), ("planning", 0.2), ("thinking", 0.2), ("thinking", 0.2), ("verifying", 0.4),
        ("verifying", 0.4), ("correcting", 0.4), ("verifying", 0.4), ("verifying", 0.6), ("verifying", 0.8),
        ("summarizing", 0.8), ("completed", 1.0),
    ] == told  # fmt: skip
    assert "9" * 200 + "…" == ran.events("progress")[2].data.detail == ran.events("solution")[0].data.preview
    assert ["1/3", "0/3", "1/3", "2/3", "3/3"] == [
        event.data.detail for event in ran.events("progress") if event.data.stage == "verifying"
    ]


def test_a_pass_with_a_grave_issue_is_none() -> None:
    """A verifier that passes a solution and names a gap contradicts itself: the gap goes to the corrector."""
    issues = [{"severity": "gap", "where": "", "what": "no reason"}, {"severity": "minor", "where": "", "what": "long"}]
    ran = deep(FIRST, BETTER, says_json(passed=True, issues=issues), MENDED, PASS, PASS, PASS, SUMMARY)

    assert "1. [gap] no reason\n2. [minor] long\n" in sent(ran, "correct")[0]


def test_what_a_verifier_notes_in_passing_is_kept_apart() -> None:
    """A minor issue stands in the trace; the next verifier and the summary do not hear of it."""
    noted = says_json(passed=True, issues=[{"severity": "minor", "where": "", "what": "could be shorter"}])
    ran = deep(FIRST, BETTER, noted, PASS, PASS, SUMMARY)

    assert "could be shorter" == ran.events("verification")[0].data.issues[0].what
    assert not any("could be shorter" in text for purpose in ("verify", "summary") for text in sent(ran, purpose))
    assert "completed" == ran.ending[0]
