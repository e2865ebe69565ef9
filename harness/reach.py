"""
Which files of a project some code can come to: its own folder, modules that it imports, and paths that it names.

Read from the text of the files, never by running them, and rather too much than too little: a word in quotes that is the
name of a file or a folder of the project counts, whatever the code does with it. What code puts together at run time
from words that name nothing is not found; such a file belongs into the folder of the code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from harness.config import Config
from harness.records.digest import digest, digest_bytes

_IMPORTS = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][\w., \t]*)", re.MULTILINE)
_QUOTED = (re.compile(r'"([^"\\\n]{1,200})"'), re.compile(r"'([^'\\\n]{1,200})'"))
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_OTHERS = frozenset(sys.stdlib_module_names | {"harness"})
"""Modules that change with Python or with tapegate alone."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_PASSED_OVER = frozenset({"__pycache__", "node_modules", "venv"})


class Reach:
    """Finds what code of one project reaches; each folder is listed and each file read once."""

    def __init__(self, config: Config) -> None:
        self._root = config.root
        worlds = config.goldensets / "worlds"
        self._bases = (config.root, config.root / "src", config.agents, config.goldensets, worlds)
        self._closed = {*self._bases, config.cassettes, config.reports, config.root.parent}
        """Folders that are never taken whole, because what lies in them belongs to many."""
        self._listed: dict[Path, frozenset[str]] = {}
        self._files: dict[Path, tuple[Path, ...]] = {}
        self._contents: dict[Path, bytes] = {}
        self._modules: dict[str, Path | None] = {}

    def digest(self, start: Iterable[Path], *, leave_out: Iterable[Path] = ()) -> str:
        """Name the content of every file that the code in *start*, files or folders, can come to, but for *leave_out*."""
        found = self.files(start) - set(leave_out)
        return digest([(self._shown(path), digest_bytes(self._content(path))) for path in sorted(found)])

    def files(self, start: Iterable[Path]) -> set[Path]:
        """Every file that the code in *start*, files or folders, can come to."""
        found: set[Path] = set()
        queue = list(start)
        while queue:
            for path in self._under(queue.pop()):
                if path in found:
                    continue
                found.add(path)
                if path.suffix == ".py":
                    queue += self._named(self._content(path).decode(errors="replace"), path.parent)
        return found

    def under(self, folders: Iterable[Path]) -> set[Path]:
        """The files in *folders*, at any depth."""
        return {path for folder in folders for path in self._under(folder)}

    def _named(self, code: str, folder: Path) -> Iterator[Path]:
        """Files and folders that *code*, which lies in *folder*, imports or names."""
        for listed in _IMPORTS.findall(code):
            for name in listed.partition(" import ")[0].split(","):
                yield from self._module(name.strip().partition(".")[0].partition(" ")[0])
        for word in {word for quoted in _QUOTED for word in quoted.findall(code)}:
            if _DOTTED.fullmatch(word):
                yield from self._module(word.partition(".")[0])
            yield from self._path(word, folder)

    def _path(self, word: str, folder: Path) -> Iterator[Path]:
        """What *word* names, seen from *folder* and from any folder that a project keeps its parts in."""
        parts = [part for part in word.replace("\\", "/").split("/") if part not in {"", ".", ".."}]
        if not parts:
            return
        beside = (folder,) if parts[0] in self._listing(folder) else ()
        for base in (*beside, *self._names.get(parts[0], ())):
            named = base.joinpath(*parts)
            path = named if named.exists() else base / parts[0]
            if path not in self._closed:
                yield path

    @cached_property
    def _names(self) -> Mapping[str, tuple[Path, ...]]:
        """What lies directly in the folders that a project keeps its parts in, and where."""
        names: dict[str, tuple[Path, ...]] = {}
        for base in self._bases:
            for name in self._listing(base):
                names[name] = (*names.get(name, ()), base)
        return names

    def _listing(self, folder: Path) -> frozenset[str]:
        """Names of what lies directly in *folder*, but for folders that hold no source."""
        if folder not in self._listed:
            paths = folder.iterdir() if folder.is_dir() else ()
            self._listed[folder] = frozenset(p.name for p in paths if not (p.is_dir() and _is_passed_over(p)))
        return self._listed[folder]

    def _module(self, name: str) -> Iterator[Path]:
        """The file or the folder of the module *name*, unless it is installed."""
        if not name.isidentifier() or name in _OTHERS:
            return
        if name not in self._modules:
            self._modules[name] = self._found_module(name)
        path = self._modules[name]
        if path is not None:
            yield path

    def _found_module(self, name: str) -> Path | None:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError, AttributeError):
            spec = None
        places = [*(spec.submodule_search_locations or ()), spec.origin] if spec else []
        beside = [base / name for base in self._bases[:2]] + [base / f"{name}.py" for base in self._bases[:2]]
        for place in [Path(place) for place in places if place and Path(place).exists()] or beside:
            if place.exists() and place not in self._closed and not _INSTALLED & set(place.parts):
                return place
        return None

    def _under(self, path: Path) -> tuple[Path, ...]:
        """*path*, or the files in it at any depth."""
        if path not in self._files:
            self._files[path] = tuple(_walk(path)) if path.is_dir() else (path,) if path.is_file() else ()
        return self._files[path]

    def _content(self, path: Path) -> bytes:
        if path not in self._contents:
            try:
                self._contents[path] = path.read_bytes()
            except OSError:
                self._contents[path] = b""
        return self._contents[path]

    def _shown(self, path: Path) -> str:
        """*path* by a name that does not depend on where the project lies."""
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.name


def _walk(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """The files in *folder* at any depth; links are followed, but not into a folder that they lie in."""
    real = folder.resolve()
    if real in above:
        return
    for path in folder.iterdir():
        if path.is_file():
            yield path
        elif path.is_dir() and not _is_passed_over(path):
            yield from _walk(path, above | {real})


def _is_passed_over(folder: Path) -> bool:
    return folder.name in _PASSED_OVER or folder.name.startswith(".")
