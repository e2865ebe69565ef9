"""What a run knows between two steps: the state that conditions read, and that a snapshot holds whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.records.digest import digest
from harness.records.messages import ImagePart, Json, TextPart

from .verdicts import Check

Images = tuple[ImagePart, ...]


@dataclass(slots=True)
class State:
    """One problem being worked on. The fields down to *error_message* are those of the workflow's `state_schema`."""

    problem_statement: str
    conversation_history: str = ""
    knowledge_context: str = ""
    tool_results: list[str] = field(default_factory=list)
    """What tools found, a line each, so that later stages need not look again."""
    plan: str = ""
    current_solution: str = ""
    current_iteration: int = 0
    """Rounds of verification so far; a parallel round is one."""
    max_iterations: int = 30
    verification_results: list[Check] = field(default_factory=list)
    """The checks of the last round."""
    successful_verifications: int = 0
    """Passes in a row of the current solution."""
    required_verifications: int = 3
    consecutive_failures: int = 0
    """Failed rounds in a row."""
    max_errors: int = 10
    enable_planning: bool = False
    enable_self_improvement: bool = True
    enable_parallel_check: bool = False
    status: str = "initializing"
    progress: float = 0.0
    error_message: str = ""
    """The kind of the error that ended the run, or nothing."""

    node: str = ""
    """Where to go on."""
    images: Images = ()
    lang: str = "en"
    version: int = 0
    """Solutions so far."""
    writes: list[str] = field(default_factory=list)
    """Writing tool calls that were carried out."""
    answer: str = ""
    cache: dict[str, str] = field(default_factory=dict)
    """Replies by the digest of stage and request."""

    @property
    def failed(self) -> bool:
        """Whether the last round of verification failed."""
        return self.consecutive_failures > 0

    def take(self, solution: str) -> None:
        """Go on with a new *solution*: nobody has passed it yet."""
        self.current_solution = solution
        self.version += 1
        self.successful_verifications = 0

    def count(self, checks: list[Check]) -> list[int]:
        """
        Count a round of *checks*, of which all must pass; the passes in a row after each of them.

        Once one failed, the rest of its round counts nothing.
        """
        counts: list[int] = []
        for check in checks:
            failed = not check.passed or (bool(counts) and counts[-1] == 0)
            self.successful_verifications = 0 if failed else self.successful_verifications + 1
            counts.append(self.successful_verifications)
        whole = all(check.passed for check in checks)
        self.current_iteration += 1
        self.verification_results = checks
        self.consecutive_failures = 0 if whole else self.consecutive_failures + 1
        return counts

    def parts(self) -> dict[str, Json]:
        """The state as a snapshot: everything that a resumed run needs, counters and report together."""
        counters = {name: getattr(self, name) for name in _COUNTERS}
        return {
            "problem": {
                "text": self.problem_statement,
                "images": [[image.media_type, image.data] for image in self.images],
                "lang": self.lang,
                "history": self.conversation_history,
                "knowledge": self.knowledge_context,
            },
            "solution": {"text": self.current_solution, "found": self.tool_results, "answer": self.answer},
            "counters": counters,
            "report": [msgspec.to_builtins(check) for check in self.verification_results],
            "plan": self.plan,
            "cache": self.cache,
        }

    @classmethod
    def of(cls, parts: dict[str, Any]) -> State:
        """The state of a snapshot."""
        problem, solution = parts["problem"], parts["solution"]
        return cls(
            problem_statement=problem["text"],
            images=tuple(ImagePart(*image) for image in problem["images"]),
            lang=problem["lang"],
            conversation_history=problem["history"],
            knowledge_context=problem["knowledge"],
            current_solution=solution["text"],
            tool_results=solution["found"],
            answer=solution["answer"],
            verification_results=msgspec.convert(parts["report"], list[Check]),
            plan=parts["plan"],
            cache=parts["cache"],
            **parts["counters"],
        )


_COUNTERS = (
    "node", "version", "current_iteration", "max_iterations", "successful_verifications",
    "required_verifications", "consecutive_failures", "max_errors", "enable_planning", "enable_self_improvement",
    "enable_parallel_check", "status", "progress", "error_message", "writes",
)  # fmt: skip


def images_of(content: str | tuple[TextPart | ImagePart, ...]) -> Images:
    """The images of a question."""
    return () if isinstance(content, str) else tuple(part for part in content if isinstance(part, ImagePart))


def solution_digest(text: str) -> str:
    """The name of a solution, as the trace states it for texts that a prompt holds."""
    return digest(text)
