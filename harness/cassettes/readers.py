"""What our own readers of the providers' formats do not know in a recording."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.cassettes.file import Interaction

_READERS = Path(__file__).parents[1] / "dialects"


def unknown_in(interactions: Iterable[Interaction]) -> tuple[str, ...]:
    """
    List what stands in the responses that our dialects do not know, each name once; errors are read by their status and
    words alone, and a response of another interface is none of theirs.
    """
    from harness.dialects import dialect_of  # a compiled cassette says what is unknown in it

    found: dict[str, None] = {}
    for interaction in interactions:
        dialect = dialect_of(interaction.uri)
        if dialect is None or interaction.status >= 400:
            continue
        headers = {name: values[0] for name, values in interaction.response_headers.items() if values}
        found.update(dict.fromkeys(dialect.unknown(headers, interaction.response_body.encode())))
    return tuple(found)


def readers_version() -> list[tuple[str, int, int]]:
    """Name, time and size of each file of the dialects: what was unknown to other ones has to be asked again."""
    stats = [(path.name, path.stat()) for path in sorted(_READERS.glob("*.py"))]
    return [(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats]
