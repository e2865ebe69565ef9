"""A decision of the gate on one screen: what blocks, with its cause and place, then what was only noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from shlex import quote

from harness.records.decision import TRAJECTORY, Change, Decision
from harness.reports.gate_samples import told_samples
from harness.reports.screen import Paint, clip, one_line, plain, titled, wrap

_MOST = 20
"""Blocking changes that are shown; a screen holds no more."""
_MOST_TOLD = 3
"""Trajectories that block nothing and are shown."""
_COLOURS = {"pass": "green", "regressed": "red"}
_TITLES = {
    "regression": "REGRESSION", "new": "NEW", "missing": "MISSING", "skipped": "SKIPPED", "flaky": "INCONCLUSIVE",
    "stale": "STALE", "error": "ERROR", "still_broken": "STILL BROKEN", "fixed": "FIXED",
}  # fmt: skip


def render_decision(decision: Decision, *, width: int = 80, paint: Paint = plain) -> str:
    """Render *decision* for people, *width* columns wide."""
    blocking = [change for change in decision.changes if change.exit_code]
    noted = [change for change in decision.changes if not change.exit_code]
    parts = [*(_shown(change, width, paint) for change in blocking[:_MOST])]
    if len(blocking) > _MOST:
        parts.append(f"and {len(blocking) - _MOST} more; `harness gate --json` has them all")
    parts += [_shown(change, width, paint) for change in noted if change.quarantined]
    parts += _trajectories(noted, width, paint)
    for title, lines in told_samples(decision):
        wrapped = [wrap(line, width, indent="  ", later="    ") for line in lines]
        parts.append("\n".join([titled("SAMPLES", title, width, paint=paint), *wrapped]))
    parts.append(_summary(decision, noted, width, paint))
    return "\n\n".join([*parts, *_hint(decision, blocking, noted)])


def _shown(change: Change, width: int, paint: Paint) -> str:
    where = "/".join(part for part in (change.set, change.case) if part)
    who = " × ".join(part for part in (change.agent, change.model) if part)
    trial = f" trial {change.trial}" if change.trial else ""
    colour = "yellow" if change.quarantined or change.exit_code != 1 else "red"
    title = f"{'QUARANTINED ' if change.quarantined else ''}{_TITLES[change.change]}"
    name = one_line("  ".join(part for part in (who, f"{where}{trial}", f"(cause: {change.cause})") if part.strip()))
    lines = [titled(title, name, width, paint=paint, colour=colour)]
    because = clip(one_line(change.because), 400)
    lines.append(
        wrap(
            f"{one_line(change.contract)}: {because}" if change.contract else because, width, indent="  ", later="    "
        )
    )
    if change.quarantined:
        lines.append(wrap(one_line(change.quarantined), width, indent="    "))
    return "\n".join([*lines, wrap(f"at {one_line(change.at)}", width, indent="    ")] if change.at else lines)


def _trajectories(noted: Sequence[Change], width: int, paint: Paint) -> list[str]:
    """Trials that did what no accepted one did: a few in full, the others counted."""
    found = [change for change in noted if change.contract == TRAJECTORY and not change.quarantined]
    more = [f"and {len(found) - _MOST_TOLD} more trajectories that were not accepted; `harness diff RUN` shows them"]
    return [
        *(_shown(change, width, paint) for change in found[:_MOST_TOLD]),
        *(more if len(found) > _MOST_TOLD else []),
    ]


def _summary(decision: Decision, noted: Sequence[Change], width: int, paint: Paint) -> str:
    counts = Counter(
        "quarantined"
        if change.quarantined
        else TRAJECTORY
        if change.contract == TRAJECTORY
        else "advisory"
        if change.change == "regression"
        else change.change
        for change in noted
    )
    trials = {
        (c.agent, c.model, c.set, c.case, c.trial) for c in noted if c.change == "still_broken" and not c.quarantined
    }
    told = [f"{count} {_words(kind, count, len(trials))}" for kind, count in sorted(counts.items())]
    name = decision.decision.replace("_", " ").upper()
    blocking = len(decision.changes) - len(noted)
    parts = [f"{decision.compared} trials compared", *([f"{blocking} blocking"] if blocking else []), *told]
    needs = (
        f"; about {decision.needs_trials} recordings of each case, on each side, would settle it"
        if decision.needs_trials
        else ""
    )
    text = f"{', '.join(parts)} (exit {decision.exit_code}){needs}"
    return titled(name, text, width, paint=paint, colour=_COLOURS.get(decision.decision, "yellow"))


def _words(kind: str, count: int, trials: int) -> str:
    """What *count* changes of one *kind* are; those that are still broken stand for contracts, several to a trial."""
    if kind == "still_broken":
        return f"{'contract' if count == 1 else 'contracts'} still broken in {trials} {'trial' if trials == 1 else 'trials'}"
    if kind == TRAJECTORY:
        return "new trajectory" if count == 1 else "new trajectories"
    if kind == "advisory":
        return f"broken {'contract' if count == 1 else 'contracts'} that only report{'s' if count == 1 else ''}"
    return kind.replace("_", " ")


def _hint(decision: Decision, blocking: Sequence[Change], noted: Sequence[Change]) -> list[str]:
    accept = f'`harness accept {one_line(decision.run)} --reason "…"`'
    if decision.exit_code == 1 and any(change.change == "missing" for change in blocking):
        return [
            "hint: bring back what is missing; where it is meant to go, take it out of reports/baselines/ in the same change"
        ]
    if any(change.cause == "baseline" for change in blocking) and decision.exit_code != 1:
        return [f"hint: {accept} makes a baseline of what has none, or too little"]
    if decision.exit_code == 3:
        return ["hint: `harness run` says for each trial what could not be checked, and which command mends it"]
    if decision.exit_code == 5:
        return [f"hint: record more trials of what is open, or, where it is as you want it: {accept}"]
    if decision.exit_code == 1 and blocking and all(change.contract == TRAJECTORY for change in blocking):
        return [
            f"hint: `harness diff {one_line(decision.run)}` shows what differs; `harness accept --also` accepts both ways"
        ]
    if decision.exit_code == 1:
        return _regression_hint(decision, blocking)
    if decision.exit_code == 0 and any(change.change in {"new", "fixed"} for change in noted):
        return [f"hint: {accept} makes what is new or fixed part of the baseline"]
    return []


def _regression_hint(decision: Decision, blocking: Sequence[Change]) -> list[str]:
    """Where to see the first regression of a trial, and how to run it again; nothing where no trial regressed."""
    first = next((change for change in blocking if change.exit_code == 1 and change.agent and change.case), None)
    if first is None:
        return []
    where = f"{quote(first.set)} --agent {quote(first.agent)} --model {quote(first.model)} --case {quote(first.case)}"
    page = f"`harness report {quote(one_line(decision.run))} --format html` shows every step"
    return [f"hint: {page}\n      `harness run {one_line(where)}` runs the first again"]
