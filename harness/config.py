"""
`[tool.harness]` of the nearest pyproject.toml, read into a frozen `Config`; unknown keys are refused.

Data folders belong to the project that the command runs in, never to the installed package.
"""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from harness.errors import BadFileError, UsageError

Json = Any


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model that cassettes are recorded from, as `[tool.harness.models."NAME"]` declares it."""

    answered_by: Literal["live", "local", "scripted"]
    base_url: str | None = None
    ask_for: str | None = None
    """The name that the request carries, if not the table's own."""
    sha256: str | None = None
    """Digest of the model file; needed for `local`."""
    server: str | None = None
    """Name and version of the server; needed for `local`."""
    sampling: dict[str, Json] = {}
    """Parameters sent with each request where the agent leaves them open: temperature, top_p, seed, max_tokens."""
    price_as: str | None = None


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One block of the matrix: every agent × model on the cases of a set."""

    set: str
    agents: tuple[str, ...]
    models: tuple[str, ...] = ("scripted",)
    trials: int | None = None
    """Trials of each case; None leaves it to the case."""
    lang: tuple[str, ...] = ()
    """Only cases of these languages; empty means all."""
    cases: tuple[str, ...] = ()
    """Only cases whose id matches one of these globs; empty means all."""
    options: dict[str, Json] = {}


class Tolerated(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """By which fraction a figure may grow over the accepted one before the gate says no: 0.1 is ten percent."""

    llm_calls: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    tool_calls: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    tokens: Annotated[float, msgspec.Meta(ge=0)] = 0.1
    cost: Annotated[float, msgspec.Meta(ge=0)] = 0.1
    latency: Annotated[float, msgspec.Meta(ge=0)] = 0.2


Said = Annotated[str, msgspec.Meta(pattern=r"\S")]


class Quarantine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A broken contract that does not block until the day *expires*, which is the first on which the gate says no."""

    contract: Said
    case: Said
    owner: Said
    reason: Said
    expires: date
    set: str = "*"
    agent: str = "*"
    model: str = "*"


class GateConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[tool.harness.gate]`, or a file of its own: what the gate says no to. Contracts, sets, agents and cases are globs."""

    policy: str | None = None
    """Path of the file that has all of this, relative to the project; the table then has no other key."""
    blocking: tuple[str, ...] = ("*",)
    advisory: tuple[str, ...] = ()
    """Contracts that are reported and never block, though *blocking* names them."""
    tolerate: Tolerated = Tolerated()
    quarantine: tuple[Quarantine, ...] = ()
    exercised_by: dict[str, tuple[str, ...]] = {}
    """Contract to `set/agent`: all trials of these together must trigger it at least once."""
    trajectories: Literal["report", "block"] = "report"
    """What a trial that did what no accepted one did is: told, or a regression."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The project that the command works on."""

    root: Path
    goldensets: Path
    cassettes: Path
    agents: Path
    reports: Path
    matrix: tuple[MatrixRow, ...] = ()
    models: dict[str, ModelConfig] = {}
    contract_modules: tuple[str, ...] = ()
    """Paths of Python files with own contracts, relative to the root."""
    concurrency: int = 2
    """Trials at once on live models; replay is bound by the CPU and runs one after the other."""
    history: str = ""
    """URL or file of the results store of `harness history`, without a password; empty: reports/history.sqlite."""
    gate: dict[str, Json] = {}
    """`[tool.harness.gate]` as it is written; `harness.gate.policy_file` reads it where somebody asks."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    goldensets: str = "goldensets"
    cassettes: str = "cassettes"
    agents: str = "agents"
    reports: str = "reports"
    matrix: tuple[MatrixRow, ...] = ()
    models: dict[str, ModelConfig] = {}
    contract_modules: tuple[str, ...] = ()
    concurrency: int = 2
    history: str = ""
    gate: dict[str, Json] = {}


def load_config(start: Path) -> Config:
    """
    Find the nearest pyproject.toml with `[tool.harness]` at or above *start* and read it.

    Raises:
        UsageError: There is none.
        BadFileError: It is not TOML, or the table has an unknown key or a wrong value.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        path = folder / "pyproject.toml"
        if not path.is_file():
            continue
        table = _read_table(path)
        if table is not None:
            return _as_config(folder, path, table)
    raise UsageError(
        "no-project",
        f"no pyproject.toml with [tool.harness] at or above {start}",
        hint="add an empty [tool.harness] table to the pyproject.toml of your project",
    )


def _read_table(path: Path) -> dict[str, Json] | None:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFileError("bad-config", f"not valid TOML: {error}", at=str(path)) from None
    except OSError as error:
        raise BadFileError("bad-config", f"cannot be read: {error.strerror}", at=str(path)) from None
    tools = content.get("tool")
    table = tools.get("harness") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise BadFileError("bad-config", "`tool.harness` is no table", hint="write it as [tool.harness]", at=str(path))
    return table


def _as_config(root: Path, path: Path, raw: dict[str, Json]) -> Config:
    known = set(_Table.__struct_fields__)
    for key in raw:
        if key not in known:
            import difflib

            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known keys: {', '.join(sorted(known))}"
            raise BadFileError("bad-config", f"[tool.harness] has no key `{key}`", hint=hint, at=str(path))
    try:
        table = msgspec.convert(raw, _Table)
    except msgspec.ValidationError as error:
        raise BadFileError("bad-config", f"[tool.harness]: {error}", at=str(path)) from None
    return Config(
        root=root,
        goldensets=root / table.goldensets,
        cassettes=root / table.cassettes,
        agents=root / table.agents,
        reports=root / table.reports,
        matrix=table.matrix,
        models=table.models,
        contract_modules=table.contract_modules,
        concurrency=table.concurrency,
        history=table.history,
        gate=table.gate,
    )
