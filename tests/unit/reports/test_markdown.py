"""A run in Markdown: what a pull request shows."""

from __future__ import annotations

import html
import re

from hypothesis import given
from markdown_it import MarkdownIt

from harness.reports.markdown import MARKER, MOST_BYTES, comment, headline, markdown
from harness.reports.problems import Rule
from harness.reports.screen import one_line

from .ci_runs import ALL, FACTS, KNOWN, hostile_runs, run_of, verdict

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
TAGS = {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code", "details", "summary"}


@given(hostile_runs)
def test_every_run_is_our_own_markup_only(record):
    """No link, image, HTML, comment or heading comes from a text, and no mention stands outside of code."""
    page = GITHUB.render(comment(record)).removeprefix(f"{MARKER}\n")

    assert set(re.findall(r"</?([a-z0-9!-]+)", page)) <= TAGS
    assert page.count("<h2>") == 1
    assert set(re.findall(r"<h3>([^<]*)</h3>", page)) <= {"Could not check", "Broken"}
    assert set(re.findall(r"<summary>([^<]*): \d+</summary>", page)) <= {
        "Known failures (in the baseline, for the same recording)", "Advisory",
    }  # fmt: skip
    assert page.count("<details>") == page.count("</details>") == page.count("<summary>")
    outside = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<code>.*?</code>", "", page)))
    assert not re.search(r"[@#`\[\]|$]|//|www\.", outside)
    shown = [html.unescape(code) for code in re.findall(r"<code>(.*?)</code>", page)]
    assert one_line(record.run) in shown


@given(hostile_runs)
def test_a_comment_fits(record):
    """GitHub refuses a longer one whole."""
    assert len(comment(record).encode()) <= MOST_BYTES + len(MARKER) + 1


def test_a_run_of_each_kind():
    """The whole text."""
    rules = {"facts": Rule("The answer says *all* of the facts.")}

    assert markdown(ALL, rules=rules) == (
        "## tapegate: COULD NOT CHECK\n\n"
        "2 of 5 trials kept, 1 broken, 1 known, 1 could not be checked.\n\n"
        "Next: `harness run shared --agent lean_react --model scripted --case S4` runs the first again; "
        "`harness report r1 --format html` shows every step.\n\n"
        "| agent | model | answered by | cases kept | known | broken | could not check | calls | tokens |\n"
        "|---|---|---|---:|---:|---:|---:|---:|---:|\n"
        "| `lean_react` | `scripted` | scripted | 2/4 | 0 | 1 | 1 | 0 | 0 |\n"
        "| `lean_react` | `small` | local | 0/1 | 1 | 0 | 0 | 0 | 0 |\n\n"
        "### Could not check\n\n"
        "- `cassette-missing` `lean_react × scripted on shared/S4, trial 0`, answered by: scripted\n"
        "  - `no recording of this trial`\n"
        "  - at `goldensets/shared.yaml:14`\n\n"
        "### Broken\n\n"
        "- `facts` `lean_react × scripted on shared/S2, trial 0`, answered by: scripted\n"
        "  - `the answer does not say 7`\n"
        "  - evidence: turn 2; events 4, 9; shortest 9\n"
        "  - at `goldensets/shared.yaml:17`\n"
        "  - rule: `The answer says *all* of the facts.`\n\n"
        "<details><summary>Known failures (in the baseline, for the same recording): 1</summary>\n\n"
        "- `facts` `lean_react × small on shared/S3, trial 0`, answered by: local\n"
        "  - `the answer does not say 7`\n"
        "  - evidence: turn 2; events 4, 9; shortest 9\n"
        "  - at `goldensets/shared.yaml:17`\n\n"
        "</details>\n\n"
        "<details><summary>Advisory: 1</summary>\n\n"
        "- `CX15` `lean_react × scripted on shared/S5, trial 0`, answered by: scripted\n"
        "  - `a table is ragged`\n"
        "  - at `goldensets/shared.yaml:14`\n\n"
        "</details>\n\n"
        "Run `r1` by tapegate `0.1.0`; answered by: local, scripted. Replayed offline: no sample is new.\n"
    )


def test_what_does_not_fit_is_counted():
    """The gravest are shown, the rest are a number and a command."""
    record = run_of(*(verdict(f"S{number}", "broken", findings=(FACTS,) * 5) for number in range(100)))
    text = markdown(record)

    left = int(re.search(r"… and (\d+) more; `harness report r1 --format json` has all\.", text)[1])
    assert 500 == left + text.count("- `facts`")
    assert len(text.encode()) <= MOST_BYTES


def test_a_fold_that_does_not_fit_is_closed():
    """What follows a report stays outside of it."""
    known = verdict("S3", "broken", known=True, provenance="local", findings=(FACTS,) * 400)
    text = markdown(run_of(known), most_bytes=4_000)

    assert "\n</details>\n\n… and " in text


def test_cost_is_a_column_where_something_was_paid():
    """What has no price makes a sum unknown."""
    paid = (
        verdict("S1", model="big", provenance="live", cost_usd=0.25),
        verdict("S2", model="big", provenance="live", cost_usd=0.5),
    )
    table = markdown(run_of(*paid, verdict("S3"))).splitlines()

    assert ["| tokens | US$ |", "| 0 | 0.7500 |", "| 0 | – |"] == [
        line[-len(end) :]
        for line, end in zip(
            (table[4], table[6], table[7]), ("| tokens | US$ |", "| 0 | 0.7500 |", "| 0 | – |"), strict=True
        )
    ]


def test_nothing_new_needs_no_next_step():
    """A run whose failures are all accepted names no command to run again."""
    assert "Next:" not in markdown(run_of(KNOWN))


def test_the_headline_is_the_gravest_fact():
    """Known failures alone are no failure; nothing run is no pass."""
    assert ["COULD NOT CHECK", "BROKEN", "KEPT", "NOTHING RUN"] == [
        headline(record) for record in (ALL, run_of(KNOWN, verdict("S1", "broken")), run_of(KNOWN), run_of())
    ]
