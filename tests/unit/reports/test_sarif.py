"""SARIF that code scanning reads."""

from __future__ import annotations

import json

import jsonschema
from hypothesis import given

from harness.reports.problems import Rule, problems
from harness.reports.sarif import sarif

from .ci_runs import ALL, hostile_runs
from .published import SARIF

RULES = {"facts": Rule("The answer says the facts.", "The answer says the facts.\n\nAll of them.")}


def written(record, **more):
    """The document as a file holds it, read again and held against the schema."""
    document = json.loads(json.dumps(sarif(record, rules=RULES, version="0.1.0", **more), allow_nan=False))
    jsonschema.validate(document, SARIF)
    return document["runs"][0]


@given(hostile_runs)
def test_every_run_keeps_to_the_published_schema(record):
    """Whatever its texts hold: a result for each problem, each of its own rule."""
    run = written(record)

    rules = run["tool"]["driver"]["rules"]
    assert len(problems(record)) == len(run["results"])
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    prints = [result["partialFingerprints"]["tapegateFinding/v1"] for result in run["results"]]
    assert len(prints) == len(set(prints))


def test_a_run_of_each_kind():
    """Level, place, evidence and who answered."""
    run = written(ALL, prefix="my bot")

    assert ["error", "error", "warning", "note"] == [result["level"] for result in run["results"]]
    broken = run["results"][1]
    assert broken["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20bot/goldensets/shared.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 17},
    }
    assert {
        "state": "broken",
        "provenance": "scripted",
        "witness": [4, 9],
        "shortest": [9],
        "turn": 2,
    }.items() <= broken["properties"].items()
    assert broken["message"]["text"].startswith(
        "BROKEN facts: the answer does not say 7\nlean_react × scripted on shared/S2"
    )
    assert (False, 3) == (run["invocations"][0]["executionSuccessful"], run["invocations"][0]["exitCode"])
    assert ["local", "scripted"] == run["properties"]["provenance"]


def test_a_known_failure_is_suppressed_and_stays_visible():
    """The baseline is the reason; nothing else is suppressed."""
    results = written(ALL)["results"]

    assert [[], [], ["external"], []] == [[one["kind"] for one in result.get("suppressions", [])] for result in results]
    assert results[2]["properties"]["provenance"] == "local"


def test_each_contract_is_a_rule_with_help():
    """Contracts that held are rules too, so that an alert can be closed."""
    rules = {rule["id"]: rule for rule in written(ALL)["tool"]["driver"]["rules"]}

    assert ["CX1", "CX15", "cassette-missing", "facts"] == sorted(rules)
    assert rules["facts"]["shortDescription"] == {"text": "The answer says the facts."}
    assert rules["facts"]["help"] == {"text": "The answer says the facts.\n\nAll of them."}


def test_a_fingerprint_survives_another_reason():
    """The same contract of the same trial is the same alert in the next run."""
    first, second = (
        written(ALL)["results"][1]["partialFingerprints"],
        written(ALL, prefix="elsewhere")["results"][1]["partialFingerprints"],
    )

    assert first == second
