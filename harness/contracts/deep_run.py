"""What a deep-think run did, read from its traces: the legs it is made of, its verdicts, rounds and solutions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.contracts.view import ModelCall, TrialView
from harness.records.messages import Json
from harness.records.trace import Event, Issue, Verification

DEEP = ("deep_think",)
MAX_ITERATIONS = 30
MAX_ERRORS = 10
REQUIRED = 3
"""Defaults where the configuration does not state them."""
SOLVING = ("solve", "improve", "correct")
"""Purposes of calls whose replies become the solution."""


class Verdict(NamedTuple):
    """A verification, the number of its leg, and the model call that it comes from, None where it has none of its own."""

    event: Event
    leg: int
    call: ModelCall | None

    @property
    def data(self) -> Verification:
        data: Verification = self.event.data
        return data

    @property
    def passed(self) -> bool:
        return self.data.passed


def legs_of(view: TrialView) -> tuple[TrialView, ...]:
    """The legs of the run that *view* is the last of: back to the one that was asked a question of its own."""
    legs = [view]
    for earlier in reversed(view.earlier):
        if not is_resumed(legs[0]):
            break
        legs.insert(0, earlier)
    return tuple(legs)


def is_resumed(view: TrialView) -> bool:
    """Whether a leg goes on from a saved state. One with a question of its own loads at most earlier replies."""
    return "state_loaded" in view.by_type and view.started is not None and not view.started.question


def is_cached(view: TrialView, stage: str) -> bool:
    """Whether a leg took the reply of *stage* from an earlier leg, and says so."""
    warnings = view.by_type.get("warning", ())
    return any(event.data.code == "cached_reply" and event.data.detail == stage for event in warnings)


def verdicts_of(view: TrialView) -> list[Verdict]:
    """The verdicts of the run so far; what a resumed leg does again takes the place of what was not saved."""
    found: list[Verdict] | None = view.memo.get("verdicts")
    if found is None:
        found = []
        for leg in legs_of(view):
            own = _verdicts_in(leg)
            if own:
                found = [verdict for verdict in found if verdict.data.round < own[0].data.round]
            found.extend(own)
        view.memo["verdicts"] = found
    return found


def own_verdicts(view: TrialView) -> list[Verdict]:
    """The verdicts of this leg alone."""
    return [verdict for verdict in verdicts_of(view) if verdict.leg == view.leg]


def rounds_of(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """*verdicts* by round: one each in serial, several in parallel."""
    rounds: list[list[Verdict]] = []
    for verdict in verdicts:
        last = rounds[-1] if rounds else None
        if last is not None and last[0].data.of > 1 and last[0].data.round == verdict.data.round:
            last.append(verdict)
        else:
            rounds.append([verdict])
    return rounds


def round_passed(verdicts: list[Verdict]) -> bool:
    """Whether every verdict of a round passed."""
    return all(verdict.passed for verdict in verdicts)


def failures_in_a_row(rounds: list[list[Verdict]]) -> int:
    """Rounds at the end of *rounds* that did not pass."""
    failures = 0
    for verdicts in reversed(rounds):
        if round_passed(verdicts):
            break
        failures += 1
    return failures


def rendered(issues: Iterable[Issue]) -> str:
    """The issues of a verdict as they are told to the solver: numbered, one line each, the place where there is one."""
    return "\n".join(
        f"{n}. [{issue.severity}] {f'{issue.where}: ' if issue.where else ''}{issue.what}"
        for n, issue in enumerate(issues, start=1)
    )


def solution_before(view: TrialView, event: Event) -> Event | None:
    """The solution in force when *event* happens, or None where this leg has none yet."""
    found = None
    for solution in view.by_type.get("solution", ()):
        if solution.seq > event.seq:
            break
        found = solution
    return found


def known_solutions(view: TrialView) -> frozenset[str]:
    """Digests of every solution of the run so far."""
    return frozenset(event.data.digest for leg in legs_of(view) for event in leg.by_type.get("solution", ()))


def setting(view: TrialView, key: str, default: Json) -> Json:
    """An option as it is configured, else *default*; only rounds may be settled by the run itself, and only to fewer."""
    configured = view.config.get(key, default)
    if key != "max_iterations" or not view.config.get("adaptive"):
        return configured
    resolved = (event for leg in legs_of(view) for event in leg.by_type.get("config_resolved", ()))
    used = [event.data.used for event in resolved if event.data.key == key]
    fewer = used and isinstance(used[-1], int) and isinstance(configured, int) and used[-1] < configured
    return used[-1] if fewer else configured


def number(view: TrialView, key: str, default: int) -> int:
    """A setting that is a whole number, at least 1."""
    value = setting(view, key, default)
    return max(1, value) if isinstance(value, int) else default


def round_of(call: ModelCall) -> int | None:
    """The verification round of a verify call: by its event, else by its slot."""
    if call.event.round is not None:
        return call.event.round
    parts = call.data.slot.split("/")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else None


def slot_of(verification: Verification) -> str:
    """The slot of the call that a verdict comes from."""
    return f"verify/{verification.round}/{verification.index}"


def _verdicts_in(view: TrialView) -> list[Verdict]:
    events = view.by_type.get("verification")
    if not events:
        return []
    waiting: dict[str, list[ModelCall]] = {}
    for call in view.calls_for("verify"):
        waiting.setdefault(call.data.slot, []).append(call)
    verdicts = []
    for event in events:
        calls = waiting.get(slot_of(event.data), [])
        done = [call for call in calls if call.result is not None and call.result.seq < event.seq]
        waiting[slot_of(event.data)] = [call for call in calls if call not in done]
        verdicts.append(Verdict(event, view.leg, done[-1] if done else None))
    return verdicts
