"""
The ways through each case that are accepted: `baselines/trajectories/<set>.json`, sorted, one line a way.

A way is what a trial did: its tool calls with their arguments, turn by turn. A case may have several.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.errors import BadFileError
from harness.gate.baseline import Baseline, baselines_folder
from harness.gate.cause import cause_of
from harness.records.accepted import Did, Strayed
from harness.records.decision import TRAJECTORY, Change
from harness.records.digest import canonical_json
from harness.records.run import Cell, RunRecord

WAYS_FORMAT = 1
_Cases = dict[str, tuple[Did, ...]]


class Ways(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is accepted for one golden set: by agent, by model, by case."""

    set: str
    agents: dict[str, dict[str, _Cases]] = {}
    format: int = WAYS_FORMAT

    def of(self, cell: Cell) -> tuple[Did, ...]:
        """The ways that are accepted for the case of *cell*, whatever its trial."""
        return self.agents.get(cell.agent, {}).get(cell.model, {}).get(cell.case, ())


class Taken(NamedTuple):
    """A file of ways as it is to be: empty where there are none. *new* ways were not accepted before."""

    path: Path
    content: bytes
    new: int


def ways_path(reports: Path, set_name: str) -> Path:
    """The file of the ways of a set."""
    return baselines_folder(reports) / "trajectories" / f"{set_name}.json"


def load_ways(reports: Path, sets: Iterable[str]) -> dict[str, Ways]:
    """
    Read the accepted ways of these *sets*, by name; a set without a file has none.

    Raises:
        BadFileError: A file is damaged, or of a format that this version does not read.
    """
    return {name: _load(ways_path(reports, name), name) for name in sorted(set(sets))}


def accept_ways(reports: Path, set_name: str, did: Mapping[Cell, Did], *, reason: str, also: bool) -> Taken:
    """
    Put what trials *did* in place of what was accepted for the same trials; with *also*, beside it.

    Raises:
        BadFileError: The file that is there cannot be read.
    """
    path = ways_path(reports, set_name)
    old = _load(path, set_name)
    agents = {agent: {model: dict(cases) for model, cases in models.items()} for agent, models in old.agents.items()}
    by_case: dict[tuple[str, str, str], dict[int, Did]] = {}
    for cell, one in did.items():
        if cell.set == set_name:
            by_case.setdefault((cell.agent, cell.model, cell.case), {})[cell.trial] = one
    new = 0
    for (agent, model, case), trials in by_case.items():
        cases = agents.setdefault(agent, {}).setdefault(model, {})
        before = cases.get(case, ())
        cases[case] = _merged(before, trials, reason=reason, also=also)
        new += len({_key(one) for one in cases[case]} - {_key(one) for one in before})
    return Taken(path, _dumped(Ways(set=set_name, agents=agents)) if agents else b"", new)


def same_way(a: Did, b: Did) -> bool:
    """Whether two trials did the same."""
    return _key(a) == _key(b)


def strays(
    record: RunRecord, baselines: Mapping[str, Baseline], strayed: Iterable[Strayed], *, blocks: bool
) -> Iterator[Change]:
    """Trials that took no accepted way, and cases that have none: told, or, where the policy *blocks*, red."""
    verdicts = {verdict.cell: verdict for verdict in record.results}
    bare: dict[tuple[str, str, str], list[Strayed]] = {}
    for one in strayed:
        verdict, baseline = verdicts[one.cell], baselines.get(one.cell.set)
        accepted = baseline.case(one.cell.agent, one.cell.model, one.cell.case) if baseline else None
        if accepted is None or verdict.verdict == "could_not_check":
            continue  # that it is new, or could not be checked, is told by itself
        if not one.traced:
            if blocks:
                yield Change(
                    agent=one.cell.agent, model=one.cell.model, set=one.cell.set, case=one.cell.case, trial=one.cell.trial,
                    contract=TRAJECTORY, change="error", cause="run", at=verdict.at, exit_code=3,
                    because="the run keeps no trace of it, so what it did is not known",
                )  # fmt: skip
            continue
        if not one.accepted:
            bare.setdefault((one.cell.set, one.cell.agent, one.cell.model), []).append(one)
            continue
        which = "the accepted one" if one.accepted == 1 else f"{one.closest} of {one.accepted} accepted, the closest,"
        yield Change(
            agent=one.cell.agent, model=one.cell.model, set=one.cell.set, case=one.cell.case, trial=one.cell.trial,
            contract=TRAJECTORY, change="regression" if blocks else "new", at=verdict.at, exit_code=int(blocks),
            cause=cause_of(verdict, accepted, baseline.trial(one.cell) if baseline else None),
            because=f"it did not do what was accepted; it parts from {which} at {one.because}",
        )  # fmt: skip
    for (set_name, agent, model), cells in bare.items():
        yield Change(
            agent=agent, model=model, set=set_name, case="", contract=TRAJECTORY, change="new", cause="baseline",
            because=f"no way is accepted for {len(cells)} trials; `harness accept` adds what they do",
            at=verdicts[cells[0].cell].at, exit_code=4 if blocks else 0,
        )  # fmt: skip


def _load(path: Path, set_name: str) -> Ways:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Ways(set=set_name)
    try:
        found = msgspec.json.decode(content, type=_Format).format
        if found != WAYS_FORMAT:
            raise BadFileError(
                "unknown-format",
                f"format {found} of accepted trajectories is not known to this version (it reads {WAYS_FORMAT})",
                hint="update tapegate, or take the file back to an older commit",
                at=str(path),
            )
        ways = msgspec.json.decode(content, type=Ways)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(
            "bad-baseline",
            f"no accepted trajectories: {error}",
            hint=f"`git checkout -- {path}` brings the committed ones back",
            at=str(path),
        ) from None
    if ways.set != set_name:
        raise BadFileError("bad-baseline", f"these are the trajectories of the set `{ways.set}`", at=str(path))
    return ways


def _merged(before: Iterable[Did], trials: Mapping[int, Did], *, reason: str, also: bool) -> tuple[Did, ...]:
    merged: dict[bytes, Did] = {}
    for one in before:
        left = tuple(n for n in one.trials if n not in trials)
        if left or also:
            merged[_key(one)] = msgspec.structs.replace(one, trials=left)
    for n, one in sorted(trials.items()):
        known = merged.get(_key(one))
        merged[_key(one)] = Did(
            steps=one.steps,
            trials=tuple(sorted({*(known.trials if known else ()), n})),
            reason=known.reason if known else reason if also and merged else "",
        )
    return tuple(sorted(merged.values(), key=lambda one: (not one.trials, one.trials, _key(one))))


def _key(one: Did) -> bytes:
    return canonical_json(one.steps)


def _dumped(ways: Ways) -> bytes:
    lines = ["{", f'  "format": {ways.format},', f'  "set": {_json(ways.set)},', '  "agents": {']
    for agent, models in sorted(ways.agents.items()):
        lines.append(f"    {_json(agent)}: {{")
        for model, cases in sorted(models.items()):
            lines.append(f"      {_json(model)}: {{")
            for case, found in sorted(cases.items()):
                lines.append(f"        {_json(case)}: [")
                lines += [f"          {_json(one)}," for one in found]
                lines[-1] = lines[-1].removesuffix(",")
                lines.append("        ],")
            lines[-1] = lines[-1].removesuffix(",")
            lines.append("      },")
        lines[-1] = lines[-1].removesuffix(",")
        lines.append("    },")
    lines[-1] = lines[-1].removesuffix(",")
    return ("\n".join([*lines, "  }", "}"]) + "\n").encode()


def _json(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)


class _Format(msgspec.Struct):
    format: int
