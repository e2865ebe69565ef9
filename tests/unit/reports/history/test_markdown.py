"""A history for a pull request, in Markdown that no name can break out of."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.records.history import SkippedRun
from harness.reports.history.gather import Choice, document
from harness.reports.history.markdown import MOST_BYTES, markdown

from .made import local, past_trials, run, trial

github = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def told(*runs, **how):
    """The document of *runs*."""
    return document(runs, choice=Choice(), known=[one.state for one in runs], **how)


def test_a_history_reads_like_this():
    """The verdict, a table of designs, the cases that moved, what changed, and the next command."""
    runs = (run(1, trial("S1"), local("S2")), run(2, trial("S1", "broken", lock={"prompt": "new"}), local("S2")))

    assert """\
## tapegate history: FELL

`1 case no longer kept since run 20260310-090100000-0001`

2 runs from 2026-03-10 09:01 to 2026-03-10 09:02 UTC.

| design | kept | calls/trial | tokens/trial | recorded ms/trial | recordings |
|---|---|---|---|---|---|
| `lean_react × qwen (local)` | ▄▄ 1/1 | ▄▄ 2.0 | ▄▄ 618 | ▄▄ 8 | 1 recordings, the same in every run |
| `lean_react × scripted` | █▁ 0/1 | ▄▄ 2.0 | ▄▄ 618 | ▄▄ 8 | 1 recordings, the same in every run |

### What changed

- before `20260310-090200000-0002`: `prompts of lean_react`

### Cases that were not always kept

| design | case | runs |
|---|---|---|
| `lean_react × scripted` | `shared/S1` | `.x` |

`.` kept, `x` broken, `k` broken and known, `?` not checked, `-` not run.

A recording is a sample: runs that replay the same recordings show what changed in prompts, code, cases and contracts, never the luck of a model. Scripted models show the agent's code alone.

Next: `harness diff 20260310-090100000-0001 20260310-090200000-0002 --case S1` shows what the agent did otherwise.
""" == markdown(told(*runs))


def test_cases_that_flicker_have_a_part_of_their_own():
    """Each with its reason."""
    found = markdown(told(run(1, trial("S1")), run(2, trial("S1", "broken")), run(3, trial("S1"))))

    assert (
        "### Cases that flicker\n\n- **nondeterministic** `lean_react × scripted` `shared/S1`: `the same recording"
        in found
    )


def test_a_long_history_fits_a_comment():
    """Cases are left out with their number, never the verdict."""
    names = ["S" + "x" * 290 + str(number) for number in range(300)]
    runs = [
        run(place, *(trial(name, state, lock={"p": state}) for name in names))
        for place, state in enumerate(("broken", "kept"))
    ]
    for most_bytes in (MOST_BYTES, 4000):
        found = markdown(told(*runs), most_bytes=most_bytes)

        assert len(found.encode()) <= most_bytes
        assert "more; `harness history --json` has all." in found
        assert found.startswith("## tapegate history: ROSE\n")


strangers = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "`",
        "``` x",
        "|",
        "\\|",
        "<script>x</script>",
        "[a](javascript:b)",
        "![](http://x)",
        "@all",
        "# x",
        "\n\n# x",
        "-->",
    ]
)


@given(past_trials(), strangers)
def test_no_name_becomes_markup(one, text):
    """Whatever cases and agents are called, there is no link, no image, no HTML but our own, and the tables are whole."""
    renamed = msgspec.structs.replace(one, agent=text, model=text, case=text, set=text, broken=(text,))
    kept = msgspec.structs.replace(renamed, verdict="kept", cassette_digest="new")
    found = markdown(told(run(1, renamed), run(2, kept), run(3, renamed), skipped=[SkippedRun(run=text, because=text)]))
    tokens = github.parse(found)
    inline = [child for token in tokens for child in token.children or ()]

    assert not [child for child in inline if child.type in {"link_open", "image"}]
    assert {"<code>", "</code>"} >= {child.content for child in inline if child.type == "html_inline"}
    assert not [token for token in tokens if token.type == "html_block"]
    assert {"h2", "h3"} >= {token.tag for token in tokens if token.type == "heading_open"}
