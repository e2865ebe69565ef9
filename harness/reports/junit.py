"""
JUnit XML, as Jenkins, GitLab and others read it (the structure of Jenkins' `junit-10.xsd`).

A testcase is a trial. What broke is a `failure`, what could not be checked an `error`; a known failure is `skipped`,
as pytest writes an expected one, and advisory findings stand in `system-out`. A suite is one design with one model on
one set, so that provenances are never mixed in one.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from harness.records.run import CaseVerdict, RunRecord
from harness.reports.escaping import xml_text
from harness.reports.problems import Problem, place, problems_of
from harness.reports.screen import clip, one_line

_MOST_COLUMNS = 400
"""Of a message; the element's text has all of it."""


def junit(record: RunRecord, *, prefix: str = "") -> str:
    """
    Render *record*.

    Args:
        record: The run.
        prefix: The project's folder from the root of the repository; empty where they are the same.
    """
    root = ET.Element("testsuites", {"name": "tapegate"})
    suites: dict[tuple[str, str, str, str], list[CaseVerdict]] = {}
    for verdict in record.results:
        suites.setdefault((verdict.set, verdict.agent, verdict.model, verdict.provenance), []).append(verdict)
    for verdicts in suites.values():
        root.append(_suite(record, verdicts, prefix))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", _seconds(record.results))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(record: RunRecord, verdicts: list[CaseVerdict], prefix: str) -> ET.Element:
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
    cases = [_testcase(verdict, prefix) for verdict in verdicts]
    errors = sum(case.find("error") is not None for case in cases)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None and case.find("error") is None for case in cases)))
    suite.set("errors", str(errors))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.set("time", _seconds(verdicts))
    suite.extend(cases)
    return suite


def _testcase(verdict: CaseVerdict, prefix: str) -> ET.Element:
    fault = f" {verdict.fault}" if verdict.fault else ""
    case = ET.Element(
        "testcase",
        {
            "classname": xml_text(one_line(f"{verdict.set}.{verdict.agent}.{verdict.model}")),
            "name": xml_text(one_line(f"{verdict.case}[{verdict.trial}]{fault}")),
            "time": _seconds([verdict]),
        },
    )
    found = problems_of(verdict, prefix=prefix)
    file, line = place(verdict.at, prefix)
    if file:
        case.set("file", xml_text(one_line(file)))
    if line:
        case.set("line", str(line))
    _properties(case, provenance=verdict.provenance, verdict=verdict.verdict, known=str(verdict.known).lower())
    known = [problem for problem in found if problem.kind == "known"]
    if known:
        names = ", ".join(dict.fromkeys(problem.rule for problem in known))
        _told(case, "skipped", "known", f"known failure, in the baseline: {names}", known)
    for problem in found:
        if problem.kind in ("broken", "could_not_check"):
            element = "failure" if problem.kind == "broken" else "error"
            _told(case, element, problem.rule, f"{problem.rule}: {problem.because}", [problem])
    advisory = [problem for problem in found if problem.kind == "advisory"]
    if advisory:
        ET.SubElement(case, "system-out").text = xml_text("\n\n".join(problem.text for problem in advisory))
    return case


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
