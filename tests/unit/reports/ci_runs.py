"""Runs to report on: one of each kind, and runs whose every text is hostile."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.records.finding import Finding
from harness.records.run import CaseVerdict, RunRecord, Totals

PAYLOADS = (
    "\n::error::x", "::set-output name=a::b", "%0A::stop-commands::t", "##[add-path]/tmp", "]]>", "<script>alert(1)</script>",
    "<!-- tapegate-report -->", "\u202egnp.exe", "\x1b[2J\x1b]0;t\x07", "@everyone", "#1", "GH-1", "```", "`", "~~~", "|", "\\|",
    "[a](javascript:alert(1))", "![i](http://x.example/i.png)", "https://x.example", "www.x.example", "&#64;all", "&lt;b&gt;",
    "$x^2$", ":smile:", "\x00", "\ufffe", "\ud800", "\r", "\u2028", "**b**", "<a href='x'>", '"', ",", "title=x", "{0}", "- [ ] x",
)  # fmt: skip
hostile = st.lists(st.sampled_from(PAYLOADS) | st.text(st.characters(), max_size=8), max_size=5).map("".join)
"""What an agent, a model or the author of a golden set could have written to break out of a report."""
printable = hostile.map(lambda text: text.encode(errors="replace").decode())
"""The same as it can come out of a file."""


def verdict(case: str = "S1", state: str = "kept", **changes) -> CaseVerdict:
    """Make a verdict on a trial of one design."""
    fields = {
        "agent": "lean_react", "profile": "reference", "model": "scripted", "provenance": "scripted", "set": "shared",
        "case": case, "trial": 0, "verdict": state, "at": "goldensets/shared.yaml:14", "replay_ms": 12.0,
    }  # fmt: skip
    return CaseVerdict(**(fields | changes))


def run_of(*verdicts: CaseVerdict, **changes) -> RunRecord:
    """Make the record of a run of these verdicts."""
    states = [each.verdict for each in verdicts]
    known = sum(each.known for each in verdicts)
    unchecked, broken = states.count("could_not_check"), states.count("broken")
    totals = Totals(
        trials=len(states), kept=states.count("kept"), broken=broken, known=known, could_not_check=unchecked
    )
    fields = {
        "run": "r1", "results": verdicts, "totals": totals,
        "exit_code": 3 if unchecked else 1 if broken > known else 0, "manifest": {"versions": {"tapegate": "0.1.0"}},
    }  # fmt: skip
    return RunRecord(**(fields | changes))


FACTS = Finding(
    contract="facts", state="broken", because="the answer does not say 7", witness=(4, 9), shortest=(9,), turn=2,
    at="goldensets/shared.yaml:17",
)  # fmt: skip
KEPT = Finding(contract="CX1", state="kept")
BROKEN = verdict("S2", "broken", findings=(KEPT, FACTS), cassette="cassettes/S2.0.yaml")
KNOWN = verdict("S3", "broken", known=True, provenance="local", model="small", findings=(FACTS,))
UNCHECKED = verdict(
    "S4", "could_not_check", code="cassette-missing", because="no recording of this trial", cause="prompt"
)
ADVISED = verdict(
    "S5", findings=(KEPT, Finding(contract="CX15", state="broken", because="a table is ragged", advisory=True))
)
ALL = run_of(verdict("S1", findings=(KEPT,)), BROKEN, KNOWN, UNCHECKED, ADVISED)
"""One trial of each kind: kept, broken, known, not checked, and kept with something to say."""

findings = st.builds(
    Finding,
    contract=printable,
    state=st.sampled_from(["kept", "broken", "could_not_check", "vacuous"]),
    because=printable,
    witness=st.lists(st.integers(0, 99), max_size=20).map(tuple),
    turn=st.none() | st.integers(0, 9),
    leg=st.integers(0, 2),
    at=printable | st.just("goldensets/a b.yaml:3"),
    advisory=st.booleans(),
)
verdicts = st.builds(
    CaseVerdict,
    agent=printable,
    profile=printable,
    model=printable,
    provenance=st.sampled_from(["live", "local", "scripted", "none"]),
    set=printable,
    case=printable,
    trial=st.integers(0, 9),
    verdict=st.sampled_from(["kept", "broken", "could_not_check"]),
    known=st.booleans(),
    findings=st.lists(findings, max_size=4).map(tuple),
    because=printable,
    code=st.just("") | printable,
    at=printable | st.just("goldensets/shared.yaml:14"),
    cassette=printable,
    fault=st.none() | printable,
)
hostile_runs = st.lists(verdicts, min_size=1, max_size=4).flatmap(
    lambda found: printable.map(lambda name: run_of(*found, run=name))
)
