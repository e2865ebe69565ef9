"""A comparison of designs as Markdown, and the files that are committed."""

from __future__ import annotations

import html
import json
import re

import jsonschema
import msgspec
from hypothesis import given
from markdown_it import MarkdownIt

from harness.records.trajectory import Divergence
from harness.reports.comparison_markdown import (
    comparison_json,
    comparison_markdown,
    comparison_path,
    write_comparison,
)
from harness.reports.documents import schema_of

from .ci_runs import hostile_runs, printable
from .comparisons import compared, local, outcomes, verdict

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
TAGS = {"h2", "h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code"}


def parts(a, b):
    """They part in their first turn."""
    return Divergence(step=1, a=None, b=None, because=f"`look` fails on {a.case}")


def test_a_comparison_as_a_page():
    """The whole text, of a case that two designs kept and one that one of them broke."""
    found = compared(
        *outcomes("lean", [True, True]), *outcomes("deep", [True, False]), verdict("deep", "S3"), divergence=parts
    )

    assert comparison_markdown(found) == (
        "## Designs compared: COMPARED\n\n"
        "2 designs on 2 cases, 1 pair.\n\n"
        "### `shared`, answered by: scripted\n\n"
        "`shared: 2 designs answered by scripts, 2 cases that all of them ran`. Each figure is the mean of a trial.\n\n"
        "| # | design | trials kept | rate | 95 % interval | front |\n"
        "|---:|---|---:|---|---|---|\n"
        "| 1 | `deep` | 1/2 | 50 % | – | beaten by 2 |\n"
        "| 2 | `lean` | 2/2 | 100 % | – | on it |\n\n"
        "The front weighs `kept_rate`, `tokens`, `llm_calls`.\n\n"
        "| # | LLM calls | tool calls | turns | at once | input | output | cached | thinking | US$ | ms |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|\n"
        "| 1 | 2.0 | 1.0 | 2.0 | 1.00 | 100 | 20 | 0 | 0 | – | 50 |\n"
        "| 2 | 2.0 | 1.0 | 2.0 | 1.00 | 100 | 20 | 0 | 0 | – | 50 |\n\n"
        "#### Contracts\n\n"
        "| contract | 1 | 2 |\n|---|---:|---:|\n| `CX3` | 1/2 | 2/2 |\n\n"
        "0 contracts kept wherever triggered.\n\n"
        "#### Head to head\n\n"
        "| pair | wins | losses | ties |\n|---|---:|---:|---:|\n| 1 – 2 | 0 | 1 | 1 |\n\n"
        "- 1 pair without a test (scripted: each reply was written by hand, so no chance is in it);"
        " 0 pairs the same on every case\n\n"
        "#### Cases\n\n"
        "| case | 1 | 2 |\n|---|---|---|\n| `S1` | kept | kept |\n| `S2` | `broken CX3` | kept |\n\n"
        "#### Why they differ\n\n"
        "- `S1`: ``1 and 2 part at turn 1: `look` fails on S1``\n"
        "- `S2`: ``1 and 2 part at turn 1: `look` fails on S2``\n\n"
        "### Left out\n\n"
        "- `shared: S3 left out: deep × scripted alone ran it`\n\n"
        "Replayed offline: no sample is new. Run `r1`.\n"
    )


def test_samples_are_told_with_their_chances():
    """The row of their pair, and what it leaves open."""
    text = comparison_markdown(compared(*local("lean", [True] * 8), *local("deep", [False] * 8)))

    assert "| 1 – 2 | 0 | 8 | 0 | McNemar | 0.0078 | 0.0078 | -100 | -100 to -54 | 80 % | – |" in text
    assert "inconclusive" not in text


def test_many_pairs_of_a_case_are_counted():
    """Three of them stand there, the earliest first."""
    every = [one for agent in "abcd" for one in outcomes(agent, [True])]
    text = comparison_markdown(compared(*every, divergence=parts))

    assert 3 == text.count("part at turn 1")
    assert "  - 3 more pairs: `--json` has all\n" in text


@given(hostile_runs, printable)
def test_every_comparison_is_our_own_markup_only(run, because):
    """No link, image, HTML or heading comes from a text, and no mention stands outside of code."""
    results = [msgspec.structs.replace(one, provenance="scripted", model="m") for one in run.results]
    twin = [msgspec.structs.replace(one, agent=one.agent + "'") for one in results]
    found = compared(*results, *twin, divergence=lambda a, b: Divergence(step=1, a=None, b=None, because=because))
    page = GITHUB.render(comparison_markdown(msgspec.structs.replace(found, run=run.run))).replace(
        ">#</th>", ">no</th>"
    )

    assert set(re.findall(r"</?([a-z0-9!-]+)", page)) <= TAGS
    outside = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)))
    assert not re.search(r"[@#`\[\]|]|//|www\.", outside.replace("US$", ""))
    assert all(row.count("<td") == 6 for row in re.findall(r"<tr>(?:(?!</tr>).)*on it.*?</tr>", page, re.DOTALL))


def test_the_document_keeps_to_its_schema():
    """With samples, scripts, what was left out and where they part; intervals are two numbers."""
    found = compared(
        *local("lean", [True, False]), *local("deep", [True, True]), *outcomes("lean", [True, True]),
        *outcomes("deep", [None, True]), divergence=parts,
    )  # fmt: skip
    document = json.loads(comparison_json(found))

    jsonschema.validate(document, schema_of("compare"))
    assert [2, None] == [
        one["interval"] and len(one["interval"]) for one in document["designs"] if one["agent"] == "lean"
    ][::-1]


def test_files_are_written_once(tmp_path):
    """Without the id of the run, so that the same verdicts give the same bytes; what does not change is not touched."""
    verdicts = [*outcomes("lean", [True]), *outcomes("deep", [True])]
    first = write_comparison(tmp_path, "shared", compared(*verdicts))
    again = write_comparison(tmp_path, "shared", msgspec.structs.replace(compared(*verdicts), run="r2"))

    assert [comparison_path(tmp_path, "shared", "md"), comparison_path(tmp_path, "shared", "json")] == first
    assert [] == again
    assert first[0].read_text().endswith("\nWritten by `harness compare --set shared --write`; do not edit.\n")
    assert "" == json.loads(first[1].read_text())["run"]
    assert ["shared.json", "shared.md"] == sorted(path.name for path in (tmp_path / "comparison").iterdir())
