"""What a pytest session asked for: which golden sets of which projects, opened once each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.config import Config, load_config
from harness.errors import HarnessError, UsageError
from harness.matrix import Narrowing, PlannedCell
from harness.pytest_plugin import ASKED
from harness.pytest_plugin.nodes import GoldenFile, UncollectedItem
from harness.pytest_plugin.replayed import Opened

_OPENED = pytest.StashKey[dict[Path, Opened]]()


class AskedSets:
    """The golden sets that options and arguments name; files that are named leave out the rest of the matrix."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        named = [_file_of(argument, config) for argument in config.args]
        self.named = frozenset(path for path in named if path.suffix == ".yaml")
        self.expected: set[Path] = set()
        """Sets of the matrix that `--harness` asks for and pytest has not come upon yet."""
        self._plans: dict[Path, dict[str, list[PlannedCell]]] = {}

    def cells(self, opened: Opened, set_name: str) -> list[PlannedCell]:
        """
        The trials of a set, in the order of the matrix.

        Raises:
            UsageError: An option names something that is not there.
            BadFileError: A file of the project cannot be used.
        """
        root = opened.config.root
        if root not in self._plans:
            sets = sorted(path.stem for path in self.named if path.parent == opened.config.goldensets)
            by_set: dict[str, list[PlannedCell]] = {}
            for planned in opened.plan(self.narrowing(sets)).cells:
                by_set.setdefault(planned.cell.set, []).append(planned)
            self._plans[root] = by_set
        return self._plans[root].get(set_name, [])

    def narrowing(self, sets: list[str]) -> Narrowing:
        """What the options leave of *sets*; none means all of the matrix."""
        given = self._config.option
        return Narrowing(
            sets=sets,
            agents=given.harness_agent,
            models=given.harness_model,
            cases=given.harness_case,
            tags=given.harness_tag,
        )

    @property
    def narrowed(self) -> bool:
        """Whether an option leaves out trials of a set."""
        return self.narrowing([]).narrows

    def wants(self, path: Path, config: Config) -> bool:
        """Whether the golden set at *path*, a file of the project *config*, is to be collected."""
        if path.parent != config.goldensets:
            return False
        if self.named:
            return path in self.named
        return self._config.option.harness and any(row.set == path.stem for row in config.matrix)


def ask_for_sets(config: pytest.Config) -> None:
    """
    Note what is asked for; with `--harness` and no golden set named, add the sets of the matrix to the arguments.

    Raises:
        pytest.UsageError: `--harness` is given where there is no project, or one that declares nothing.
    """
    asked = AskedSets(config)
    config.stash[ASKED] = asked
    if not config.option.harness:
        return
    start = config.invocation_params.dir
    try:
        project = load_config(start)
    except HarnessError as error:
        raise pytest.UsageError(str(error)) from None
    if not project.matrix:
        raise pytest.UsageError("--harness: no row of [[tool.harness.matrix]] declares anything to replay")
    if not any(path.parent == project.goldensets for path in asked.named):
        sets = dict.fromkeys(row.set for row in project.matrix)
        asked.expected = {project.goldensets / f"{name}.yaml" for name in sets}
        # a folder that is collected anyway must not be named again in part: pytest 8 would leave out the rest of it
        walked = {_file_of(argument, config) for argument in config.args}
        if walked.isdisjoint((project.goldensets, *project.goldensets.parents)):
            folder = os.path.relpath(project.goldensets, start.resolve())
            config.args += [str(Path(folder, f"{name}.yaml")) for name in sets]


def refuse_uncollected(session: pytest.Session, items: list[pytest.Item]) -> None:
    """
    Make sure that pytest came upon each golden set that `--harness` asks for, whatever its other options leave out.

    A worker of pytest-xdist has nobody to tell of a wrong option: there a test is added to *items* that fails.

    Raises:
        pytest.UsageError: It did not.
    """
    lost = sorted(path.name for path in session.config.stash[ASKED].expected)
    if not lost:
        return
    because = (
        f"--harness asks for every declared golden set, and pytest has not collected {', '.join(lost)}: "
        "see `norecursedirs` and what is ignored"
    )
    if not hasattr(session.config, "workerinput"):
        raise pytest.UsageError(because)
    items.append(UncollectedItem.from_parent(session, name="golden sets", nodeid="golden sets", because=because))


def golden_file(path: Path, parent: pytest.Collector) -> GoldenFile | None:
    """Make the collector of the golden set at *path* where it is asked for; None for any other file."""
    asked = parent.config.stash[ASKED]
    whole = path.resolve()
    try:
        config = load_config(whole.parent)
    except UsageError as error:
        if error.code == "no-project":
            return None
        raise pytest.UsageError(str(error)) from None
    if not asked.wants(whole, config):
        return None
    asked.expected.discard(whole)
    return GoldenFile.from_parent(parent, path=path, asked=asked, opened=opened_project(parent.config, config))


def opened_project(config: pytest.Config, project: Config) -> Opened:
    """Open *project*, once in a session; it is closed when the session ends."""
    every = config.stash.setdefault(_OPENED, {})
    if project.root not in every:
        opened = Opened(
            project,
            port="wire" if config.option.harness_wire else "fast",
            baselines=not config.option.harness_no_baseline,
        )
        config.add_cleanup(opened.close)
        every[project.root] = opened
    return every[project.root]


def _file_of(argument: str, config: pytest.Config) -> Path:
    """The file that an argument of the command line names, without the ids behind it."""
    name = argument.partition("[")[0].partition("::")[0]
    return (config.invocation_params.dir / name).resolve()
