"""CD8–CD11: what the deep-think loop asks its models, with which settings, and what verifiers may do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.deep_run import (
    DEEP,
    REQUIRED,
    SOLVING,
    Verdict,
    is_cached,
    legs_of,
    number,
    own_verdicts,
    round_of,
    round_passed,
    rounds_of,
    setting,
)
from harness.contracts.view import ModelCall, TrialView
from harness.records.digest import digest
from harness.records.messages import Json

NODES: Final[dict[str, tuple[float, int]]] = {
    "planning": (0.3, 1000),
    "initial": (0.7, 2000),
    "improvement": (0.7, 2000),
    "verification": (0.2, 1500),
    "correction": (0.5, 1500),
    "summary": (0.3, 1500),
}
"""Temperature and most tokens of each stage: the design's table of nodes, which wins over the general settings."""
GENERAL = frozenset({"top_p", "effort", "stop"})
"""General settings that no node states, so that they hold for every call."""
MAX_PARALLEL = 3
PROBLEM_AND_SOLUTION = frozenset({"problem", "solution", "history", "knowledge"})
"""All that a verifier may be shown."""


@contract("CD8", designs=DEEP, needs=("llm_call",))
def plan_is_used(view: TrialView) -> Iterator[Found]:
    """
    Without planning no plan is asked for; with it exactly one, before the first solution, from the problem and the
    instruction, and every later call of the solver is shown it.
    """
    legs = view.legs if is_cached(view, "planning") else legs_of(view)
    planned = [call for leg in legs for call in leg.calls_for("plan")]
    own = view.calls_for("plan")
    if not setting(view, "enable_planning", default=False):
        if own:
            yield TRIGGERED
            yield broken(own[0].event, "a plan is asked for, and planning is off")
        return
    solving = view.calls_for(*SOLVING)
    if not own and not solving:
        return
    yield TRIGGERED
    if not planned:
        yield broken(solving[0].event, "planning is on, and no plan is asked for")
        return
    for call in own:
        missing = [name for name in ("problem", "instruction") if name not in call.data.embeds]
        if missing:
            yield broken(call.event, f"the plan is asked for without the {' and the '.join(missing)}")
    plans = [call for leg in legs for call in leg.calls_for("plan") if _is_kept(view, leg, call)]
    if len(plans) > 1 and own:
        yield broken([call.event for call in own], f"{len(plans)} plans are made, expected one")
    late = next((c for c in own if solving and c.event.seq > solving[0].event.seq), None)
    if late is not None:
        yield broken([solving[0].event, late.event], "the plan is made after the first solution")
    yield from _plan_is_shown(solving, plans)


def _is_kept(view: TrialView, leg: TrialView, call: ModelCall) -> bool:
    """Whether a reply counts: one of an earlier leg does once a state was saved after it, and is lost otherwise."""
    if call.reply is None or call.result is None:
        return False
    end = call.result.seq
    return leg is view or any(save.seq > end for save in leg.by_type.get("state_saved", ()))


def _plan_is_shown(solving: list[ModelCall], plans: list[ModelCall]) -> Iterator[Found]:
    text = plans[-1].reply.text.strip() if plans and plans[-1].reply is not None else ""
    for call in solving:
        shown = call.data.embeds.get("plan")
        if text and shown != digest(text):
            what = "is not shown the plan" if shown is None else "is shown another plan than was made"
            yield broken(call.event, f"the call for {call.data.purpose} {what}")
            return


@contract("CD9", designs=DEEP, needs=("llm_call",))
def settings_by_stage(view: TrialView) -> Iterator[Found]:
    """
    Each model call uses the model of its stage, else the default one, the temperature and tokens of its node, and the
    general settings for the rest.
    """
    stages: Json = setting(view, "model_stages", default={})
    models = stages if isinstance(stages, dict) else {}
    params: Json = setting(view, "llm_params", default={})
    general = params if isinstance(params, dict) else {}
    default: ModelCall | None = None
    for call in view.chat_calls:
        stage, model = call.data.stage, call.data.model
        if stage not in NODES:
            yield TRIGGERED
            yield broken(call.event, f"the stage `{stage}` is none of the design's")
            continue
        yield TRIGGERED
        if stage in models:
            if model != models[stage]:
                yield broken(call.event, f"the {stage} uses {model}, its stage names {models[stage]}")
        elif default is None:
            default = call
        elif model != default.data.model:
            yield broken([default.event, call.event], f"the {stage} uses {model}, the default is {default.data.model}")
        for name, wanted in zip(("temperature", "max_tokens"), NODES[stage], strict=True):
            used = call.data.params.get(name)
            if used != wanted and not _refused(view, call, name):
                yield broken(call.event, f"the {stage} has {name} {used}, its node states {wanted}")
        for name in sorted(GENERAL & general.keys()):
            used, wanted = call.data.params.get(name), general[name]
            if used != wanted and not _refused(view, call, name):
                yield broken(call.event, f"the {stage} has {name} {used}, the general settings state {wanted}")


def _refused(view: TrialView, call: ModelCall, name: str) -> bool:
    """Whether a setting is left out, and said to be, because the model thinks natively and takes none."""
    if name not in ("temperature", "top_p") or name in call.data.params or call.data.capability == "none":
        return False
    key = f"{name} of {call.data.stage}"
    return any(event.data.key == key and event.data.used is None for event in view.by_type.get("config_resolved", ()))


@contract("CD10", designs=DEEP, needs=("verification",))
def parallel_rounds(view: TrialView) -> Iterator[Found]:
    """
    A parallel round asks as many verifiers as passes are required, at once but at most so many at a time, and passes
    when all of them do; no correction begins before the last of them has spoken.
    """
    if not setting(view, "enable_parallel_check", default=False):
        return
    most = number(view, "max_parallel", MAX_PARALLEL)
    required = number(view, "required_verifications", REQUIRED)
    corrections = view.calls_for("correct")
    rounds = rounds_of(own_verdicts(view))
    for verdicts in rounds[:-1] if view.stopped else rounds:  # the last one may be cut off in the middle
        round_ = verdicts[0].data.round
        yield TRIGGERED
        if verdicts[0].data.of == 1 and required > 1:
            if not _went_serial(view):
                yield broken(
                    verdicts[0].event, f"round {round_} asks one verifier, and no parallel round failed before"
                )
            continue
        calls = [call for call in view.calls_for("verify") if round_of(call) == round_]
        witness = [call.event for call in calls]
        asked = len({call.data.slot for call in calls})
        if not asked == len(verdicts) == required:
            what = f"{asked} verifiers and {len(verdicts)} verdicts, required are {required}"
            yield broken(witness or [verdict.event for verdict in verdicts], f"round {round_} has {what}")
        flying = _most_at_once(calls)
        if flying > most:
            yield broken(witness, f"{flying} verifiers of round {round_} run at once, max_parallel is {most}")
        elif flying < min(most, asked):
            yield broken(witness, f"the verifiers of round {round_} run {flying} at a time, not {min(most, asked)}")
        yield from _waited_for(verdicts, calls, corrections)
        yield from _all_or_nothing(verdicts, required)


def _went_serial(view: TrialView) -> bool:
    """Whether the provider failed parallel verifiers, so that the rest is asked one after the other."""
    legs = legs_of(view)
    used = (event for leg in legs for event in leg.by_type.get("fallback_used", ()))
    ended = [call.result for leg in legs for call in leg.calls_for("verify") if call.result is not None]
    return any(event.data.origin == "parallel" for event in used) and any(end.data.error is not None for end in ended)


def _most_at_once(calls: list[ModelCall]) -> int:
    """How many of *calls* are under way at the busiest moment."""
    steps = [(call.event.seq, 1) for call in calls] + [(c.result.seq, -1) for c in calls if c.result is not None]
    flying = busiest = 0
    for _, step in sorted(steps):
        flying += step
        busiest = max(busiest, flying)
    return busiest


def _waited_for(verdicts: list[Verdict], calls: list[ModelCall], corrections: list[ModelCall]) -> Iterator[Found]:
    round_ = verdicts[0].data.round
    ends = [call.result for call in calls if call.result is not None]
    first = next((c for c in corrections if c.event.round == round_ or c.data.slot == f"correct/{round_}"), None)
    late = next((end for end in ends if first is not None and end.seq > first.event.seq), None)
    if first is not None and late is not None:
        yield broken([first.event, late], f"the correction begins before round {round_} is over")


def _all_or_nothing(verdicts: list[Verdict], required: int) -> Iterator[Found]:
    """A round in which one fails counts for nothing; one in which all pass is enough."""
    last = verdicts[-1].data
    events = [verdict.event for verdict in verdicts]
    if round_passed(verdicts) and last.count < required:
        yield broken(events, f"all of round {last.round} passed, yet the count is {last.count}")
    if not round_passed(verdicts) and last.count:
        yield broken(events, f"one of round {last.round} failed, yet the count is {last.count}")


@contract("CD11", designs=DEEP, needs=("llm_call",))
def verifiers_only_judge(view: TrialView) -> Iterator[Found]:
    """
    Verifiers and the summary have no tools, a verifier sees the problem and the solution and no other report, and no
    reply of a verifier becomes the solution.
    """
    first: dict[str, ModelCall] = {}
    for call in view.calls_for("verify", "summary"):
        yield TRIGGERED
        data = call.data
        if data.tools:
            yield broken(call.event, f"the {data.purpose} call is offered {', '.join(data.tools)}")
        more = sorted(data.embeds.keys() - PROBLEM_AND_SOLUTION)
        if data.purpose == "verify" and more:
            yield broken(call.event, f"the verifier is shown the {', '.join(more)}")
        same = first.setdefault(data.embeds.get("solution", ""), call) if data.purpose == "verify" else call
        if same.data.messages_digest != data.messages_digest:
            yield broken([same.event, call.event], "two verifiers of one solution are shown different messages")
    yield from _lengths(view.calls_for("verify"))
    for solution in view.by_type.get("solution", ()):
        sources = [
            purpose
            for leg, seq, text, purpose in _said(view)
            if text == solution.data.digest and (leg, seq) < (view.leg, solution.seq)
        ]
        if not sources:
            yield broken(solution, "the solution is no reply of the solver")
        elif solution.data.origin not in sources:
            what = f"the solution is said to come from {solution.data.origin}, and comes from {sources[-1]}"
            yield broken(solution, what)


def _said(view: TrialView) -> list[tuple[int, int, str, str]]:
    """Leg, place, digest and purpose of every solver's reply of the trial so far; a later leg may reuse one."""
    said: list[tuple[int, int, str, str]] | None = view.memo.get("said")
    if said is None:
        calls = [(leg.leg, call) for leg in view.legs for call in leg.calls_for(*SOLVING)]
        said = view.memo["said"] = [
            (leg, call.result.seq, digest(call.reply.text.strip()), call.data.purpose)
            for leg, call in calls
            if call.reply is not None and call.result is not None
        ]
    return said


def _lengths(calls: list[ModelCall]) -> Iterator[Found]:
    """A verifier's conversation never grows: what grows holds an earlier report."""
    for before, call in pairwise(calls):
        if call.data.n_messages != before.data.n_messages:
            what = f"a verifier is shown {call.data.n_messages} messages, the one before {before.data.n_messages}"
            yield broken([before.event, call.event], what)
            return
