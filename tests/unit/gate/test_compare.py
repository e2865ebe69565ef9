"""The gate as a pure function: verdicts beside what was accepted, and what each difference demands."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import GateConfig, Quarantine, Tolerated
from harness.gate.accepting import merge
from harness.gate.baseline import Baseline, BaselineCase
from harness.gate.compare import gate
from harness.gate.policy_file import Policy
from harness.records.decision import decide
from harness.records.finding import Finding

from .verdicts import LOCK, TODAY, accepted, judged, record, scripted, told, verdict


def test_the_same_again_passes() -> None:
    """Nothing changed, and what was compared is counted."""
    decision = judged(record(verdict("S1"), verdict("S2", "facts")), accepted(verdict("S1"), verdict("S2", "facts")))

    assert ("pass", 0, 2) == (decision.decision, decision.exit_code, decision.compared)
    assert [("facts", "still_broken", "unknown", 0)] == told(decision)


@pytest.mark.parametrize("name", ["golden", "prompt", "tool_schema", "model", "world", "code", "contracts"])
def test_what_changed_is_the_cause(name: str) -> None:
    """A regression names the digest that differs."""
    lock = msgspec.structs.replace(LOCK, **{name: "other"})
    decision = judged(record(verdict("S1", "CX1", lock=lock)), accepted(verdict("S1")))

    assert [("CX1", "regression", name, 1)] == told(decision)


def test_a_broken_contract_that_is_mended_is_fixed() -> None:
    """What was accepted as broken and holds now is told, and blocks nothing."""
    decision = judged(record(verdict(kept=("CX1", "facts"))), accepted(verdict("S1", "facts")))

    assert ("pass", [("facts", "fixed", "unknown", 0)]) == (decision.decision, told(decision))


def test_a_baseline_edited_by_hand_excuses_no_scripted_case() -> None:
    """A scripted trial of a reference profile must be kept, whatever the baseline says."""
    decision = judged(record(scripted("S1", "facts")), accepted(scripted("S1", "facts")))

    assert (1, [("facts", "still_broken", "unknown", 1)]) == (decision.exit_code, told(decision))


def test_one_new_recording_that_breaks_is_inconclusive() -> None:
    """One sample on each side is too few: exit 5, and how many would do; never 1 by luck, never 0."""
    decision = judged(record(verdict("S1", "CX1", cassette_digest="d2")), accepted(verdict("S1")))

    assert ("inconclusive", 5, 3) == (decision.decision, decision.exit_code, decision.needs_trials)
    assert ("CX1", "flaky", "cassette", 5) == told(decision)[0]


def test_many_new_recordings_that_break_are_a_regression() -> None:
    """Three of three broken, where three of three were kept, is less likely than one in twenty by chance."""
    then = accepted(*(verdict(trial=n, cassette_digest=f"a{n}") for n in range(3)))
    now = record(*(verdict("S1", "CX1", trial=n, cassette_digest=f"b{n}") for n in range(3)))

    assert ("CX1", "regression", "cassette", 1) == told(judged(now, then))[0]


def test_a_recording_copied_is_no_fresh_sample() -> None:
    """The same answers under three names are one sample, so that nobody gains certainty by copying files."""
    then = accepted(*(verdict(trial=n, cassette_digest=f"a{n}") for n in range(3)))
    now = record(*(verdict("S1", "CX1", trial=n, cassette_digest="b") for n in range(3)))

    assert ("CX1", "flaky", "cassette", 5) in told(judged(now, then))


def test_scripted_recordings_are_compared_exactly() -> None:
    """A scripted model has no luck: one trial that breaks is a regression, whatever its recording."""
    decision = judged(record(scripted("S1", "CX1", cassette_digest="d2")), accepted(scripted("S1")))

    assert ("CX1", "regression", "cassette", 1) == told(decision)[0]


def test_zero_cases_are_no_pass() -> None:
    """An empty run compared with an empty baseline is exit 4; with a baseline, its cases are missing."""
    assert (4, 0) == (judged(record(), {"shared": Baseline(set="shared")}).exit_code, judged(record(), {}).compared)
    assert [("", "missing", "matrix", 1)] == told(judged(record(), accepted(verdict())))


def test_a_design_that_was_never_accepted_is_compared_with_nothing() -> None:
    """A new design beside an accepted one is exit 4 until it is accepted."""
    decision = judged(record(verdict(), verdict(agent="other")), accepted(verdict()))

    assert (4, ("", "new", "baseline", 4)) == (decision.exit_code, told(decision)[0])


def test_a_new_case_passes_if_it_is_kept() -> None:
    """A case that joins is told; one that joins broken blocks."""
    then = accepted(verdict())

    assert [("", "new", "golden", 0)] == told(judged(record(verdict(), verdict("S2")), then))
    assert 1 == judged(record(verdict(), verdict("S2", "facts")), then).exit_code


def test_a_baseline_without_figures_could_not_be_checked() -> None:
    """A baseline that an older version wrote holds nothing to compare figures and digests with."""
    old = accepted(verdict())
    cases = old["shared"].agents["lean_react"]["small"].cases
    trial = msgspec.structs.replace(cases["S1"].trials[0], figures=None)
    cases["S1"] = BaselineCase(provenance="local", reason="r", trials=(trial,))

    assert [("", "error", "baseline", 3)] == told(judged(record(verdict()), old))


@pytest.mark.parametrize(
    ("figure", "changes", "told_as"),
    [
        ("llm_calls", {"llm_calls": 3}, "model calls went from 2 to 3; tolerated is +0%"),
        ("tool_calls", {"tool_calls": 2}, "tool calls went from 1 to 2; tolerated is +0%"),
        ("cost", {"cost_usd": 0.02}, "US dollars went from 0.01 to 0.02; tolerated is +10%"),
        ("latency", {"recorded_ms": 200}, "ms recorded went from 100 to 200; tolerated is +20%"),
    ],
)
def test_each_figure_can_block(figure: str, changes: dict[str, float], told_as: str) -> None:
    """A figure that grows beyond what is tolerated is a regression; tolerating it lets it pass."""
    now, then = record(verdict(**changes)), accepted(verdict())
    decision = judged(now, then)

    assert (1, told_as) == (decision.exit_code, decision.changes[0].because)
    assert 0 == judged(now, then, tolerate=Tolerated(**{figure: 1.0})).exit_code


def test_a_cost_where_none_was_known_blocks() -> None:
    """What begins to cost is growth, though no fraction of nothing says how much."""
    decision = judged(record(verdict(cost_usd=0.5)), accepted(verdict(cost_usd=None)))

    assert "US dollars went from none to 0.5; tolerated is +10%" == decision.changes[0].because


def test_figures_of_new_recordings_are_inconclusive_together() -> None:
    """One new recording that takes longer is told over its whole design, as what more recordings must settle."""
    decision = judged(record(verdict(cassette_digest="d2", llm_calls=9)), accepted(verdict()))

    assert 5 == decision.exit_code
    assert decision.changes[0].because.startswith(
        "model calls went from 2 to 9; tolerated is +0%, over 1 case that was recorded anew"
    )


def test_an_advisory_contract_is_not_blocking() -> None:
    """What the policy only wants reported does not block, and what it does not name as blocking neither."""
    both = {"kept": ("CX1", "CL1")}
    now, then = record(verdict("S1", "CX1", **both)), accepted(verdict(**both))

    assert (0, 0, 1) == (
        judged(now, then, advisory=("CX*",)).exit_code,
        judged(now, then, blocking=("CL*",)).exit_code,
        judged(now, then, blocking=("CX1",)).exit_code,
    )
    assert [("CX1", "regression", 0)] == [
        (change.contract, change.change, change.exit_code) for change in judged(now, then, advisory=("CX*",)).changes
    ]
    assert () == tuple(judged(now, accepted(verdict("S1", "CX1", **both)), advisory=("CX*",)).changes)


def test_a_policy_that_lets_nothing_block_is_no_policy() -> None:
    """Where no contract of the run may block, the gate could never say no: exit 4."""
    decision = judged(record(verdict("S1", "CX1")), accepted(verdict()), advisory=("*",))

    assert (4, "skipped", "policy", "pyproject.toml") == (
        decision.exit_code, decision.changes[0].change, decision.changes[0].cause, decision.changes[0].at,
    )  # fmt: skip
    assert "none of the 1 contracts of this run may block" in decision.changes[0].because


def test_a_contract_whose_meaning_changed_is_the_cause_of_what_it_breaks() -> None:
    """Its version was raised since: that is told once, and blamed; other contracts keep their own cause."""
    before = [verdict(case, kept=("CX1", "CX2")) for case in ("S1", "S2")]
    baseline = merge(Baseline(set="shared"), before, reason="r", manifest={"contracts": {"CX1": 1, "CX2": 4}})
    broken = [verdict(case, "CX1", "CX2") for case in ("S1", "S2")]
    decision = judged(record(*broken, manifest={"contracts": {"CX1": 2, "CX2": 4}}), {"shared": baseline})

    assert [
        ("CX1", "regression", "contracts", 1), ("CX2", "regression", "unknown", 1), ("CX1", "regression", "contracts", 1),
        ("CX2", "regression", "unknown", 1), ("CX1", "new", "contracts", 0),
    ] == told(decision)  # fmt: skip
    assert "it is version 2 now, and was version 1 when trials were accepted" == decision.changes[-1].because


def test_versions_that_were_never_kept_are_no_change() -> None:
    """A baseline of an older format knows none, and a run of one neither."""
    old = merge(Baseline(set="shared"), [verdict()], reason="r", manifest={"contracts": {"CX1": 0}})

    assert [] == told(judged(record(verdict(), manifest={"contracts": {"CX1": 2}}), {"shared": old}))
    assert [] == told(judged(record(verdict()), accepted(verdict())))


def test_a_contract_that_nothing_triggers_any_more_is_no_pass() -> None:
    """A contract that scripted trials triggered when accepted, and none does now, compared nothing: exit 4."""
    now = scripted(kept=())
    now = msgspec.structs.replace(now, findings=(Finding(contract="CX1", state="vacuous"),))

    assert [("CX1", "skipped", "golden", 4)] == told(judged(record(now), accepted(scripted())))


def test_a_contract_that_no_replay_of_a_model_triggers_any_more_is_no_pass() -> None:
    """The same recordings leave nothing to chance: exit 4 as for a script; recorded anew, a model may not come to it."""
    vacuous = (Finding(contract="CX1", state="vacuous"),)
    same = msgspec.structs.replace(verdict(), findings=vacuous)
    anew = msgspec.structs.replace(verdict(cassette_digest="d2"), findings=vacuous)

    assert [("CX1", "skipped", "golden", 4)] == told(judged(record(same), accepted(verdict())))
    assert 0 == judged(record(anew), accepted(verdict())).exit_code


def test_a_contract_that_only_reports_now_is_missing_whatever_made_it_so() -> None:
    """Also where its own code says so, and no case was edited."""
    finding = Finding(contract="CX1", state="broken", because="it did", advisory=True)
    now = msgspec.structs.replace(verdict(), findings=(finding,))

    assert (1, True) == (
        judged(record(now, verdict("S2")), accepted(verdict(), verdict("S2"))).exit_code,
        ("CX1", "missing", "contracts", 1) in told(judged(record(now, verdict("S2")), accepted(verdict(), verdict("S2")))),
    )  # fmt: skip


def test_a_model_that_triggers_a_contract_by_chance_is_no_trial_of_the_script() -> None:
    """A contract that no scripted trial triggers any more is told, whatever a model beside the script still does."""
    now = msgspec.structs.replace(scripted(), findings=(Finding(contract="CX1", state="vacuous"),))

    assert [("CX1", "skipped", "golden", 4)] == told(judged(record(now, verdict()), accepted(scripted(), verdict())))


@pytest.mark.parametrize("pattern", ["shared/lean_react", "*/lean_*", "gone/lean_react"])
def test_a_contract_that_must_be_exercised_and_is_not(pattern: str) -> None:
    """`exercised_by` asks that a set × design triggers a contract, and that there is such a set × design."""
    decision = judged(record(verdict()), accepted(verdict()), exercised_by={"CX9": (pattern,)})

    assert (4, "CX9", "skipped") == (decision.exit_code, decision.changes[0].contract, decision.changes[0].change)
    assert 0 == judged(record(verdict()), accepted(verdict()), exercised_by={"CX1": ("shared/*",)}).exit_code


def test_a_rule_that_nothing_matches_is_told_where_it_stands() -> None:
    """In the file of the policy, where there is one."""
    policy = Policy(rules=GateConfig(exercised_by={"CX1": ("gone/*",)}), file="gate.toml")

    assert ["gate.toml"] == [
        change.at for change in gate(record(verdict()), accepted(verdict()), policy, today=TODAY).changes
    ]


def test_a_contract_that_only_reports_since_the_case_was_edited_is_missing() -> None:
    """Making a contract advisory in the case that breaks it takes it away, and the gate says so."""
    finding = Finding(contract="CX1", state="broken", because="it did", advisory=True)
    lock = msgspec.structs.replace(LOCK, golden="g2")
    now = msgspec.structs.replace(verdict(lock=lock), findings=(finding,))

    assert [("CX1", "missing", "golden", 1)] == told(judged(record(now), accepted(verdict())))


def test_a_quarantine_lets_only_its_contract_pass() -> None:
    """An entry covers the broken contract that it names, and neither another nor a case that is gone."""
    entry = Quarantine(contract="CX1", case="S*", owner="vera", reason="x", expires=date(2026, 11, 23))
    then = accepted(verdict("S1"), verdict("S2"))
    one = judged(record(verdict("S1", "CX1"), verdict("S2")), then, quarantine=(entry,))
    gone = judged(record(verdict("S1")), then, quarantine=(entry,))

    assert (0, "vera, until 2026-11-23: x", 1) == (one.exit_code, one.changes[0].quarantined, gone.exit_code)
    assert 1 == judged(record(verdict("S1", "facts"), verdict("S2")), then, quarantine=(entry,)).exit_code


def test_a_contract_that_is_gone_cannot_be_quarantined() -> None:
    """An entry excuses what is broken, never what nobody asks any more."""
    entry = Quarantine(contract="CX1", case="S1", owner="vera", reason="x", expires=date(2026, 11, 23))

    assert 1 == judged(record(verdict(kept=())), accepted(verdict()), quarantine=(entry,)).exit_code


def test_a_quarantine_is_red_from_its_day_on() -> None:
    """On the day that it expires an entry blocks, though nothing is broken."""
    entry = Quarantine(contract="CX1", case="S1", owner="vera", reason="x", expires=TODAY)

    assert [("CX1", "regression", "quarantine", 1)] == told(
        judged(record(verdict()), accepted(verdict()), quarantine=(entry,))
    )


@pytest.mark.parametrize(
    ("code", "change", "cause"),
    [
        ("cassette-missing", "missing", "cassette"),
        ("cassette-unused", "stale", "code"),
        ("agent-crash", "error", "code"),
        ("timeout", "error", "machine"),
        ("network-refused", "error", "code"),
    ],
)
def test_what_could_not_be_checked_is_never_a_regression(code: str, change: str, cause: str) -> None:
    """No condition of machine or recording maps to 1, and none to 0, not even beside a known failure."""
    now = verdict(verdict="could_not_check", code=code, because="so it was", findings=())

    assert (3, [("", change, cause, 3)]) == (
        judged(record(now), accepted(verdict("S1", "facts"))).exit_code,
        told(judged(record(now), accepted(verdict("S1", "facts")))),
    )


def test_a_contract_that_crashed_is_an_error_of_its_own() -> None:
    """The contract is named, and it could not be checked."""
    finding = Finding(contract="CX1", state="could_not_check", because="the contract itself failed")
    now = msgspec.structs.replace(verdict(verdict="could_not_check"), findings=(finding,))

    assert [("CX1", "error", "contracts", 3)] == told(judged(record(now), accepted(verdict())))


states = st.sampled_from([(), ("CX1",), ("facts",), ("CX1", "facts")])


@given(
    st.dictionaries(st.sampled_from("abcdef"), states, min_size=1), st.dictionaries(st.sampled_from("abcdef"), states)
)
def test_a_pass_means_that_nothing_got_worse(then: dict[str, tuple[str, ...]], now: dict[str, tuple[str, ...]]) -> None:
    """Exit 0 means: every accepted case ran, and broke nothing that it was not accepted to break."""
    decision = judged(
        record(*(verdict(case, *broken, kept=("CX1", "facts")) for case, broken in now.items())),
        accepted(*(verdict(case, *broken, kept=("CX1", "facts")) for case, broken in then.items())),
    )

    worse = not then.keys() <= now.keys() or any(set(broken) - set(then.get(case, ())) for case, broken in now.items())
    assert (decision.exit_code == 0) == (not worse)


@given(st.lists(st.sampled_from([0, 1, 3, 4, 5])))
def test_the_strongest_demand_decides(codes: list[int]) -> None:
    """3 before 1 before 4 before 5 before 0, in whatever order they come."""
    change = judged(record(verdict("S1", "CX1")), accepted(verdict())).changes[0]
    decision = decide("r1", 1, [msgspec.structs.replace(change, exit_code=code) for code in codes])

    assert next((code for code in (3, 1, 4, 5) if code in codes), 0) == decision.exit_code
