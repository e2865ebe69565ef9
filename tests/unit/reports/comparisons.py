"""Comparisons to show, made of a few verdicts."""

from __future__ import annotations

import itertools

from harness.compare import compare_run
from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Lock, RunRecord, Totals

_recordings = itertools.count()


def verdict(agent, case, trial=0, *, kept=True, model="scripted", provenance=None, **fields):
    """The verdict on a trial of a recording of its own; *kept* False breaks CX3, None could not be checked."""
    state = {True: "kept", False: "broken", None: "could_not_check"}[kept]
    given = {
        "profile": "reference", "set": "shared", "llm_calls": 2, "tool_calls": 1, "turns": 2, "steps": 3,
        "tokens": Usage(100, 20), "recorded_ms": 50, "at": "goldensets/shared.yaml:2",
        "provenance": provenance or ("scripted" if model == "scripted" else "local"),
        "cassette_digest": f"r{next(_recordings)}", "lock": Lock(golden=case, world="weather"),
        "findings": () if kept is None else (Finding(contract="CX3", state=state),),
    }  # fmt: skip
    return CaseVerdict(agent=agent, model=model, case=case, trial=trial, verdict=state, **(given | fields))


def outcomes(agent, kept, **fields):
    """One trial of S1, S2, … for each of *kept*."""
    return [verdict(agent, f"S{number}", kept=one, **fields) for number, one in enumerate(kept, start=1)]


def local(agent, kept, **fields):
    """The same of a model that is served on loopback."""
    return outcomes(agent, kept, model="small", **fields)


def compared(*verdicts, **how):
    """The comparison of the run of these verdicts."""
    run = RunRecord(run="r1", results=verdicts, totals=Totals(trials=len(verdicts)), exit_code=0)
    return compare_run(run, **how)
