"""
The policy of the gate: `[tool.harness.gate]` of pyproject.toml, or the same keys in a TOML file of their own.

There is one policy, never two that are merged: a table that names a file has no other key, and a file that is named on
the command line takes the place of one that the table names, but not of rules that stand in the table.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.config import GateConfig, Quarantine, Tolerated
from harness.errors import BadFileError, UsageError

Json = Any
MOST_BYTES = 1_000_000
"""A pipe or a device may never end, and no policy that a person wrote is this long."""
TABLE = ("tool", "harness", "gate")
"""Where the keys stand in pyproject.toml."""
_header = re.compile(r"\s*\[(\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$").match
_key = re.compile(r"\s*([\w.\"' -]+?)\s*=").match
_path_part = re.compile(r"\.([\w-]+)|\[(\d+)\]|\[\.\.\.\]")
_TABLES: Mapping[str, type[msgspec.Struct]] = {"tolerate": Tolerated, "quarantine": Quarantine}
"""Types of the keys that hold tables."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The *rules*, and where they stand: in *file*, entries of the quarantine at these *lines* of it (0: not known)."""

    rules: GateConfig = GateConfig()
    file: str = "pyproject.toml"
    lines: tuple[int, ...] = ()
    stated: frozenset[str] = frozenset()
    """Figures whose tolerated growth is written down: these must be compared at least once."""

    def place(self, entry: int) -> str:
        """`file:line` of an entry of the quarantine, by its position."""
        line = self.lines[entry] if entry < len(self.lines) else 0
        return f"{self.file}:{line}" if line else self.file


def load_policy(root: Path, table: Mapping[str, Json], file: str | None = None) -> Policy:
    """
    Read the policy of the project at *root*.

    Args:
        root: Folder of pyproject.toml.
        table: `[tool.harness.gate]` as pyproject.toml has it.
        file: A file that was named on the command line, from the current folder.

    Raises:
        UsageError: There are two policies.
        BadFileError: The file or the table cannot be used; *at* names the line.
    """
    others = sorted(table.keys() - {"policy"})
    named = table.get("policy")
    pyproject = root / "pyproject.toml"
    if named is not None and not isinstance(named, str):
        raise BadFileError("bad-policy", "`policy` is the path of a file", at=_at(pyproject, (*TABLE, "policy"), root))
    if (file is not None or named is not None) and others:
        source = f"--policy {file}" if file is not None else f"`policy = {named}`"
        raise UsageError(
            "two-policies",
            f"{source} and [tool.harness.gate] are two policies: the table has {', '.join(f'`{key}`' for key in others)}",
            hint="move the keys of the table into the file; policies are never merged",
            at=_at(pyproject, (*TABLE, others[0]), root),
        )
    if file is not None:
        return _of_file(Path(file), file, Path.cwd())
    if named is not None:
        return _of_file(root / named, named, root)
    return _checked(table, pyproject, TABLE, root)


def _of_file(path: Path, name: str, base: Path) -> Policy:
    if path.exists() and not (path.is_file() and path.stat().st_size <= MOST_BYTES):
        raise BadFileError("bad-policy", f"a policy is a file of at most {MOST_BYTES:,} bytes", at=name)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f"{name}:{line[1]}" if line else name
        raise BadFileError("bad-policy", f"not valid TOML: {error}", at=where) from None
    except OSError as error:
        raise BadFileError(
            "bad-policy",
            f"the policy cannot be read: {error.strerror}",
            hint="`policy` and --policy name a TOML file with the keys of [tool.harness.gate]",
            at=name,
        ) from None
    if "policy" in content:
        raise BadFileError(
            "bad-policy", "a policy names no other file", hint="take `policy` out", at=_at(path, ("policy",), base)
        )
    return _checked(content, path, (), base)


def _checked(table: Mapping[str, Json], path: Path, prefix: tuple[str, ...], root: Path) -> Policy:
    _refuse_unknown(table, GateConfig, (), path, prefix, root)
    try:
        rules = msgspec.convert(dict(table), GateConfig)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        keys = tuple(int(index) if index else key for key, index in _path_part.findall(where.rstrip("`")))
        named = f"`{_dotted(keys)}`: " if keys else ""
        raise BadFileError(
            "bad-policy", f"{named}{message[:1].lower()}{message[1:]}", hint="`harness gate --help` names the keys",
            at=_at(path, (*prefix, *keys), root),
        ) from None  # fmt: skip
    lines = tuple(_line(path, (*prefix, "quarantine", place)) for place in range(len(rules.quarantine)))
    return Policy(rules=rules, file=_shown(path, root), lines=lines, stated=frozenset(table.get("tolerate", {})))


def _refuse_unknown(
    table: Mapping[str, Json], kind: type[msgspec.Struct], keys: tuple[str | int, ...], path: Path,
    prefix: tuple[str, ...], root: Path,
) -> None:  # fmt: skip
    """Refuse a key that *kind* has not, with the nearest that it has; then look into the tables below."""
    known = kind.__struct_fields__
    for key, value in table.items():
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known keys: {', '.join(sorted(known))}"
            where = _at(path, (*prefix, *keys, key), root)
            raise BadFileError("bad-policy", f"the policy has no key `{_dotted((*keys, key))}`", hint=hint, at=where)
        if key in _TABLES:
            entries = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for place, entry in entries:
                if isinstance(entry, dict):
                    below = (*keys, key) if place is None else (*keys, key, place)
                    _refuse_unknown(entry, _TABLES[key], below, path, prefix, root)


def _dotted(keys: tuple[str | int, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _at(path: Path, keys: tuple[str | int, ...], root: Path) -> str:
    """`file:line` of a key; of the nearest table above it where the key itself is not found."""
    for end in range(len(keys), 0, -1):
        line = _line(path, keys[:end])
        if line:
            return f"{_shown(path, root)}:{line}"
    return _shown(path, root)


def _line(path: Path, keys: tuple[str | int, ...]) -> int:
    """The line, from 1, where *keys* are written; 0 where no line says so in the usual way."""
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    for number, line in enumerate(lines, start=1):
        if header := _header(line):
            names = _names(header[2])
            table = names
            if header[1]:
                table = (*names, counts.get(names, 0))
                counts[names] = counts.get(names, 0) + 1
            if table == keys:
                return number
        elif (key := _key(line)) and (*table, *_names(key[1])) == keys:
            return number
    return 0


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _shown(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return str(path)
