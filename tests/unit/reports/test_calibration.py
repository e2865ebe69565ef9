"""A judge's calibration as people read it."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest

from harness.records.calibration import Calibrated, Calibration, Confusion, RatedAnswer
from harness.reports.calibration import render_calibration, words_for
from harness.reports.documents import full, schema_of

OVERALL = Calibrated(
    criterion="", confusion=Confusion(pass_pass=20, pass_fail=5, fail_pass=10, fail_fail=15), agreement=0.7,
    agreement_interval=(0.56, 0.81), expected=0.5, kappa=0.4, standard_error=0.127, kappa_interval=(0.15, 0.65), enough=True,
)  # fmt: skip
WRONG = RatedAnswer(id="b", criterion="c", label="fail", verdict="pass", because="1 of 1 votes pass: \x1b[31mfine")


def calibration(**fields: Any) -> Calibration:
    """A calibration over 50 labels."""
    return Calibration(
        **{
            "file": "labels.yaml", "about": "tests", "model": "judge", "provenance": "local", "votes": 1, "labels": 50,
            "least_labels": 20, "overall": OVERALL, "criteria": (), "answers": (WRONG,), "warnings": (), "exit_code": 0,
        } | fields
    )  # fmt: skip


def test_who_said_what_and_how_far_they_agree() -> None:
    """The confusion, agreement beside chance, κ with error and interval and its word, and what passed wrongly."""
    text = render_calibration(calibration(), 100)

    assert text.startswith("judge (local) against 50 labels of labels.yaml\n")
    assert "people: pass           20            5" in text
    assert "people: fail           10           15" in text
    assert "agreement 0.70 [0.56, 0.81], by chance 0.50" in text
    assert "Cohen's κ 0.40 [0.15, 0.65], standard error 0.13: fair" in text
    assert "passed 10 of the 25 answers that people fail" in text


def test_answers_that_differ_are_named_and_made_harmless() -> None:
    """Each with both verdicts and the reason; what a model wrote steers no terminal."""
    text = render_calibration(calibration(), 100)

    assert "  b: people: fail, judge: pass: 1 of 1 votes pass: \\x1b[31mfine" in text
    assert "\x1b" not in text


def test_a_criterion_of_its_own_line() -> None:
    """Figures by criterion stand in a table; what is not defined is a dash."""
    one = msgspec.structs.replace(
        OVERALL, criterion="It is warm.", kappa=None, standard_error=None, kappa_interval=None
    )
    text = render_calibration(calibration(criteria=(one, OVERALL)), 100)

    assert ["It is warm.", "50", "0.70", "–", "–"] == next(
        line.rsplit(maxsplit=4) for line in text.splitlines() if line.startswith("It is warm.")
    )


def test_too_few_labels_get_no_word() -> None:
    """A figure from few labels is shown without a judgement on it, and the warnings follow."""
    few = msgspec.structs.replace(OVERALL, enough=False)
    text = render_calibration(calibration(overall=few, warnings=("8 labels are too few",)), 100)

    assert "too few labels for a word on it" in text
    assert "warning: 8 labels are too few" in text


def test_nothing_recorded_shows_no_figures() -> None:
    """Without a verdict there is a head and a warning, and no table."""
    text = render_calibration(calibration(overall=None, answers=(), provenance="none"), 80)

    assert "agreement" not in text


@pytest.mark.parametrize(
    ("kappa", "word"),
    [(1.0, "almost perfect"), (0.81, "almost perfect"), (0.8, "substantial"), (0.6, "moderate"), (0.4, "fair"),
     (0.2, "slight"), (0.0, "no better than chance"), (-0.1, "no better than chance"),
     (None, "not defined: both always say the same one thing")],
)  # fmt: skip
def test_words(kappa: float | None, word: str) -> None:
    """Landis and Koch: each word begins above its bound."""
    assert word == words_for(kappa)


def test_the_document_fits_its_schema() -> None:
    """What `--json` prints is what `harness explain schema:judge-calibrate` says."""
    jsonschema.validate(full(calibration()), schema_of("judge-calibrate"))
