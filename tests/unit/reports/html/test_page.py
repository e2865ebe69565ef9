"""The page as a file: what pins it, what it holds, and what nobody can put into it."""

from __future__ import annotations

import base64
import hashlib
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from harness.records.comparison import Comparison, MatrixRow, Parting
from harness.records.messages import Usage
from harness.records.trajectory import Divergence
from harness.reports.html.page import Material, write_page
from harness.reports.html.summary import case_link
from harness.reports.problems import Rule
from harness.testing.builders import answer, make_trace, model_turn

from .pages import ALL, BROKEN, addresses, hostile_runs, page_of, run_of, verdict, write_run

DIRECTIVES = {
    "default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
    "require-trusted-types-for": "'script'", "trusted-types": "safe-html",
}  # fmt: skip
LOADING = {"src", "srcset", "srcdoc", "action", "formaction", "data", "poster", "background", "ping", "cite"}


def hash_of(text: str) -> str:
    """The hash by which a policy names an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def running(page, tag: str) -> list[str]:
    """The contents of what a browser would run: scripts that are no data, or styles."""
    return [text for name, given, text in page.inside if name == tag and "type" not in given]


def test_the_policy_names_exactly_what_is_there(tmp_path):
    """Each script and style has its hash in the policy, no hash is left over, and nothing else is allowed."""
    page = page_of(tmp_path, ALL)
    policy = dict(part.split(" ", 1) for part in page.policy.split("; "))

    assert set(policy.pop("script-src").split()) == set(map(hash_of, running(page, "script")))
    assert set(policy.pop("style-src").split()) == set(map(hash_of, running(page, "style")))
    assert DIRECTIVES == policy
    assert page.html.index("Content-Security-Policy") < page.html.index("<script")


@given(hostile_runs)
def test_a_hostile_run_is_text_only(record):
    """Whatever a run says, the page has no script of its own, no handler, no style attribute, and nothing that loads."""
    with tempfile.TemporaryDirectory() as folder:
        page = page_of(Path(folder), record, rules={"facts": Rule("<b>about</b>")})
    policy = page.policy

    for tag, given_ in page.elements:
        assert tag not in {"iframe", "object", "embed", "link", "base", "form", "frame", "img", "video", "audio"}
        assert not [name for name in given_ if name.startswith("on") or name == "style" or name in LOADING]
        assert given_.get("href", "#").startswith("#")
        assert tag != "script" or given_.get("type", "") in {"", "application/json", "text/plain"}
    assert all(hash_of(text) in policy for text in [*running(page, "script"), *running(page, "style")])
    assert len(record.results) == len(page.index["trials"]) == len(page.trials)


@given(hostile_runs)
def test_every_trial_has_an_address(record):
    """Each cell's address is its own, is one path of five words, and those of red cases stand in the first page."""
    with tempfile.TemporaryDirectory() as folder:
        page = page_of(Path(folder), record)
    links = {case_link(v.cell) for v in record.results}

    assert len({v.cell for v in record.results}) >= len(links)
    assert all(re.fullmatch(r"#/case(/[\w.~%-]*){5}", link, re.ASCII) for link in links)
    assert {case_link(v.cell) for v in record.results if v.verdict != "kept"} <= addresses(page)


def test_an_address_reads_as_in_the_page():
    """Set, case, agent, model and trial; a step, and the leg before it where there are several."""
    cell = verdict("a/b c", agent="d@e", model="m:1.5").cell

    assert case_link(cell) == "#/case/shared/a%2Fb%20c/d%40e/m%3A1.5/0"
    assert case_link(cell, step=12) == "#/case/shared/a%2Fb%20c/d%40e/m%3A1.5/0/step/12"
    assert case_link(cell, step=12, leg=1) == "#/case/shared/a%2Fb%20c/d%40e/m%3A1.5/0/step/1.12"


def test_the_first_page_says_the_verdict_the_red_cases_and_what_to_do(tmp_path):
    """Headline, counts, the reason with its witness, and a command."""
    html = page_of(tmp_path, ALL, rules={"facts": Rule("The answer says all of the facts.")}).html
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html[html.index("<main") : html.index("</main>")]))

    assert "COULD NOT CHECK 2 of 5 trials kept 2 kept 1 broken 1 known failures 1 not checked" in words
    assert (
        "Red cases could not check S4 shared lean_react × scripted scripted cassette-missing no recording of this trial"
        in words
    )
    assert (
        "broken S2 shared lean_react × scripted scripted facts the answer does not say 7 shown by #4 #9 at goldensets/shared.yaml:17"
        in words
    )
    assert (
        "Record what 1 trial lacks: harness record shared --agent lean_react --model scripted --case S4 --mode missing"
        in words
    )
    assert f'<a href="{case_link(BROKEN.cell, step=4)}"' in html
    assert 'title="The answer says all of the facts."' in html


def test_many_red_cases_are_counted(tmp_path):
    """The first page names forty; the list has all."""
    html = page_of(tmp_path, run_of(*(verdict(f"S{n}", "broken") for n in range(45)))).html

    assert '<a href="#/cases?verdict=red">and 5 more</a>' in html


def test_a_run_that_is_kept_says_so(tmp_path):
    """And what to hold it against."""
    html = page_of(tmp_path, run_of(verdict("S1"))).html

    assert "No red case" in html
    assert "Every trial was checked, and kept every contract that blocks." in html
    assert "<code>harness gate r1</code>" in html


def test_contracts_that_nothing_triggers_stand_out(tmp_path):
    """Coverage tells vacuous from kept, by design."""
    html = page_of(tmp_path, ALL).html
    row = html[html.index("<code>facts</code></th>") :]

    assert '<td class="to-right">2</td><td class="to-right">0</td><td class="to-right">0</td>' in row
    assert '<a href="#/cases?contract=facts">2</a>' in row


def test_secrets_are_taken_out_wherever_they_stand(tmp_path):
    """In the first page, in the index and in the chunks."""
    secret = "sk-" + "a" * 24
    trial = verdict("S1", "broken", because=f"said {secret}", answer=f"it is {secret}")
    folder = write_run(
        tmp_path, {trial: (make_trace(model_turn(secret), answer(secret), started={"question": secret}),)}
    )
    page = page_of(folder, run_of(trial), rules={}, scrub=lambda text: text.replace(secret, "<secret>"))

    assert secret not in page.html
    assert "&lt;secret&gt;" in page.html
    (shown,) = page.trials
    assert secret not in str(shown)
    assert "<secret>" == shown["question"]


def test_what_steers_a_reader_is_written_out(tmp_path):
    """Control characters and marks of direction do not reach the page as they are."""
    html = page_of(tmp_path, run_of(verdict("S\u202e1", "broken", because="a\x1b[2Jb"))).html

    assert not set(html) & set("\u202e\x1b")
    assert "a\\x1b[2Jb" in html


def test_the_page_comes_whole_or_not_at_all(tmp_path):
    """A page that cannot be finished leaves the one before, and nothing beside it."""
    (tmp_path / "report.html").write_text("before")

    def fails(done: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_page(
            tmp_path / "report.html", Material(record=ALL, folder=tmp_path, version="", scrub=str), on_trial=fails
        )

    assert ["report.html"] == [path.name for path in tmp_path.iterdir()]
    assert "before" == (tmp_path / "report.html").read_text()


def test_without_a_comparison_the_arena_says_why(tmp_path):
    """A run of one design has nobody to compare it with; an empty comparison draws nothing."""
    empty = Comparison(run="r1", sets=(), designs=(), pairs=(), matrix=())

    for comparison in (None, empty):
        html = page_of(tmp_path, ALL, comparison=comparison).html
        assert "Designs are not compared in this report: no two of them answered the same cases alike." in html
    refused = page_of(tmp_path, ALL, refused="`a` was answered by two kinds").html
    assert "Designs are not compared in this report: `a` was answered by two kinds." in refused


def test_the_arena_says_where_designs_part(tmp_path):
    """Of two that did not come to the same: the turn, and what each did there."""
    parting = Parting(
        a="a × m", b="b × m", divergence=Divergence(step=2, a=None, b=None, because="calls `x`, against <b>")
    )
    row = MatrixRow(
        set="shared", case="S 1", at="", cells=(), why=(parting, Parting(a="a × m", b="c × m", divergence=None))
    )
    comparison = Comparison(run="r1", sets=("shared",), designs=(), pairs=(), matrix=(row,))
    html = page_of(tmp_path, ALL, comparison=comparison).html

    assert '<a href="#/matrix?q=S%201&amp;set=shared">shared/S 1</a></th><td>a × m</td><td>b × m</td>' in html
    assert "calls `x`, against &lt;b&gt;" in html
    assert "c × m" not in html


def test_progress_is_told(tmp_path):
    """Each trial once, in order."""
    told: list[int] = []
    write_page(tmp_path / "p.html", Material(record=ALL, folder=tmp_path, version="", scrub=str), on_trial=told.append)

    assert [1, 2, 3, 4, 5] == told


def test_the_index_names_each_thing_once(tmp_path):
    """Designs, cases and contracts stand in lists; rows point into them."""
    trials = [verdict("S1", trial=n, tokens=Usage(input=5, output=2), llm_calls=3) for n in range(2)]
    index = page_of(tmp_path, run_of(*trials, BROKEN)).index

    assert [{"agent": "lean_react", "model": "scripted", "provenance": "scripted"}] == index["designs"]
    assert ["S1", "S2"] == [case["case"] for case in index["cases"]]
    assert ["facts"] == index["contracts"]
    row = dict(zip(index["columns"], index["trials"][2], strict=True))
    assert (0, 1, "broken", [0], "the answer does not say 7") == tuple(
        row[name] for name in ("design", "case", "verdict", "broken", "because")
    )
