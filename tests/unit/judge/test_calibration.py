"""Labelled answers, and a judge held against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError
from harness.judge.calibration import (
    LEAST_LABELS,
    LabelledAnswer,
    Labels,
    Rated,
    calibrate,
    load_labels,
    question_of,
    rate,
)
from harness.records.judgement import Judgement, Question

ITEM = {"id": "a", "criterion": "c", "answer": "It is 7.", "label": "pass", "evidence": ["7"]}
OWN = Path(__file__).parents[3] / "goldensets" / "labels" / "newsdesk-answers.yaml"


def items(*pairs: tuple[str, str], criterion: str = "c") -> list[Rated]:
    """Rated answers, each as (label, verdict)."""
    made = []
    for number, (label, verdict) in enumerate(pairs):
        item = LabelledAnswer(id=f"{criterion}{number}", criterion=criterion, answer=str(number), label=label)
        asked = question_of(item, "judge", 1)
        by = "none" if verdict == "none" else "local"
        made.append(Rated(item, Judgement(question=asked, verdict=verdict, answered_by=by, because="so")))
    return made


def found(rated: list[Rated]) -> Any:
    """The calibration of *rated*."""
    labels = Labels(format=1, items=tuple(one.item for one in rated), about="tests")
    return calibrate(labels, rated, file="labels.yaml", model="judge")


def write(tmp_path: Path, content: str, name: str = "labels.yaml") -> Path:
    """A file of labels."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_confusion_and_figures() -> None:
    """Who said what is counted, with agreement, chance and κ over it."""
    rated = items(*[("pass", "pass")] * 20, *[("pass", "fail")] * 5, *[("fail", "pass")] * 10, *[("fail", "fail")] * 15)
    overall = found(rated).overall

    assert (20, 5, 10, 15) == tuple(getattr(overall.confusion, name) for name in overall.confusion.__struct_fields__)
    assert (0.7, 0.5, 0.4) == (overall.agreement, overall.expected, pytest.approx(overall.kappa))
    assert overall.enough
    assert 0 == found(rated).exit_code


def test_each_criterion_has_figures_of_its_own() -> None:
    """What a judge is good at need not be what it is asked for next; few labels are called few."""
    rated = [
        *items(*[("pass", "pass"), ("fail", "fail")] * 8, criterion="a"),
        *items(*[("pass", "fail")] * 6, criterion="b"),
    ]
    calibration = found(rated)

    assert [("a", 1.0, 16), ("b", 0.0, 6)] == [
        (one.criterion, one.agreement, one.confusion.labels) for one in calibration.criteria
    ]
    assert not any(one.enough for one in calibration.criteria)
    assert ("2 of 2 criteria have fewer than 20 labels: their own figures are only a hint",) == calibration.warnings


def test_too_few_labels_decide_nothing() -> None:
    """Below the least number the command is inconclusive, and says how many are missing."""
    calibration = found(items(*[("pass", "pass"), ("fail", "fail")] * 4))

    assert 5 == calibration.exit_code
    assert ("8 labels are too few to speak of a judge; 12 more are needed",) == calibration.warnings
    assert 20 == LEAST_LABELS


def test_answers_without_a_verdict_are_never_counted() -> None:
    """They are told, they make the command end as could not check, and no figure holds them."""
    calibration = found(items(*[("pass", "pass"), ("fail", "fail")] * 10, ("pass", "none")))

    assert (3, 20) == (calibration.exit_code, calibration.overall.confusion.labels)
    assert "1 of 21 answers have no verdict; `--record` asks the judge about them" in calibration.warnings


def test_nothing_recorded_has_no_figures() -> None:
    """No figure is made up where the judge was never asked."""
    calibration = found(items(("pass", "none")))

    assert (None, "none", 3) == (calibration.overall, calibration.provenance, calibration.exit_code)


def test_labels_of_one_kind_show_little() -> None:
    """Where people pass everything, a judge that does so too is not shown to judge."""
    calibration = found(items(*[("pass", "pass")] * 20))

    assert calibration.overall.kappa is None
    assert any("every label is `pass`" in text for text in calibration.warnings)


@given(
    st.lists(
        st.tuples(st.sampled_from(["pass", "fail"]), st.sampled_from(["pass", "fail", "none"])), min_size=1, max_size=30
    )
)
def test_every_answer_is_told_once(pairs: list[tuple[str, str]]) -> None:
    """Counts and answers without a verdict add up to the labels."""
    calibration = found(items(*pairs))
    counted = calibration.overall.confusion.labels if calibration.overall else 0

    assert len(pairs) == len(calibration.answers) == counted + sum(verdict == "none" for _, verdict in pairs)


def test_a_judge_is_asked_about_each_item_as_a_contract_asks() -> None:
    """Criterion, votes and evidence are those of the item and the file; evidence blocks are numbered from 1."""
    labels = Labels(format=1, votes=3, items=(LabelledAnswer(**ITEM, cite="answer"),))
    asked: list[Question] = []

    def answer(item: LabelledAnswer, question: Question) -> Judgement:
        asked.append(question)
        return Judgement(question=question, verdict="pass")

    (one,) = rate(labels, "judge", answer)

    assert [Question(kind="rubric", text="c", model="judge", votes=3, cite="answer")] == asked
    assert [(1, "7")] == [(block.seq, block.text) for block in one.item.subject.blocks]


def test_both_forms_of_the_file(tmp_path: Path) -> None:
    """YAML with a head, or JSON lines without one."""
    whole = load_labels(write(tmp_path, json.dumps({"format": 1, "model": "m", "votes": 3, "items": [ITEM]})))
    lines = load_labels(write(tmp_path, json.dumps(ITEM) + "\n\n", "labels.jsonl"))

    assert ("m", 3) == (whole.model, whole.votes)
    assert whole.items == lines.items


@pytest.mark.parametrize(
    ("document", "because"),
    [
        ({"format": 2, "items": [ITEM]}, "no file of labelled answers"),
        ({"format": 1, "items": []}, "no answer is labelled"),
        ({"format": 1, "items": [ITEM], "votes": 2}, "`votes` is odd"),
        ({"format": 1, "items": [ITEM], "extra": 1}, "unknown field `extra`"),
        ({"format": 1, "items": [ITEM | {"label": "maybe"}]}, "Invalid enum value 'maybe'"),
        ({"format": 1, "items": [ITEM | {"answer": ""}]}, "length >= 1"),
        ({"format": 1, "items": [ITEM, ITEM]}, "two items have the id `a`"),
        ({"format": 1, "items": [ITEM, ITEM | {"id": "b", "label": "fail"}]}, "`a` and `b` are the same answer"),
        (["x"], "no file of labelled answers"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, document: object, because: str) -> None:
    """Each says what is wrong, and where."""
    path = write(tmp_path, json.dumps(document))
    with pytest.raises(BadFileError) as raised:
        load_labels(path)

    assert ("bad-labels", True) == (raised.value.code, because in raised.value.message)
    assert str(path) in raised.value.at


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    """Of JSON lines the number is told; what is not there cannot be read."""
    path = write(tmp_path, f"{json.dumps(ITEM)}\n{{\n", "labels.jsonl")

    with pytest.raises(BadFileError) as raised:
        load_labels(path)
    assert f"{path}:2" == raised.value.at
    with pytest.raises(BadFileError, match="cannot be read"):
        load_labels(tmp_path / "none.yaml")


def test_our_own_file_is_balanced() -> None:
    """Half of its answers are good and half are not, for each criterion, and there are enough of them."""
    labels = load_labels(OWN)
    by = {
        item.criterion: [one.label for one in labels.items if one.criterion == item.criterion] for item in labels.items
    }

    assert LEAST_LABELS <= len(labels.items)
    assert [(4, 4)] * 3 == [(said.count("pass"), said.count("fail")) for said in by.values()]
