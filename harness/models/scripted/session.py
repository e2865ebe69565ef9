"""
One script being served: which step answers which call, and everything that went against the script.

A call that breaks a rule of the provider, that its step does not expect, or that has no step is answered with a 400 and
remembered; `ScriptSession.close` then raises, so that no such recording is ever kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from harness.dialects import (
    ANTHROPIC,
    OPENAI_CHAT,
    OPENAI_EMBEDDINGS,
    ChatDialect,
    Dialect,
    EmbeddingDialect,
    dialect_of,
)
from harness.dialects.body import BodyError, load_object
from harness.errors import BadFileError, UsageError
from harness.models.scripted.answers import HttpAnswer, chat_answer, embedding_answer, error_answer, model_reply
from harness.models.scripted.expectations import unmet
from harness.models.scripted.rules import first_broken_rule
from harness.models.scripted.script import Reply, Script, Step
from harness.models.scripted.thinking_rules import IssuedThinking
from harness.records.messages import EmbeddingRequest, Json, ModelRequest

RECORDED_ORIGIN = "http://scripted.invalid"
"""Where scripted traffic is recorded as having gone to."""

ProblemCode = Literal["script-unmet", "script-extra-call", "script-rule-broken", "script-unused"]
Embedder = Callable[[str], Sequence[float]]

_HINTS: dict[str, str] = {
    "script-unmet": "if the agent is right, change `expect` in the script; else mend the agent; then record again",
    "script-extra-call": "if the agent is right, add a step to the script; else mend the agent; then record again",
    "script-rule-broken": "a real provider refuses this request with a 400: mend the agent, then record again",
    "script-unused": "if the agent is right, take the step out of the script; else mend the agent; then record again",
}


class Problem(msgspec.Struct, frozen=True):
    """Something that went against the script; *at* is `file:line` of the step, or the script's path."""

    code: ProblemCode
    message: str
    at: str


class ScriptError(UsageError):
    """The run did not follow its script; *code* is that of the first problem, *problems* holds all."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        more = "".join(f"\n{problem.at}: {problem.message}" for problem in problems[1:])
        super().__init__(first.code, first.message + more, hint=_HINTS[first.code], at=first.at)
        self.problems = tuple(problems)


class Caller(msgspec.Struct, frozen=True):
    """What the client says of a call in its `x-harness-*` headers; None where it says nothing."""

    purpose: str | None = None
    slot: str | None = None
    call: int | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Caller:
        """Read the headers of a request; names are in lower case."""
        call = headers.get("x-harness-call", "")
        number = int(call) if call.isdecimal() and len(call) < 10 else None
        return cls(headers.get("x-harness-purpose"), headers.get("x-harness-slot"), number)

    def fits(self, step: Step) -> bool:
        """Whether *step* serves this call; a client that says nothing is served in order."""
        if self.purpose is None and self.slot is None and self.call is None:
            return True
        return step.target.fits(purpose=self.purpose or "", slot=self.slot or "", call=self.call)

    def __str__(self) -> str:
        parts = (("purpose", self.purpose), ("slot", self.slot), ("call", self.call))
        return ", ".join(f"{name} `{value}`" for name, value in parts if value not in (None, "")) or "no purpose given"


class ScriptSession:
    """
    One script behind one base address of a `ScriptedServer`; safe for calls from several threads.

    *origin* is the real address that is recorded as `RECORDED_ORIGIN`; `openai_base_url` and `anthropic_base_url`
    below it are what a client takes as its base address.
    """

    def __init__(
        self, script: Script, *, origin: str, on_close: Callable[[], None], embedder: Embedder | None = None
    ) -> None:
        self.script = script
        self.origin = origin
        self.openai_base_url = f"{origin}/v1"
        self.anthropic_base_url = origin
        self.calls = 0
        self._on_close = on_close
        self._embedder = embedder
        self._unused = dict(enumerate(script.steps))
        self._problems: list[Problem] = []
        self._issued = IssuedThinking()
        self._lock = threading.Lock()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What went against the script so far; steps that no call came for yet are the last of it."""
        with self._lock:
            unused = [self._problem("script-unused", index, "no call came for it") for index in self._unused]
            return (*self._problems, *unused)

    def close(self) -> None:
        """
        Stop serving.

        Raises:
            ScriptError: A call broke a rule, was not expected or had no step, or a step had no call.
        """
        self._on_close()
        if problems := self.problems:
            raise ScriptError(problems)

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> HttpAnswer | None:
        """Answer a POST to *path* below the origin; names of *headers* are in lower case. None: no such address."""
        dialect = dialect_of(path)
        if dialect is None:
            return None
        with self._lock:
            self.calls += 1
            try:
                wire = load_object(body)
                broken = first_broken_rule(dialect.name, wire, headers, self._issued)
                if broken is not None:
                    return self._rule_broken(dialect, broken)
                request = dialect.decode_request(body)
            except (BodyError, BadFileError) as error:
                return self._rule_broken(dialect, f"We could not parse the JSON body of your request: {error}")
            caller = Caller.of(headers)
            if isinstance(request, EmbeddingRequest):
                return self._embed(OPENAI_EMBEDDINGS, request, wire, caller)
            return self._chat(ANTHROPIC if dialect.name == "anthropic" else OPENAI_CHAT, request, wire, caller)

    def _chat(
        self, dialect: ChatDialect, request: ModelRequest, wire: Mapping[str, Json], caller: Caller
    ) -> HttpAnswer:
        index = self._take(caller, embeds=False)
        if index is None:
            return self._extra(dialect, f"a chat call ({caller}) that no step is left for", request)
        step = self.script.steps[index]
        complaints = unmet(step.expect, request)
        if step.reply.thinking and dialect.name != "anthropic":
            complaints.append("expected a call of Anthropic's API, which alone carries thinking blocks")
        if complaints:
            problem = self._problem("script-unmet", index, "; ".join(complaints))
            return self._refuse(dialect, problem)
        if dialect.name == "anthropic":
            self._issued.remember(wire, model_reply(dialect.name, step.reply, request, number=index + 1))
        return chat_answer(dialect, step.reply, request, number=index + 1)

    def _embed(
        self, dialect: EmbeddingDialect, request: EmbeddingRequest, wire: Mapping[str, Json], caller: Caller
    ) -> HttpAnswer:
        index = self._take(caller, embeds=True)
        if index is not None:
            reply = self.script.steps[index].reply
            if reply.vectors is None or len(reply.vectors) == len(request.texts):
                return embedding_answer(dialect, reply, request, wire)
            complaint = f"it has {len(reply.vectors)} vectors, the call {len(request.texts)} texts"
            return self._refuse(dialect, self._problem("script-unmet", index, complaint))
        if self._embedder is None:
            return self._extra(dialect, f"an embedding call ({caller}) that no step is left for")
        vectors = tuple(tuple(self._embedder(text)) for text in request.texts)
        return embedding_answer(dialect, Reply(vectors=vectors), request, wire)

    def _take(self, caller: Caller, *, embeds: bool) -> int | None:
        """The first unused step that serves the call; it is used up by that."""
        for index, step in self._unused.items():
            if (step.reply.vectors is not None) == embeds and caller.fits(step):
                del self._unused[index]
                return index
        return None

    def _rule_broken(self, dialect: Dialect, message: str) -> HttpAnswer:
        self._problems.append(
            Problem(
                "script-rule-broken", f"call {self.calls} breaks a rule of the provider: {message}", self.script.path
            )
        )
        return error_answer(dialect, 400, message)

    def _extra(self, dialect: Dialect, what: str, request: ModelRequest | None = None) -> HttpAnswer:
        last = request.messages[-1].text if request and request.messages else ""
        asked = f"; its last message is {last[:120]!r}" if last else ""
        return self._refuse(
            dialect, Problem("script-extra-call", f"call {self.calls} is {what}{asked}", self.script.path)
        )

    def _refuse(self, dialect: Dialect, problem: Problem) -> HttpAnswer:
        self._problems.append(problem)
        return error_answer(dialect, 400, f"refused by the script ({problem.at}): {problem.message}")

    def _problem(self, code: ProblemCode, index: int, message: str) -> Problem:
        return Problem(code, f"step {index + 1}: {message}", self.script.places[index])
