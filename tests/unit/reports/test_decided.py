"""What CI reads where the gate has decided: red is what the gate says, with its cause, and nothing else."""

from __future__ import annotations

import html
import re

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.records.comparison import Interval
from harness.records.decision import TRAJECTORY, Change, Decision, Rate, Sampled, Statistic, decide
from harness.records.run import RunRecord
from harness.reports.decided import decided_problems
from harness.reports.gate_markdown import gate_comment, gate_markdown
from harness.reports.github import workflow_commands
from harness.reports.junit import junit
from harness.reports.markdown import MARKER, MOST_BYTES
from harness.reports.problems import FAILING
from harness.reports.sarif import sarif
from harness.reports.screen import one_line

from .ci_runs import ADVISED, ALL, BROKEN, FACTS, KNOWN, hostile_runs, printable, run_of, verdict
from .published import SARIF, check_junit

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
CODES = {"regression": 1, "missing": 1, "stale": 3, "error": 3, "skipped": 4, "flaky": 5}


def change(case: str = "S2", kind: str = "regression", contract: str = "facts", **changes) -> Change:
    """Make a change of one trial."""
    fields = {
        "agent": "lean_react", "model": "scripted", "set": "shared", "case": case, "contract": contract, "change": kind,
        "cause": "code", "because": "the answer does not say 7", "at": "goldensets/shared.yaml:17", "trial": 0,
        "exit_code": CODES.get(kind, 0),
    }  # fmt: skip
    return Change(**(fields | changes))


def kinds(record: RunRecord, *changes: Change) -> list[tuple[str, str, str]]:
    """Case, rule and kind of each problem."""
    found = decided_problems(record, decide("r1", 1, changes))
    return [(one.verdict.case, one.rule, one.kind) for one in found]


def test_what_the_gate_calls_a_regression_is_one() -> None:
    """With its cause in the text, and the evidence of the finding."""
    (problem,) = decided_problems(run_of(BROKEN), decide("r1", 1, [change()]))

    assert problem.text == (
        "REGRESSION facts: the answer does not say 7 (cause: code)\n"
        "lean_react × scripted on shared/S2, trial 0, answered by: scripted\n"
        "evidence: turn 2; events 4, 9; shortest 9\ncassette: cassettes/S2.0.yaml\nat goldensets/shared.yaml:17"
    )


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (change(exit_code=0, quarantined="vera, until 2030-01-01: x"), "quarantined"),
        (change(kind="still_broken", exit_code=0), "known"),
        (change(kind="flaky", trial=None), "inconclusive"),
        (None, "advisory"),
    ],
)
def test_what_the_gate_excuses_is_no_failure(made: Change | None, kind: str) -> None:
    """Quarantined, known, open, or let be by the policy: each is told as what it is."""
    assert [("S2", "facts", kind)] == kinds(run_of(BROKEN), *([made] if made else []))


def test_what_could_not_be_checked_is_never_excused() -> None:
    """A trial without a verdict stays red, whether or not a change names it."""
    crashed = msgspec.structs.replace(FACTS, contract="CX2", state="could_not_check")
    record = run_of(verdict("S2", "could_not_check", findings=(FACTS, crashed)))

    assert [("S2", "CX2", "could_not_check"), ("S2", "facts", "broken")] == kinds(record)
    assert ("S2", "CX2", "could_not_check") in kinds(record, change(contract="CX2", kind="error"))


def test_what_no_trial_shows_is_a_problem_of_its_own() -> None:
    """A case that is gone, a figure that grew, a set that was never accepted; of one trial where there is one."""
    gone = change("S9", "missing", "", because="the case is in no golden set any more", trial=None)
    grew = change("S1", "regression", "", because="tokens went from 10 to 99", trial=0)
    bare = change("", "new", "", because="there is no baseline of this design", exit_code=4, trial=None)
    found = decided_problems(run_of(verdict("S1")), decide("r1", 1, [gone, grew, bare]))

    assert [
        ("gate-new", "lean_react × scripted on shared"), ("gate-missing", "lean_react × scripted on shared/S9"),
        ("gate-regression", "lean_react × scripted on shared/S1, trial 0"),
    ] == [(one.rule, one.where) for one in found]  # fmt: skip


def test_a_contract_that_only_reports_now_hides_no_change() -> None:
    """A contract that was made advisory is gone for the gate: that is red, beside what it still reports."""
    gone = change("S5", "missing", "CX15", because="this trial is not held to it")

    assert [("S5", "CX15", "broken"), ("S5", "CX15", "advisory")] == kinds(run_of(ADVISED), gone)


def test_what_is_new_or_fixed_is_no_problem() -> None:
    """Nor is a trajectory that is only told."""
    told = [change("S1", "new", "", exit_code=0), change("S1", "fixed"), change("S1", "new", TRAJECTORY, exit_code=0)]

    assert [] == kinds(run_of(verdict("S1")), *told)


def test_annotations_are_for_what_blocks() -> None:
    """Known failures, advice and quarantines annotate nothing; the cause stands in the title."""
    record = run_of(BROKEN, KNOWN, ADVISED)
    known = change("S3", "still_broken", model="small", exit_code=0)
    lines = workflow_commands(record, prefix="bot", decision=decide("r1", 3, [change(), known])).split("\n")

    assert [
        (
            "::error file=bot/goldensets/shared.yaml,line=17,title=REGRESSION facts (cause code)::"
            "REGRESSION facts: the answer does not say 7 (cause: code)%0A"
            "lean_react × scripted on shared/S2, trial 0, answered by: scripted%0A"
            "evidence: turn 2; events 4, 9; shortest 9%0Acassette: cassettes/S2.0.yaml%0Aat bot/goldensets/shared.yaml:17"
        )
    ] == lines
    assert "" == workflow_commands(record, decision=decide("r1", 3, [known]))


def test_junit_fails_where_the_gate_blocks() -> None:
    """A broken trial that is excused is skipped; what is gone is a testcase of the gate's own suite."""
    gone = change("S9", "missing", "", because="it is gone", trial=None)
    excused = change("S3", "regression", model="small", exit_code=0, quarantined="vera, until 2030-01-01: x")
    decision = decide("r1", 3, [change(), gone, excused], 7)
    root = check_junit(junit(run_of(BROKEN, KNOWN, ADVISED), decision=decision))

    cases = {case.get("name"): {child.tag for child in case} - {"properties"} for case in root.iter("testcase")}
    assert {
        "S2[0]": {"failure"}, "S3[0]": {"skipped"}, "S5[0]": {"system-out"},
        "lean_react × scripted on shared/S9": {"failure"},
    } == cases  # fmt: skip
    properties = {
        one.get("name"): one.get("value") for one in root.findall("testsuite[@name='gate']/properties/property")
    }
    assert {
        "run": "r1", "decision": "regressed", "exit_code": "1", "compared": "3", "needs_trials": "",
    } == properties  # fmt: skip
    assert "quarantined: facts" == root.find(".//skipped").get("message")


def test_sarif_carries_the_decision() -> None:
    """Change and cause stand in each result, and a quarantine is a suppression with its owner and day."""
    excused = change("S3", "regression", model="small", exit_code=0, quarantined="vera, until 2030-01-01: x")
    document = sarif(
        run_of(BROKEN, KNOWN),
        rules={},
        version="0.1.0",
        decision=decide("r1", 2, [change(), excused], statistics=(TEST,)),
    )

    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    assert [("regression", "code", []), ("regression", "code", ["external"])] == [
        (one["properties"]["change"], one["properties"]["cause"], [s["kind"] for s in one.get("suppressions", [])])
        for one in run["results"]
    ]
    assert run["results"][1]["suppressions"][0]["justification"].endswith("(vera, until 2030-01-01: x)")
    assert ("regressed", 1) == (run["properties"]["decision"], run["invocations"][0]["exitCode"])
    assert ["mcnemar"] == [one["test"] for one in run["properties"]["statistics"]]


def test_sarif_names_in_statistics_steer_nothing() -> None:
    """A design's name with an escape sequence is written out."""
    drawn = msgspec.structs.replace(TEST, agent="a\x1b[2J")
    document = sarif(run_of(BROKEN), rules={}, version="0.1.0", decision=decide("r1", 1, [], statistics=(drawn,)))

    assert r"a\x1b[2J" == document["runs"][0]["properties"]["statistics"][0]["agent"]


TEST = Statistic(
    agent="lean_react", model="small", provenance="local", set="shared", test="mcnemar", cases=4, families=3, effect=-0.5,
    before=Rate(kept=4, trials=4, interval=Interval(0.51, 1.0)), after=Rate(kept=2, trials=4, interval=Interval(0.15, 0.85)),
    lost=2, gained=0, standard_error=0.29, interval=Interval(-1.0, 0.13), p_value=0.25, needs_trials=6,
    smallest_detectable=None, outcome="inconclusive",
)  # fmt: skip


def test_the_comment_is_the_decision_and_the_worst_of_it() -> None:
    """Three cases, how many more, the samples, and what to do where it is meant."""
    broken = [verdict(f"S{n}", "broken", findings=(FACTS,)) for n in range(5)]
    made = [change(f"S{n}") for n in range(4)] + [change("S4", "flaky", trial=None)]
    decision = decide("r1", 5, made, 6, statistics=(TEST,))
    text = gate_comment(run_of(*broken), decision)

    assert text == (
        "<!-- tapegate-report -->\n## tapegate: REGRESSED\n\n"
        "5 trials held against the baseline, 5 changes block (exit 1). In all: 4 regressions, 1 flaky.\n\n"
        + "".join(
            f"- REGRESSION `facts` `lean_react × scripted on shared/S{n}, trial 0`, cause: `code`, answered by: scripted\n"
            "  - `the answer does not say 7`\n  - evidence: turn 2; events 4, 9; shortest 9\n"
            "  - at `goldensets/shared.yaml:17`\n"
            for n in range(3)
        )
        + "\n… and 2 more, in the summary of the job.\n\n"
        "### Samples\n\n"
        "- `lean_react × small on shared, answered by: local; 4 cases in 3 families recorded anew`\n"
        "  - `all blocking contracts: kept 2 of 4 (95 % 15–85 %) recordings, accepted 4 of 4 (95 % 51–100 %); "
        "change -50 points (95 % -100 to +13, standard error 29)`\n"
        "  - `McNemar's exact test: 2 cases lost, 0 gained, p = 0.25, could not have been significant: inconclusive`\n"
        "  - `no loss, however large, is seen with 80 % power; about 6 recordings of each case, on each side, would show "
        "this one`\n\n"
        'Where this is as it should be, accept with: `harness run && harness accept --reason "…"`, and commit '
        "`reports/baselines`. Policy: `pyproject.toml`.\n\n"
        "Run `r1` by tapegate `0.1.0`; answered by: scripted. Replayed offline: no sample is new.\n"
    )


def test_the_comment_says_where_a_regression_parts_from_what_was_accepted() -> None:
    """The first thing that its trial did otherwise stands with it."""
    otherwise = change(
        kind="new", contract=TRAJECTORY, because="it parts at step 2: calls `a`, against calls `b`", exit_code=0
    )

    assert (
        "  - <code>it parts at step 2&#58; calls &#96;a&#96;&#44; against calls &#96;b&#96;</code>\n"
        in gate_comment(run_of(BROKEN), decide("r1", 1, [change(), otherwise]))
    )


def test_the_summary_has_all_that_is_wrong() -> None:
    """Title by title, the gravest first; known failures are counted."""
    excused = change("S3", "regression", model="small", exit_code=0, quarantined="vera, until 2030-01-01: x")
    stale = change("S4", "stale", "", cause="prompt", because="the prompt changed")
    text = gate_markdown(ALL, decide("r1", 5, [change(), excused, stale]))

    assert ["### Could not check", "### Regressions", "### Quarantined"] == re.findall("^### .*$", text, re.MULTILINE)
    assert "  - `vera, until 2030-01-01: x`\n" in text
    assert text.startswith(
        "## tapegate: COULD NOT CHECK\n\n5 trials held against the baseline, 2 changes block (exit 3)."
    )


changes = st.builds(
    Change,
    agent=printable,
    model=printable,
    set=printable,
    case=st.just("") | printable,
    contract=st.just("") | printable,
    change=st.sampled_from(
        ["regression", "fixed", "still_broken", "new", "missing", "skipped", "flaky", "stale", "error"]
    ),
    cause=printable,
    because=printable,
    at=printable | st.just("goldensets/a b.yaml:3"),
    trial=st.none() | st.integers(0, 3),
    exit_code=st.sampled_from([0, 1, 3, 4, 5]),
    quarantined=st.just("") | printable,
)
statistics = st.builds(
    lambda **texts: msgspec.structs.replace(TEST, **texts),
    agent=printable, model=printable, set=printable, case=printable, contract=printable,
)  # fmt: skip
samples = st.builds(
    lambda name, of: Sampled(
        agent=of.agent, model=of.model, provenance="local", set=of.set, case=name, before=TEST.before, after=TEST.after,
        flakiness=0.5,
    ),
    printable,
    statistics,
)  # fmt: skip
hostile_decisions = st.builds(
    lambda made, drawn, found, policy: decide("r1", 1, made, statistics=(*drawn, *found[:1]), policy=policy),
    st.lists(changes, max_size=5),
    st.lists(statistics, max_size=2),
    st.lists(statistics, max_size=1),
    printable,
)


@given(hostile_runs, hostile_decisions)
def test_no_text_of_a_decision_is_more_than_text(record: RunRecord, decision: Decision) -> None:
    """Whatever agents, golden sets and policies say: the published forms hold, and the page is our own markup only."""
    jsonschema.validate(sarif(record, rules={}, version="0.1.0", decision=decision), SARIF)
    check_junit(junit(record, decision=decision))
    command = re.compile(r"::error ((?:file=[^:,]*,)?(?:line=\d+,)?title=[^:,]*)::(.+)")
    lines = workflow_commands(record, decision=decision).split("\n")
    assert [] == [line for line in lines if line and not command.fullmatch(line)]
    for text in (gate_comment(record, decision), gate_markdown(record, decision)):
        assert len(text.encode()) <= MOST_BYTES + len(MARKER) + 8_000
        page = GITHUB.render(text).removeprefix(f"{MARKER}\n")
        tags = {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code"}
        assert set(re.findall(r"</?([a-z0-9!-]+)", page)) <= tags
        outside = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<code>.*?</code>", "", page)))
        assert not re.search(r"[@#`\[\]|$]|//|www\.", outside)
    assert one_line(record.run) in html.unescape(page)


@given(hostile_runs, st.data())
def test_no_report_is_green_where_the_gate_is_red(record: RunRecord, data: st.DataObject) -> None:
    """Each change that blocks is a failing problem, in JUnit as well, whatever the run's own verdicts are."""
    made = []
    for one in record.results:
        for contract in {finding.contract for finding in one.findings} | {""}:
            drawn = data.draw(changes)
            about = {"agent": one.agent, "model": one.model, "set": one.set, "case": one.case, "contract": contract}
            made.append(msgspec.structs.replace(drawn, **about))
    decision = decide("r1", 1, made)
    found = decided_problems(record, decision)

    blocking = [one for one in decision.changes if one.exit_code]
    assert bool(blocking) <= any(one.kind in FAILING for one in found)
    root = check_junit(junit(record, decision=decision))
    red = int(root.get("failures")) + int(root.get("errors"))
    assert bool(blocking) <= bool(red)
