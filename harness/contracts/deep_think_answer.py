"""CD12–CD14: what the deep-think loop tells the user, and the context that all of its calls are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.deep_run import DEEP, SOLVING, legs_of, solution_before
from harness.contracts.view import TrialView
from harness.records.digest import digest

PREVIEW = 200
"""Characters of a solution that a preview holds."""
PROCESS_WORDS = {
    "zh": r"第\s*[\d一二三四五六七八九十]+\s*(?:轮|次)(?:迭代|验证|评审|修正)|(?:迭代|验证|评审|修正)(?:轮次|次数|轮数|过程中)|(?:经过|通过)了?[^，。\n]{0,8}(?:轮|次)(?:迭代|验证|评审)|评审员|验证者|验证器|求解器",
    "en": r"\b(?:iteration|verification|review|correction) (?:round|step|pass|loop|phase)s?\b|\biteration (?:no\. )?\d+|\b\d+(?:st|nd|rd|th) (?:iteration|verification)|\b(?:the|our|my) (?:verifier|reviewer|solver)s?\b|\bverifier agents?\b|\bpassed (?:\w+ ){0,2}verifications?\b",
    "de": r"\b(?:Iterations|Prüf|Verifikations|Korrektur)(?:runde|schritt|phase)n?\b|\bder (?:Prüfer|Gutachter|Löser)\b|\b\d+\. Iteration\b",
    "pt": r"\b(?:rodada|etapa|fase)s? de (?:verificação|iteração|revisão|correção)\b|\biteração \d+|\bo (?:verificador|revisor)\b",
    "ru": r"\b(?:раунд|этап|шаг)\w* (?:проверки|верификации|итерации|исправления)\b|\bитераци[яи] \d+|\bпроверяющ(?:ий|его)\b",
}  # fmt: skip
"""Words that speak of how an answer came about, by language; Chinese and English hold in every language."""


@contract("CD12", designs=DEEP, needs=("final_answer",))
def summary_is_the_answer(view: TrialView) -> Iterator[Found]:
    """
    The answer is the summary, made once, of the last solution, and says nothing of how it came about.

    Where the run failed, the answer holds the summary of one of its solutions, with a word on what it lacks.
    """
    made = [call for leg in legs_of(view) for call in leg.calls_for("summary") if call.reply is not None]
    for final in view.finals:
        yield TRIGGERED
        text, complete = final.data.text.strip(), final.data.complete
        own = [call for call in view.calls_for("summary") if call.reply is not None]
        if len(own) > 1:
            yield broken([call.event for call in own], f"{len(own)} summaries are made, expected one")
        summary = made[-1] if made else None
        said = summary.reply.text.strip() if summary is not None and summary.reply is not None else ""
        if complete and (summary is None or text != said):
            yield broken(final, "the answer is not the summary")
        elif said and said not in text:
            yield broken(final, "the answer does not hold the summary")
        if summary is not None and summary in own and complete:
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
