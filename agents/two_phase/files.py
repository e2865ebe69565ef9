"""
A user's file area: one folder of small text files, and a second one beside it where earlier versions are kept.

A path is what a model wrote, so it is believed nothing: it is relative, stays inside at every step, and what it resolves
to, symbolic links included, lies inside as well. Only regular files with known extensions are touched, within limits,
and nothing is overwritten or deleted before a copy of it is kept.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.records.digest import digest_bytes
from harness.records.messages import Json
from harness.records.tool import ToolError
from harness.records.trace import Effect

from .store import Row, changed

EXTENSIONS = (".txt", ".md", ".json", ".csv", ".yaml", ".log")
MOST_BYTES_READ = 256 * 1024
MOST_BYTES_WRITTEN = 64 * 1024
MOST_FILES = 1000
MOST_LISTED = 200
MOST_FOUND = 50
MOST_PATH_CHARS = 200
MOST_PATH_PARTS = 8
MOST_BYTES_PER_PART = 200
"""File systems take 255; what is left is for the number of a version."""
_NEVER_IN_A_PATH = re.compile(r"[\x00-\x1f\x7f\\:]|^[/~]")


class FileArea:
    """
    The folder *root*, with earlier versions in *backups*; both are made where they are missing.

    Every method raises `ToolError`: `invalid_args` for a path that is none, `denied` for what is not allowed,
    `not_found` for what is not there.
    """

    def __init__(self, root: Path, backups: Path, *, user: str = "", extensions: Sequence[str] = EXTENSIONS) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = root.resolve()
        self._backups = backups
        self._user = user
        self._extensions = tuple(extensions)

    def read(self, path: str) -> str:
        """The text of the file *path*."""
        content = self._content(self._file(path), path)
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise ToolError("denied", f"{path} is no text in UTF-8") from None

    def write(self, path: str, content: str) -> tuple[Effect, ...]:
        """Store *content* as the file *path*; an earlier version is kept first. () where the file already is so."""
        target = self._place(path)
        encoded = content.encode()
        if len(encoded) > MOST_BYTES_WRITTEN:
            raise ToolError("denied", f"the content has {len(encoded)} bytes, at most {MOST_BYTES_WRITTEN} are written")
        if target.exists():
            before = self._content(self._file(path), path)
            if before == encoded:
                return ()
            kept = self._keep(target, before)
        elif sum(1 for _ in self._files()) >= MOST_FILES:
            raise ToolError("denied", f"the file area is full: it holds {MOST_FILES} files")
        else:
            before, kept = None, ()
        self._store(target, encoded, path)
        was = _row(before) if before is not None else None
        effect = changed("files", self._key(target, self._root), was, _row(encoded))
        return (*kept, *((effect,) if effect else ()))

    def listing(self, directory: str = "") -> dict[str, Json]:
        """Files and folders directly below *directory*, sorted."""
        folder = self._root if directory.strip() in ("", ".", "./") else self._inside(directory)
        if not folder.is_dir():
            raise ToolError("not_found", f"there is no folder {directory}")
        entries = sorted(folder.iterdir())
        files: list[Json] = [
            {"path": self._shown(entry), "bytes": entry.stat().st_size} for entry in entries if self._is_ours(entry)
        ]
        folders: list[Json] = [self._shown(entry) for entry in entries if entry.is_dir() and not entry.is_symlink()]
        found: dict[str, Json] = {
            "directory": directory,
            "files": files[:MOST_LISTED],
            "folders": folders[:MOST_LISTED],
        }
        left = max(len(files) - MOST_LISTED, 0) + max(len(folders) - MOST_LISTED, 0)
        return {**found, "left_out": left} if left else found

    def search(self, query: str) -> list[Row]:
        """Files whose path or text holds *query*, whatever its case: path, and the first line that holds it."""
        wanted = query.strip().casefold()
        if not wanted:
            raise ToolError("invalid_args", "the query is empty")
        found: list[Row] = []
        for file in self._files():
            shown = self._shown(file)
            if file.stat().st_size > MOST_BYTES_READ:
                continue
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            line = next((line for line in lines if wanted in line.casefold()), None)
            if line is not None or wanted in shown.casefold():
                found.append({"path": shown, "line": (line or "").strip()[:200]})
            if len(found) == MOST_FOUND:
                break
        return found

    def info(self, path: str) -> Row:
        """Size, lines and kind of the file *path*."""
        file = self._file(path)
        size = file.stat().st_size
        info: Row = {"path": self._shown(file), "bytes": size, "kind": file.suffix.lstrip(".")}
        return info if size > MOST_BYTES_READ else {**info, "lines": len(self._content(file, path).splitlines())}

    def delete(self, path: str) -> tuple[Effect, ...]:
        """Delete the file *path*; a copy is kept first."""
        file = self._file(path)
        content = self._content(file, path)
        kept = self._keep(file, content)
        file.unlink()
        return (*kept, Effect("files", self._key(file, self._root), _row(content), None))

    def dump(self) -> dict[str, dict[Json, Row]]:
        """Everything in both folders, by path, whether or not the area would touch it."""
        return {
            "files": {self._key(path, self._root): row_of(path) for path in _all_below(self._root)},
            "backups": {self._key(path, self._backups): row_of(path) for path in _all_below(self._backups)},
        }

    def _place(self, path: str) -> Path:
        """Where the file *path* is, or would be: inside, with an extension of ours."""
        place = self._inside(path)
        if place.suffix.lower() not in self._extensions:
            raise ToolError("denied", f"{path} is no file of the kinds {', '.join(self._extensions)}")
        return place

    def _file(self, path: str) -> Path:
        place = self._place(path)
        if not place.exists():
            raise ToolError("not_found", f"there is no file {path}")
        if not place.is_file():
            raise ToolError("denied", f"{path} is no regular file")
        return place

    def _inside(self, path: str) -> Path:
        """What *path* resolves to, links included."""
        if not path.strip() or len(path) > MOST_PATH_CHARS:
            raise ToolError("invalid_args", f"a path has 1 to {MOST_PATH_CHARS} characters")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        depth = 0
        for part in parts:
            depth += -1 if part == ".." else 1
            if depth < 0:
                break
        if _NEVER_IN_A_PATH.search(path) or depth < 0:
            raise ToolError("denied", f"{path} is outside of the file area")
        if len(parts) > MOST_PATH_PARTS or any(len(part.encode()) > MOST_BYTES_PER_PART for part in parts):
            raise ToolError("denied", f"{path} is too deep or has too long a name")
        try:
            resolved = self._root.joinpath(*parts).resolve()
        except (OSError, RuntimeError):  # a loop of links
            raise ToolError("denied", f"{path} leads nowhere") from None
        if not resolved.is_relative_to(self._root):
            raise ToolError("denied", f"{path} is outside of the file area")
        return resolved

    def _content(self, file: Path, path: str) -> bytes:
        """The bytes of *file*, read without following a link that was put there meanwhile."""
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise ToolError("denied", f"{path} cannot be read: {error.strerror}") from None
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ToolError("denied", f"{path} is no regular file")
            if status.st_size > MOST_BYTES_READ:
                raise ToolError("denied", f"{path} has {status.st_size} bytes, at most {MOST_BYTES_READ} are read")
            return stream.read(MOST_BYTES_READ)

    def _store(self, target: Path, content: bytes, path: str) -> None:
        """Write *content* so that nobody ever sees half of it."""
        partial = target.with_name(f".{target.name}.partial")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
            with partial.open("xb") as stream:  # never through a link that stands there
                stream.write(content)
            partial.replace(target)
        except OSError as error:
            raise ToolError("denied", f"{path} cannot be written: {error.strerror}") from None

    def _keep(self, file: Path, content: bytes) -> tuple[Effect, ...]:
        """Keep *content* as the next version of *file*."""
        place = self._backups / file.relative_to(self._root)
        number = 1
        while (version := place.with_name(f"{place.name}.{number}")).exists():
            number += 1
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            version.write_bytes(content)
        except OSError as error:  # a folder may be called as the version of a file is
            raise ToolError("denied", f"no copy of {self._shown(file)} can be kept: {error.strerror}") from None
        return (Effect("backups", self._key(version, self._backups), None, _row(content)),)

    def _files(self) -> Iterator[Path]:
        """Every file of ours, by path; links are not followed."""
        return (path for path in _all_below(self._root) if self._is_ours(path))

    def _is_ours(self, path: Path) -> bool:
        return path.is_file() and not path.is_symlink() and path.suffix.lower() in self._extensions

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _key(self, path: Path, folder: Path) -> str:
        below = path.relative_to(folder).as_posix()
        return f"{self._user}/{below}" if self._user else below


def row_of(path: Path) -> Row:
    """What a dump tells of the file or link *path*."""
    if path.is_symlink():
        return {"link": os.readlink(path)}  # noqa: PTH115 -- the text of the link, not a path
    return _row(path.read_bytes()) if path.is_file() else {"kind": "special"}


def _row(content: bytes) -> Row:
    begins = content[:240].decode(errors="replace")[:60]
    return {"bytes": len(content), "sha256": digest_bytes(content), "begins": begins}


def _all_below(folder: Path) -> list[Path]:
    """Files and links below *folder*, sorted; folders that are links are not entered."""
    found: list[Path] = []
    for top, folders, names in os.walk(folder):
        linked = [name for name in folders if (Path(top) / name).is_symlink()]
        found.extend(Path(top) / name for name in (*names, *linked))
    return sorted(found)
