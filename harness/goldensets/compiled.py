"""
A compiled form beside each file that people write, so that an unchanged file costs no YAML and no pydantic.

The cache is keyed by the file's bytes and by the code that reads it, is safe to delete, and never wins over the file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.errors import BadFileError

T = TypeVar("T")

COMPILED_FORMAT = 1


def load_compiled(
    path: Path,
    kind: type[T],
    build: Callable[[bytes], T],
    *,
    cache: Path | None,
    name: str = "",
    key: str = "",
    code: Sequence[Path] = (),
) -> T:
    """
    Read *path* through the cache: its compiled form where it is current, *build* and a new compiled form where not.

    Args:
        path: The file that a person wrote.
        kind: The type of the compiled value; msgspec must be able to write it.
        build: Makes the value from the file's bytes.
        cache: Folder of compiled files, or None to read the file each time.
        name: What the compiled file is called; the file's stem by default. A new one replaces others of its name.
        key: What else the value depends on, such as the name that messages give the file.
        code: Source files whose change makes every compiled file stale.

    Raises:
        BadFileError: The file is missing or unreadable, or *build* refuses it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFileError("unreadable-file", f"cannot be read: {error.strerror}", at=str(path)) from None
    if cache is None:
        return build(content)
    name = name or path.stem
    place = cache / f"{name}-{_digest(content, path, key, code)}.msgpack"
    try:
        return msgspec.msgpack.decode(place.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, RecursionError):
        value = build(content)
    _store(place, msgspec.msgpack.encode(value), name=name)
    return value


def _digest(content: bytes, path: Path, key: str, code: Sequence[Path]) -> str:
    """Digest everything that a compiled file depends on."""
    told = hashlib.sha256(content)
    told.update(f"\0{COMPILED_FORMAT}\0{path}\0{key}".encode())
    for source in code:
        try:
            told.update(str(source.stat().st_mtime_ns).encode())
        except OSError:
            told.update(b"?")
    return told.hexdigest()[:32]


def _store(place: Path, content: bytes, *, name: str) -> None:
    """Write a compiled file whole or not at all, and drop its forerunners; a cache that cannot be written is no error."""
    from glob import escape

    temporary = place.with_suffix(f".{os.getpid()}.tmp")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        for old in place.parent.glob(f"{escape(name)}-{'?' * 32}.msgpack"):
            old.unlink(missing_ok=True)
        temporary.write_bytes(content)
        temporary.replace(place)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
