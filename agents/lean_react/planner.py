"""The plan as a tool: the model keeps it, the loop only shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from harness.records.tool import ToolError, tool
from harness.records.trace import PlanStep

NAME = "manage_plan"
ALIAS = "planner"
"""An earlier name of the tool; sessions saved under it still load."""
ACTIONS = ("create_plan", "mark_done", "read_plan", "update_plan")
NO_PLAN = "Kein aktiver Plan."

Action = Annotated[str, "Was zu tun ist", msgspec.Meta(extra_json_schema={"enum": list(ACTIONS)})]
Tasks = Annotated[tuple[str, ...], "create_plan: die Schritte in ihrer Reihenfolge"]
StepIndex = Annotated[int, "mark_done: Nummer des erledigten Schritts, ab 1"]
AddSteps = Annotated[tuple[str, ...], "update_plan: neue Schritte"]
RemoveIndices = Annotated[tuple[int, ...], "update_plan: Nummern zu streichender Schritte, ab 1"]
Position = Annotated[int, "update_plan: Nummer, die der erste neue Schritt bekommt; 0 = am Ende"]


class Planner:
    """A list of steps, each PENDING or DONE, and the tool that changes it."""

    def __init__(self, state: Iterable[Mapping[str, Any]] | None = None) -> None:
        self._steps: list[PlanStep] = []
        self.set_state(state)

    @tool(effect="none", name=NAME)
    def manage_plan(
        self,
        action: Action,
        tasks: Tasks = (),
        step_index: StepIndex = 0,
        add_steps: AddSteps = (),
        remove_indices: RemoveIndices = (),
        position: Position = 0,
    ) -> str:
        """Verwaltet deinen Plan für komplexe Aufgaben. Jede Aktion antwortet mit der ganzen Liste."""
        match action:
            case "create_plan":
                said = self._create(tasks)
            case "mark_done":
                said = self._mark_done(step_index)
            case "read_plan":
                said = ""
            case "update_plan":
                said = self._update(add_steps, remove_indices, position)
            case _:
                raise _refusal(f"unbekannte Aktion {action!r}; möglich sind {', '.join(ACTIONS)}")
        return f"{said}\n{self.render() or NO_PLAN}".strip()

    def render(self) -> str:
        """One line a step: `[x]` or `[ ]`, number, text. Empty without a plan."""
        return "\n".join(f"[{'x' if step.status == 'DONE' else ' '}] {step.n}. {step.text}" for step in self._steps)

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """The plan as it stands; empty without one."""
        return tuple(self._steps)

    def get_state(self) -> list[dict[str, str]]:
        """A copy of the plan for the state store; changing it changes nothing here."""
        return [{"description": step.text, "status": step.status} for step in self._steps]

    def set_state(self, state: Iterable[Mapping[str, Any]] | None) -> None:
        """Take over what `get_state` gave; None clears the plan."""
        saved = [(str(step["description"]), str(step["status"])) for step in state or ()]
        self._number(saved)

    def _create(self, tasks: Sequence[str]) -> str:
        texts = _texts(tasks, "tasks")
        self._number([(text, "PENDING") for text in texts])
        return f"Plan mit {len(texts)} Schritten angelegt."

    def _mark_done(self, number: int) -> str:
        self._need_plan()
        if not 1 <= number <= len(self._steps):
            raise _refusal(f"step_index {number} gibt es nicht; der Plan hat die Schritte 1 bis {len(self._steps)}")
        step = self._steps[number - 1]
        if step.status == "DONE":
            return f"Schritt {number} war schon erledigt."
        self._steps[number - 1] = PlanStep(number, step.text, "DONE")
        return f"Schritt {number} erledigt, {sum(s.status != 'DONE' for s in self._steps)} offen."

    def _update(self, add_steps: Sequence[str], remove_indices: Sequence[int], position: int) -> str:
        self._need_plan()
        if not add_steps and not remove_indices:
            raise _refusal("update_plan braucht add_steps oder remove_indices")
        added = [(text, "PENDING") for text in _texts(add_steps, "add_steps")] if add_steps else []
        ignored = sorted({number for number in remove_indices if not 1 <= number <= len(self._steps)})
        kept = [(step.text, step.status) for step in self._steps if step.n not in remove_indices]
        if not 0 <= position <= len(kept) + 1:
            raise _refusal(
                f"position {position} gibt es nicht; möglich sind 1 bis {len(kept) + 1}, oder 0 für das Ende"
            )
        removed = len(self._steps) - len(kept)
        at = position - 1 if position else len(kept)
        self._number([*kept[:at], *added, *kept[at:]])
        note = f" Ignoriert: {', '.join(map(str, ignored))}." if ignored else ""
        return f"{len(added)} Schritte ergänzt, {removed} gestrichen.{note}"

    def _need_plan(self) -> None:
        if not self._steps:
            raise _refusal(f"{NO_PLAN} Lege zuerst mit create_plan einen an")

    def _number(self, steps: Iterable[tuple[str, str]]) -> None:
        self._steps = [PlanStep(n, text, status) for n, (text, status) in enumerate(steps, start=1)]


def _texts(given: Sequence[str], name: str) -> list[str]:
    """The texts on one line each; refused where there is none, or a blank one."""
    texts = [" ".join(text.split()) for text in given]
    if not texts or not all(texts):
        raise _refusal(f"{name} muss eine Liste nicht leerer Texte sein")
    return texts


def _refusal(message: str) -> ToolError:
    return ToolError("invalid_args", message)
