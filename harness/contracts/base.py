"""
What a contract is: a named generator over a trial, wrapped by `@contract`.

    @contract("retrieve_before_answer", kind="B", version=2)
    def retrieve_before_answer(view: TrialView, *, tool: str = "search_docs") -> Iterator[Broken | Triggered]:
        '''Each answer follows at least one call of *tool*.'''
        for answer in view.finals:
            yield triggered(answer)
            if not any(use.tool == tool and use.event.seq < answer.seq for use in view.uses):
                yield broken(answer, f"answered without calling `{tool}`")

A contract that yields nothing never triggered and is reported as vacuous; one that raises is reported as
`could_not_check`, never as broken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from harness.errors import BadFileError
from harness.records.finding import Finding
from harness.records.messages import Json
from harness.records.trace import Event

if TYPE_CHECKING:
    from harness.contracts.view import TrialView
    from harness.records.judgement import Question

Kind = Literal["S", "B"]
"""S: structural, holds for every run of any model. B: behavioural, depends on what the model does."""
Over = Literal["leg", "trial"]
"""Whether a contract is asked once for each leg, or once for the whole trial with the view of its last leg."""


class Broken(msgspec.Struct, frozen=True):
    """One way in which a contract does not hold; *witness* names the events that show it by *seq*."""

    witness: tuple[int, ...]
    because: str
    turn: int | None = None
    leg: int | None = None
    """Only where the witness stands in another leg than the one that was asked."""
    judged_by: str = ""
    """Who said so, where it was a model: `live`, `local` or `scripted`."""


class Triggered(msgspec.Struct, frozen=True):
    """The contract had something to check, so that it is not vacuous; *note* and *judged_by* are shown where it is kept."""

    note: str = ""
    judged_by: str = ""


class Unchecked(msgspec.Struct, frozen=True):
    """The contract lacks what it needs, and says nothing of the trial; *because* says what, and what to run."""

    because: str


Found: TypeAlias = Broken | Triggered | Unchecked
Check: TypeAlias = "Callable[[TrialView], Iterable[Found]]"
Asks: TypeAlias = "Callable[[Mapping[str, Json]], tuple[Question, ...]]"
TRIGGERED: Final = Triggered()


def triggered(event: Event | None = None) -> Triggered:  # noqa: ARG001
    """Say that the contract applies; *event* is the one that made it apply, for the reader of the code."""
    return TRIGGERED


def broken(events: Event | Iterable[Event | None] | None, because: str, *, leg: int | None = None) -> Broken:
    """
    Say that the contract does not hold.

    Args:
        events: The event or events that show it; None among them is left out.
        because: The reason in one clause without a full stop.
        leg: The leg of *events* where it is not the one that was asked.
    """
    shown = [events] if isinstance(events, Event) else [event for event in events or () if event is not None]
    turn = next((event.turn for event in shown if event.turn is not None), None)
    return Broken(tuple(sorted({event.seq for event in shown})), because, turn, leg)


@dataclass(frozen=True, slots=True, eq=False)
class Contract:
    """
    A named rule over one trial. Build one with `@contract`, or in YAML with the operators.

    *needs* names event types: a trace that has none of them cannot trigger the contract, and it is not asked.
    *designs* are the designs that it is for, empty for every one. *shrinks* is False where taking events away
    would break the contract by itself, so that there is no shortest sub-trace to look for.
    """

    id: str
    about: str
    check: Check
    kind: Kind = "S"
    designs: tuple[str, ...] = ()
    version: int = 1
    needs: frozenset[str] = frozenset()
    over: Over = "leg"
    shrinks: bool = True
    on_request: bool = False
    """Asked only where a case or a policy names it."""
    questions: Asks | None = None
    """What it must know beyond the trace, told from its options; see `harness.records.judgement`."""
    doc: str = ""
    """The whole docstring, for `harness explain`."""
    at: str = ""
    """`file:line` of the golden set that states it, where one does."""
    options: dict[str, Json] = field(default_factory=dict)
    kept: Finding = field(init=False, repr=False)
    vacuous: Finding = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", Finding(contract=self.id, state="kept"))
        object.__setattr__(self, "vacuous", Finding(contract=self.id, state="vacuous"))

    def __call__(self, view: TrialView) -> Iterator[Found]:
        """Hold it against *view*."""
        yield from self.check(view)

    def applies_to(self, design: str) -> bool:
        """Whether it is for *design*, named with or without its profile."""
        return not self.designs or design.partition("@")[0] in self.designs

    def with_options(self, *, id: str = "", at: str = "", **options: Json) -> Contract:
        """
        The same rule with other options.

        Raises:
            BadFileError: The rule has no option of that name, or an option without a default is missing.
        """
        plain = self.check.func if isinstance(self.check, partial) else self.check
        known = _options_of(plain)
        for name in options:
            if name not in known:
                takes = ", ".join(f"`{known_name}`" for known_name in known) or "none"
                raise BadFileError(
                    "bad-contract",
                    f"contract `{self.id}` has no option `{name}`",
                    hint=f"its options: {takes}",
                    at=at,
                )
        merged = self.options | options
        for name, parameter in known.items():
            if parameter.default is inspect.Parameter.empty and name not in merged:
                raise BadFileError("bad-contract", f"contract `{self.id}` needs the option `{name}`", at=at)
        check: Check = partial(plain, **merged)
        return replace(self, id=id or self.id, at=at or self.at, check=check, options=merged)

    @property
    def needs_options(self) -> bool:
        """Whether it cannot be asked before an option is given."""
        if isinstance(self.check, partial):
            return False
        return any(p.default is inspect.Parameter.empty for p in _options_of(self.check).values())


def contract(
    id: str,
    *,
    kind: Kind = "S",
    designs: tuple[str, ...] = (),
    version: int = 1,
    needs: tuple[str, ...] = (),
    over: Over = "leg",
    shrinks: bool = True,
    on_request: bool = False,
    questions: Asks | None = None,
) -> Callable[[Callable[..., Iterable[Found]]], Contract]:
    """
    Make a contract of a generator function; its docstring says the rule, its keyword-only parameters are options.

    Args:
        id: How golden sets, findings and baselines name it.
        kind: S for structural, B for behavioural.
        designs: The designs that it is for; empty for every one.
        version: Raise it when the rule's meaning changes.
        needs: Event types of which a trace must have one, or else the contract is vacuous.
        over: `leg` to be asked for each leg, `trial` to be asked once with the last leg's view.
        shrinks: False where taking events away breaks the rule by itself.
        on_request: True to ask it only where a case or a policy names it; a project's own contracts always are.
        questions: From its options to what a model is asked before the contract is.

    Raises:
        TypeError: The function has no docstring.
    """

    def wrap(function: Callable[..., Iterable[Found]]) -> Contract:
        doc = inspect.getdoc(function)
        if not doc:
            raise TypeError(f"contract {id}: its function needs a docstring that says the rule")
        about = " ".join(doc.split("\n\n")[0].split())
        return Contract(
            id=id, about=about, check=function, kind=kind, designs=designs, version=version,
            needs=frozenset(needs), over=over, shrinks=shrinks, on_request=on_request, questions=questions,
            doc=doc,
        )  # fmt: skip

    return wrap


@cache
def _options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
