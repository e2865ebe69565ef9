"""Which writing actions may run: asked for, by POST, one cluster, once a run, and never on top of an unknown outcome."""

from __future__ import annotations

from collections.abc import Mapping

from harness.agents.protocol import Question, ToolOutcome
from harness.records.messages import Json

from . import prompts
from .intent import read_intent, tells_of_oneself
from .pipeline import UNCERTAIN


class WriteGuard:
    """Holds the writing actions of one run to what the user asked."""

    def __init__(self, question: Question, today: str) -> None:
        self._method = question.method
        self._intent = read_intent(question.text, today)
        self._of_oneself = tells_of_oneself(question.text)
        self.done: tuple[ToolOutcome, dict[str, Json]] | None = None
        """The write that succeeded, with its arguments."""
        self.uncertain = False
        """Whether a write ended so that nobody knows what came of it."""

    def refusal(self, args: Mapping[str, Json]) -> str:
        """Why a writing action with *args* is not run, in words for the model; empty if it may run."""
        intent = self._intent
        if self._method == "GET":
            return prompts.REFUSED_GET
        if self.done is not None:
            return prompts.REFUSED_SECOND_WRITE
        if self.uncertain:
            return prompts.REFUSED_UNCERTAIN
        if intent.several:
            return prompts.REFUSED_BATCH
        if not intent.change and not (self._of_oneself and "username" in args):
            return prompts.REFUSED_NOT_ASKED
        number = args.get("cluster_id")
        if intent.ids and isinstance(number, int) and number not in intent.ids:
            return prompts.REFUSED_OTHER_CLUSTER.format(id=number)
        return ""

    def note(self, outcome: ToolOutcome, args: Mapping[str, Json]) -> None:
        """Remember what came of a writing action."""
        if outcome.ok:
            self.done = (outcome, dict(args))
        elif outcome.error_kind in UNCERTAIN:
            self.uncertain = True
