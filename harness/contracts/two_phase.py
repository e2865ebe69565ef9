"""CG1, CG5–CG7, CG10, CG12 and CG13: a design that thinks and acts first, and speaks afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Broken, Found, broken, contract
from harness.contracts.language import language_of
from harness.contracts.leaks import leaks_of
from harness.contracts.tool_code import blocks_in, without_blocks
from harness.contracts.two_phase_tools import TWO_PHASE, ended_at_a_limit
from harness.contracts.view import ModelCall, ToolUse, TrialView
from harness.records.digest import digest
from harness.records.trace import Event

PROFILE_TEXTS = {"profile": "read_user_profile", "history_of_feelings": "read_emotional_history"}
"""Texts about the user that both phases are shown, each with the tool that tells it."""
_FILTERED = re.compile(r"tool_|default_api|[<(`~]")
"""What a filter of tool syntax may take something out for."""
LAST_MESSAGES = 20
MOST_MESSAGE_CHARS = 2000
"""Of a conversation, prompts show the last messages, and of each message no more than this."""
MOST_SOURCE_CHARS = 200
"""Of a call, in the line that tells its result."""


@contract("CG1", designs=TWO_PHASE, needs=("llm_call",))
def two_phases(view: TrialView) -> Iterator[Found]:
    """There is one phase `think` and then one phase `respond`; tools run in the first, the user reads the second."""
    yield TRIGGERED
    names = [event.data.name for event in view.by_type.get("phase_started", ())]
    cut = view.stopped or ended_at_a_limit(view)
    if names != ["think", "respond"] and not (cut and names in ([], ["think"])):
        yield broken(view.by_type.get("phase_started"), f"the phases are {', '.join(names) or 'none'}")
    for purpose, most in (("think", max_think_rounds(view)), ("respond", 1)):
        calls = [call.event for call in view.calls_for(purpose)]
        if len(calls) > most:
            yield broken(calls, f"{len(calls)} model calls to {purpose}, at most {most}")
        elif not calls and not cut:
            yield broken(view.finished_event, f"no model call to {purpose}")
    for call in view.chat_calls:
        if call.data.purpose not in ("think", "respond"):
            yield broken(call.event, f"a model call with purpose {call.data.purpose} beside the two phases")
    early = [use.event for use in view.uses if use.event.phase != "think"]
    if early:
        yield broken(early, f"{early[0].data.tool} is run outside of the phase think")
    shown = [chunk for chunk in _visible(view) if chunk.phase != "respond"]
    if shown:
        yield broken([shown[0], shown[-1]], f"the user is shown text of the phase {shown[0].phase or 'none'}")


@contract("CG5", designs=TWO_PHASE, needs=("llm_call",))
def results_are_told(view: TrialView) -> Iterator[Found]:
    """The call that answers is shown one line for each tool call, good or failed, in order, and what was thought."""
    for call in view.calls_for("respond"):
        embeds = call.data.embeds
        uses = [use for use in view.uses if use.event.seq < call.event.seq]
        told = [name for name in embeds if name.startswith("result/")]
        if uses or told:
            yield TRIGGERED
        wrong = next((use for k, use in enumerate(uses) if embeds.get(f"result/{k}") != digest(result_line(use))), None)
        if wrong is not None:
            what = "good" if wrong.ok else "failed"
            yield broken([wrong.event, wrong.result, call.event], f"the {what} result of {wrong.tool} is not told")
        elif len(told) > len(uses):
            yield broken(call.event, f"{len(told)} results are told, {len(uses)} tools were called")
        yield from _thought_told(view, call)


def result_line(use: ToolUse) -> str:
    """What both phases read of a tool call: what was asked for, on one line, and what came of it."""
    source = " ".join(use.data.args_raw.split())
    source = source if len(source) <= MOST_SOURCE_CHARS else f"{source[: MOST_SOURCE_CHARS - 1]}…"
    text = use.outcome.text if use.outcome is not None else ""
    return f"Tool {source} {'returned' if use.ok else 'failed'}: {text}"


def _thought_told(view: TrialView, call: ModelCall) -> Iterator[Found]:
    """Every thought, without its tool_code blocks and the blanks around it, in order, with a blank line between."""
    replies = [think.reply for think in view.calls_for("think")]
    thoughts = [thought for reply in replies if reply is not None and (thought := without_blocks(reply.text).strip())]
    if not thoughts or None in replies:  # where a call failed, a note stands there as well
        return
    yield TRIGGERED
    shown = call.data.embeds.get("thinking")
    if shown is None:
        yield broken(call.event, "what was thought is not told")
    elif shown != digest("\n\n".join(thoughts)):
        yield broken(call.event, "what was thought is told in other words, or with its tool_code blocks")


@contract("CG6", designs=TWO_PHASE, needs=("tool_result",))
def failures_do_not_spoil_it(view: TrialView) -> Iterator[Found]:
    """A tool that fails prevents neither the phase `respond` nor a completed run."""
    for use in view.uses:
        if use.result is None or use.ok:
            continue
        yield TRIGGERED
        if view.stopped or ended_at_a_limit(view):
            continue
        answering = view.calls_for("respond")
        if not answering:
            yield broken(
                [use.event, use.result, view.finished_event], f"no answer is asked for after {use.tool} failed"
            )
        elif answering[-1].reply is not None and view.status != "completed":
            yield broken([use.event, use.result, view.finished_event], f"the run fails after {use.tool} failed")


@contract("CG7", designs=TWO_PHASE, needs=("final_answer", "llm_chunk"))
def streamed_as_it_comes(view: TrialView) -> Iterator[Found]:
    """
    What is streamed to the user is the answer, in pieces where the provider sends pieces, without a tool_code fence and
    without call syntax.
    """
    for final in view.finals:
        yield TRIGGERED
        shown = [chunk for chunk in _visible(view) if chunk.seq < final.seq]
        streamed = "".join(chunk.data.text for chunk in shown)
        if streamed != final.data.text:
            yield broken([*shown[-1:], final], "what was streamed is not the answer")
        elif final.data.chunks != len(shown):
            yield broken(
                [*shown[-1:], final], f"{len(shown)} pieces were streamed, the answer tells of {final.data.chunks}"
            )
        yield from _whole(view, shown, final)
        leaks = [leak for leak in leaks_of(view, final) if leak.code == "leaked-tool-syntax"]
        if leaks or "tool_code" in final.data.text:
            words = leaks[0].words if leaks else "tool_code"
            yield broken([*shown[-1:], final], f"the answer holds tool syntax: `{words}`")
        else:
            yield from _of_the_reply(view, shown, final)


def _visible(view: TrialView) -> list[Event]:
    return [chunk for chunk in view.by_type.get("llm_chunk", ()) if chunk.data.visible and chunk.data.text]


def _whole(view: TrialView, shown: list[Event], final: Event) -> Iterator[Broken]:
    """The answer comes in one piece though the provider's first one could be shown by itself."""
    sent = [
        chunk
        for chunk in view.by_type.get("llm_chunk", ())
        if not chunk.data.visible and chunk.data.channel == "text" and chunk.data.text and chunk.phase == "respond"
    ]
    if len(sent) < 2 or len(shown) != 1 or len(shown[0].data.text.strip()) <= len(sent[0].data.text.strip()):
        return
    if _is_safe(sent[0].data.text, view):
        yield broken([sent[0], sent[-1], *shown, final], f"{len(sent)} pieces came, and the answer is shown in one")


def _of_the_reply(view: TrialView, shown: list[Event], final: Event) -> Iterator[Broken]:
    """The user reads what the model said, word for word: nothing else, and all of it where there is nothing to take out."""
    calls = view.calls_for("respond")
    if len(calls) != 1 or calls[0].reply is None or not final.data.complete:
        return
    reply = calls[0].reply.text
    said, told = (re.findall(r"[^\W_]+", text) for text in (reply, final.data.text))
    rest = iter(said)
    odd = next((word for word in told if word not in rest), None)
    if odd is not None:
        yield broken(
            [calls[0].result, *shown[-1:], final], f"the user is shown “{odd}”, which the model did not say there"
        )
    elif len(told) < len(said) and not _FILTERED.search(reply):
        yield broken([calls[0].result, *shown[-1:], final], "a part of what the model said is not shown")


def _is_safe(text: str, view: TrialView) -> bool:
    """Whether *text*, the beginning of an answer, begins with a word that can become neither a fence nor a call."""
    word = re.findall(r"^\s*(\w*)", text)[0]
    names = (*view.offered, "tool_code", "tool_output", "tool_call", "print", "default_api")
    return bool(word) and not any(name.startswith(word) for name in names)


@contract("CG10", designs=TWO_PHASE, needs=("llm_result",))
def answers_run_nothing(view: TrialView) -> Iterator[Found]:
    """A tool_code block in the reply that answers is not run, and not shown."""
    for call in view.calls_for("respond"):
        blocks = blocks_in(call.reply.text) if call.reply is not None else []
        if not blocks:
            continue
        yield TRIGGERED
        ran = [use.event for use in view.uses if use.event.seq > call.event.seq]
        if ran:
            yield broken([call.result, *ran], f"{ran[0].data.tool} is run from the answer")
        outside = without_blocks(call.reply.text) if call.reply is not None else ""
        for block in blocks:
            code = block.text.strip()
            if code and any(final.data.text.count(code) > outside.count(code) for final in view.finals):
                yield broken([call.result, *view.finals], "a tool_code block of the answer is shown to the user")
                break


@contract("CG12", designs=TWO_PHASE, needs=("final_answer",))
def answers_in_the_users_language(view: TrialView) -> Iterator[Found]:
    """The answer is in the language of the user's message, or of the case where a message is too short to tell."""
    if view.started is None:
        return
    spoken = language_of(view.started.question) or view.started.lang.partition("-")[0]
    for final in view.finals:
        answered = language_of(final.data.text)
        if not spoken or answered is None or not final.data.complete:
            continue
        yield TRIGGERED
        if answered != spoken:
            yield broken(final, f"the message is in {spoken}, the answer in {answered}")


@contract("CG13", designs=TWO_PHASE, needs=("llm_call",))
def both_phases_know_the_user(view: TrialView) -> Iterator[Found]:
    """Profile, feelings so far and what was said in earlier turns, message by message, stand in both phases' prompts."""
    said = earlier_messages(view)
    for call in view.calls_for("think", "respond"):
        yield TRIGGERED
        missing = next((name for name in PROFILE_TEXTS if not _is_shown(view, call, name)), "")
        if missing:
            yield broken(call.event, f"the call to {call.data.purpose} is not shown the {missing}")
        shown = {text for name, text in call.data.embeds.items() if name.startswith("turn/")}
        forgotten = next((text for text in said if digest(text) not in shown), None)
        if forgotten is not None:
            words = " ".join(forgotten.split())[:40]
            yield broken(call.event, f"the call to {call.data.purpose} is not shown that “{words}” was said before")


def _is_shown(view: TrialView, call: ModelCall, name: str) -> bool:
    """Whether a text about the user is in the prompt of *call*: what its tool told, where the trial has that tool."""
    shown, tool = call.data.embeds.get(name), PROFILE_TEXTS[name]
    started = view.started
    if started is None or not started.user or all(known.name != tool for known in started.tools):
        return shown not in (None, digest(""))
    told = [use for use in view.uses if use.tool == tool and use.data.source == "internal"]
    return any(shown == digest(result_line(use)) for use in told)


def earlier_messages(view: TrialView) -> list[str]:
    """What was said before this turn, by the case and in earlier turns: the last messages, as far as prompts show them."""
    said = [message.get("text", "") for message in view.case.history]
    for leg in view.earlier:
        if leg.finals and leg.started is not None:
            said += [leg.started.question, leg.answer]
    return [text[:MOST_MESSAGE_CHARS] for text in said[-LAST_MESSAGES:] if text]


def max_think_rounds(view: TrialView) -> int:
    """The most model calls of the phase `think`, as the trial is configured."""
    most = view.config.get("max_think_rounds")
    return most if isinstance(most, int) and most >= 1 else 1
