"""
SARIF 2.1.0 (OASIS), as GitHub's code scanning and editors read it: a rule for each contract, a result for each problem.

A known failure is a suppressed result; provenance stands in the properties of each result and of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from harness.records.decision import Decision, Statistic
from harness.records.digest import digest
from harness.records.run import RunRecord
from harness.reports.decided import decided_problems
from harness.reports.escaping import message_text
from harness.reports.problems import Problem, Rule, problems
from harness.reports.screen import one_line

Json = Any
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    "could_not_check": "error", "broken": "error", "inconclusive": "warning", "quarantined": "warning", "known": "warning",
    "advisory": "note",
}  # fmt: skip
_SUPPRESSED = {
    "known": "the baseline records this failure, for the same trial of the same recording",
    "quarantined": "an entry of the quarantine covers it until its day",
}
_NO_RULE = Rule("Stated in the golden set, or by a version of tapegate that is not this one")


def sarif(
    record: RunRecord,
    *,
    rules: Mapping[str, Rule],
    version: str,
    prefix: str = "",
    decision: Decision | None = None,
) -> dict[str, Json]:
    """
    Render *record* as the value of a SARIF document.

    Args:
        record: The run.
        rules: What is known of contracts and error codes, by id.
        version: Version of this product.
        prefix: The project's folder from the root of the repository; empty where they are the same.
        decision: What the gate says of the run: then its changes are the results, and its exit code that of the run.
    """
    found = problems(record, prefix=prefix) if decision is None else decided_problems(record, decision, prefix=prefix)
    asked = {finding.contract for verdict in record.results for finding in verdict.findings}
    by_id = {_id(name): rules.get(name, _NO_RULE) for name in sorted(asked | {problem.rule for problem in found})}
    driver = {
        "name": "tapegate",
        "version": version,
        "rules": [_rule(id, rule) for id, rule in by_id.items()],
    }
    places = {id: place for place, id in enumerate(by_id)}
    seen: dict[str, int] = {}
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {
                "executionSuccessful": not record.totals.could_not_check,
                "exitCode": record.exit_code if decision is None else decision.exit_code,
            },
        ],
        "results": [_result(problem, places, seen) for problem in found],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "run": record.run,
            "partial": record.partial,
            "provenance": sorted({verdict.provenance for verdict in record.results}),
            "trials": record.totals.trials,
            "kept": record.totals.kept,
            "broken": record.totals.broken,
            "known": record.totals.known,
            "couldNotCheck": record.totals.could_not_check,
            **({} if decision is None else _decided(decision)),
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _id(name: str) -> str:
    return message_text(one_line(name))


def _rule(id: str, rule: Rule) -> dict[str, Json]:
    return {
        "id": id,
        "shortDescription": {"text": message_text(one_line(rule.about))},
        "help": {"text": message_text(rule.help or rule.about)},
    }


def _result(problem: Problem, places: Mapping[str, int], seen: dict[str, int]) -> dict[str, Json]:
    verdict, finding = problem.verdict, problem.finding
    result: dict[str, Json] = {
        "ruleId": _id(problem.rule),
        "ruleIndex": places[_id(problem.rule)],
        "level": _LEVELS[problem.kind],
        "message": {"text": message_text(problem.text)},
        "partialFingerprints": {"tapegateFinding/v1": _fingerprint(problem, seen)},
        "properties": {
            "state": problem.kind,
            "agent": one_line(verdict.agent),
            "model": one_line(verdict.model),
            "provenance": verdict.provenance,
            "set": one_line(verdict.set),
            "case": one_line(verdict.case),
            "trial": verdict.trial,
            "cassette": one_line(verdict.cassette),
            "witness": list(finding.witness) if finding else [],
            "shortest": list(finding.shortest) if finding else [],
            "leg": finding.leg if finding else 0,
            "turn": finding.turn if finding else None,
        },
    }
    if problem.file:
        result["locations"] = [_location(problem)]
    if problem.change is not None:
        result["properties"] |= {"change": problem.change.change, "cause": one_line(problem.change.cause)}
    if problem.kind in _SUPPRESSED:
        why = _SUPPRESSED[problem.kind]
        if problem.change is not None and problem.change.quarantined:
            why += f" ({message_text(one_line(problem.change.quarantined))})"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    return result


def _decided(decision: Decision) -> dict[str, Json]:
    return {
        "decision": decision.decision,
        "compared": decision.compared,
        "needsTrials": decision.needs_trials,
        "statistics": [_statistic(one) for one in decision.statistics],
    }


def _statistic(one: Statistic) -> dict[str, Json]:
    told: dict[str, Json] = msgspec.to_builtins(one)
    return told | {name: one_line(told[name]) for name in ("agent", "model", "set", "case", "contract")}


def _location(problem: Problem) -> dict[str, Json]:
    verdict = problem.verdict
    place: dict[str, Json] = {"artifactLocation": {"uri": quote(one_line(problem.file)), "uriBaseId": "%SRCROOT%"}}
    if problem.line:
        place["region"] = {"startLine": problem.line}
    name = one_line(f"{verdict.set}/{verdict.case}")
    return {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}]}


def _fingerprint(problem: Problem, seen: dict[str, int]) -> str:
    """The same for the same contract of the same trial in the next run, whatever the line and the reason are then."""
    verdict = problem.verdict
    cell = digest([problem.rule, verdict.agent, verdict.model, verdict.set, verdict.case, verdict.trial, verdict.fault])
    seen[cell] = seen.get(cell, 0) + 1
    return f"{cell}:{seen[cell]}"
