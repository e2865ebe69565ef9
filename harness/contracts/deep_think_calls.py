"""CD8–CD14: what the deep-think loop asks its models, with which settings, and what it tells the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.deep_run import (
    DEEP,
    REQUIRED,
    SOLVING,
    Verdict,
    legs_of,
    number,
    own_verdicts,
    round_of,
    round_passed,
    rounds_of,
    setting,
    solution_before,
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
GENERAL = frozenset({"top_p", "effort"})
"""General settings that no node states, so that they hold for every call."""
MAX_PARALLEL = 3
PREVIEW = 200
PROBLEM_AND_SOLUTION = frozenset({"problem", "solution", "history", "knowledge"})
"""All that a verifier may be shown."""
PROCESS_WORDS = {
    "zh": r"第\s*[\d一二三四五六七八九十]+\s*(?:轮|次)(?:迭代|验证|评审|修正)|(?:迭代|验证|评审|修正)(?:轮次|次数|轮数|过程中)|(?:经过|通过)了?[^，。\n]{0,8}(?:轮|次)(?:迭代|验证|评审)|评审员|验证者|验证器|求解器",
    "en": r"\b(?:iteration|verification|review|correction) (?:round|step|pass|loop|phase)s?\b|\biteration (?:no\. )?\d+|\b\d+(?:st|nd|rd|th) (?:iteration|verification)|\b(?:the|our|my) (?:verifier|reviewer|solver)s?\b|\bverifier agents?\b|\bpassed (?:\w+ ){0,2}verifications?\b",
    "de": r"\b(?:Iterations|Prüf|Verifikations|Korrektur)(?:runde|schritt|phase)n?\b|\bder (?:Prüfer|Gutachter|Löser)\b|\b\d+\. Iteration\b",
    "pt": r"\b(?:rodada|etapa|fase)s? de (?:verificação|iteração|revisão|correção)\b|\biteração \d+|\bo (?:verificador|revisor)\b",
    "ru": r"\b(?:раунд|этап|шаг)\w* (?:проверки|верификации|итерации|исправления)\b|\bитераци[яи] \d+|\bпроверяющ(?:ий|его)\b",
}  # fmt: skip
"""Words that speak of how an answer came about, by language; Chinese and English hold in every language."""


@contract("CD8", designs=DEEP, needs=("llm_call",))
def plan_is_used(view: TrialView) -> Iterator[Found]:
    """
    Without planning no plan is asked for; with it exactly one, before the first solution, from the problem and the
    instruction, and every later call of the solver is shown it.
    """
    legs = legs_of(view)
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
    plans = [call for call in planned if call.reply is not None]
    if len(plans) > 1 and own:
        yield broken([call.event for call in own], f"{len(plans)} plans are made, expected one")
    late = next((c for c in own if solving and c.event.seq > solving[0].event.seq), None)
    if late is not None:
        yield broken([solving[0].event, late.event], "the plan is made after the first solution")
    yield from _plan_is_shown(solving, plans)


def _plan_is_shown(solving: list[ModelCall], plans: list[ModelCall]) -> Iterator[Found]:
    text = plans[-1].reply.text.strip() if plans and plans[-1].reply is not None else ""
    for call in solving:
        shown = call.data.embeds.get("plan")
        if text and shown != digest(text):
            what = "is not shown the plan" if shown is None else "is shown another plan than was made"
            yield broken([plans[-1].result, call.event], f"the call for {call.data.purpose} {what}")
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
            if used != wanted:
                yield broken(call.event, f"the {stage} has {name} {used}, its node states {wanted}")
        for name in sorted(GENERAL & general.keys()):
            used, wanted = call.data.params.get(name), general[name]
            if used != wanted:
                yield broken(call.event, f"the {stage} has {name} {used}, the general settings state {wanted}")


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
    for verdicts in rounds_of(own_verdicts(view)):
        if verdicts[0].data.of == 1 and required > 1:
            continue
        yield TRIGGERED
        round_ = verdicts[0].data.round
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
    said = {digest(call.reply.text.strip()): call for call in view.calls_for(*SOLVING) if call.reply is not None}
    for solution in view.by_type.get("solution", ()):
        source = said.get(solution.data.digest)
        if source is None or source.result is None or source.result.seq > solution.seq:
            yield broken(solution, "the solution is no reply of the solver")
        elif source.data.purpose != solution.data.origin:
            what = f"the solution is said to come from {solution.data.origin}, and comes from {source.data.purpose}"
            yield broken([source.result, solution], what)


def _lengths(calls: list[ModelCall]) -> Iterator[Found]:
    """A verifier's conversation never grows: what grows holds an earlier report."""
    for before, call in pairwise(calls):
        if call.data.n_messages != before.data.n_messages:
            what = f"a verifier is shown {call.data.n_messages} messages, the one before {before.data.n_messages}"
            yield broken([before.event, call.event], what)
            return


@contract("CD12", designs=DEEP, needs=("final_answer",))
def summary_is_the_answer(view: TrialView) -> Iterator[Found]:
    """
    The answer is the summary, made once, of the last solution, and says nothing of how it came about.

    Where the run failed, the answer holds the summary of one of its solutions, with a word on what it lacks.
    """
    made = [call for call in view.calls_for("summary") if call.reply is not None]
    for final in view.finals:
        yield TRIGGERED
        text, complete = final.data.text.strip(), final.data.complete
        if len(made) > 1:
            yield broken([call.event for call in made], f"{len(made)} summaries are made, expected one")
        summary = made[-1] if made else None
        said = summary.reply.text.strip() if summary is not None and summary.reply is not None else ""
        if complete and (summary is None or text != said):
            yield broken([summary.result if summary else None, final], "the answer is not the summary")
        elif said and said not in text:
            yield broken([summary.result if summary else None, final], "the answer does not hold the summary")
        if summary is not None and complete:
            solution = solution_before(view, summary.event)
            if solution is not None and summary.data.embeds.get("solution") != solution.data.digest:
                yield broken([solution, summary.event], "the summary is made of another text than the last solution")
        word = process_word(said if said and said in text else text, view.case.lang, view)
        if word:
            yield broken(final, f"the answer speaks of the process: “{word}”")


def process_word(text: str, lang: str, view: TrialView | None = None) -> str:
    """The first words of *text* that tell how an answer came about, unless the question uses them; else nothing."""
    asked = view.started.question.casefold() if view is not None and view.started is not None else ""
    for code in dict.fromkeys((lang, "zh", "en")):
        pattern = PROCESS_WORDS.get(code)
        if pattern is None:
            continue
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if match.group().casefold() not in asked:
                return match.group()
    return ""


@contract("CD13", designs=DEEP, needs=("progress", "solution"))
def progress_only_grows(view: TrialView) -> Iterator[Found]:
    """Progress lies between 0 and 1, never falls, and is 1 only in a completed run; previews are cut to 200 characters."""
    told = view.by_type.get("progress", [])
    for event in told:
        yield TRIGGERED
        value = event.data.value
        if not 0 <= value <= 1:
            yield broken(event, f"progress is {value:g}, expected 0 to 1")
        if value >= 1 and view.status != "completed" and not view.stopped:
            yield broken([event, view.finished_event], f"progress is {value:g} in a run that is {view.status}")
    for before, after in pairwise(told):
        if after.data.value < before.data.value:
            yield broken([before, after], f"progress falls from {before.data.value:g} to {after.data.value:g}")
            break
    for solution in view.by_type.get("solution", ()):
        yield TRIGGERED
        preview, cut = solution.data.preview, solution.data.chars > PREVIEW
        if cut and not (len(preview) == PREVIEW + 1 and preview.endswith("…")):
            yield broken(solution, f"the preview has {len(preview)} characters, expected {PREVIEW} and an ellipsis")
        elif not cut and digest(preview) != solution.data.digest:
            yield broken(solution, "the preview of a short solution is not the solution")


@contract("CD14", designs=DEEP, needs=("llm_call",))
def context_reaches_all(view: TrialView) -> Iterator[Found]:
    """Earlier conversation and background knowledge, where given, are in the prompt of every solver and verifier call."""
    case = view.case
    history = bool(case.history) or (bool(case.turns) and any(leg.finals for leg in view.earlier))
    knowledge = digest(case.knowledge) if case.knowledge.strip() else ""
    if not history and not knowledge:
        return
    shown = ""
    for call in view.calls_for("plan", *SOLVING, "verify"):
        yield TRIGGERED
        embeds, who = call.data.embeds, f"the {call.data.purpose} call"
        if history:
            told = embeds.get("history")
            if told is None:
                yield broken(call.event, f"{who} is not shown the conversation so far")
            elif told != (shown := shown or told):
                yield broken(call.event, f"{who} is shown another conversation than the calls before it")
        if knowledge and embeds.get("knowledge") != knowledge:
            yield broken(call.event, f"{who} is not shown the background knowledge")
