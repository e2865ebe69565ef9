"""Verdicts made by hand, and the run that they are."""

from __future__ import annotations

import itertools

from harness.compare import compare_run
from harness.compare.designs import designs_of, rivals_of
from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Lock, RunRecord, Totals

_recordings = itertools.count()


def verdict(agent="lean", case="S1", trial=0, *, kept=True, model="scripted", provenance=None, **fields):
    """The verdict on a trial of a recording of its own; *kept* False breaks CX3, None could not be checked."""
    state = {True: "kept", False: "broken", None: "could_not_check"}[kept]
    given = {
        "profile": "reference", "set": "shared", "llm_calls": 2, "tool_calls": 1, "turns": 2, "steps": 3,
        "tokens": Usage(100, 20), "recorded_ms": 50, "at": f"goldensets/shared.yaml:{len(case)}",
        "provenance": provenance or ("scripted" if model == "scripted" else "local"),
        "cassette_digest": f"r{next(_recordings)}", "lock": Lock(golden=case, world="weather"),
        "findings": () if kept is None else (Finding(contract="CX3", state=state),),
    }  # fmt: skip
    return CaseVerdict(agent=agent, model=model, case=case, trial=trial, verdict=state, **(given | fields))


def outcomes(agent, outcomes_, **fields):
    """One trial of S1, S2, … for each of *outcomes_*; a list in it has the trials of one case."""
    each = [one if isinstance(one, list) else [one] for one in outcomes_]
    return [
        verdict(agent, f"S{number}", trial, kept=kept, **fields)
        for number, trials in enumerate(each, start=1)
        for trial, kept in enumerate(trials)
    ]


def record(*verdicts, **manifest):
    """The run of these *verdicts*."""
    return RunRecord(
        run="r1", results=tuple(verdicts), totals=Totals(trials=len(verdicts)), exit_code=0, manifest=manifest
    )


def compared(*verdicts, **how):
    """Their comparison."""
    return compare_run(record(*verdicts), **how)


def rivals(*verdicts):
    """The groups of these *verdicts*, and what is left out."""
    order = {}
    for one in verdicts:
        order.setdefault((one.set, one.case), len(order))
    return rivals_of(designs_of(verdicts), order)


def local(agent, outcomes_, **fields):
    """`outcomes` of a model that is served on loopback."""
    return outcomes(agent, outcomes_, model="small", **fields)
