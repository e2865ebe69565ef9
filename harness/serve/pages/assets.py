"""Styles and scripts of the pages, under addresses that change with their content, so that browsers may keep them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.responses import Response

from harness.errors import UsageError
from harness.records.digest import digest_bytes

FOLDER = Path(__file__).parent / "assets"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def assets() -> dict[str, bytes]:
    """Every file by its name; read once."""
    import harness.reports.html as report

    base = Path(report.__file__).parent / "base.css"
    return {path.name: path.read_bytes() for path in (base, *sorted(FOLDER.iterdir())) if path.suffix in _TYPES}


@cache
def asset_folder() -> str:
    """The address below which all of them stand."""
    return "/assets/" + digest_bytes(
        b"\0".join(b"\0".join((name.encode(), content)) for name, content in assets().items())
    )


def asset(name: str, *, lasting: bool) -> Response:
    """
    The file *name* as an answer; browsers may keep one that is *lasting*.

    Raises:
        UsageError: There is none.
    """
    content = assets().get(name)
    if content is None:
        raise UsageError("no-such-route", "there is no such file", hint="reload the page that asked for it")
    headers = {"cache-control": "public, max-age=31536000, immutable" if lasting else "no-cache"}
    return Response(content, media_type=f"{_TYPES[Path(name).suffix]}; charset=utf-8", headers=headers)
