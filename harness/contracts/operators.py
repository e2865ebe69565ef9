"""
Operators over the events of a leg, named after the property specification patterns of Dwyer, Avrunin and Corbett
(ICSE 1999), read over finite traces.

    never(a)                no a                        precedes(a, b)         a stands before each b
    eventually(a)           at least one a              responds(a, b, …)      each a is followed by a b, in time
    at_least / at_most /    so many a                   same_turn(a, b)        each a has a b in its turn
      exactly(n, a)                                     not_same_turn(a, b)    no a has another b in its turn
    always(a, b)            each a is also a b

Each holds in a scope: the whole leg (`GLOBALLY`), `before(q)` the first q, `after(q)` the first q, or `between(q, r)`
every q and the next r. A scope that does not occur asks nothing, and neither does an operator without its trigger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from harness.contracts.base import TRIGGERED, Contract, Found, broken
from harness.contracts.selectors import Selector
from harness.contracts.view import TrialView
from harness.records.trace import Event

Span = tuple[float, float, Event | None]
"""Events with *first* < seq < *end* belong to it; the event, if any, opened it."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an operator holds."""

    kind: Literal["globally", "before", "after", "between"] = "globally"
    opens: Selector | None = None
    closes: Selector | None = None

    def spans(self, view: TrialView) -> list[Span]:
        """The stretches of *view* that the scope covers; none where it does not occur."""
        opened = self.opens.find(view) if self.opens is not None else []
        if self.kind == "globally":
            return [(float("-inf"), float("inf"), None)]
        if not opened:
            return []
        if self.kind == "before":
            return [(float("-inf"), opened[0].seq, None)]
        if self.kind == "after":
            return [(opened[0].seq, float("inf"), opened[0])]
        spans: list[Span] = []
        closed = self.closes.find(view) if self.closes is not None else []
        for event in opened:
            end = next((close.seq for close in closed if close.seq > event.seq), None)
            if end is not None and (not spans or event.seq >= spans[-1][1]):
                spans.append((event.seq, end, event))
        return spans

    def __str__(self) -> str:
        if self.kind == "globally":
            return ""
        return f" {self.kind} ({self.opens})" + (f" and ({self.closes})" if self.closes is not None else "")


GLOBALLY = Scope()


def before(first: Selector) -> Scope:
    """Up to the first event of *first*."""
    return Scope("before", first)


def after(first: Selector) -> Scope:
    """From the first event of *first* on."""
    return Scope("after", first)


def between(opens: Selector, closes: Selector) -> Scope:
    """From each event of *opens* to the next one of *closes*."""
    return Scope("between", opens, closes)


Rule = Callable[[list[Event], Span, TrialView], Iterator[Found]]
"""Holds an operator against the events of its main selector that lie in one span."""


def never(what: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """No event of *what*."""

    def rule(found: list[Event], span: Span, _view: TrialView) -> Iterator[Found]:
        yield TRIGGERED
        for event in found:
            yield broken([span[2], event], f"{_name(event)}, which must never happen{scope}")

    return _contract("never", f"({what})", what, scope, rule, id=id, at=at)


def eventually(what: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """At least one event of *what*."""
    return _counted("eventually", what, scope, least=1, id=id, at=at)


def at_least(n: int, what: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """At least *n* events of *what*."""
    return _counted("at_least", what, scope, least=n, id=id, at=at)


def at_most(n: int, what: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """At most *n* events of *what*."""
    return _counted("at_most", what, scope, most=n, id=id, at=at)


def exactly(n: int, what: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """Exactly *n* events of *what*."""
    return _counted("exactly", what, scope, least=n, most=n, id=id, at=at)


def always(each: Selector, also: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """Each event of *each* is one of *also* as well."""

    def rule(found: list[Event], span: Span, view: TrialView) -> Iterator[Found]:
        for event in found:
            yield TRIGGERED
            if not also.fits(event, view):
                yield broken([span[2], event], f"{_name(event)} is not ({also}){scope}")

    return _contract("always", f"({each}) is ({also})", each, scope, rule, id=id, at=at)


def precedes(first: Selector, then: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """An event of *first* stands before each one of *then*."""

    def rule(found: list[Event], span: Span, view: TrialView) -> Iterator[Found]:
        firsts = _inside(first.find(view), span)
        for event in found:
            yield TRIGGERED
            if not firsts or firsts[0].seq >= event.seq:
                yield broken([span[2], event], f"{_name(event)} without ({first}) before it{scope}")
                return  # what stands before the first stands before all

    return _contract("precedes", f"({first}) before ({then})", then, scope, rule, id=id, at=at)


def responds(
    to: Selector,
    response: Selector,
    *,
    within_events: int | None = None,
    within_turns: int | None = None,
    scope: Scope = GLOBALLY,
    id: str = "",
    at: str = "",
) -> Contract:
    """
    Each event of *to* is followed by one of *response*, within so many events or turns where that is said.

    A turn begins with each call of a chat model.
    """
    limit = "" if within_events is None else f" within {within_events} events"
    limit += "" if within_turns is None else f" within {within_turns} turns"

    def rule(found: list[Event], span: Span, view: TrialView) -> Iterator[Found]:
        responses = _inside(response.find(view), span)
        for event in found:
            yield TRIGGERED
            if not any(_in_time(event, answer, view, within_events, within_turns) for answer in responses):
                yield broken([span[2], event], f"{_name(event)} is not followed by ({response}){limit}{scope}")

    about = f"({response}) after ({to}){limit}"
    return _contract("responds", about, to, scope, rule, id=id, at=at)


def same_turn(this: Selector, that: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """Each event of *this* has another one of *that* in its turn."""

    def rule(found: list[Event], span: Span, view: TrialView) -> Iterator[Found]:
        others = _inside(that.find(view), span)
        for event in found:
            yield TRIGGERED
            if not any(_share_turn(event, other) for other in others):
                yield broken([span[2], event], f"{_name(event)} without ({that}) in its turn{scope}")

    return _contract("same_turn", f"({this}) with ({that})", this, scope, rule, id=id, at=at)


def not_same_turn(this: Selector, that: Selector, *, scope: Scope = GLOBALLY, id: str = "", at: str = "") -> Contract:
    """No event of *this* has another one of *that* in its turn."""

    def rule(found: list[Event], span: Span, view: TrialView) -> Iterator[Found]:
        others = _inside(that.find(view), span)
        for event in found:
            yield TRIGGERED
            other = next((other for other in others if _share_turn(event, other)), None)
            if other is not None:
                yield broken([span[2], event, other], f"{_name(event)} and {_name(other)} in one turn{scope}")
                return

    return _contract("not_same_turn", f"({this}) with ({that})", this, scope, rule, id=id, at=at)


def _counted(
    name: str,
    what: Selector,
    scope: Scope,
    *,
    least: int = 0,
    most: int | None = None,
    id: str,
    at: str,
) -> Contract:
    wanted = (
        f"at least {least}" if most is None else f"at most {most}" if least < most or not most else f"exactly {most}"
    )

    def rule(found: list[Event], span: Span, view: TrialView) -> Iterator[Found]:
        yield TRIGGERED
        if len(found) < least or (most is not None and len(found) > most):
            witness = [span[2], *found] if found or span[2] is not None else [view.finished_event]
            yield broken(witness, f"{len(found)} times ({what}), expected {wanted}{scope}")

    count = "" if name == "eventually" else f" {most if most is not None else least}"
    return _contract(name, f"{count} ({what})".strip(), what, scope, rule, id=id, at=at, shrinks=least == 0)


def _contract(
    name: str, about: str, main: Selector, scope: Scope, rule: Rule, *, id: str, at: str, shrinks: bool = True
) -> Contract:
    def check(view: TrialView) -> Iterator[Found]:
        events = main.find(view)
        for span in scope.spans(view):
            yield from rule(_inside(events, span), span, view)

    words = f"{name} {about}{scope}"
    return Contract(id=id or words, about=words, check=check, kind="B", at=at, doc=words, shrinks=shrinks)


def _inside(events: list[Event], span: Span) -> list[Event]:
    if span[0] == float("-inf") and span[1] == float("inf"):
        return events
    return [event for event in events if span[0] < event.seq < span[1]]


def _in_time(event: Event, answer: Event, view: TrialView, events: int | None, turns: int | None) -> bool:
    if answer.seq <= event.seq or (events is not None and answer.seq - event.seq > events):
        return False
    if turns is None:
        return True
    begun = sum(1 for call in view.calls if call.turn is not None and event.seq < call.event.seq <= answer.seq)
    return begun <= turns


def _share_turn(event: Event, other: Event) -> bool:
    return event.turn is not None and event.turn == other.turn and event.seq != other.seq


def _name(event: Event) -> str:
    tool = getattr(event.data, "tool", "")
    return f"{event.type} {tool}" if tool else event.type
