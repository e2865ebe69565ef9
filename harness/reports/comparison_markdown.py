"""A comparison of designs in GitHub's Markdown, and the files of the folder `comparison`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.records.comparison import Comparison
from harness.reports.comparison_rows import (
    NONE,
    GroupTold,
    Table,
    all_kept,
    case_name,
    contract_table,
    counted,
    exact_table,
    exact_words,
    groups_told,
    headline,
    left_out_words,
    matrix_table,
    open_words,
    pair_table,
    parting_words,
    quality_table,
    title_of,
    work_table,
)
from harness.reports.documents import full
from harness.reports.escaping import json_text, markdown_code
from harness.reports.screen import clip, one_line
from harness.reports.trajectories import code_span

Json = Any
_MOST_COLUMNS = 400
_MOST_JSON = 400
"""Characters of a value of JSON that stands in one line."""
_PLAIN = frozenset({"kept", "unchecked"})
_MOST_PARTINGS = 3
"""Partings of one case that are written out."""


def comparison_markdown(comparison: Comparison) -> str:
    """Render *comparison*: whatever a model or a golden set wrote is code, which nothing in it can end."""
    word, about = headline(comparison)
    parts = [f"## Designs compared: {word}", f"{about}."]
    for told in groups_told(comparison):
        parts += _group(told)
    if comparison.left_out:
        parts += ["### Left out", "\n".join(f"- {_code(line)}" for line in left_out_words(comparison))]
    run = f" Run {_code(comparison.run)}." if comparison.run else ""
    parts.append(f"Replayed offline: no sample is new.{run}")
    return "\n\n".join(parts) + "\n"


def comparison_json(comparison: Comparison) -> str:
    """*comparison* as a JSON document whose changes can be read: what fits stands in one line, the rest is broken up."""
    return json_text("\n".join(_broken_up(full(comparison), ""))) + "\n"


def write_comparison(reports: Path, set_name: str, comparison: Comparison) -> list[Path]:
    """
    Write `comparison/<set>.md` and `.json` into the folder *reports*, without the id of the run: the same verdicts
    give the same bytes.

    Returns:
        The files whose content changed.
    """
    unnamed = msgspec.structs.replace(comparison, run="")
    written = []
    for suffix, text in (("md", _generated(set_name, unnamed)), ("json", comparison_json(unnamed))):
        path = comparison_path(reports, set_name, suffix)
        content = text.encode()
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_name(f".{path.name}.new")
            whole.write_bytes(content)
            whole.replace(path)
            written.append(path)
    return written


def comparison_path(reports: Path, set_name: str, suffix: str) -> Path:
    """Where the comparison of a set stands."""
    return reports / "comparison" / f"{set_name}.{suffix}"


def _broken_up(value: Json, indent: str) -> Iterator[str]:
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= _MOST_JSON or not isinstance(value, dict | list):
        yield line
        return
    open_, close = "{}" if isinstance(value, dict) else "[]"
    items = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
    yield open_
    for number, (key, item) in enumerate(items):
        first, *rest = _broken_up(item, f"{indent}  ")
        lines = [first if key is None else f"{json.dumps(key, ensure_ascii=False)}: {first}", *rest]
        lines[-1] += "," if number < len(items) - 1 else ""
        yield f"{indent}  {lines[0]}"
        yield from lines[1:]
    yield f"{indent}{close}"


def _generated(set_name: str, comparison: Comparison) -> str:
    command = _code(f"harness compare --set {set_name} --write")
    return f"{comparison_markdown(comparison)}\nWritten by {command}; do not edit.\n"


def _group(told: GroupTold) -> Iterator[str]:
    group = told.group
    yield f"### {_code(', '.join(group.sets))}, answered by: {group.provenance}"
    yield f"{_code(title_of(group))}. Each figure is the mean of a trial."
    yield _table(quality_table(told))
    if group.objectives:
        yield f"The front weighs {', '.join(_code(objective) for objective in group.objectives)}."
    yield _table(work_table(told))
    yield "#### Contracts"
    contracts = contract_table(told)
    if contracts.rows:
        yield _table(contracts)
    yield f"{counted(all_kept(told), 'contract')} kept wherever triggered."
    yield "#### Head to head"
    yield from (_table(pairs) for pairs in (pair_table(told), exact_table(told)) if pairs.rows)
    words = [*exact_words(told), *open_words(told)]
    if words:
        yield "\n".join(f"- {word}" for word in words)
    yield "#### Cases"
    yield _table(matrix_table(told, told.rows))
    if partings := list(_partings(told)):
        yield "#### Why they differ"
        yield "\n".join(partings)


def _partings(told: GroupTold) -> Iterator[str]:
    for row in told.rows:
        found = parting_words(told, row)
        for _, word in found[:_MOST_PARTINGS]:
            yield f"- {_code(case_name(told, row))}: {_code(word)}"
        if len(found) > _MOST_PARTINGS:
            yield f"  - {len(found) - _MOST_PARTINGS} more pairs: `--json` has all"


def _table(shown: Table) -> str:
    """*shown* as a table; a column of numbers stands to the right."""
    numbers = [all(map(_is_number, column)) for column in zip(*shown.rows, strict=True)]
    rule = "|".join("---:" if number else "---" for number in numbers)
    lines = [f"| {' | '.join(shown.headers)} |", f"|{rule}|"]
    return "\n".join([*lines, *(_row(row, shown.strange) for row in shown.rows)])


def _row(cells: Sequence[str], strange: Sequence[int]) -> str:
    return f"| {' | '.join(_cell(cell, strange=number in strange) for number, cell in enumerate(cells))} |"


def _cell(cell: str, *, strange: bool) -> str:
    """A number or a single word can do nothing in Markdown."""
    return markdown_code(cell) if strange and not (_is_number(cell) or cell == NONE or cell in _PLAIN) else cell


def _is_number(cell: str) -> bool:
    return cell.isascii() and cell.replace(",", "").replace(".", "").replace("/", "").isdigit()


def _code(text: str) -> str:
    return code_span(clip(one_line(text), _MOST_COLUMNS))
