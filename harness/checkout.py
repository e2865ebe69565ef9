"""Which tapegate this is, where it runs from its sources: those can change while its version stays."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.records.digest import digest, digest_bytes

PACKAGE = Path(__file__).parent
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@cache
def own_source() -> str:
    """Name the sources that this process runs from; empty for an installed tapegate, which its version names."""
    if _INSTALLED & set(PACKAGE.parts):
        return ""
    files = sorted(PACKAGE.rglob("*.py"))
    return digest([(path.relative_to(PACKAGE).as_posix(), digest_bytes(path.read_bytes())) for path in files])


def changed_after(seconds: float) -> bool:
    """Whether a source file was written after that time, in seconds since 1970."""
    return any(path.stat().st_mtime > seconds for path in PACKAGE.rglob("*.py"))
