"""
Cases that flicker: by the luck of a model, seen in recordings that differ, or by themselves, on one and the same recording.

Both are told from what was changed on purpose by the lock of a trial: only verdicts that follow from the same prompts,
tools, code, case, world and contracts are held against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.records.history import UnsteadyCase
from harness.reports.history.past import PastRun, PastTrial, Place, Who
from harness.stats.reliability import flakiness

_OF_THE_SAMPLE = frozenset({"cassette", "judge"})
"""Digests in a lock that say which answers were recorded, and nothing of what was changed."""
_OF_THE_MACHINE = frozenset({"timeout", "contract-hung", "no-postgres", "news-store-unreachable"})
"""Error codes that depend on the machine that a run was made on."""
Lock = tuple[tuple[str, str], ...]


def unsteady(runs: Sequence[PastRun]) -> tuple[UnsteadyCase, ...]:
    """Every case of *runs* (in the order of time) that flickers, those that do so by themselves first."""
    return (*_nondeterministic(runs), *_flaky(runs))


def _nondeterministic(runs: Sequence[PastRun]) -> Iterator[UnsteadyCase]:
    """Cases with another verdict on the same recording, from the same files: something in them is not deterministic."""
    verdicts: dict[tuple[Place, str, Lock], list[tuple[str, PastTrial]]] = {}
    for run in runs:
        for trial in run.trials:
            if trial.cassette_digest and trial.lock and trial.code not in _OF_THE_MACHINE:
                key = (trial.place, trial.cassette_digest, tuple(sorted(trial.lock.items())))
                verdicts.setdefault(key, []).append((run.run, trial))
    for _, told in sorted(verdicts.items()):
        outcomes = [(trial.verdict, trial.broken, trial.code) for _, trial in told]
        turns = [place for place in range(1, len(told)) if outcomes[place] != outcomes[place - 1]]
        if turns:
            yield _by_itself(told, turns)


def _by_itself(told: Sequence[tuple[str, PastTrial]], turns: Sequence[int]) -> UnsteadyCase:
    one, other = told[turns[-1] - 1], told[turns[-1]]
    times = "once" if len(turns) == 1 else f"{len(turns)} times"
    return _case(
        other[1],
        kind="nondeterminism",
        kept=sum(trial.verdict == "kept" for _, trial in told),
        of=len(told),
        score=None,
        runs=(one[0], other[0]),
        because=f"the same recording and the same files, but the verdict changed {times}, last from "
        f"{_outcome(one[1])} to {_outcome(other[1])}: the agent, a contract or tapegate itself differs from run to run",
    )


def _flaky(runs: Sequence[PastRun]) -> Iterator[UnsteadyCase]:
    """Cases of real models that are kept in one recording and broken in another, with everything else the same."""
    samples: dict[tuple[Who, str, str, Lock], dict[str, tuple[str, PastTrial]]] = {}
    for run in runs:
        for trial in run.trials:
            if trial.provenance not in {"live", "local"} or trial.verdict == "could_not_check" or not trial.lock:
                continue
            lock = tuple(sorted((name, told) for name, told in trial.lock.items() if name not in _OF_THE_SAMPLE))
            samples.setdefault((trial.who, trial.set, trial.case, lock), {})[trial.cassette_digest] = (run.run, trial)
    for _, recordings in sorted(samples.items()):
        told = list(recordings.values())
        kept = sum(trial.verdict == "kept" for _, trial in told)
        if 0 < kept < len(told):
            yield _case(
                told[-1][1],
                kind="recordings",
                kept=kept,
                of=len(told),
                score=flakiness(kept, len(told)),
                runs=tuple(sorted({run for run, _ in told})),
                because=f"kept in {kept} of {len(told)} recordings that differ in nothing but the model's answers",
            )


def _case(trial: PastTrial, **told: Any) -> UnsteadyCase:
    return UnsteadyCase(
        agent=trial.agent, model=trial.model, provenance=trial.provenance, set=trial.set, case=trial.case, **told
    )


def _outcome(trial: PastTrial) -> str:
    if trial.verdict == "could_not_check":
        return f"`{trial.code or 'could not check'}`"
    return f"broken ({', '.join(trial.broken)})" if trial.broken else trial.verdict
