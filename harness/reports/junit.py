"""
JUnit XML, as Jenkins, GitLab and others read it (the structure of Jenkins' `junit-10.xsd`).

A testcase is a trial. What broke is a `failure`, what could not be checked an `error`; a known failure is `skipped`,
as pytest writes an expected one, and advisory findings stand in `system-out`. A suite is one design with one model on
one set, so that provenances are never mixed in one.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from harness.records.decision import Decision
from harness.records.run import CaseVerdict, RunRecord
from harness.reports.decided import beside_trials, decided_problems
from harness.reports.escaping import xml_text
from harness.reports.problems import FAILING, Problem, place, problems_of
from harness.reports.screen import clip, one_line

_EXCUSED = {"known": "known failure, in the baseline", "quarantined": "quarantined"}
_MOST_COLUMNS = 400
"""Of a message; the element's text has all of it."""


def junit(record: RunRecord, *, prefix: str = "", decision: Decision | None = None) -> str:
    """
    Render *record*.

    Args:
        record: The run.
        prefix: The project's folder from the root of the repository; empty where they are the same.
        decision: What the gate says of the run: then a trial fails where something of it blocks, and what no trial shows
            has a suite of its own.
    """
    root = ET.Element("testsuites", {"name": "tapegate"})
    found = () if decision is None else decided_problems(record, decision, prefix=prefix)
    of_trials: dict[int, list[Problem]] = {}
    for problem in found:
        of_trials.setdefault(id(problem.verdict), []).append(problem)
    suites: dict[tuple[str, str, str, str], list[CaseVerdict]] = {}
    for verdict in record.results:
        suites.setdefault((verdict.set, verdict.agent, verdict.model, verdict.provenance), []).append(verdict)
    for verdicts in suites.values():
        told = [
            (verdict, list(problems_of(verdict, prefix=prefix)) if decision is None else of_trials.get(id(verdict), []))
            for verdict in verdicts
        ]
        root.append(_suite(record, told, prefix))
    if decision is not None:
        root.append(_of_the_gate(record, decision, beside_trials(found, record)))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", _seconds(record.results))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(record: RunRecord, told: list[tuple[CaseVerdict, list[Problem]]], prefix: str) -> ET.Element:
    verdicts = [verdict for verdict, _ in told]
    first = verdicts[0]
    suite = ET.Element("testsuite", {"name": xml_text(one_line(f"{first.set} / {first.agent} × {first.model}"))})
    _properties(
        suite,
        run=record.run,
        partial=str(record.partial).lower(),
        provenance=first.provenance,
        agent=first.agent,
        model=first.model,
        known=str(sum(verdict.known for verdict in verdicts)),
    )
    _filled(suite, [_testcase(verdict, found, prefix) for verdict, found in told], _seconds(verdicts))
    return suite


def _of_the_gate(record: RunRecord, decision: Decision, found: list[Problem]) -> ET.Element:
    """A suite of the gate's own: its decision, then what is about no trial that was run."""
    suite = ET.Element("testsuite", {"name": "gate"})
    needs = str(decision.needs_trials) if decision.needs_trials else ""
    _properties(
        suite, run=record.run, decision=decision.decision, exit_code=str(decision.exit_code),
        compared=str(decision.compared), needs_trials=needs,
    )  # fmt: skip
    cases = []
    for problem in found:
        case = ET.Element("testcase", {"classname": "gate", "name": xml_text(one_line(problem.where)), "time": "0.000"})
        if problem.file:
            case.set("file", xml_text(one_line(problem.file)))
        if problem.line:
            case.set("line", str(problem.line))
        _outcome(case, [problem])
        cases.append(case)
    _filled(suite, cases, "0.000")
    return suite


def _filled(suite: ET.Element, cases: list[ET.Element], seconds: str) -> None:
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None and case.find("error") is None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.set("time", seconds)
    suite.extend(cases)


def _testcase(verdict: CaseVerdict, found: list[Problem], prefix: str) -> ET.Element:
    fault = f" {verdict.fault}" if verdict.fault else ""
    case = ET.Element(
        "testcase",
        {
            "classname": xml_text(one_line(f"{verdict.set}.{verdict.agent}.{verdict.model}")),
            "name": xml_text(one_line(f"{verdict.case}[{verdict.trial}]{fault}")),
            "time": _seconds([verdict]),
        },
    )
    file, line = place(verdict.at, prefix)
    if file:
        case.set("file", xml_text(one_line(file)))
    if line:
        case.set("line", str(line))
    _properties(case, provenance=verdict.provenance, verdict=verdict.verdict, known=str(verdict.known).lower())
    _outcome(case, found)
    return case


def _outcome(case: ET.Element, found: list[Problem]) -> None:
    """What came of a testcase: one `skipped` for all that is excused, then what blocks, then advice as output."""
    excused = [problem for problem in found if problem.kind in _EXCUSED]
    if excused:
        kind = "known" if any(problem.kind == "known" for problem in excused) else "quarantined"
        names = ", ".join(dict.fromkeys(problem.rule for problem in excused))
        _told(case, "skipped", kind, f"{_EXCUSED[kind]}: {names}", excused)
    for problem in found:
        if problem.kind in FAILING:
            element = "error" if problem.kind == "could_not_check" else "failure"
            _told(case, element, problem.rule, f"{problem.rule}: {problem.because}", [problem])
    advisory = [problem for problem in found if problem.kind == "advisory"]
    if advisory:
        ET.SubElement(case, "system-out").text = xml_text("\n\n".join(problem.text for problem in advisory))


def _told(case: ET.Element, element: str, kind: str, message: str, found: list[Problem]) -> None:
    told = ET.SubElement(
        case,
        element,
        {"type": xml_text(one_line(kind)), "message": xml_text(clip(one_line(message), _MOST_COLUMNS))},
    )
    told.text = xml_text("\n\n".join(problem.text for problem in found))


def _properties(element: ET.Element, **values: str) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", {"name": name, "value": xml_text(one_line(value))})


def _seconds(verdicts: list[CaseVerdict] | tuple[CaseVerdict, ...]) -> str:
    return f"{sum(verdict.replay_ms for verdict in verdicts) / 1000:.3f}"
