"""Explain an error code, a contract, an agent, or (as schema:NAME) a JSON document."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from harness.config import Config
    from harness.reports.documents import ExplainDocument

_SCHEMA = "schema:"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness explain` takes."""
    parser.add_argument("topic", metavar="CODE|CONTRACT|AGENT|schema:NAME")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Print what there is to know of one topic."""
    from harness.cli.codes import CODES
    from harness.reports.documents import ExplainDocument

    topic = args.topic
    if topic.startswith(_SCHEMA):
        return _schema(topic.removeprefix(_SCHEMA), output)
    if topic in CODES:
        code = CODES[topic]
        text = f"{topic} (exit {int(code.exit_code)}): {code.about}\n\nhint: {code.mend}"
        document = ExplainDocument(name=topic, kind="code", text=text)
    else:
        document = _of_project(topic)
    if output.as_json:
        output.document(document)
    else:
        from harness.reports.screen import neutralise

        output.data(neutralise(document.text, keep_lines=True))
    return ExitCode.PASS


def _schema(name: str, output: Output) -> ExitCode:
    import json

    from harness.reports.documents import schema_of

    if name not in _schemas():
        raise _unknown(f"{_SCHEMA}{name}", [f"{_SCHEMA}{known}" for known in _schemas()])
    files = {"golden-set": _golden_set, "script": _script}
    schema = files[name]() if name in files else schema_of(name)
    output.data(json.dumps(schema, indent=2, ensure_ascii=False))
    return ExitCode.PASS


def _schemas() -> list[str]:
    """What `schema:NAME` prints: the documents of the commands, and the files that people write."""
    from harness.reports.documents import DOCUMENTS

    return [*DOCUMENTS, "golden-set", "script"]


def _golden_set() -> dict[str, Any]:
    from harness.goldensets.schema import golden_schema

    return golden_schema()


def _script() -> dict[str, Any]:
    from harness.models.scripted.script import script_schema

    return script_schema()


def _of_project(topic: str) -> ExplainDocument:
    from harness.agents.load import list_agents, split_name
    from harness.cli.codes import CODES
    from harness.contracts.catalogue import load_modules
    from harness.contracts.markdown import CODES as MARKDOWN
    from harness.reports.documents import ExplainDocument

    if topic in MARKDOWN:
        return ExplainDocument(name=topic, kind="code", text=f"{topic} (Markdown, contract CX15): {MARKDOWN[topic]}")
    config = project_config()
    if split_name(topic)[0] in list_agents(config.agents):
        return ExplainDocument(name=topic, kind="agent", text=_agent(config, topic))
    contracts = load_modules([config.root / path for path in config.contract_modules])
    if topic not in contracts:
        schemas = [f"{_SCHEMA}{name}" for name in _schemas()]
        raise _unknown(topic, [*CODES, *contracts, *list_agents(config.agents), *schemas])
    contract = contracts[topic]
    kind = "structural: holds for every run" if contract.kind == "S" else "behavioural: depends on the model"
    designs = f"for {', '.join(contract.designs)}" if contract.designs else "for every design"
    text = f"{topic} (version {contract.version}, {kind}, {designs})\n\n{contract.about}"
    return ExplainDocument(name=topic, kind="contract", text=text)


def _agent(config: Config, name: str) -> str:
    """What an agent says of itself: its module's own words, its profiles, its options."""
    import inspect
    import sys

    from harness.agents.load import load_agent

    agent = load_agent(config.agents, name)
    story = inspect.cleandoc(sys.modules[agent.build.__module__].__doc__ or "")
    lines = [f"{agent.name}: {agent.about}", "", *([story, ""] if story else [])]
    lines += [f"profiles: {', '.join(agent.profiles)}", f"default model: {agent.default_model}"]
    if agent.options:
        lines += ["", "options (`--option K=V`, or the flag):"]
        margin = max(map(len, agent.options))
        for option, default in agent.options.items():
            lines.append(f"  {option:{margin}}  {agent.flags.get(option, '')} (default {default!r})")
    if agent.draw is not None:
        lines += ["", _drawn(agent.draw)]
    return "\n".join(lines)


def _drawn(draw: Callable[[], str]) -> str:
    """The agent's picture of itself; a drawing that fails is no reason to say nothing of the agent."""
    from harness.reports.screen import neutralise

    try:
        return neutralise(str(draw()), keep_lines=True).rstrip()
    except Exception as error:  # noqa: BLE001 – the project's own code
        return f"(its picture cannot be drawn: {type(error).__name__}: {error})"


def _unknown(topic: str, known: list[str]) -> UsageError:
    import difflib

    close = difflib.get_close_matches(topic, known, n=1)
    listed = (
        f"there are {', '.join(known)}"
        if topic.startswith(_SCHEMA)
        else "`harness list agents` and `harness list contracts` name those; error codes stand in square brackets"
    )
    return UsageError(
        "no-such-topic",
        f"nothing is known of `{topic}`",
        hint=f"did you mean `{close[0]}`? {listed}" if close else listed,
    )
