"""The baseline: what is known, what may be accepted, and how the file reads."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError, CouldNotCheckError, NothingComparedError, UsageError
from harness.evaluate import totals_of
from harness.gate.accepting import Accepted, accept, dump_baseline, merge
from harness.gate.baseline import Baseline, Held, baseline_path, load_baseline, load_baselines, mark_known
from harness.records.finding import Finding
from harness.records.run import CaseVerdict, Lock, RunRecord


def verdict(case: str = "S1", *broken: str, state: str | None = None, **changes) -> CaseVerdict:
    """Make a verdict; *broken* names the contracts that broke."""
    fields = {
        "agent": "lean_react",
        "profile": "reference",
        "model": "qwen3-4b",
        "provenance": "local",
        "set": "shared",
        "case": case,
        "trial": 0,
        "verdict": state or ("broken" if broken else "kept"),
        "findings": tuple(Finding(contract=name, state="broken", because="it did") for name in broken),
        "cassette_digest": "d1",
        "at": "goldensets/shared.yaml:14",
    }
    return CaseVerdict(**(fields | changes))


def record(*verdicts: CaseVerdict) -> RunRecord:
    """Make a run of these verdicts."""
    return RunRecord(run="r1", results=verdicts, totals=totals_of(verdicts), exit_code=0)


def baseline_of(*verdicts: CaseVerdict) -> Baseline:
    """Make the baseline that accepting these verdicts gives."""
    return merge(Baseline(set="shared"), verdicts, reason="first")


def test_a_failure_is_known_for_the_same_contract_trial_and_recording():
    """The same contract broken again in the same recording is known."""
    baseline = baseline_of(verdict("S1", "CX13", "facts"))

    assert mark_known(verdict("S1", "CX13"), baseline).known


@pytest.mark.parametrize(
    "other",
    [
        verdict("S1", "CX13", "CX9"),
        verdict("S1", "CX13", trial=1),
        verdict("S1", "CX13", cassette_digest="d2"),
        verdict("S2", "CX13"),
        verdict("S1", "CX13", agent="lean_react@seed_literal"),
        verdict("S1", "CX13", model="qwen3-8b"),
        verdict("S1", "CX13", set="lean_react"),
        verdict("S1", state="could_not_check"),
        verdict("S1"),
    ],
    ids=["contract", "trial", "recording", "case", "agent", "model", "set", "unchecked", "kept"],
)
def test_nothing_else_is_known(other):
    """Another contract, trial, recording, case, agent, model or set is not known, and what could not be checked never is."""
    baseline = baseline_of(verdict("S1", "CX13"))

    assert not mark_known(other, baseline).known


def test_the_baseline_of_another_set_is_refused(tmp_path: Path):
    """A file under the wrong name would know nothing, and say so to nobody."""
    path = tmp_path / "baselines" / "lean_react.json"
    path.parent.mkdir()
    path.write_bytes(dump_baseline(baseline_of(verdict("S1"))))

    with pytest.raises(BadFileError, match="it is the baseline of the set `shared`"):
        load_baseline(path)


def test_a_failure_without_a_recording_is_never_known():
    """Without a digest nothing says that the recording is the same."""
    baseline = baseline_of(verdict("S1", "CX13", cassette_digest=""))

    assert not mark_known(verdict("S1", "CX13", cassette_digest=""), baseline).known


def test_the_file_has_one_line_a_case_and_is_sorted():
    """A changed case is one changed line; each contract has its passes, trials and version."""
    lock = Lock(golden="g1")
    baseline = merge(
        Baseline(set="shared"),
        [
            verdict("S2", "facts", "own", lock=lock),
            verdict("S1", "facts", trial=1, lock=lock),
            verdict("S1", lock=lock),
        ],
        reason="first",
        manifest={"versions": {"tapegate": "1.0"}, "contracts": {"own": 3}},
    )

    expected = """\
{
  "format": 2,
  "set": "shared",
  "agents": {
    "lean_react": {
      "qwen3-4b": {
        "totals": {"trials": 3, "kept": 1, "broken": 2, "known": 2, "could_not_check": 0},
        "cases": {
          "S1": {"provenance": "local", "reason": "first", "trials": [{"n": 0, "cassette_digest": "d1", "verdict": "kept", \
"vacuous": ["facts"], FIGURES}, {"n": 1, "cassette_digest": "d1", "verdict": "broken", "broken": ["facts"], FIGURES}], \
"contracts": {"facts": [0, 1, 1]}, LOCK, "versions": {"tapegate": "1.0"}},
          "S2": {"provenance": "local", "reason": "first", "trials": [{"n": 0, "cassette_digest": "d1", "verdict": "broken", \
"broken": ["facts", "own"], FIGURES}], "contracts": {"facts": [0, 1, 1], "own": [0, 1, 3]}, LOCK, \
"versions": {"tapegate": "1.0"}}
        }
      }
    }
  }
}
"""
    figures = '"figures": {"llm_calls": 0, "tool_calls": 0, "tokens": 0, "cost_usd": null, "recorded_ms": 0}'
    assert (
        expected.replace("FIGURES", figures).replace("LOCK", '"lock": {"golden": "g1"}')
        == dump_baseline(baseline).decode()
    )


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
verdicts = st.builds(
    verdict,
    names,
    agent=names,
    model=names,
    trial=st.integers(0, 3),
    cassette_digest=names,
    state=st.sampled_from(["kept", "broken"]),
)


@given(st.lists(verdicts), names)
def test_a_baseline_survives_being_written_and_read(tmp_path_factory, given_verdicts, reason):
    """What is written is what is read, and equal baselines give equal bytes."""
    baseline = merge(Baseline(set="shared"), given_verdicts, reason=reason)
    path = tmp_path_factory.mktemp("baseline") / "shared.json"
    path.write_bytes(dump_baseline(baseline))

    assert baseline == load_baseline(path)
    assert dump_baseline(baseline) == dump_baseline(load_baseline(path))


@given(st.lists(verdicts))
def test_the_order_of_verdicts_does_not_show_in_the_file(given_verdicts):
    """Distinct cells may come in any order."""
    distinct = list({v.cell: v for v in given_verdicts}.values())

    forward = dump_baseline(merge(Baseline(set="shared"), distinct, reason="r"))
    backward = dump_baseline(merge(Baseline(set="shared"), reversed(distinct), reason="r"))
    assert forward == backward


@given(st.lists(verdicts, min_size=1))
def test_what_was_accepted_is_known(given_verdicts):
    """Each accepted broken verdict is known from then on."""
    distinct = list({v.cell: v for v in given_verdicts}.values())
    baseline = merge(Baseline(set="shared"), distinct, reason="r")

    broken = [v for v in distinct if v.broken]
    assert all(mark_known(v, baseline).known for v in broken)


def test_accept_replaces_only_what_the_run_covers(tmp_path: Path):
    """Cells outside the run keep their verdicts and their reasons."""
    accept(tmp_path, record(verdict("S1"), verdict("S2")), reason="first")
    accept(tmp_path, record(verdict("S2", "facts", cassette_digest="d2")), reason="4B is not good at S2")

    cases = load_baselines(tmp_path, ["shared"])["shared"].agents["lean_react"]["qwen3-4b"].cases
    assert {name: case.reason for name, case in cases.items()} == {"S1": "first", "S2": "4B is not good at S2"}
    assert cases["S2"].trials[0].broken == ("facts",)


def test_accept_says_what_it_did_and_leaves_an_unchanged_file_alone(tmp_path: Path):
    """Accepting the same verdicts twice writes nothing, whatever the second reason says."""
    run = record(verdict("S1"), verdict("S2", "facts"), verdict("L1", set="lean_react"))

    first = accept(tmp_path, run, reason="first")
    second = accept(tmp_path, run, reason="second")
    paths = (str(baseline_path(tmp_path, "lean_react")), str(baseline_path(tmp_path, "shared")))
    assert Accepted(written=paths, cells=3, known=1) == first
    assert Accepted(written=(), cells=3, known=1) == second


def test_accept_refuses_what_could_not_be_checked(tmp_path: Path):
    """One unchecked trial is enough, and nothing is written."""
    with pytest.raises(CouldNotCheckError) as refused:
        accept(tmp_path, record(verdict("S1"), verdict("S2", state="could_not_check")), reason="r")

    assert str(refused.value) == (
        "error[unchecked-run]: 1 of 2 trials of run `r1` could not be checked: lean_react × qwen3-4b on shared/S2.0\n\n"
        "hint: mend these first; `harness run` says why each could not be checked"
    )
    assert not baseline_path(tmp_path, "shared").exists()


def test_accept_refuses_failures_of_scripted_reference_cases(tmp_path: Path):
    """A scripted case of a reference profile must be kept; the message names it and where it stands."""
    scripted = verdict("S1", "CX13", model="scripted", provenance="scripted")

    with pytest.raises(UsageError) as refused:
        accept(tmp_path, record(scripted), reason="r")
    assert str(refused.value) == (
        "error[scripted-failure]: goldensets/shared.yaml:14: scripted cases of a reference profile must be kept, so their "
        "failures are never accepted: lean_react × scripted on shared/S1.0\n\n"
        "hint: mend the agent or its script; only `live` and `local` models may have known failures"
    )


def test_accept_takes_failures_of_scripted_cases_of_other_profiles(tmp_path: Path):
    """A profile that is there to fail may fail."""
    scripted = verdict("S1", "CX13", model="scripted", provenance="scripted", profile="seed_literal")

    assert accept(tmp_path, record(scripted), reason="r").known == 1


def test_accept_refuses_an_empty_run(tmp_path: Path):
    """Nothing run is nothing to accept."""
    with pytest.raises(NothingComparedError) as refused:
        accept(tmp_path, record(), reason="r")

    assert refused.value.code == "nothing-run"


def test_accept_needs_a_reason(tmp_path: Path):
    """Blanks are no reason."""
    with pytest.raises(UsageError) as refused:
        accept(tmp_path, record(verdict()), reason="  ")

    assert refused.value.code == "no-reason"


def test_a_missing_baseline_is_none(tmp_path: Path):
    """No file is no baseline, and no error."""
    assert load_baseline(tmp_path / "shared.json") is None
    assert load_baselines(tmp_path, ["shared"]) == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1, "set": "shared", "agents": {"a": {"m": {}}}}', b'{"set": "x"}'],
)
def test_a_corrupt_baseline_is_refused(tmp_path: Path, content: bytes):
    """Whatever is wrong with it, the error names the file and how to get it back."""
    path = tmp_path / "shared.json"
    path.write_bytes(content)

    with pytest.raises(BadFileError) as refused:
        load_baseline(path)
    assert ("bad-baseline", str(path)) == (refused.value.code, refused.value.at)
    assert f"`git checkout -- {path}` brings the committed one back" == refused.value.hint


def test_a_trial_that_stands_there_twice_is_refused(tmp_path: Path):
    """A merge by hand may leave both sides: whichever counted, the other was accepted too."""
    path = baseline_path(tmp_path, "shared")
    path.parent.mkdir()
    once = dump_baseline(merge(Baseline(set="shared"), [verdict()], reason="r"))
    path.write_bytes(
        once.replace(b'"trials": [{', b'"trials": [{"n": 0, "cassette_digest": "x", "verdict": "kept"}, {')
    )

    with pytest.raises(BadFileError, match="stands there twice"):
        load_baseline(path)


def test_a_folder_in_place_of_a_baseline_is_refused(tmp_path: Path):
    """As any file that cannot be read."""
    path = baseline_path(tmp_path, "shared")
    path.mkdir(parents=True)

    with pytest.raises(BadFileError, match="cannot be read"):
        load_baseline(path)


def test_a_newer_baseline_is_refused(tmp_path: Path):
    """A newer format is named as such, not as damage."""
    path = tmp_path / "shared.json"
    path.write_bytes(json.dumps({"format": 3, "sets": ["shared"]}).encode())

    with pytest.raises(BadFileError) as refused:
        load_baseline(path)
    assert (
        f"error[unknown-format]: {path}: baseline format 3 is not known to this version (it reads 1 to 2)\n\n"
        "hint: update tapegate, or take the file back to an older commit"
    ) == str(refused.value)


def test_totals_of_a_model_follow_from_its_cases():
    """Totals count trials; every accepted failure is a known one."""
    baseline = baseline_of(verdict("S1"), verdict("S2", "facts"), verdict("S2", trial=1))

    totals = baseline.agents["lean_react"]["qwen3-4b"].totals
    assert msgspec.to_builtins(totals) == {"trials": 3, "kept": 2, "broken": 1, "known": 1, "could_not_check": 0}


OLD = """{"format": 1, "set": "shared", "agents": {"lean_react": {"small": {
  "totals": {"trials": 2, "kept": 1, "broken": 1, "known": 1, "could_not_check": 0},
  "cases": {"S1": {"provenance": "local", "reason": "first", "trials": [
    {"n": 0, "cassette_digest": "d1", "verdict": "kept", "broken": [], "figures": null},
    {"n": 1, "cassette_digest": "d2", "verdict": "broken", "broken": ["facts"], "figures": null}],
  "contracts": ["CX1", "facts"], "lock": null}}}}}}"""


def test_an_older_baseline_is_read_as_if_it_were_new(tmp_path: Path):
    """Format 1 kept names of contracts only: their passes follow from the trials, their version stays unknown."""
    path = tmp_path / "shared.json"
    path.write_text(OLD)
    baseline = load_baseline(path)

    case = baseline.case("lean_react", "small", "S1")
    assert (2, {"CX1": Held(2, 2, 0), "facts": Held(1, 2, 0)}) == (baseline.format, case.contracts)
    assert mark_known(verdict("S1", "facts", model="small", trial=1, cassette_digest="d2"), baseline).known


def test_an_older_baseline_is_written_in_the_new_format(tmp_path: Path):
    """Accepting anything in it brings the whole file along; what was not run keeps what it had."""
    path = baseline_path(tmp_path, "shared")
    path.parent.mkdir()
    path.write_text(OLD)
    accept(tmp_path, record(verdict("S2")), reason="second")

    baseline = load_baseline(path)
    assert 2 == json.loads(path.read_text())["format"]
    assert Held(1, 2, 0) == baseline.case("lean_react", "small", "S1").contracts["facts"]


@pytest.mark.parametrize(
    "content", [b'{"format": 1, "set": "shared", "agents": []}', b'{"format": 1}', b'{"format": 0}']
)
def test_an_older_baseline_that_is_none_is_refused(tmp_path: Path, content: bytes):
    """What cannot be migrated is an error, never an empty baseline."""
    path = tmp_path / "shared.json"
    path.write_bytes(content)

    with pytest.raises(BadFileError):
        load_baseline(path)


def test_a_contract_is_counted_over_the_trials_that_triggered_it():
    """Accepting one of several trials anew leaves what the others triggered, and counts again."""
    kept = Finding(contract="CX1", state="kept")
    both = baseline_of(verdict("S1", findings=(kept,)), verdict("S1", "facts", trial=1, cassette_digest="d2"))
    again = merge(both, [verdict("S1", findings=(kept,), trial=1, cassette_digest="d3")], reason="better")

    assert {"CX1": Held(1, 1, 1), "facts": Held(0, 1, 1)} == both.case("lean_react", "qwen3-4b", "S1").contracts
    assert {"CX1": Held(2, 2, 1)} == again.case("lean_react", "qwen3-4b", "S1").contracts


def test_other_trials_of_an_edited_case_speak_only_of_what_broke():
    """What they were held to before the edit is no promise of the case as it is."""
    kept = Finding(contract="CX1", state="kept")
    both = baseline_of(verdict("S1", findings=(kept,)), verdict("S1", findings=(kept,), trial=1))
    edited = merge(both, [verdict("S1", trial=1, lock=Lock(golden="g2"))], reason="less is asked")

    assert {} == edited.case("lean_react", "qwen3-4b", "S1").contracts


def test_a_lock_that_is_not_theirs_leaves_other_trials_unknown() -> None:
    """Who accepts one trial under a new lock has not looked at the others: what they followed from is not known."""
    old, new = Lock(golden="g1", cassette="c"), Lock(golden="g2", cassette="c")
    both = baseline_of(verdict("S1", lock=old), verdict("S1", trial=1, lock=old))
    half = merge(both, [verdict("S1", lock=new)], reason="one of them")
    whole = merge(half, [verdict("S1", trial=1, lock=new)], reason="both")

    assert [["c", "c"], ["c", ""], ["c", "c"]] == [
        [trial.recording for trial in made.case("lean_react", "qwen3-4b", "S1").trials] for made in (both, half, whole)
    ]


@pytest.mark.parametrize(
    ("before", "now", "covered", "source"),
    [("a", "a", 1, "a"), ("a", "b", 1, ""), ("a", "b", 2, "b"), ("", "b", 1, ""), ("a", "", 2, ""), ("", "b", 2, "b")],
)
def test_the_source_is_named_where_it_judged_everything(before: str, now: str, covered: int, source: str) -> None:
    """Of a baseline that two tapegates wrote to, no one source is named."""
    cases = [verdict("S1"), verdict("S2")]
    old = merge(Baseline(set="shared"), cases, reason="first", source=before)

    assert source == merge(old, cases[:covered], reason="second", source=now).source
    assert (f'"source": "{before}"' in dump_baseline(old).decode()) == bool(before)
