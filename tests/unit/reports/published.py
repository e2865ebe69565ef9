"""
What others publish of their formats, as far as reports use it: Jenkins' `junit-10.xsd` and OASIS' schema of SARIF 2.1.0.

Both refuse what they do not name, so a wrong name or place of anything that is written turns a test red.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, ("testsuite",)),
    "testsuite": (
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package",
         "file", "log", "url", "version"},
        ("testsuite", "properties", "testcase", "system-out", "system-err"),
    ),
    "properties": (set(), ("property",)),
    "property": ({"name", "value"}, ()),
    "testcase": (
        {"name", "time", "classname", "group", "file", "line"},
        ("skipped", "error", "failure", "system-out", "system-err", "properties"),
    ),
    "skipped": ({"type", "message"}, ()),
    "error": ({"type", "message"}, ()),
    "failure": ({"type", "message"}, ()),
    "system-out": (set(), ()),
}  # fmt: skip
"""Attributes and children of each element. `file` and `line` of a testcase are what pytest writes (`xunit1`)."""
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name", "classname"},
    "property": {"name"},
}


def check_junit(text: str) -> ET.Element:
    """Read *text* and hold it against the structure; counts have to be those of the elements."""
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.attrib) <= attributes
        assert REQUIRED.get(element.tag, set()) <= set(element.attrib)
        assert {child.tag for child in element} <= set(children)
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        errors = [case for case in cases if case.find("error") is not None]
        failures = [case for case in cases if case.find("failure") is not None and case not in errors]
        skipped = [case for case in cases if case.find("skipped") is not None]
        counts = {"tests": cases, "errors": errors, "failures": failures, "skipped": skipped}
        assert {name: str(len(found)) for name, found in counts.items()} == {name: suite.get(name) for name in counts}
    for count in ("tests", "errors", "failures"):
        assert int(root.get(count)) == sum(int(suite.get(count)) for suite in root)
    return root


def _object(required: list[str], **properties: object) -> dict[str, object]:
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


_TEXT = {"type": "string"}
_BAG = {"type": "object", "properties": {"tags": {"type": "array", "items": _TEXT, "uniqueItems": True}}}
_MESSAGE = _object(
    ["text"], text={"type": "string", "minLength": 1}, markdown=_TEXT, id=_TEXT, arguments={"type": "array"}
)
_MULTIFORMAT = _object(["text"], text={"type": "string", "minLength": 1}, markdown=_TEXT, properties=_BAG)
_ARTIFACT = _object(
    [],
    uri={"type": "string", "pattern": r"^[A-Za-z0-9._~/%@=+,-]+$"},
    uriBaseId=_TEXT,
    index={"type": "integer", "minimum": -1},
)
_REGION = _object(
    [],
    startLine={"type": "integer", "minimum": 1},
    startColumn={"type": "integer", "minimum": 1},
    endLine={"type": "integer", "minimum": 1},
)
_LOCATION = _object(
    [],
    id={"type": "integer"},
    physicalLocation=_object([], artifactLocation=_ARTIFACT, region=_REGION),
    logicalLocations={
        "type": "array",
        "uniqueItems": True,
        "items": _object([], name=_TEXT, fullyQualifiedName=_TEXT, kind=_TEXT, index={"type": "integer"}),
    },
    message=_MESSAGE,
)
_SUPPRESSION = _object(
    ["kind"],
    kind={"enum": ["inSource", "external"]},
    status={"enum": ["accepted", "underReview", "rejected"]},
    justification=_TEXT,
)
_RESULT = _object(
    ["message"],
    ruleId=_TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    kind={"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
    level={"enum": ["none", "note", "warning", "error"]},
    message=_MESSAGE,
    locations={"type": "array", "items": _LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
    suppressions={"type": "array", "uniqueItems": True, "items": _SUPPRESSION},
    properties=_BAG,
)
_RULE = _object(
    ["id"],
    id=_TEXT,
    name=_TEXT,
    shortDescription=_MULTIFORMAT,
    fullDescription=_MULTIFORMAT,
    help=_MULTIFORMAT,
    helpUri=_TEXT,
    properties=_BAG,
)
_DRIVER = _object(
    ["name"],
    name=_TEXT,
    version=_TEXT,
    informationUri=_TEXT,
    rules={"type": "array", "uniqueItems": True, "items": _RULE},
)
_RUN = _object(
    ["tool"],
    tool=_object(["driver"], driver=_DRIVER),
    invocations={
        "type": "array",
        "items": _object(
            ["executionSuccessful"], executionSuccessful={"type": "boolean"}, exitCode={"type": "integer"}
        ),
    },
    results={"type": ["array", "null"], "items": _RESULT},
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    properties=_BAG,
)
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        ["version", "runs"],
        **{"$schema": _TEXT, "version": {"enum": ["2.1.0"]}, "runs": {"type": ["array", "null"], "items": _RUN}},
    ),
}
"""The part of the schema that is used: names, types, enumerations and minimums are those of OASIS."""
