"""What runs: the declared matrix of design, model, set and trials, narrowed by the flags of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from harness.agents.load import list_agents, load_agent, split_name
from harness.config import Config, MatrixRow
from harness.errors import BadFileError, UsageError
from harness.goldensets.load import find_sets
from harness.records.case import GoldenCase, GoldenSet
from harness.records.digest import digest
from harness.records.run import Cell

Json = Any
LoadSet = Callable[[str], GoldenSet]


class PlannedCell(msgspec.Struct, frozen=True, kw_only=True):
    """A trial that is to run: its place, its case, and the options that the command or the matrix sets."""

    cell: Cell
    case: GoldenCase
    options: Mapping[str, Json] = {}


class Affected(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of affected trials alone leaves out, how many known failures that holds, and why the rest is in."""

    left_out: int
    known: int
    causes: dict[str, int]
    """How many trials each kind of change reaches; one trial may have several."""


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The trials of a run in the order of matrix, agent, model, set, case and trial; *partial*: flags narrowed it."""

    cells: tuple[PlannedCell, ...]
    partial: bool = False
    affected: Affected | None = None
    """None where every trial that the flags choose is to run."""


class Narrowing(msgspec.Struct, frozen=True, kw_only=True):
    """The flags of a command that choose among the matrix; empty means all of it."""

    sets: Sequence[str] = ()
    agents: Sequence[str] = ()
    models: Sequence[str] = ()
    options: Mapping[str, Json] = {}
    cases: Sequence[str] = ()
    tags: Sequence[str] = ()
    trials: int | None = None

    @property
    def narrows(self) -> bool:
        """Whether any flag is set."""
        return bool(self.sets or self.agents or self.models or self.options or self.cases or self.tags or self.trials)


def plan_run(config: Config, narrowing: Narrowing, load: LoadSet) -> RunPlan:
    """
    List the trials of a command.

    Agents and models that a flag names need not be in the matrix: they then run on the sets that are named, or on all
    sets of the matrix.

    Raises:
        UsageError: No such set, agent, model, case or tag.
        BadFileError: A row of the matrix declares nothing, or a case sets an option that cannot be.
    """
    _check_names(config, narrowing)
    _check_rows(config, narrowing, load)
    _check_options_of_cases(config, narrowing, load)
    cells: dict[Cell, PlannedCell] = {}
    for row in _rows(config, narrowing):
        for planned in _cells_of(config, row, load(row.set), narrowing):
            cells.setdefault(planned.cell, planned)
    _check_matches(config, narrowing, [planned.case for planned in cells.values()], load)
    return RunPlan(cells=tuple(cells.values()), partial=narrowing.narrows)


def matrix_digest(config: Config) -> str:
    """Name what the matrix declares."""
    return digest([str(row) for row in config.matrix])


def check_options(agent: str, defaults: Mapping[str, Json], options: Mapping[str, Json]) -> None:
    """
    Make sure that *agent*, with its *defaults*, takes *options*.

    Raises:
        UsageError: It declares no such option, or the value is of another kind than the default.
    """
    for name, value in options.items():
        if name not in defaults:
            raise UsageError(
                "no-such-option",
                f"agent `{agent}` has no option `{name}`",
                hint=f"its options: {', '.join(sorted(defaults)) or 'none'}",
            )
        if not _fits(value, defaults[name]):
            raise UsageError(
                "bad-arguments",
                f"option `{name}` of agent `{agent}` cannot be {value!r}",
                hint=f"its default is {defaults[name]!r}",
            )


def _rows(config: Config, narrowing: Narrowing) -> Iterator[MatrixRow]:
    """The rows of the matrix that the flags leave; what they name and no row has gets a row of its own."""
    rows = [row for row in config.matrix if not narrowing.sets or row.set in narrowing.sets]
    declared: set[tuple[str, str]] = set()
    for row in rows:
        agents = tuple(a for a in row.agents if not narrowing.agents or a in narrowing.agents)
        models = tuple(m for m in row.models if not narrowing.models or m in narrowing.models)
        declared.update((agent, model) for agent in agents for model in models)
        if agents and models:
            yield msgspec.structs.replace(row, agents=agents, models=models)
    sets = list(narrowing.sets) or list(dict.fromkeys(row.set for row in config.matrix))
    for agent, model in _named_beside(config, narrowing, declared):
        for name in sets:
            yield MatrixRow(set=name, agents=(agent,), models=(model,))


def _named_beside(config: Config, narrowing: Narrowing, declared: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Pairs of agent and model that the flags ask for and no row of the chosen sets declares."""
    agents = list(narrowing.agents)
    models = list(narrowing.models)
    if not (agents or models or (narrowing.sets and not declared)):
        return
    matrix_agents = list(dict.fromkeys(agent for row in config.matrix for agent in row.agents))
    for agent in agents or matrix_agents or list_agents(config.agents):
        if not models and any(agent == other for other, _ in declared):
            continue
        for model in models or ["scripted"]:
            if not agents and any(model == other for _, other in declared):
                continue
            if (agent, model) not in declared:
                yield agent, model


def _cells_of(config: Config, row: MatrixRow, golden: GoldenSet, narrowing: Narrowing) -> Iterator[PlannedCell]:
    options = {**row.options, **narrowing.options}
    for agent in row.agents:
        named = _with_options(config, agent, options)
        design = split_name(agent)[0]
        for model in row.models:
            for case in golden.cases:
                if not _wanted(case, design, row, narrowing):
                    continue
                for trial in range(narrowing.trials or row.trials or case.trials):
                    cell = Cell(named, model, golden.name, case.id, trial)
                    yield PlannedCell(cell=cell, case=case, options=options)


def _with_options(config: Config, agent: str, options: Mapping[str, Json]) -> str:
    """The agent's name with the options that differ from its defaults: they are part of the cell's name."""
    if not options:
        return agent
    defaults = load_agent(config.agents, agent).options
    check_options(agent, defaults, options)
    told = [f"{name}={value}" for name, value in sorted(options.items()) if defaults[name] != value]
    return agent + "".join(f"+{item}" for item in told)


def _fits(value: Json, default: Json) -> bool:
    """Whether *value* is a number, true or false, an object or a list where *default* is one."""
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int | float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(default, Mapping):
        return isinstance(value, Mapping)
    return isinstance(value, list | tuple) if isinstance(default, list | tuple) else True


def _wanted(case: GoldenCase, design: str, row: MatrixRow, narrowing: Narrowing) -> bool:
    return (
        (not case.designs or design in case.designs)
        and (not row.lang or case.lang in row.lang)
        and _matches(case.id, row.cases)
        and _matches(case.id, narrowing.cases)
        and (not narrowing.tags or any(tag in case.tags for tag in narrowing.tags))
    )


def _matches(name: str, globs: Iterable[str]) -> bool:
    patterns = tuple(globs)
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _check_names(config: Config, narrowing: Narrowing) -> None:
    known = find_sets(config.goldensets)
    for name in (*narrowing.sets, *(row.set for row in config.matrix)):
        if name not in known:
            raise _unknown("set", name, list(known), f"golden sets in {config.goldensets.name}/")
    for agent in narrowing.agents:
        load_agent(config.agents, agent)
    models = ["scripted", *config.models, *(model for row in config.matrix for model in row.models)]
    for model in narrowing.models:
        if model not in models and not (config.cassettes.is_dir() and any(config.cassettes.glob(f"*/{model}"))):
            error = _unknown("model", model, models, "declared models")
            error.hint += f'; declare it as `models = ["{model}"]` in a row of [[tool.harness.matrix]]'
            raise error


def _check_rows(config: Config, narrowing: Narrowing, load: LoadSet) -> None:
    """Refuse a row of the matrix, or a part of one, that declares nothing: it would pass for ever."""
    for number, row in enumerate(config.matrix, start=1):
        if narrowing.sets and row.set not in narrowing.sets:
            continue
        for name in ("agents", "models"):
            if not getattr(row, name):
                raise _dead_row(number, row, f"names no {name}")
        if row.trials is not None and row.trials < 1:
            raise _dead_row(number, row, f"asks for {row.trials} trials")
        cases = load(row.set).cases
        for case in cases:
            _check_case(config, case)
        for glob in row.cases:
            if not any(fnmatchcase(case.id, glob) for case in cases):
                raise _dead_row(number, row, f"no case matches `{glob}`")
        for lang in row.lang:
            if not any(case.lang == lang for case in cases):
                raise _dead_row(number, row, f"no case has the language `{lang}`")
        for agent in row.agents:
            if not any(_wanted(case, split_name(agent)[0], row, Narrowing()) for case in cases):
                raise _dead_row(number, row, f"no case is left for `{agent}`")


def _check_case(config: Config, case: GoldenCase) -> None:
    """Refuse a case that would pass untried: for a design that is not there, or with a fault that nothing injects."""
    if any(fault.call is not None for fault in case.faults):
        message = f"case `{case.id}`: a fault at a model call is not injected by this version"
        raise BadFileError("bad-golden", message, hint="make it the fault of a tool, or take it out", at=case.at)
    for design in case.designs:
        if not (config.agents / design / "agent.py").is_file():
            unknown = _unknown("agent", design, list_agents(config.agents), f"agents in {config.agents.name}/")
            raise BadFileError(
                "no-such-agent",
                f"case `{case.id}` is for a design that is not there: {unknown.message}",
                hint=unknown.hint,
                at=case.at,
            )


def _check_options_of_cases(config: Config, narrowing: Narrowing, load: LoadSet) -> None:
    """Refuse an option of a case that no agent declares that the case is for, or that one of them cannot take."""
    defaults: dict[str, Mapping[str, Json]] = {}
    sets = list(narrowing.sets) or [row.set for row in config.matrix]
    for name in dict.fromkeys(sets):
        declared = [agent for row in config.matrix if row.set == name for agent in row.agents]
        designs = list(dict.fromkeys(split_name(agent)[0] for agent in (*declared, *narrowing.agents)))
        for case in load(name).cases:
            if not case.options:
                continue
            for design in case.designs or designs:
                if design not in defaults:
                    defaults[design] = load_agent(config.agents, design).options
            _check_options_of(case, {design: defaults[design] for design in case.designs or designs})


def _check_options_of(case: GoldenCase, defaults: Mapping[str, Mapping[str, Json]]) -> None:
    import difflib

    for option, value in case.options.items():
        declaring = {design: own[option] for design, own in defaults.items() if option in own}
        if not declaring and defaults:
            known = sorted({name for own in defaults.values() for name in own})
            close = difflib.get_close_matches(option, known, n=1)
            listed = f"options of {', '.join(sorted(defaults))}: {', '.join(known) or 'none'}"
            message = f"case `{case.id}` sets the option `{option}`, which none of its agents has"
            hint = f"did you mean `{close[0]}`?" if close else listed
            raise BadFileError("no-such-option", message, hint=hint, at=case.at)
        for design, default in declaring.items():
            if not _fits(value, default):
                message = f"case `{case.id}`: option `{option}` of agent `{design}` cannot be {value!r}"
                raise BadFileError("bad-golden", message, hint=f"its default is {default!r}", at=case.at)


def _dead_row(number: int, row: MatrixRow, because: str) -> BadFileError:
    return BadFileError(
        "dead-row",
        f"row {number} of [[tool.harness.matrix]], for the set `{row.set}`: {because}",
        hint="mend the row or take it out; what is declared must run",
        at="pyproject.toml",
    )


def _check_matches(config: Config, narrowing: Narrowing, chosen: Sequence[GoldenCase], load: LoadSet) -> None:
    """Each glob and each tag of the flags chose something: one that is misspelt must not leave the others to pass."""
    for glob in narrowing.cases:
        if not any(fnmatchcase(case.id, glob) for case in chosen):
            raise _no_such_case(config, msgspec.structs.replace(narrowing, cases=(glob,), tags=()), load)
    for tag in narrowing.tags:
        if not any(tag in case.tags for case in chosen):
            raise _no_such_case(config, msgspec.structs.replace(narrowing, cases=(), tags=(tag,)), load)


def _unknown(kind: str, name: str, names: Sequence[str], label: str) -> UsageError:
    import difflib

    names = sorted(set(names))
    close = difflib.get_close_matches(name, names, n=1)
    known = f"{label}: {', '.join(names) or 'none'}"
    return UsageError(
        f"no-such-{kind}", f"no {kind} named `{name}`", hint=f"did you mean `{close[0]}`? {known}" if close else known
    )


def _no_such_case(config: Config, narrowing: Narrowing, load: LoadSet) -> UsageError:
    import difflib

    sets = list(narrowing.sets) or list(dict.fromkeys(row.set for row in config.matrix))
    ids = [case.id for name in sets for case in load(name).cases]
    wanted = ", ".join([*narrowing.cases, *(f"tag {tag}" for tag in narrowing.tags)])
    close = difflib.get_close_matches(narrowing.cases[0], ids, n=1) if narrowing.cases else []
    hint = (
        f"did you mean `{close[0]}`?"
        if close
        else f"cases of {', '.join(sets) or 'no set'}: {', '.join(ids) or 'none'}"
    )
    return UsageError("no-such-case", f"no case matches `{wanted}` in the chosen agents and sets", hint=hint)
