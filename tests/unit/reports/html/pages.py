"""Pages to look into: a run in a folder, written as HTML, and taken apart again."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

from harness.records.run import CaseVerdict, RunRecord
from harness.records.trace import Trace
from harness.reports.html.page import Material, write_page
from harness.reports.store import RunStore

from ..ci_runs import ALL, BROKEN, hostile_runs, run_of, verdict  # noqa: TID252 – runs for all kinds of reports lie above

__all__ = ["ALL", "BROKEN", "Read", "addresses", "hostile_runs", "page_of", "run_of", "verdict", "write_run"]


class Read(HTMLParser):
    """A page as a browser takes it apart: elements with their attributes, and what stands in style and script."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.inside: list[tuple[str, dict[str, str], str]] = []
        self._open: tuple[str, dict[str, str]] | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        self._open = (tag, given) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            tag, given = self._open
            if self.inside and self.inside[-1][1] is given:
                data = self.inside.pop()[2] + data
            self.inside.append((tag, given, data))

    @property
    def policy(self) -> str:
        """The Content-Security-Policy."""
        return next(
            given["content"] for tag, given in self.elements if given.get("http-equiv") == "Content-Security-Policy"
        )

    @property
    def index(self) -> dict:
        """The index of the page."""
        return json.loads(next(text for _, given, text in self.inside if given.get("id") == "index"))

    def item(self, chunk: int, place: int) -> object:
        """One item of a chunk."""
        packed = next(text for _, given, text in self.inside if given.get("id") == f"chunk-{chunk}")
        return json.loads(zlib.decompress(base64.b64decode(packed)))[place]

    @property
    def trials(self) -> list[dict]:
        """What the page of each trial shows, in the order of the run."""
        index = self.index
        rows = [dict(zip(index["columns"], row, strict=True)) for row in index["trials"]]
        return [self.item(row["chunk"], row["place"]) for row in rows]


def write_run(folder: Path, traces: dict[CaseVerdict, tuple[Trace, ...]]) -> Path:
    """Write a run folder with these verdicts and their traces."""
    with RunStore.create(folder, run="r1") as store:
        for verdict, legs in traces.items():
            store.append(verdict, legs)
        return store.folder


def page_of(folder: Path, record: RunRecord, **changes) -> Read:
    """Write the page of *record* into *folder* and read it."""
    fields = {"record": record, "folder": folder, "version": "0.1.0", "scrub": str}
    path = folder / "report.html"
    write_page(path, Material(**(fields | changes)))
    return Read(path.read_text(encoding="utf-8"))


def addresses(page: Read) -> set[str]:
    """Every link that stands in the page before any script ran."""
    return set(re.findall(r'href="([^"]*)"', page.html))
