"""
Loading agents by path, under a private module name, so that no folder of a user's can shadow an installed package.

An agent is named `design`, or `design@profile` where the profile is not `reference`. Its folder holds `agent.py` with
`build(ctx) -> Agent` and, all optional, the constants ABOUT, PROFILES, DEFAULT_MODEL, OPTIONS and BUILDS_ON (the names of
other designs whose code this one runs), and `draw() -> str`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from harness.agents.protocol import Agent, AgentContext
from harness.errors import BadFileError, UsageError
from harness.modules import load_module
from harness.records.digest import digest_bytes

Json = Any
REFERENCE = "reference"
CODE = frozenset({".py", ".yaml", ".yml", ".json", ".toml", ".sql"})
"""Files that make up what an agent does: a graph or a schema that is data counts as much as Python."""
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
    """Digest of every file of code or data in the folder and in those of the designs that it builds on: the identity of the code."""
    logic_digest: str = ""
    """The same without the files that hold prompts."""
    prompt_digest: str = ""
    """Digest of `prompts.py` alone, and of those of the designs that it builds on."""
    folder: str = ""
    """Where the agent's code lies; empty for one that was made in Python."""
    builds_on: tuple[Path, ...] = ()
    """Folders of the designs that it builds on."""
    draw: Callable[[], str] | None = None
    """Gives a picture of the design in plain text, where it has one."""


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
    module = load_module(path, kind="agent", code="bad-agent", package=True)
    build = getattr(module, "build", None)
    if not callable(build):
        raise BadFileError("bad-agent", "no function `build(ctx)`", at=str(path), hint="define `build(ctx) -> Agent`")
    profiles = getattr(module, "PROFILES", (REFERENCE,))
    if not isinstance(profiles, list | tuple) or not all(isinstance(name, str) for name in profiles):
        raise BadFileError("bad-agent", "PROFILES is no list of names", at=str(path))
    if profile not in profiles:
        raise UsageError(
            "no-such-profile",
            f"agent `{design}` has no profile `{profile}`",
            hint=f"its profiles: {', '.join(profiles)}",
        )
    declared = getattr(module, "OPTIONS", {})
    if not isinstance(declared, Mapping) or any(not name or not isinstance(name, str) for name in declared):
        raise BadFileError("bad-agent", "OPTIONS is no mapping of names to (default, help)", at=str(path))
    built_on = tuple(_built_on(module, path))
    folders = (path.parent, *built_on)
    return LoadedAgent(
        name=design,
        build=build,
        about=str(getattr(module, "ABOUT", "")),
        profiles=tuple(profiles),
        default_model=str(getattr(module, "DEFAULT_MODEL", FALLBACK_MODEL)),
        options={name: _default(declaration) for name, declaration in declared.items()},
        flags={name: _help(declaration) for name, declaration in declared.items()},
        digest=_code_digest(folders),
        logic_digest=_code_digest(folders, leave_out="prompts.py"),
        prompt_digest=digest_bytes(b"".join(_read(part / "prompts.py") for part in folders)),
        folder=f"{path.parent.resolve()}{os.sep}",
        builds_on=built_on,
        draw=_drawing(module, path),
    )


def _built_on(module: Any, path: Path) -> list[Path]:
    """The folders of the designs that the one at *path* says it builds on."""
    names = getattr(module, "BUILDS_ON", ())
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise BadFileError("bad-agent", "BUILDS_ON is no list of names", at=str(path))
    folders = [path.parent.parent / name for name in names]
    for folder in folders:
        if not (folder / "agent.py").is_file():
            raise BadFileError("bad-agent", f"BUILDS_ON names `{folder.name}`, which is no agent", at=str(path))
    return folders


def _drawing(module: Any, path: Path) -> Callable[[], str] | None:
    draw = getattr(module, "draw", None)
    if draw is not None and not callable(draw):
        raise BadFileError("bad-agent", "draw is no function", at=str(path), hint="define `draw() -> str`")
    return cast("Callable[[], str] | None", draw)


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


def _code_digest(folders: Iterable[Path], leave_out: str = "") -> str:
    content = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in CODE and path.name != leave_out):
            content.update(str(path.relative_to(folder)).encode())
            content.update(_read(path))
    return content.hexdigest()[:16]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
