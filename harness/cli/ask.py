"""One live question to one agent: its answer as it comes, and nothing recorded."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import chosen_agents, chosen_options, project_config
from harness.cli.output import Output
from harness.errors import CouldNotCheckError, ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.records.run import Trial
    from harness.records.trace import Event

DEFAULT_AGENT = "plan_execute"


def ask(args: argparse.Namespace, output: Output) -> ExitCode:
    """
    Ask and print.

    Raises:
        UsageError: The flags do not go together.
        CouldNotCheckError: The trial crashed or ran out of time.
    """
    from harness.evaluate import ask as put_question

    agent = _agent(args)
    telling = Telling(output)
    trial = put_question(
        project_config(),
        agent,
        args.ask,
        args.model,
        base_url=args.base_url,
        options=chosen_options(args),
        world=args.world or "",
        on_event=telling.event,
    )
    if trial.could_not_check:
        code = trial.code or "ask-failed"
        raise CouldNotCheckError(code, trial.could_not_check, hint=f"`harness explain {code}`")
    return telling.end(trial)


def _agent(args: argparse.Namespace) -> str:
    agents = chosen_agents(args)
    if not args.model:
        raise UsageError(
            "bad-arguments", "--ask needs --model", hint='`harness run --ask "…" --model gpt-4.1-mini [--base-url URL]`'
        )
    if not args.ask.strip():
        raise UsageError("bad-arguments", "--ask needs a question", hint='`harness run --ask "…" --model M`')
    if args.base_url and not args.base_url.startswith(("http://", "https://")):
        raise UsageError(
            "bad-arguments",
            f"`{args.base_url}` is no address of a server",
            hint="write it with http:// or https://, such as http://127.0.0.1:8000/v1",
        )
    if len(agents) > 1:
        raise UsageError("bad-arguments", f"--ask takes one agent, not {len(agents)}", hint="`--lean` names one too")
    given = {"SET": args.sets, "--case": args.case, "--tag": args.tag, "--trials": args.trials, "--resume": args.resume}
    given |= {"--wire": args.wire, "--out": args.out}
    for name, value in given.items():
        if value:
            raise UsageError("bad-arguments", f"--ask does not go with {name}", hint="ask, or run golden cases")
    return agents[0] if agents else DEFAULT_AGENT


class Telling:
    """Prints the answer as it comes, on stdout, and what the agent does, on stderr."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._streamed: list[str] = []
        self._last_note = ""

    def event(self, event: Event) -> None:
        """Print what *event* tells a person."""
        if event.type == "llm_chunk":
            if event.data.visible and event.data.channel == "text":
                self._show(event.data.text)
            return
        note = note_of(event)
        if note and note != self._last_note:
            self._note(note)

    def end(self, trial: Trial) -> ExitCode:
        """Print the answer where it was not streamed, and what it took."""
        from harness.reports.documents import ask_document
        from harness.reports.screen import neutralise, one_line

        told = ask_document(trial)
        if self._output.as_json:
            self._output.document(told)
        else:
            shown = "".join(self._streamed)
            streamed = bool(told.answer) and shown.endswith(told.answer)
            if shown and not streamed:  # what was shown was not the answer, and does not end its line
                self._output.data("")
            self._output.data("" if streamed else neutralise(told.answer, keep_lines=True))
            ended = f"{told.agent} × {told.model} ({told.provenance}): {told.status}, {told.llm_calls} model calls, "
            tokens = told.tokens["input"] + told.tokens["output"]
            self._output.note(one_line(f"{ended}{told.tool_calls} tool calls, {tokens:,} tokens"))
        return ExitCode.PASS if told.status == "completed" else ExitCode.COULD_NOT_CHECK

    def _show(self, text: str) -> None:
        from harness.reports.screen import neutralise

        self._streamed.append(text)
        if not self._output.as_json:
            print(neutralise(text, keep_lines=True), end="", flush=True, file=self._output.stream)

    def _note(self, note: str) -> None:
        from harness.reports.screen import one_line

        self._last_note = note
        self._output.note(f"  {one_line(note)}")


def note_of(event: Event) -> str:
    """What *event* tells a person besides the answer, in one line; empty where that is nothing."""
    import json

    from harness.reports.screen import clip

    data = event.data
    match event.type:
        case "tool_call":
            asked = data.args_raw or json.dumps(data.args, ensure_ascii=False)
            return asked if data.source == "tool_code" else f"{data.tool} {asked}"
        case "tool_result":
            return "" if data.ok else f"{data.tool} failed ({data.error_kind}): {clip(data.text, _MOST_SAID)}"
        case "progress":
            return "" if data.stage == _FOR_REPORTS else f"{data.value:4.0%} {data.stage} {data.message}"
        case "verification":
            wrong = f": {_counted(len(data.issues), 'issue')}" if data.issues else ""
            place = f"round {data.round}, check {data.index + 1} of {data.of}"
            return f"verification {place}: {data.verdict}{wrong} ({data.count} of {data.required} in a row)"
        case "fallback_used":
            return f"fallback {data.origin} → {data.to}: {data.reason}"
        case "config_resolved":
            return f"{data.key}: {data.used} in place of {data.asked} ({data.why})" if _differs(data) else ""
        case "warning":
            return f"{'error' if data.code == 'agent_crash' else 'warning'} {data.code}: {data.detail}"
        case "error":
            return f"error {data.kind}: {data.message}"
    return ""


_MOST_SAID = 200
"""Columns of a failed tool's result that are told."""
_FOR_REPORTS = "metrics"
"""A stage of progress that is no news to a person."""
_OF_THE_MODEL = "capability"
"""What is resolved there is a fact of the model, not something that was asked for."""


def _differs(data: Any) -> bool:
    """Whether somebody asked for something else than what is used."""
    told = data.key != _OF_THE_MODEL and data.asked is not None and data.asked != data.used
    return told and not isinstance(data.used, list | dict)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
