"""One live question to one agent: its answer as it comes, and nothing recorded."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import chosen_agents, chosen_options, project_config
from harness.cli.output import Output
from harness.errors import CouldNotCheckError, ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        on_event=telling.event,
    )
    if trial.could_not_check:
        raise CouldNotCheckError(trial.code or "ask-failed", trial.could_not_check)
    return telling.end(trial, agent, args.model)


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
        self._because = ""

    def event(self, event: Event) -> None:
        """Print what *event* tells a person."""
        from harness.reports.screen import neutralise, one_line

        if event.type == "llm_chunk" and event.data.visible and event.data.channel == "text":
            self._streamed.append(event.data.text)
            if not self._output.as_json:
                print(neutralise(event.data.text, keep_lines=True), end="", flush=True, file=self._output.stream)
        elif event.type == "error":
            self._failed(f"{event.data.kind}: {event.data.message}")
        elif event.type == "warning" and event.data.code == "agent_crash":
            self._failed(f"{event.data.code}: {event.data.detail}")
        elif event.type == "tool_call":
            self._output.note(f"  {one_line(f'{event.data.tool} {event.data.args_raw or event.data.args}')}")

    def _failed(self, because: str) -> None:
        from harness.reports.screen import one_line

        self._because = because
        self._output.note(f"  error {one_line(because)}")

    def end(self, trial: Trial, agent: str, model: str) -> ExitCode:
        """Print the answer where it was not streamed, and what it took."""
        from harness.reports.documents import AskDocument
        from harness.reports.screen import neutralise, one_line

        last = trial.traces[-1]
        ended = last.events[-1].data
        if self._output.as_json:
            usage = ended.usage
            self._output.document(
                AskDocument(
                    agent=agent,
                    model=model,
                    provenance=trial.provenance,
                    status=ended.status,
                    answer=last.answer,
                    because="" if ended.status == "completed" else self._because or ended.reason,
                    llm_calls=ended.counts.llm,
                    tool_calls=ended.counts.tools,
                    tokens={
                        "input": usage.input,
                        "output": usage.output,
                        "cached": usage.cached,
                        "thinking": usage.thinking,
                    },
                )
            )
        else:
            streamed = "".join(self._streamed).endswith(last.answer) and bool(last.answer)
            self._output.data("" if streamed else neutralise(last.answer, keep_lines=True))
            tokens = ended.usage.input + ended.usage.output
            told = f"{agent} × {model} ({trial.provenance}): {ended.status}, {ended.counts.llm} model calls, "
            self._output.note(one_line(f"{told}{ended.counts.tools} tool calls, {tokens:,} tokens"))
        return ExitCode.PASS if ended.status == "completed" else ExitCode.COULD_NOT_CHECK
