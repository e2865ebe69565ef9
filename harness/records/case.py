"""
What people write in golden sets, as frozen records.

One definition serves three readers: msgspec reads and writes the compiled form, everything else just reads attributes,
and `harness.goldensets.validation` derives what pydantic holds YAML against and makes the JSON Schema of.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Json = Any


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Something an answer must or must not say: exactly one of *text*, *number* or *regex*."""

    text: str | None = None
    """Compared without regard to case and to runs of blanks."""
    number: float | None = None
    """Found in any spelling that the case's language uses: `120 000`, `120.000`, `1,2 Mio`."""
    tolerance: float = 0.0
    """How far a number in the answer may be from *number*, in its unit; at least 0."""
    regex: str | None = None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of an answer: all of *all*, at least one of *any*, none of *none*."""

    all: tuple[Fact, ...] = ()
    any: tuple[Fact, ...] = ()
    none: tuple[Fact, ...] = ()


class ToolRule(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that must be called: *tool* may be a glob, *args* are values that a call must at least carry."""

    tool: str
    args: dict[str, Json] = {}
    at_least: int = 1
    at_most: int | None = None
    different: bool = False
    """Count only calls whose arguments differ from each other."""


class ToolRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which tools a case needs, and which it may or must not see; names may be globs."""

    required: tuple[ToolRule, ...] = ()
    allowed: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The most a trial may spend. None means unlimited."""

    llm_calls: int | None = None
    rounds: int | None = None
    tool_calls: int | None = None
    writes: int | None = None
    seconds: float | None = None
    """Wall-clock time of one leg; running out of it is exit 3, never a verdict."""


class Leg(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of a trial that is stopped and resumed; *stop_after* counts events of a type, then the agent is cut off."""

    stop_after: dict[str, int] = {}
    resume: bool = False


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Something that goes wrong on purpose at model call *call* (from 1) of a trial, or in each call of *tool*."""

    kind: str
    call: int | None = None
    tool: str | None = None


class ImageContent(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a question, as a path beside the golden set."""

    image: str


class TextContent(msgspec.Struct, frozen=True, kw_only=True):
    """A text part of a question."""

    text: str


class GoldenCase(msgspec.Struct, frozen=True, kw_only=True):
    """
    One question, with what must hold when an agent answers it.

    Exactly one of *question*, *turns* and *content* is given. *contracts* holds names of built-in or own contracts and
    inline ones in the operator language; what a set's policies add is already merged in by the loader.
    """

    id: str
    question: str = ""
    turns: tuple[str, ...] = ()
    content: tuple[TextContent | ImageContent, ...] = ()
    history: tuple[dict[str, str], ...] = ()
    """Earlier turns as `{role, text}`, oldest first."""
    lang: str = "en"
    class_: str = "simple"
    """`class` in YAML."""
    tags: tuple[str, ...] = ()
    designs: tuple[str, ...] = ()
    """The designs that this case is for; empty means every one."""
    model: str | None = None
    options: dict[str, Json] = {}
    user: str | None = None
    world: str | None = None
    knowledge: str = ""
    facts: Facts = Facts()
    tools: ToolRules = ToolRules()
    plan: Literal["none", "required", "either"] = "either"
    intent: Literal["read", "edit"] = "read"
    method: Literal["GET", "POST"] = "POST"
    writes: int | None = None
    """How many ok writing tool calls the case expects; None: not checked here."""
    limits: Limits = Limits()
    legs: tuple[Leg, ...] = ()
    faults: tuple[Fault, ...] = ()
    volatile: tuple[str, ...] = ()
    """Regexes; what they match is left out of the fingerprint, on both sides."""
    order: Literal["any", "strict"] = "any"
    format: Literal["markdown", "text", "json"] = "markdown"
    status: Literal["completed", "failed", "cancelled"] = "completed"
    """How the last leg must end; a case about a limit expects `failed`."""
    reason: str = ""
    """The reason that `trial_finished` must give; empty: any."""
    contracts: tuple[str | dict[str, Json], ...] = ()
    advisory: dict[str, tuple[str, ...]] = {}
    """Contracts that are reported but never block, by design; `*` means every design."""
    trials: int = 1
    allow_loopback: bool = False
    notes: str = ""
    at: str = ""
    """`file:line` of the case; set by the loader."""
    lines: dict[str, int] = {}
    """Line of each key of the case, from 1; set by the loader."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Contracts for every case that *when* selects by class, lang, tag, plan, intent or design."""

    when: dict[str, str | tuple[str, ...]]
    contracts: tuple[str | dict[str, Json], ...]


class GoldenSet(msgspec.Struct, frozen=True, kw_only=True):
    """The cases of one file, policies merged in; *digest* names the file's content."""

    name: str
    path: str
    about: str = ""
    world: str | None = None
    cases: tuple[GoldenCase, ...]
    digest: str = ""
