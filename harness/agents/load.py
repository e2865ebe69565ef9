"""
Loading agents by path, under a private module name, so that no folder of a user's can shadow an installed package.

An agent is named `design`, or `design@profile` where the profile is not `reference`. Its folder holds `agent.py` with
`build(ctx) -> Agent` and, all optional, the constants ABOUT, PROFILES, DEFAULT_MODEL and OPTIONS.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.agents.protocol import Agent, AgentContext
from harness.errors import BadFileError, UsageError
from harness.records.digest import digest_bytes

Json = Any
REFERENCE = "reference"
FALLBACK_MODEL = "gpt-4.1-mini"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedAgent:
    """A design, ready to be built for a trial."""

    name: str
    """The design's name, without profile."""
    build: Callable[[AgentContext], Agent]
    about: str = ""
    profiles: tuple[str, ...] = (REFERENCE,)
    default_model: str = FALLBACK_MODEL
    options: Mapping[str, Json] = field(default_factory=dict)
    """Default of each option that the agent declares."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Help text of each option."""
    digest: str = ""
    """Digest of every Python file in the folder: the identity of the code."""
    prompt_digest: str = ""
    """Digest of `prompts.py` alone."""


def split_name(agent: str) -> tuple[str, str]:
    """Split `design@profile+option=value` into design and profile; the profile is `reference` by default."""
    design, _, profile = agent.partition("+")[0].partition("@")
    return design, profile or REFERENCE


def list_agents(folder: Path) -> list[str]:
    """Names of the agents in *folder*, sorted: its sub-folders that hold an `agent.py`."""
    if not folder.is_dir():
        return []
    return sorted(path.parent.name for path in folder.glob("*/agent.py"))


def load_agent(folder: Path, agent: str) -> LoadedAgent:
    """
    Load the design that *agent* names from *folder*.

    Raises:
        UsageError: No such agent, or it has no such profile.
        BadFileError: Its `agent.py` does not load, or has no `build`.
    """
    design, profile = split_name(agent)
    path = folder / design / "agent.py"
    if not path.is_file():
        raise _no_such_agent(folder, design)
    module = _import(path, design)
    build = getattr(module, "build", None)
    if not callable(build):
        raise BadFileError("bad-agent", "no function `build(ctx)`", at=str(path), hint="define `build(ctx) -> Agent`")
    profiles = tuple(getattr(module, "PROFILES", (REFERENCE,)))
    if profile not in profiles:
        raise UsageError(
            "no-such-profile",
            f"agent `{design}` has no profile `{profile}`",
            hint=f"its profiles: {', '.join(profiles)}",
        )
    declared = dict(getattr(module, "OPTIONS", {}))
    return LoadedAgent(
        name=design,
        build=build,
        about=str(getattr(module, "ABOUT", "")),
        profiles=profiles,
        default_model=str(getattr(module, "DEFAULT_MODEL", FALLBACK_MODEL)),
        options={name: _default(declaration) for name, declaration in declared.items()},
        flags={name: _help(declaration) for name, declaration in declared.items()},
        digest=_folder_digest(path.parent),
        prompt_digest=digest_bytes(_read(path.parent / "prompts.py")),
    )


def _default(declaration: Json) -> Json:
    return declaration[0] if isinstance(declaration, tuple) else declaration


def _help(declaration: Json) -> str:
    return str(declaration[1]) if isinstance(declaration, tuple) and len(declaration) > 1 else ""


def _no_such_agent(folder: Path, design: str) -> UsageError:
    import difflib

    names = list_agents(folder)
    close = difflib.get_close_matches(design, names, n=1)
    known = f"agents in {folder.name}/: {', '.join(names) or 'none'}"
    return UsageError(
        "no-such-agent",
        f"no agent named `{design}`",
        hint=f"did you mean `{close[0]}`? {known}" if close else known,
    )


def _import(path: Path, design: str) -> ModuleType:
    """Import `agent.py` as a package of its own, so that relative imports inside the folder work."""
    key = hashlib.sha256(str(path.parent.resolve()).encode()).hexdigest()[:8]
    name = f"_harness_agent_{design}_{key}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    if spec is None or spec.loader is None:
        raise BadFileError("bad-agent", "cannot be loaded as Python", at=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a user's code may raise anything while it is imported
        _forget(name)
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise BadFileError(
            "bad-agent", f"does not load: {type(error).__name__}: {error}", at=f"{last.filename}:{last.lineno}"
        ) from error
    return module


def _forget(name: str) -> None:
    for loaded in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        del sys.modules[loaded]


def _folder_digest(folder: Path) -> str:
    content = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content.update(str(path.relative_to(folder)).encode())
        content.update(_read(path))
    return content.hexdigest()[:16]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
