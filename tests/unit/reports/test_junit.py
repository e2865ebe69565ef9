"""JUnit XML that other programs read."""

from __future__ import annotations

from hypothesis import given

from harness.reports.junit import junit

from .ci_runs import ADVISED, ALL, BROKEN, KNOWN, hostile_runs, run_of, verdict
from .published import check_junit


@given(hostile_runs)
def test_every_run_keeps_to_the_published_structure(record):
    """Whatever its texts hold: each trial is one testcase, and none that failed looks as if it had passed."""
    root = check_junit(junit(record))

    cases = list(root.iter("testcase"))
    assert len(cases) == len(record.results)
    silent = [case for case in cases if not {child.tag for child in case} & {"failure", "error", "skipped"}]
    assert len(silent) <= sum(each.verdict == "kept" for each in record.results)


def test_a_run_of_each_kind():
    """A finding is a failure, what could not be checked an error, a known failure is skipped, advice is output."""
    root = check_junit(junit(ALL, prefix="bot"))

    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert [("S1[0]", set()), ("S2[0]", {"failure"}), ("S4[0]", {"error"}), ("S5[0]", {"system-out"}), ("S3[0]", {"skipped"})] == [
        (name, {child.tag for child in case} - {"properties"}) for name, case in cases.items()
    ]  # fmt: skip
    failure = cases["S2[0]"].find("failure")
    assert {"type": "facts", "message": "facts: the answer does not say 7"} == failure.attrib
    assert failure.text.endswith(
        "evidence: turn 2; events 4, 9; shortest 9\ncassette: cassettes/S2.0.yaml\nat bot/goldensets/shared.yaml:17"
    )
    assert {"type": "known", "message": "known failure, in the baseline: facts"} == cases["S3[0]"].find(
        "skipped"
    ).attrib
    assert cases["S4[0]"].find("error").get("message") == "cassette-missing: no recording of this trial"
    assert ("bot/goldensets/shared.yaml", "14") == (cases["S2[0]"].get("file"), cases["S2[0]"].get("line"))


def test_provenances_are_never_mixed_in_a_suite():
    """Who answered stands on each suite and on each testcase."""
    root = check_junit(junit(run_of(BROKEN, KNOWN, ADVISED)))

    suites = [
        (
            suite.get("name"),
            suite.find("properties/property[@name='provenance']").get("value"),
            len(suite.findall("testcase")),
        )
        for suite in root
    ]
    assert [("shared / lean_react × scripted", "scripted", 2), ("shared / lean_react × small", "local", 1)] == suites
    assert ["scripted", "scripted", "local"] == [
        case.find("properties/property[@name='provenance']").get("value") for case in root.iter("testcase")
    ]


def test_the_whole_text_of_a_small_run():
    """What a person finds in the file."""
    assert junit(run_of(verdict("S1"))) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="tapegate" tests="1" failures="0" errors="0" time="0.012">\n'
        '  <testsuite name="shared / lean_react × scripted" tests="1" failures="0" errors="0" skipped="0" time="0.012">\n'
        "    <properties>\n"
        '      <property name="run" value="r1" />\n'
        '      <property name="partial" value="false" />\n'
        '      <property name="provenance" value="scripted" />\n'
        '      <property name="agent" value="lean_react" />\n'
        '      <property name="model" value="scripted" />\n'
        '      <property name="known" value="0" />\n'
        "    </properties>\n"
        '    <testcase classname="shared.lean_react.scripted" name="S1[0]" time="0.012" file="goldensets/shared.yaml" line="14">\n'
        "      <properties>\n"
        '        <property name="provenance" value="scripted" />\n'
        '        <property name="verdict" value="kept" />\n'
        '        <property name="known" value="false" />\n'
        "      </properties>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )
