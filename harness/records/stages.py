"""
How far a run is, in the four stages that every reader is shown: understanding → planning → querying → synthesising.

Designs speak of phases and progress in words of their own; the tables below say which stage each one is. What no table
knows is told from what happens: a question that came in, a model that is asked, a tool that works. A stage may come
again, as when a design plans anew after a failed check.
"""

from __future__ import annotations

from typing import Literal, get_args

from harness.records.trace import Event

Stage = Literal["understanding", "planning", "querying", "synthesising"]
STAGES: tuple[Stage, ...] = get_args(Stage)

_PROGRESS: dict[str, Stage] = {
    **{stage: stage for stage in STAGES},
    # newsdesk
    "entendendo": "understanding",
    "planejando": "planning",
    "consultando": "querying",
    "sintetizando": "synthesising",
    # deep_think
    "initializing": "understanding",
    "thinking": "planning",
    "verifying": "querying",
    "correcting": "planning",
    "summarizing": "synthesising",
    "completed": "synthesising",
}
"""Stage by what an agent's `progress` events call it."""

_PHASES: dict[str, Stage] = {
    "init": "understanding",
    "route": "understanding",
    "think": "planning",
    "plan": "planning",
    "replan": "planning",
    "solve": "planning",
    "improve": "planning",
    "correct": "planning",
    "execute": "querying",
    "verify": "querying",
    "respond": "synthesising",
    "answer": "synthesising",
    "summary": "synthesising",
}
"""Stage by phase; phases that are not here, such as `agent`, `fast` and `fallback`, say nothing of it."""


class Stages:
    """Follows one run, event by event."""

    def __init__(self) -> None:
        self._now: Stage | None = None
        self._queried = False

    def after(self, event: Event) -> Stage | None:
        """The stage that *event* begins; None where the run stays in the one it was in."""
        stage = self._of(event)
        if stage is None or stage == self._now:
            return None
        self._now = stage
        return stage

    def _of(self, event: Event) -> Stage | None:
        match event.type:
            case "trial_started":
                self._queried = False
                return "understanding"
            case "progress":
                return _PROGRESS.get(event.data.stage)
            case "phase_started":
                return _PHASES.get(event.data.name)
            case "tool_call":
                return self._used(writes_nothing=event.data.effect == "none")
            case "llm_call":
                return _PHASES.get(event.phase) or ("synthesising" if self._queried else "planning")
            case "final_answer":
                return "synthesising"
        return None

    def _used(self, *, writes_nothing: bool) -> Stage:
        """A tool with no effect at all keeps a plan or holds a thought; every other one asks or changes the world."""
        if writes_nothing:
            return "synthesising" if self._queried else "planning"
        self._queried = True
        return "querying"
