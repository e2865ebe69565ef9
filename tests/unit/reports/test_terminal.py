"""A run on one screen, word for word."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, RunRecord, Totals
from harness.reports.columns import display_width
from harness.reports.screen import ansi
from harness.reports.terminal import fold, record_command, render_run, render_verdict


def verdict(case: str = "S1-de", state: str = "kept", **changes) -> CaseVerdict:
    """Make a verdict."""
    fields = {
        "agent": "lean_react", "profile": "reference", "model": "scripted", "provenance": "scripted", "set": "shared",
        "case": case, "trial": 0, "verdict": state, "llm_calls": 2, "tokens": Usage(input=600, output=17),
        "replay_ms": 4.0, "at": "goldensets/shared.yaml:12",
    }  # fmt: skip
    return CaseVerdict(**(fields | changes))


def broken(case: str = "S3-de", **changes) -> CaseVerdict:
    """Make a broken verdict with evidence."""
    finding = Finding(
        contract="CX13",
        state="broken",
        because="a simple question was planned: `manage_plan` was called",
        witness=(4, 9),
        turn=2,
        at="goldensets/shared.yaml:48",
    )
    return verdict(case, "broken", **({"findings": (finding,)} | changes))


def missed(case: str, **changes) -> CaseVerdict:
    """Make a verdict on a trial whose prompt changed."""
    fields = {
        "code": "cassette-miss", "cause": "prompt", "tokens": Usage(), "llm_calls": 1,
        "because": "model call 1 is not in `cassettes/x.yaml`\nnearest recording: call 1 of 2, 97% of the request is the same",
    }  # fmt: skip
    return verdict(case, "could_not_check", **(fields | changes))


def record(*verdicts: CaseVerdict, partial: bool = False) -> RunRecord:
    """Make a run of these verdicts."""
    states = [v.verdict for v in verdicts]
    totals = Totals(
        trials=len(states),
        kept=states.count("kept"),
        broken=states.count("broken"),
        known=sum(v.known for v in verdicts),
        could_not_check=states.count("could_not_check"),
    )
    return RunRecord(run="r1", results=verdicts, totals=totals, exit_code=0, partial=partial)


def test_a_kept_run_says_so_and_how_to_make_it_the_baseline():
    """The verdict, the table, one hint."""
    assert (
        render_run(record(verdict("S1-de"), verdict("S1-en")), width=100)
        == """\
KEPT  2 of 2 trials kept; run r1, 8 ms

agent       model     provenance  cases  known  broken  could not check  calls  tokens
----------  --------  ----------  -----  -----  ------  ---------------  -----  ------
lean_react  scripted  scripted      2/2      0       0                0      4   1,234

hint: `harness accept r1 --reason "…"` makes this the baseline of shared"""
    )


def test_a_kept_run_with_a_baseline_needs_no_next_step():
    """Nothing to do is nothing said; a partial run is no baseline to be."""
    assert "hint" not in render_run(record(verdict()), baselined=["shared"])
    assert "hint" not in render_run(record(verdict(), partial=True))


def test_a_broken_contract_comes_with_its_evidence():
    """Contract, reason, turn, witness and place; then what to run again."""
    found = render_run(record(verdict("S1-de"), broken()), width=80, baselined=["shared"])

    assert (
        found
        == """\
BROKEN  1 of 2 trials kept, 1 broken; run r1, 8 ms

agent       model     prov.     cases  known  broken  unchk  calls  tokens
----------  --------  --------  -----  -----  ------  -----  -----  ------
lean_react  scripted  scripted    1/2      0       1      0      4   1,234

BROKEN  lean_react × scripted shared/S3-de
  CX13: a simple question was planned: `manage_plan` was called (turn 2;
    events 4, 9)
    at goldensets/shared.yaml:48

hint: `harness report r1 --format html` shows every step; `harness explain CX13` says what is held
      `harness run shared --agent lean_react --case S3-de` runs the first again"""
    )


def test_one_verdict_alone_is_shown_as_in_a_run():
    """What is wrong with one trial reads as it does on the screen of a run, known or not; a kept one has nothing to say."""
    for wrong in (broken(), missed("S1-de")):
        assert render_verdict(wrong, width=100) in render_run(record(wrong), width=100)
    assert render_verdict(broken()) == render_verdict(broken(known=True))
    assert "" == render_verdict(verdict())


def test_a_known_failure_is_counted_but_not_shown():
    """It stands in the baseline; the run is kept."""
    found = render_run(record(verdict("S1-de"), broken(known=True)), width=100, baselined=["shared"])

    assert "lean_react  scripted  scripted      1/2      1       0                0      4   1,234" in found
    assert "KEPT  1 of 2 trials kept, 1 broken (1 known); run r1, 8 ms" in found
    assert "CX13" not in found


def test_misses_of_one_cause_are_folded_with_one_command():
    """Three cases that miss for one prompt edit are one paragraph and one command."""
    found = render_run(record(missed("S1-de"), missed("S1-en"), missed("S2-en", agent="plan_execute")), width=100)

    assert (
        """\
COULD NOT CHECK  3 trials: cassette-miss, prompt changed
  lean_react × scripted shared/S1-de
    model call 1 is not in `cassettes/x.yaml`
    nearest recording: call 1 of 2, 97% of the request is the same
    at goldensets/shared.yaml:12
  and 2 more of the same cause
  mend: `harness record shared --agent lean_react --agent plan_execute --model scripted --mode stale`
"""
        in found
    )
    assert found.endswith("hint: mend what could not be checked first; nothing is known of those trials")


def test_causes_are_folded_apart():
    """The largest group comes first."""
    groups = fold([missed("a", cause="model"), missed("b"), missed("c"), missed("d", code="timeout", cause="")])

    assert [["b", "c"], ["a"], ["d"]] == [[v.case for v in group] for group in groups]


def test_models_are_recorded_apart():
    """The scripts are recorded at once, whether or not the server of the small model runs; a crash has no model to ask."""
    groups = fold([missed("a", model="small"), missed("b"), missed("c")])
    crashed = [missed("a", code="agent-crash", model="small"), missed("b", code="agent-crash")]

    assert ["--model scripted", "--model small"] == [re.search("--model [a-z]+", record_command(g))[0] for g in groups]
    assert [2] == [len(group) for group in fold(crashed)]


def test_the_command_fits_the_cause():
    """A missing cassette is recorded, a stale one is recorded again, and a crash is explained."""
    assert record_command([missed("S1", code="cassette-missing")]).endswith("--case S1 --mode missing")
    assert record_command([missed("S1")]).endswith("--mode stale")
    assert record_command([missed("S1", code="agent-crash")]) == ""
    assert "mend: `harness explain agent-crash`" in render_run(record(missed("S1", code="agent-crash")))


def test_the_command_asks_for_the_trials_that_lack():
    """Without `--trials` the command would record the first trial only, which is there."""
    group = [missed("S1", code="cassette-missing", trial=1), missed("S1", code="cassette-missing", trial=2)]

    assert record_command(group).endswith("--case S1 --trials 3 --mode missing")
    assert "--trials" not in record_command([missed("S1")])


def test_a_contract_that_failed_is_named_with_the_reason():
    """The trial itself was fine, so the reason stands in the finding."""
    failed = Finding(contract="mine", state="could_not_check", because="the contract itself failed: NameError: x")
    verdicts = [verdict(f"S{n}", "could_not_check", findings=(failed,)) for n in range(2)]
    other = verdict("S3", "could_not_check", findings=(Finding(contract="b", state="could_not_check", because="y"),))
    found = render_run(record(*verdicts, other), width=100)

    assert (
        """\
COULD NOT CHECK  2 trials: contract `mine`
  lean_react × scripted shared/S0
    the contract itself failed: NameError: x
    at goldensets/shared.yaml:12
  and 1 more of the same cause

COULD NOT CHECK  1 trial: contract `b`
"""
        in found
    )


def test_many_failures_stay_on_one_screen():
    """Eight in full where nothing scrolls away, the rest by number and where to find them."""
    found = render_run(record(*(broken(f"S{n}") for n in range(30))), folder="reports/runs/r1")

    assert found.count("BROKEN  lean_react") == 8
    assert "\nand 22 more trials that are not kept; reports/runs/r1/results.jsonl has all\n" in found


@given(st.integers(10, 60), st.integers(20, 140), st.integers(1, 20), st.integers(0, 5))
def test_a_run_takes_no_more_lines_than_the_terminal_has(height, width, failures, misses):
    """The verdict is still on the screen when the next step is; one failure is shown in any case."""
    run = record(*(broken(f"S{n}") for n in range(failures)), *(missed(f"M{n}", cause=f"c{n}") for n in range(misses)))
    found = render_run(run, width=width, height=height)
    shown = found.count("BROKEN  lean_react") + found.count("\nCOULD NOT CHECK") if width > 40 else 1
    rows = sum(max(1, -(-display_width(line) // width)) for line in found.split("\n"))

    assert shown >= 1
    assert rows < height or shown == 1


def test_the_worst_comes_first():
    """What could not be checked, then what broke most, then the rest in the order in which it ran."""
    findings = tuple(Finding(contract=name, state="broken") for name in ("CX1", "CX2"))
    run = record(broken("S1"), broken("S2", findings=findings), missed("S3"), broken("S4"))
    found = render_run(run, width=120)

    assert ["S3", "S2", "S1", "S4"] == re.findall(r"scripted  ?shared/(S\d)", found)


def test_a_run_elsewhere_is_found_by_its_folder():
    """`--out` writes where no id is looked for."""
    assert "hint: `harness report out/r1 --format html` shows" in render_run(record(broken()), name="out/r1")


def test_vacuous_contracts_and_drift_are_said_once():
    """A contract that never triggered anywhere, and transport drift, take one line each."""
    vacuous = Finding(contract="CX9", state="vacuous")
    kept = Finding(contract="CX1", state="kept")
    verdicts = [verdict(f"S{n}", findings=(vacuous, kept), drift="header `x` is new") for n in range(3)]
    found = render_run(record(*verdicts, verdict("S9", findings=(Finding(contract="CX1", state="vacuous"),))))

    assert "vacuous (never triggered in this run): CX9\n" in found
    assert "warning: transport drift in 3 trials: header `x` is new" in found


def test_an_empty_run_says_that_nothing_ran():
    """Zero cases is never a pass."""
    assert (
        render_run(record()) == "NOTHING RUN  no declared cell matches\n\nhint: `harness list sets` shows what can run"
    )


def test_colour_changes_no_word():
    """Without the escape sequences the painted screen is the plain one."""
    run = record(verdict("S1-de"), broken(), missed("S2"))
    painted = render_run(run, width=100, paint=ansi)

    stripped = painted
    for code in ("31", "32", "33", "0"):
        stripped = stripped.replace(f"\x1b[{code}m", "")
    assert "\x1b" in painted
    assert render_run(run, width=100) == stripped


@given(st.text(st.characters(), max_size=40), st.integers(20, 120))
def test_nothing_in_a_run_can_steer_the_terminal(text, width):
    """Names, reasons and answers of an agent are shown as text, whatever they hold."""
    finding = Finding(contract=text, state="broken", because=text, at=text)
    run = record(
        broken(text, agent=text, model=text, findings=(finding,), answer=text),
        missed(text, because=text, at=text, drift=text),
    )
    found = render_run(run, width=width)

    assert not any((ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0 for char in found)
    found.encode()


@given(st.integers(20, 120))
def test_evidence_fits_the_terminal(width):
    """No line above the hint is wider than the screen; a place stays whole, so that a terminal can open it."""
    finding = Finding(contract="CX13", state="broken", because="北京 " * 40, witness=tuple(range(20)))
    found = render_run(record(broken(findings=(finding,))), width=width)

    evidence = [line for line in found[: found.index("hint: ")].split("\n") if not line.startswith("    at ")]
    assert all(display_width(line) <= width for line in evidence)
