"""A decision of the gate on one screen: what blocks, with its cause and place, then what was only noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.records.decision import Change, Decision
from harness.reports.screen import Paint, clip, one_line, plain, wrap

_MOST = 20
"""Blocking changes that are shown; a screen holds no more."""
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
    parts.append(_summary(decision, noted, paint))
    return "\n\n".join([*parts, *_hint(decision, blocking, noted)])


def _shown(change: Change, width: int, paint: Paint) -> str:
    where = "/".join(part for part in (change.set, change.case) if part)
    who = " × ".join(part for part in (change.agent, change.model) if part)
    trial = f" trial {change.trial}" if change.trial else ""
    colour = "yellow" if change.quarantined or change.exit_code != 1 else "red"
    title = f"{'QUARANTINED ' if change.quarantined else ''}{_TITLES[change.change]}"
    name = one_line("  ".join(part for part in (who, f"{where}{trial}", f"(cause: {change.cause})") if part.strip()))
    lines = [f"{paint(title, colour)}  {clip(name, max(width - len(title) - 2, 20))}"]
    because = clip(one_line(change.because), 400)
    lines.append(
        wrap(
            f"{one_line(change.contract)}: {because}" if change.contract else because, width, indent="  ", later="    "
        )
    )
    if change.quarantined:
        lines.append(wrap(one_line(change.quarantined), width, indent="    "))
    return "\n".join([*lines, f"    at {one_line(change.at)}"] if change.at else lines)


def _summary(decision: Decision, noted: Sequence[Change], paint: Paint) -> str:
    counts = Counter("quarantined" if change.quarantined else change.change for change in noted)
    told = [f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(counts.items())]
    name = paint(decision.decision.replace("_", " ").upper(), _COLOURS.get(decision.decision, "yellow"))
    blocking = len(decision.changes) - len(noted)
    parts = [f"{decision.compared} trials compared", *([f"{blocking} blocking"] if blocking else []), *told]
    needs = f"; about {decision.needs_trials} recordings of each case would settle it" if decision.needs_trials else ""
    return f"{name}  {', '.join(parts)} (exit {decision.exit_code}){needs}"


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
    if decision.exit_code == 0 and any(change.change in {"new", "fixed"} for change in noted):
        return [f"hint: {accept} makes what is new or fixed part of the baseline"]
    return []
