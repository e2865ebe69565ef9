"""Deep thinking in rounds: what counts, checks at once, limits, failures of the provider, stops, and cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.protocol import Question
from harness.agents.run_trial import TrialSetup, run_trial
from harness.cassettes.clock import VirtualClock
from harness.cassettes.fingerprint import Fingerprinter
from harness.records.case import Leg, Limits
from harness.records.faults import ModelError
from harness.records.run import Cell
from harness.records.trace import EventData
from harness.testing.fakes import NOW, FakeWorld, Ran, Said, call, calls, fails, says
from harness.testing.mutants import broken_in, findings
from harness.testing.ports import ListPort

from .deep_runs import BETTER, DEEP, FIRST, MENDED, PASS, SUMMARY, case, course, deep, fail, phases, sent, verdicts

LATE = ModelError("timeout", "no reply within 60000 ms", ms=60_000)
UNVERIFIED = "**Note: what follows is unverified.**\n\n**9** sheep are left."


def told(passes: str) -> list[Said]:
    """What models say for verdicts such as `PFPPP`, each failure followed by a correction."""
    replies: list[Said] = []
    for number, letter in enumerate(passes):
        replies += [PASS] if letter == "P" else [fail(), says(f"solution {number}")]
    return replies


@pytest.mark.parametrize(
    ("passes", "counts"),
    [
        ("PPP", [1, 2, 3]),
        ("FPPP", [0, 1, 2, 3]),
        ("PFPPP", [1, 0, 1, 2, 3]),
        ("PPFPFPPP", [1, 2, 0, 1, 0, 1, 2, 3]),
    ],
)
def test_only_passes_in_a_row_count(passes: str, counts: list[int]) -> None:
    """A failure takes the count back to 0, and the correction starts at 0; each verdict has a model call of its own."""
    ran = deep(FIRST, BETTER, *told(passes), SUMMARY)

    assert counts == [count for _, _, _, count in verdicts(ran)]
    assert len(passes) == course(ran).count("verify")
    assert "completed" == ran.ending[0]
    assert set() == broken_in(findings(case(), ran))


def test_a_yes_in_a_no_is_no_pass() -> None:
    """An unreadable verdict fails, and the corrector is shown what was said."""
    ran = deep(FIRST, BETTER, says("No, I cannot say yes"), MENDED, PASS, PASS, PASS, SUMMARY)

    assert (1, 0, "unparsable", 0) == verdicts(ran)[0]
    assert "评审原文：No, I cannot say yes" in sent(ran, "correct")[0]


def test_an_empty_verdict_fails() -> None:
    """Silence is no pass, and nobody is asked twice for it."""
    ran = deep(FIRST, BETTER, says(""), MENDED, PASS, PASS, PASS, SUMMARY)

    assert "unparsable" == verdicts(ran)[0][2]
    assert 4 == course(ran).count("verify")


def test_too_many_failures_in_a_row_end_the_run() -> None:
    """The last failure is not corrected; the answer is the summary below a notice, and there is one error."""
    ran = deep(FIRST, BETTER, fail(), MENDED, fail(), SUMMARY, max_errors=2)
    error = ran.events("error")[0].data

    assert ("failed", "max_errors") == ran.ending
    assert "2 rounds of verification failed in a row" == error.message
    assert ["verify", "correct", "verify", "summary"] == course(ran)[2:]
    assert UNVERIFIED == ran.answer
    assert not ran.trace.final.data.complete
    assert 1 > ran.events("progress")[-1].data.value
    assert set() == broken_in(findings(case(status="failed"), ran))


def test_a_pass_forgives_failures() -> None:
    """Failures that are not in a row end nothing."""
    ran = deep(FIRST, BETTER, *told("FPFPPP"), SUMMARY, max_errors=2)

    assert "completed" == ran.ending[0]


@pytest.mark.parametrize(
    ("passes", "asked"),
    [
        ("PF", ["verify", "verify"]),
        ("PP", ["verify", "verify"]),
        ("FP", ["verify", "correct", "verify"]),
        ("FF", ["verify", "correct", "verify"]),
    ],
)
def test_the_last_round_ends_the_run(passes: str, asked: list[str]) -> None:
    """Nothing is verified, and nothing corrected, after the last round; too few passes are none."""
    replies = told(passes)[:-1] if passes[-1] == "F" else told(passes)
    ran = deep(FIRST, BETTER, *replies, SUMMARY, max_iterations=2, max_errors=5)

    assert ("failed", "max_iterations") == ran.ending
    assert ["solve", "improve", *asked, "summary"] == course(ran)
    assert "no solution passed 3 times in 2 rounds" == ran.events("error")[0].data.message
    assert set() == broken_in(findings(case(status="failed"), ran))


@pytest.mark.parametrize(
    ("lang", "notice"),
    [
        ("zh", "**注意：以下内容未经验证。**"),
        ("de-AT", "**Hinweis: Das Folgende ist ungeprüft.**"),
        ("pt", "**Atenção: o que segue não foi verificado.**"),
        ("ru", "**Внимание: следующее не проверено.**"),
        ("fr", "**Note: what follows is unverified.**"),
    ],
)
def test_the_notice_speaks_the_language_of_the_question(lang: str, notice: str) -> None:
    """English stands in where there is no text for the language."""
    ran = deep(FIRST, BETTER, fail(), SUMMARY, asked=case(lang=lang), max_errors=1)

    assert f"{notice}\n\n{SUMMARY.text}" == ran.answer


def test_checks_at_once_overlap() -> None:
    """All checks of a round are under way before the first ends; the round is one, and enough."""
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, SUMMARY, enable_parallel_check=True)
    asked = [event.type for event in ran.trace if event.phase == "verify" and event.type.startswith("llm")]

    assert ["llm_call"] * 3 + ["llm_result"] * 3 == asked
    assert [(1, 0, "pass", 1), (1, 1, "pass", 2), (1, 2, "pass", 3)] == verdicts(ran)
    assert ["init", "solve", "improve", "verify", "summary"] == phases(ran)
    assert set() == broken_in(findings(case(), ran))


def test_more_checks_than_at_once_come_in_waves() -> None:
    """Five checks are asked for three and two at a time."""
    ran = deep(FIRST, BETTER, *[PASS] * 5, SUMMARY, enable_parallel_check=True, required_verifications=5)
    asked = [event.type for event in ran.trace if event.phase == "verify" and event.type.startswith("llm")]

    assert ["llm_call"] * 3 + ["llm_result"] * 3 + ["llm_call"] * 2 + ["llm_result"] * 2 == asked
    assert [1, 2, 3, 4, 5] == [count for _, _, _, count in verdicts(ran)]
    assert set() == broken_in(findings(case(), ran))


def test_one_failure_fails_a_parallel_round() -> None:
    """The round counts for nothing, the corrector hears of the failed check alone, and the next round is whole."""
    noted = says('{"passed": true, "issues": [{"severity": "minor", "where": "", "what": "long"}]}')
    ran = deep(
        FIRST, BETTER, noted, fail("say why"), PASS, MENDED, PASS, PASS, PASS, SUMMARY, enable_parallel_check=True
    )  # fmt: skip

    assert [1, 0, 0, 1, 2, 3] == [count for _, _, _, count in verdicts(ran)]
    assert "**评审指出的问题：**\n1. [gap] end: say why\n\n" in sent(ran, "correct")[0]
    assert [1, 1, 1, 2, 2, 2] == [round_ for round_, _, _, _ in verdicts(ran)]
    assert set() == broken_in(findings(case(), ran))


def test_two_failures_of_a_round_are_corrected_together() -> None:
    """All issues of a round are numbered through, in the order of the checks."""
    ran = deep(
        FIRST, BETTER, fail("say why"), PASS, fail("say how"), MENDED, PASS, PASS, PASS, SUMMARY,
        enable_parallel_check=True,
    )  # fmt: skip

    assert "1. [gap] end: say why\n2. [gap] end: say how\n" in sent(ran, "correct")[0]


@pytest.mark.parametrize("parallel", [True, False])
def test_a_check_that_is_late_has_failed(parallel: bool) -> None:
    """A verifier that takes longer than its time is not asked again; the corrector is told of it."""
    rest = [PASS, PASS] if parallel else []
    ran = deep(
        FIRST, BETTER, LATE, *rest, MENDED, PASS, PASS, PASS, SUMMARY, enable_parallel_check=parallel
    )  # fmt: skip

    assert (1, 0, "timeout", 0) == verdicts(ran)[0]
    assert "1. [gap] 评审没有在规定的时间内完成，不能算通过" in sent(ran, "correct")[0]
    assert "completed" == ran.ending[0]
    assert set() == broken_in(findings(case(), ran))


def test_verifiers_get_their_time_and_no_more() -> None:
    """A reply that took longer than `verify_timeout_s` by its recording is a timeout."""
    ran = deep(FIRST, BETTER, PASS, MENDED, SUMMARY, verify_timeout_s=0.005, max_errors=1)

    assert (1, 0, "timeout", 0) == verdicts(ran)[0]


def test_parallel_checks_that_fail_are_asked_for_one_by_one() -> None:
    """What the provider failed is repeated in turn, in the same round; later rounds are serial."""
    ran = deep(
        FIRST, BETTER, PASS, fails("rate_limit"), PASS, fail("say why"), MENDED, PASS, PASS, PASS, SUMMARY,
        enable_parallel_check=True,
    )  # fmt: skip
    fallback = ran.events("fallback_used")[0].data

    assert ("parallel", "serial", "the provider is down") == (fallback.origin, fallback.to, fallback.reason)
    assert [(1, 0, "pass", 1), (1, 1, "fail", 0), (1, 2, "pass", 0)] == verdicts(ran)[:3]
    assert [(2, 0, "pass", 1), (3, 0, "pass", 2), (4, 0, "pass", 3)] == verdicts(ran)[3:]
    assert set() == broken_in(findings(case(), ran))


def test_failures_that_may_pass_are_tried_again() -> None:
    """Three more tries after 1, 2 and 4 seconds, or after what the provider asks for."""
    asked = ModelError("rate_limit", "slow down", status=429, retry_after_ms=7_000)
    ran = deep(FIRST, BETTER, fails(), asked, fails(), PASS, PASS, PASS, SUMMARY)
    began = [event.ts for event in ran.events("llm_call") if event.data.purpose == "verify"]

    assert [1010, 7000, 4010] == [later - sooner for sooner, later in pairwise(began)][:3]
    assert "completed" == ran.ending[0]


def test_failures_that_stay_end_the_run() -> None:
    """After four tries, or one that another cannot mend, the run ends with the reason and can be resumed."""
    down = deep(FIRST, BETTER, *[fails()] * 4)
    refused = deep(FIRST, BETTER, fails("bad_request", "no such parameter"))
    error = refused.events("error")[0].data

    assert ("failed", "llm_errors") == down.ending == refused.ending
    assert ["verify"] * 4 == course(down)[2:]
    assert ("no such parameter", "verify_solution") == (error.message, error.where)
    assert "" == refused.answer
    assert set() == broken_in(findings(case(), down)) | broken_in(findings(case(), refused))


@pytest.mark.parametrize("stop", range(1, 9))
def test_a_stopped_run_goes_on_where_it_was(stop: int) -> None:
    """Cut off at any save and resumed, a run asks for what it would have asked for, counters and report included."""
    replies = (FIRST, BETTER, PASS, fail("say why"), MENDED, PASS, PASS, PASS, SUMMARY)
    whole = deep(*replies)
    asked = case(legs=(Leg(stop_after={"state_saved": stop}), Leg(resume=True)))
    ran = deep(*replies, asked=asked)

    assert [one.messages for one in whole.requests] == [one.messages for one in ran.requests]
    assert verdicts(whole) == verdicts(ran)
    assert whole.answer == ran.answer
    assert ("completed", "") == ran.ending
    assert set() == broken_in(findings(asked, ran))


def test_a_failed_run_that_is_resumed_tries_again() -> None:
    """When the provider is back, the check that failed is asked for anew, and nothing before it."""
    asked = case(legs=(Leg(), Leg(resume=True)))
    ran = deep(FIRST, BETTER, PASS, fails("bad_request"), PASS, PASS, SUMMARY, asked=asked)

    assert ["verify", "verify", "summary"] == course(ran)[4:]
    assert [1, 2, 3] == [count for _, _, _, count in verdicts(ran)]
    assert "completed" == ran.ending[0]


@pytest.mark.parametrize(("replies", "errors"), [((PASS, PASS, PASS), 3), ((fail(),), 1)])
def test_a_finished_run_that_is_resumed_says_it_again(replies: tuple[Said, ...], errors: int) -> None:
    """The answer, and the error if there was one, are saved: nothing is asked for again."""
    asked = case(legs=(Leg(), Leg(resume=True)))
    ran = deep(FIRST, BETTER, *replies, SUMMARY, asked=asked, max_errors=errors)
    first, second = ran.trial.traces

    assert first.answer == second.answer
    assert first.final.data.complete == second.final.data.complete
    assert [event.data for event in first.of("error")] == [event.data for event in second.of("error")]
    assert [] == second.of("llm_call")


def test_nothing_to_resume() -> None:
    """A session that nobody saved is an error, not a crash."""
    ran = deep(asked=case(legs=(Leg(stop_after={"phase_started": 1}), Leg(resume=True))))

    assert ("failed", "no_session") == ran.ending
    assert "nothing is saved for session session" == ran.events("error")[-1].data.message


def test_a_write_before_the_stop_is_not_repeated(world: Any) -> None:
    """A write is saved at once: the solver that is asked again after a stop is refused the same one."""
    note = call("write_note", text="9")
    asked = case(legs=(Leg(stop_after={"state_saved": 2}), Leg(resume=True)))
    replies = (calls(note), calls(note), FIRST, BETTER, PASS, PASS, PASS, SUMMARY)
    ran = deep(*replies, asked=asked, world=world)

    assert ["solve"] == [event.data.purpose for event in ran.trial.traces[0].of("llm_call")]
    assert ["9"] == world.written
    assert "denied" == ran.events("tool_result")[-1].data.error_kind
    assert "completed" == ran.ending[0]


def test_what_was_asked_before_is_not_asked_again() -> None:
    """The same question in the same session takes solution and improvement from the first time, and checks anew."""
    asked = case(legs=(Leg(stop_after={"verification": 2}), Leg()))
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, PASS, PASS, SUMMARY, asked=asked)
    off = deep(FIRST, BETTER, PASS, PASS, FIRST, BETTER, PASS, PASS, PASS, SUMMARY, asked=asked, cache=False)

    assert ["verify", "verify", "verify", "summary"] == course(ran)[4:]
    assert ["initial", "improvement"] == [event.data.detail for event in ran.events("warning")]
    assert BETTER.text in sent(ran, "verify")[-1]
    assert ["solve", "improve"] == course(off)[4:6]
    assert set() == broken_in(findings(asked, ran)) | broken_in(findings(asked, off))


def test_a_later_turn_asks_again() -> None:
    """With other turns before it, the same question is another one."""
    asked = case(turns=("How many?", "How many?"))
    ran = deep(*(FIRST, BETTER, PASS, PASS, PASS, SUMMARY) * 2, asked=asked)

    assert 2 == course(ran).count("solve")
    assert [] == ran.events("state_loaded")
    assert "How many?" in sent(ran, "solve")[1]
    assert "助手：**9** sheep are left." in sent(ran, "solve")[1]


@pytest.mark.parametrize(
    ("question", "most", "why"),
    [
        ("How many are left?", 10, "easy"),
        ("Prove that 9 are left.", 20, "medium"),
        ("Design a cache. " * 9, 30, "hard"),
    ],
)
def test_easy_questions_get_fewer_rounds(question: str, most: int, why: str) -> None:
    """With `adaptive` the rounds are resolved from the question, and stand in the trace."""
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, SUMMARY, asked=case(question=question), adaptive=True)
    resolved = ran.events("config_resolved")[0].data

    assert ("max_iterations", 30, most, why) == (resolved.key, resolved.asked, resolved.used, resolved.why)


def test_the_adapted_limit_holds() -> None:
    """A third of six rounds is two, but never less than passes are required."""
    ran = deep(FIRST, BETTER, PASS, fail(), MENDED, PASS, SUMMARY, adaptive=True, max_iterations=6)

    assert ("failed", "max_iterations") == ran.ending
    assert 3 == course(ran).count("verify")


@given(bits=st.lists(st.booleans(), min_size=1, max_size=4))
def test_parallel_and_serial_agree(bits: list[bool]) -> None:
    """The same verdicts on one solution let it pass or not, whichever way they are asked for."""
    options: dict[str, Any] = {"required_verifications": len(bits), "max_errors": 1, "enable_self_improvement": False}
    said = [PASS if bit else fail() for bit in bits]
    serial = said[: bits.index(False) + 1] if False in bits else said
    at_once = deep(FIRST, *said, SUMMARY, enable_parallel_check=True, **options)
    in_turn = deep(FIRST, *serial, SUMMARY, **options)

    assert at_once.ending == in_turn.ending
    assert ("completed" if all(bits) else "failed") == in_turn.ending[0]


def test_a_limit_of_the_case_ends_all_checks() -> None:
    """When one of several checks goes past a limit, none of the others is left running."""
    asked = case(limits=Limits(llm_calls=4))
    ran = deep(FIRST, BETTER, PASS, PASS, PASS, asked=asked, enable_parallel_check=True)

    assert ("failed", "llm_calls") == ran.ending
    assert "" == ran.trial.code


def test_a_missing_recording_ends_all_checks() -> None:
    """A check that the recording does not hold ends the trial without a verdict, and leaves no task behind."""
    ran = deep(FIRST, BETTER, PASS, enable_parallel_check=True)

    assert "cassette-miss" == ran.trial.code
    assert [] == ran.events("verification")


def test_many_rounds_cost_the_same_each() -> None:
    """Nothing grows with the rounds: the last request and the last snapshot of 100 rounds are as large as the second."""
    ran = deep(FIRST, BETTER, *told("PF" * 50)[:-1], SUMMARY, max_iterations=100)
    asked = [len(text) for text in sent(ran, "verify")]
    reports = {event.data.parts["report"] for event in ran.events("state_saved")}

    assert ("failed", "max_iterations") == ran.ending
    assert 100 == len(asked)
    assert asked[-1] - asked[3] <= 1
    assert 3 == len(reports)


class Resumed:
    """The agent of a session that another trial left behind in *store*."""

    def __init__(self, ctx: Any, store: Any) -> None:
        ctx.state._store = store
        self._agent = DEEP.build(ctx)

    def run(self, question: Question) -> AsyncIterator[EventData]:
        return self._agent.run(msgspec.structs.replace(question, text="", resume=True))


def set_up(replies: list[Said], build: Any, listener: Any = None) -> TrialSetup:
    """A trial that can be listened to, and cancelled."""
    port = ListPort(replies)
    return TrialSetup(
        cell=Cell(DEEP.name, "scripted", "tests", "case"), case=case(), agent=replace(DEEP, build=build), port=port,
        world=FakeWorld(), clock=VirtualClock(NOW), fingerprints=Fingerprinter(), tape=port,
        default_model=DEEP.default_model, listener=listener,
    )  # fmt: skip


async def cancelled_at(type_: str, replies: list[Said]) -> tuple[Any, list[Any]]:
    """Cancel a run at the first event of *type_*; the state store that it left, and its events."""
    events: list[Any] = []
    stores: list[Any] = []

    def build(ctx: Any) -> Any:
        stores.append(ctx.state._store)
        return DEEP.build(ctx)

    def listen(event: Any) -> None:
        events.append(event)
        if event.type == type_ and event.phase == "verify":
            task.cancel()

    task = asyncio.create_task(run_trial(set_up(replies, build, listen)))
    with pytest.raises(asyncio.CancelledError):
        await task
    return stores[0], events


@pytest.mark.parametrize("type_", ["verification", "llm_call"])
def test_a_cancelled_run_leaves_a_snapshot(type_: str) -> None:
    """A cancellation in a round gets through; what was done is saved, the error says so, and a resumed run goes on."""
    store, events = asyncio.run(cancelled_at(type_, [FIRST, BETTER, PASS, PASS, PASS, SUMMARY]))
    done = [event.data.purpose for event in events if event.type == "llm_call"].count("verify")
    counted = sum(event.type == "verification" for event in events)
    port_replies: list[Said] = [*[PASS] * (3 - counted), SUMMARY]
    setup = set_up(port_replies, lambda ctx: Resumed(ctx, store))
    ran = Ran(asyncio.run(run_trial(setup)), setup.port.requests, setup.cell)

    assert ["state_saved", "error"] == [event.type for event in events[-2:]]
    assert ("cancelled", "the run was cancelled; it can be resumed") == (
        events[-1].data.kind,
        events[-1].data.message,
    )
    assert 1 == done
    assert ("completed", "") == ran.ending
    assert 3 == verdicts(ran)[-1][3]
    assert [*["verify"] * (3 - counted), "summary"] == course(ran)
