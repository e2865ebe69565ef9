"""
The whole file: what a reader sees first, then what runs, then everything else in compressed chunks.

Trials are read, packed and written one by one, so memory holds one chunk and the index, however many traces there are.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.records.comparison import Comparison, MatrixRow, Parting
from harness.records.run import CaseVerdict, RunRecord
from harness.reports.html import assets
from harness.reports.html.arena import arena_parts
from harness.reports.html.chunks import ChunkWriter, Scrub, inline_json, packed_json
from harness.reports.html.coverage import coverage
from harness.reports.html.differences import Differences, written
from harness.reports.html.index import Index
from harness.reports.html.summary import case_link, summarised
from harness.reports.html.trials import legible_legs, question_of, trial_view
from harness.reports.markdown import headline
from harness.reports.problems import Rule
from harness.reports.screen import clip, neutralise

if TYPE_CHECKING:
    from jinja2 import Environment

Json = Any


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What the page is about; everything that comes from other parts of the program is handed over in it."""

    record: RunRecord
    folder: Path
    """The run's folder, with its traces."""
    version: str
    scrub: Scrub
    rules: Mapping[str, Rule] = {}
    comparison: Comparison | None = None
    refused: str = ""
    """Why designs are not compared at all."""
    differences: tuple[Differences, ...] = ()


def write_page(path: Path, material: Material, *, on_trial: Callable[[int], None] | None = None) -> None:
    """
    Write the page to *path*: by rename, so that it is there whole or not at all.

    Args:
        path: Where to; the folder must exist.
        material: What it is about.
        on_trial: Told the number of trials that are done, for progress.

    Raises:
        OSError: The disk is full, or *path* cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.new")
    try:
        with tempfile.TemporaryFile() as packed, unfinished.open("wb") as file:
            chunks = ChunkWriter(packed)
            index = _index(material, chunks, on_trial)
            chunks.flush()
            head, tail = _rendered(material, index | {"chunks": chunks.written})
            file.write(head.encode(errors="replace"))
            packed.seek(0)
            shutil.copyfileobj(packed, file)
            file.write(tail.encode())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _index(material: Material, chunks: ChunkWriter, on_trial: Callable[[int], None] | None) -> dict[str, Json]:
    index, provenance = Index(), []
    for number, verdict in enumerate(material.record.results, start=1):
        legs = legible_legs(material.folder, verdict)
        question, lang = question_of(legs.traces)
        place = chunks.add(packed_json(trial_view(verdict, legs), material.scrub))
        index.add(verdict, question=question, lang=lang, at=place)
        provenance.append(_recording(verdict))
        if on_trial is not None:
            on_trial(number)
    chunks.flush()
    chunk, place_of = chunks.add(packed_json(provenance, material.scrub)) if provenance else (0, 0)
    chunks.flush()
    diffs = [written(each, chunks, material.scrub) for each in material.differences]
    return {
        "run": material.record.run, **index.document(), "diffs": diffs, "recordings": {"chunk": chunk, "place": place_of}
    }  # fmt: skip


def _recording(verdict: CaseVerdict) -> tuple[str, str, str]:
    return verdict.cassette, verdict.cassette_digest, verdict.embedding_provenance


_LONGEST_VALUE = 300
_CHUNKS_HERE = "<!-- the traces follow -->\n"


def _rendered(material: Material, index: dict[str, Json]) -> tuple[str, str]:
    """What stands before the chunks, and what after them."""
    style, early, script = assets.style(), assets.early_script(), assets.script()
    record = material.record
    page = _environment().get_template("report.html.j2").render(
        policy=assets.policy([early, script], [style]),
        style=_raw(style), early=_raw(early), script=_raw(script),
        index=_raw(inline_json(index, material.scrub)),
        record=record, headline=headline(record), summary=summarised(record), version=material.version,
        rows=coverage(record.results, material.rules), rules=material.rules,
        designs=sorted({(v.agent, v.model, v.provenance) for v in record.results}),
        arena=_arena(material.comparison),
        refused=material.refused,
        parted=_parted(material.comparison),
        left_out=material.comparison.left_out if material.comparison else (),
        manifest=list(_told(record.manifest)), case_link=case_link, scrub=material.scrub,
    )  # fmt: skip
    head, _, tail = page.partition(_CHUNKS_HERE)
    return head, tail


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
    from jinja2.runtime import Context

    @pass_context
    def told(context: Context, value: Any) -> Any:
        """Every text that a template shows passes here, before it is escaped: no secret, nothing that steers a reader."""
        return neutralise(context["scrub"](value), keep_lines=True) if type(value) is str else value

    made = Environment(
        loader=FileSystemLoader(assets.FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=told,
    )
    made.filters["number"] = lambda value: f"{value:,.0f}"
    made.filters["figure"] = lambda value: f"{value:,.1f}"
    made.filters["percent"] = lambda value: f"{value * 100:.0f} %"
    return made


def _arena(comparison: Comparison | None) -> list[dict[str, Any]]:
    return [
        {name: getattr(part, name) for name in ("name", "group", "designs", "pairs")}
        | {"charts": [(chart, _raw(chart.svg)) for chart in part.charts]}
        for part in arena_parts(comparison)
    ]


def _parted(comparison: Comparison | None) -> list[tuple[MatrixRow, Parting]]:
    """Where designs part that did not come to the same, on one case after the other."""
    rows = comparison.matrix if comparison else ()
    return [(row, parting) for row in rows for parting in row.why if parting.divergence]


def _raw(markup: str) -> Any:
    """Our own text, which a template must not escape."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 – style, script, index and charts of this package, never text of a stranger


def _told(manifest: Mapping[str, Json], name: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of a manifest, nested names joined by dots; long lists by their length."""
    for key, value in manifest.items():
        path = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            yield from _told(value, path)
        elif isinstance(value, list):
            told = ", ".join(map(str, value)) if len(value) <= 6 else f"{len(value)} of them"
            yield path, clip(told, _LONGEST_VALUE)
        else:
            yield path, clip(str(value), _LONGEST_VALUE)
