"""Verdicts of deep thinking: the two forms that count, and everything else, which fails."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.contracts.verdicts import read_verdict as independent
from harness.records.trace import Issue

from .deep_runs import DEEP

verdicts: Any = importlib.import_module(f"{DEEP.build.__module__}.verdicts")
read = verdicts.read_verdict


def stated(passed: Any, *issues: Any, **more: Any) -> str:
    """A verdict as JSON."""
    return json.dumps({"passed": passed, "issues": list(issues)} | more, ensure_ascii=False)


MINOR = {"severity": "minor", "where": "end", "what": "long"}
GAP = {"severity": "gap", "where": "end", "what": "no reason"}


@pytest.mark.parametrize(
    "text",
    [
        '{"passed": true}',
        stated(True),
        stated(True, MINOR),
        f"  \n{stated(True)}\n",
        f"```json\n{stated(True)}\n```",
        f"```\n{stated(True)}\n ```",
        "All is well.\nVERDICT: PASS",
        "VERDICT:\tPASS",
        "All is well.\n\n**VERDICT: PASS**\n",
        "VERDICT: FAIL\nNo, wait.\nVERDICT: PASS",
    ],
)
def test_what_passes(text: str) -> None:
    """An object that says so, alone or in one fence, or a last line that says nothing else."""
    assert "pass" == read(text).verdict
    assert read(text).passed


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        (stated(False, GAP), Issue("gap", "end", "no reason")),
        (stated(False, MINOR), Issue("minor", "end", "long")),
        (stated(False), Issue("gap", "", "评审判定不通过，但没有说明理由。")),
        (stated(True, GAP), Issue("gap", "end", "no reason")),
        (stated(True, {"severity": "huge", "what": "it"}), Issue("critical", "", "it")),
        (stated(True, {}), Issue("critical", "", "评审判定不通过，但没有说明理由。")),
        (stated(True, {"severity": ["minor"]}), Issue("critical", "", "评审判定不通过，但没有说明理由。")),
        (stated(False, {"severity": "gap", "where": 7, "what": " w "}), Issue("gap", "7", "w")),
        ("Line two is wrong.\nVERDICT: FAIL", Issue("critical", "", "Line two is wrong.")),
        ("VERDICT: FAIL", Issue("critical", "", "评审判定不通过，但没有说明理由。")),
    ],
)
def test_what_fails(text: str, issue: Issue) -> None:
    """A failed verdict always has an issue; a pass that names a gap, or a severity that nobody knows, is none."""
    assert ("fail", (issue,)) == (read(text).verdict, read(text).issues)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "No, I cannot say yes",
        "通过",
        "不通过",
        "PASS",
        "verdict: pass",
        "VERDICT: PASS, I think",
        "VERDICT: PASS\nbut look at line two",
        "the VERDICT: PASS",
        '{"passed": "true"}',
        '{"passed": 1}',
        '{"passed": null}',
        '{"passed": true, "issues": "none"}',
        '{"passed": true, "issues": ["none"]}',
        '{"passed": false, "passed": true}',
        '[{"passed": true}]',
        '{"verdict": {"passed": true}}',
        f"My verdict: {stated(True)}",
        f"{stated(True)} {stated(True)}",
        f"{stated(True)}\nAs I said.",
        stated(True)[:-1],
        f"```json\n{stated(True)}\n```\nDone.",
        "[" * 10_000,
        " " + "x" * 20_001 + "\nVERDICT: PASS",
    ],
)
def test_what_cannot_be_read_fails(text: str) -> None:
    """Words, other types, other places, broken or doubled objects and endless texts are no verdict."""
    found = read(text)

    assert ("unparsable", False, 1) == (found.verdict, found.passed, len(found.issues))
    assert "critical" == found.issues[0].severity
    assert found.issues[0].what.startswith("评审没有给出可读的判定，不能算通过。评审原文：")
    assert len(found.issues[0].what) < 1_100


def test_issues_are_limited() -> None:
    """A verifier can fill neither the trace nor the corrector's prompt."""
    found = read(stated(False, GAP | {"where": "w" * 2_000}, *[GAP] * 50))

    assert 20 == len(found.issues)
    assert 1_001 == len(found.issues[0].where)
    assert found.issues[0].where.endswith("…")


def test_a_grave_issue_counts_wherever_it_stands() -> None:
    """An issue behind those that are kept still fails the solution."""
    assert "fail" == read(stated(True, *[MINOR] * 30, GAP)).verdict


def test_rendered_issues_are_those_of_failed_checks() -> None:
    """Numbered through over all failed checks; what a passing one noted is left out."""
    checks = [read(stated(True, MINOR)), read(stated(False, GAP, MINOR)), verdicts.TIMED_OUT]

    assert (
        "1. [gap] end: no reason\n2. [minor] end: long\n"
        "3. [gap] 评审没有在规定的时间内完成，不能算通过；请把解答写得更清楚、更容易核对。"
    ) == verdicts.render_issues(checks)


WORDS = st.sampled_from(
    [
        "VERDICT:",
        "PASS",
        "FAIL",
        " ",
        "\n",
        "**",
        "```",
        "json",
        '{"passed": true}',
        '{"passed": false}',
        "yes",
        "x",
        "`",
    ]
)


@given(text=st.lists(WORDS, max_size=8).map("".join))
@example(text='```json\n{"passed": true}\n```')
def test_a_second_reader_agrees(text: str) -> None:
    """The contracts' own reading of a verdict, written apart from this one, comes to the same."""
    assert independent(text) == read(text).verdict


@given(
    passed=st.sampled_from([True, False, None, 1, "yes"]),
    issues=st.one_of(
        st.lists(
            st.fixed_dictionaries({}, optional={"severity": st.sampled_from(["minor", "gap", "?", 3])}), max_size=3
        ),
        st.none(),
        st.text(max_size=3),
    ),
)
def test_a_second_reader_agrees_on_objects(passed: Any, issues: Any) -> None:
    """Whatever stands in the fields, both readers come to the same."""
    text = json.dumps({"passed": passed, "issues": issues})

    assert independent(text) == read(text).verdict


@given(text=st.text())
def test_any_text_is_read(text: str) -> None:
    """Nothing that a verifier says raises; what is no pass has an issue."""
    found = read(text)

    assert found.passed or found.issues
