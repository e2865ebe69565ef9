"""The contracts that read what judges and embedding models answered, and ask nobody."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.contracts import judge, verdict_of
from harness.contracts.catalogue import builtin, contracts_for
from harness.contracts.rubric import rubric, similar_meaning
from harness.errors import BadFileError
from harness.records.finding import Finding
from harness.records.judgement import Citation, Judgement, Question, Vote
from harness.records.run import Trial
from harness.testing.builders import answer, make_case, make_trace, make_trial, model_turn, tool_use

CRITERION = "The answer gives the temperature."
TRACE = make_trace(model_turn(calls=[("get_weather", {})]), tool_use("get_weather", text="7 °C"), answer("It is 7 °C."))
TOLD = next(event.seq for event in TRACE.events if event.type == "tool_result")
FINAL = TRACE.events[-2].seq
ASKED = Question(kind="rubric", text=CRITERION, model="judge", votes=3)
NEAR = Question(kind="meaning", text="Seven degrees.", model="e5")
RULE = rubric.with_options(criterion=CRITERION, model="judge")
LIKE = similar_meaning.with_options(text="Seven degrees.", at_least=0.9, model="e5")
CITED = Vote(passed=True, why="It does.", citations=(Citation(0, TOLD, "7 °C"),))
PASSED = Judgement(
    question=ASKED, verdict="pass", because="2 of 3 votes pass: It does.", votes=(CITED,), answered_by="local"
)
FAILED = Judgement(
    question=ASKED, verdict="fail", because="1 of 3 votes pass: No.", votes=(CITED,), answered_by="scripted"
)


def trial(*judgements: Judgement) -> Trial:
    """A trial about which this was answered."""
    return make_trial(TRACE, judgements=judgements)


def found(contract: Any, *judgements: Judgement) -> Finding:
    """What *contract* finds in it."""
    (finding,) = judge(make_case(), trial(*judgements), [contract])
    return finding


def likeness(score: float | None, **more: Any) -> Judgement:
    """What an embedding model answered."""
    return Judgement(question=NEAR, score=score, **({"verdict": "pass", "answered_by": "local"} | more))


def test_a_passed_criterion_is_kept_and_says_who_passed_it() -> None:
    """The finding tells how many votes passed it, and who answered."""
    finding = found(RULE, PASSED)

    assert ("kept", "local") == (finding.state, finding.judged_by)
    assert "“The answer gives the temperature.”: 2 of 3 votes pass: It does. (judge, local)" == finding.because


def test_a_failed_criterion_is_broken_with_answer_and_quotes_as_witness() -> None:
    """The witness is the answer, and the events that true quotes come from."""
    finding = found(RULE, FAILED)

    assert ("broken", "scripted", (TOLD, FINAL)) == (finding.state, finding.judged_by, finding.witness)
    assert "“The answer gives the temperature.”: 1 of 3 votes pass: No. (judge, scripted)" == finding.because


@pytest.mark.parametrize("contract", [RULE, LIKE])
def test_where_nobody_was_asked_nothing_is_known(contract: Any) -> None:
    """It is neither kept nor broken, the command that records it is named, and the trial has no verdict."""
    finding = found(contract)

    assert "could_not_check" == finding.state
    assert finding.because.endswith(
        "was not asked about this answer\nhint: `harness record set --agent design --model scripted --case case --judge-only`"
    )
    assert "could_not_check" == verdict_of([finding], trial())


def test_a_missing_answer_says_why() -> None:
    """What the replay found stands before the hint."""
    missing = Judgement(
        question=ASKED, verdict="none", because="the judge was asked about another answer", hint="do it"
    )

    assert "the judge was asked about another answer\nhint: do it" == found(RULE, missing).because


def test_other_contracts_of_the_trial_are_judged_all_the_same() -> None:
    """A judge that was never asked takes nothing from what the trace alone shows."""
    case = make_case(
        contracts=({"rubric": {"criterion": CRITERION, "model": "judge"}}, {"answer_exact": {"text": "No."}})
    )
    states = {f.contract: f.state for f in judge(case, trial(), contracts_for(case, "design", builtin()))}

    assert ("could_not_check", "broken") == (states["rubric"], states["answer_exact"])


def test_each_criterion_counts() -> None:
    """Of several criteria one that fails breaks the contract, and one that nobody was asked about leaves it open."""
    both = rubric.with_options(criterion=[CRITERION, "It is polite."], model="judge")
    polite = msgspec.structs.replace(PASSED, question=msgspec.structs.replace(ASKED, text="It is polite."))
    rude = msgspec.structs.replace(FAILED, question=polite.question)

    assert ["kept", "broken", "could_not_check"] == [
        found(both, PASSED, polite).state, found(both, PASSED, rude).state, found(both, PASSED).state,
    ]  # fmt: skip
    assert "; “It is polite.”: " in found(both, PASSED, polite).because


def test_another_question_is_no_answer_to_this_one() -> None:
    """Criterion, judge, votes and kind of evidence all belong to the question."""
    for change in ({"text": "Other."}, {"model": "other"}, {"votes": 5}, {"cite": "answer"}):
        other = msgspec.structs.replace(PASSED, question=msgspec.structs.replace(ASKED, **change))

        assert "could_not_check" == found(RULE, other).state, change


@pytest.mark.parametrize(("score", "state"), [(0.95, "kept"), (0.9, "kept"), (0.8999, "broken"), (-1.0, "broken")])
def test_likeness_is_held_against_its_bound(score: float, state: str) -> None:
    """The bound itself is enough."""
    assert state == found(LIKE, likeness(score)).state


def test_likeness_is_told_with_its_model() -> None:
    """Kept or broken, the figure, the bound and the model are named."""
    assert "likeness 0.950, at least 0.900 (e5, local)" == found(LIKE, likeness(0.95)).because
    assert (
        "the answer's likeness to “Seven degrees.” is 0.500, expected at least 0.900 (e5, local)"
        == found(LIKE, likeness(0.5)).because
    )


def test_an_answer_that_no_model_was_shown_is_failed() -> None:
    """One that is empty or too long is broken for both, and nobody is said to have answered."""
    failed = {"verdict": "fail", "because": "the answer is empty", "answered_by": "none"}

    assert ("broken", "", "the answer is empty") == (
        found(LIKE, likeness(None, **failed)).state,
        found(LIKE, likeness(None, **failed)).judged_by,
        found(LIKE, likeness(None, **failed)).because,
    )
    assert "the answer is empty (no model was needed)" in found(RULE, Judgement(question=ASKED, **failed)).because


@pytest.mark.parametrize("contract", [RULE, LIKE])
def test_without_an_answer_there_is_nothing_to_judge(contract: Any) -> None:
    """A trial that ended without an answer leaves them vacuous."""
    silent = make_trial(make_trace(model_turn("?")), judgements=(PASSED, likeness(1.0)))

    assert ["vacuous"] == [finding.state for finding in judge(make_case(), silent, [contract])]


def test_the_contracts_tell_what_they_ask() -> None:
    """Questions follow from the options alone, in the order of the criteria."""
    asked = rubric.with_options(criterion=["a", "b"], model="judge", votes=1, evidence="answer")

    assert rubric.questions is not None
    assert similar_meaning.questions is not None
    assert (
        Question(kind="rubric", text="a", model="judge", votes=1, cite="answer"),
        Question(kind="rubric", text="b", model="judge", votes=1, cite="answer"),
    ) == rubric.questions(asked.options)
    assert (NEAR,) == similar_meaning.questions(LIKE.options)


@pytest.mark.parametrize(
    ("contract", "options", "because"),
    [
        (rubric, {"votes": 2}, "`votes` is an odd number from 1 to 15, so that there is no tie, not `2`"),
        (rubric, {"votes": 0}, "`votes` is an odd number"),
        (rubric, {"votes": 17}, "`votes` is an odd number"),
        (rubric, {"votes": True}, "`votes` is an odd number"),
        (rubric, {"votes": "3"}, "`votes` is an odd number"),
        (rubric, {"evidence": "none"}, "`evidence` is `trace` or `answer`, not `none`"),
        (rubric, {"criterion": []}, "a list of different ones"),
        (rubric, {"criterion": ["a", "a"]}, "a list of different ones"),
        (rubric, {"criterion": " "}, "`criterion` is a text of 1 to 4,000 characters"),
        (rubric, {"criterion": "x" * 4001}, "`criterion` is a text of 1 to 4,000 characters"),
        (rubric, {"criterion": 7}, "`criterion` is a text"),
        (rubric, {"model": ""}, "`model` names a model of pyproject.toml, or `scripted`"),
        (similar_meaning, {"at_least": 1.1}, "`at_least` is a number from 0 to 1, not `1.1`"),
        (similar_meaning, {"at_least": -0.1}, "`at_least` is a number from 0 to 1"),
        (similar_meaning, {"at_least": True}, "`at_least` is a number from 0 to 1"),
        (similar_meaning, {"at_least": float("nan")}, "`at_least` is a number from 0 to 1"),
        (similar_meaning, {"text": ""}, "`text` is a text of 1 to"),
        (similar_meaning, {"prefix": 1}, "`prefix` is a text"),
    ],
)
def test_options_out_of_range_are_refused(contract: Any, options: dict[str, Any], because: str) -> None:
    """A wrong option is a wrong file, told before anybody is asked."""
    given = {
        "rubric": {"criterion": "a", "model": "judge"},
        "similar_meaning": {"text": "a", "at_least": 0.5, "model": "e5"},
    }
    wrong = contract.with_options(**(given[contract.id] | options))

    with pytest.raises(BadFileError) as raised:
        contract.questions(wrong.options)
    assert because in str(raised.value)
