"""Run folders and past runs as tests need them: two designs, one of them with a real model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from hypothesis import strategies as st

from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Lock, RunRecord, Totals
from harness.reports.history.past import PastRun, PastTrial
from harness.reports.store import RunStore

LOCK = Lock(golden="g1", prompt="p1", tool_schema="t1", model="m1", world="w1", code="c1", contracts="k1")


def verdict(case: str = "S1", state: str = "kept", **changes) -> CaseVerdict:
    """A verdict as `harness run` writes it."""
    broken = (Finding(contract="CX13", state="broken", because="planned"),) if state == "broken" else ()
    fields = {
        "agent": "lean_react", "profile": "reference", "model": "scripted", "provenance": "scripted", "set": "shared",
        "case": case, "trial": 0, "verdict": state, "findings": broken, "llm_calls": 2, "tool_calls": 1,
        "tokens": Usage(input=600, output=18), "recorded_ms": 8, "cassette_digest": f"d-{case}", "lock": LOCK,
    }  # fmt: skip
    return CaseVerdict(**(fields | changes))


def write_run(
    runs: Path, name: str, verdicts: Sequence[CaseVerdict], *, partial: bool = False, finished: bool = True
) -> Path:
    """A run folder as the product writes it."""
    with RunStore.create(runs, run=name, manifest={"versions": {"tapegate": "0.1.0"}}) as store:
        for one in verdicts:
            store.append(one)
        states = [one.verdict for one in verdicts]
        if finished:
            totals = Totals(trials=len(states), kept=states.count("kept"), broken=states.count("broken"))
            store.finish(
                RunRecord(
                    run=name, results=tuple(verdicts), totals=totals, exit_code=0, partial=partial,
                    manifest={"versions": {"tapegate": "0.1.0"}},
                )
            )  # fmt: skip
    return runs / name


def trial(case: str = "S1", state: str = "kept", **changes) -> PastTrial:
    """One trial of a past run."""
    fields = {
        "agent": "lean_react", "model": "scripted", "provenance": "scripted", "set": "shared", "case": case, "trial": 0,
        "verdict": state, "known": False, "llm_calls": 2, "tool_calls": 1, "input_tokens": 600, "output_tokens": 18,
        "cached_tokens": 0, "thinking_tokens": 0, "cost_usd": None, "recorded_ms": 8, "cassette_digest": f"d-{case}",
        "code": "", "broken": ("CX13",) if state == "broken" else (),
        "lock": {name: getattr(LOCK, name) for name in ("golden", "prompt", "code", "contracts")},
    }  # fmt: skip
    return PastTrial(**(fields | changes))


def local(case: str = "S1", state: str = "kept", **changes) -> PastTrial:
    """One trial of a real model."""
    return trial(case, state, **({"model": "qwen", "provenance": "local"} | changes))


def run(number: int, *trials: PastTrial, **changes) -> PastRun:
    """A whole past run; *number* from 0 to 59 is its minute."""
    fields = {
        "run": f"20260310-09{number:02}00000-{number:04x}", "began": f"2026-03-10T09:{number:02}:00.000Z",
        "state": "whole", "exit_code": 0, "version": "0.1.0",
        "trials": tuple(sorted(trials, key=lambda one: one.place)),
    }  # fmt: skip
    return PastRun(**(fields | changes))


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=8)
counts = st.integers(0, 2**62)


@st.composite
def past_trials(draw) -> PastTrial:
    """Any trial that a store takes."""
    return draw(
        st.builds(
            trial, names, st.sampled_from(["kept", "broken", "could_not_check"]), agent=names, model=names,
            provenance=st.sampled_from(["live", "local", "scripted", "none"]), trial=st.integers(0, 3),
            known=st.booleans(), llm_calls=counts, input_tokens=counts, recorded_ms=counts,
            cost_usd=st.none() | st.floats(0, 1e12), code=names, broken=st.tuples(names),
            lock=st.dictionaries(names, names, max_size=3),
        )
    )  # fmt: skip


@st.composite
def states_of_runs(draw) -> list[PastRun]:
    """Runs, some of them in several states: as they were when they had just begun, and as they ended."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        trials = draw(st.lists(past_trials(), max_size=4, unique_by=lambda one: one.place))
        whole = run(number, *trials, state=draw(st.sampled_from(["whole", "partial"])))
        found.append(whole)
        if draw(st.booleans()):
            found.append(msgspec.structs.replace(whole, state="unfinished", exit_code=None, trials=whole.trials[:1]))
    return found


def series_of(runs: Iterable[PastRun]) -> list[str]:
    """Names of runs, for messages."""
    return [one.run for one in runs]
