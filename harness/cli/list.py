"""List agents, sets, contracts or models of the project."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import ExitCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.config import Config
    from harness.reports.documents import ListedItem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness list` takes."""
    parser.add_argument("what", choices=("agents", "sets", "contracts", "models"))


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Print one row a thing."""
    config = project_config()
    items = {"agents": agents, "sets": sets, "contracts": contracts, "models": models}[args.what](config)
    if output.as_json:
        output.document(items)
    elif items:
        output.data(_table(items, output))
    else:
        output.note(f"no {args.what} in this project")
    return ExitCode.PASS


def agents(config: Config) -> list[ListedItem]:
    """Agents in the project's folder."""
    from harness.agents.load import list_agents, load_agent
    from harness.reports.documents import ListedItem

    loaded = [load_agent(config.agents, name) for name in list_agents(config.agents)]
    return [
        ListedItem(
            name=agent.name,
            profiles=agent.profiles,
            about=agent.about,
            more={"default_model": agent.default_model, "options": dict(agent.options)},
        )
        for agent in loaded
    ]


def sets(config: Config) -> list[ListedItem]:
    """Golden sets in the project's folder."""
    from harness.goldensets.load import find_sets, load_set
    from harness.reports.documents import ListedItem

    loaded = [load_set(path, root=config.root) for path in find_sets(config.goldensets).values()]
    return [
        ListedItem(name=golden.name, about=golden.about, more={"cases": len(golden.cases), "path": golden.path})
        for golden in loaded
    ]


def contracts(config: Config) -> list[ListedItem]:
    """Built-in contracts in the order in which they are asked, then the project's own."""
    from harness.contracts.catalogue import load_modules
    from harness.reports.documents import ListedItem

    found = load_modules([config.root / path for path in config.contract_modules])
    return [
        ListedItem(
            name=name,
            about=contract.about,
            more={"kind": contract.kind, "version": contract.version, "designs": list(contract.designs)},
        )
        for name, contract in found.items()  # in the order in which they are asked
    ]


def models(config: Config) -> list[ListedItem]:
    """Who can answer: the scripted model, and those that pyproject.toml declares."""
    from harness.reports.documents import ListedItem

    scripted = ListedItem(
        name="scripted", about="replies written by hand, from goldensets/scripts/", more={"answered_by": "scripted"}
    )
    declared = [
        ListedItem(
            name=name,
            about=model.server or model.base_url or "",
            more={"answered_by": model.answered_by, "ask_for": model.ask_for or name},
        )
        for name, model in sorted(config.models.items())
        if name != "scripted"
    ]
    return [scripted, *declared]


def _table(items: Sequence[ListedItem], output: Output) -> str:
    from harness.reports.screen import one_line
    from harness.reports.table import table

    columns = [name for name in items[0].more if name != "options"]
    profiles = any(item.profiles for item in items)
    headers = ["name", *columns, *(["profiles"] if profiles else []), "about"]
    rows = [
        [
            item.name,
            *(_cell(item.more[column]) for column in columns),
            *([", ".join(item.profiles)] if profiles else []),
            one_line(item.about),
        ]
        for item in items
    ]
    return table(headers, rows, width=output.width, clipped=True)


def _cell(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
