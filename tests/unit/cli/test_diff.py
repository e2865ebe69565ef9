"""`harness diff`, on real runs of the reference agents in a scratch project."""

from __future__ import annotations

import shutil

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.reports.documents import schema_of


@pytest.fixture
def run(project, harness):
    """The id of a run of both recorded cases."""
    return harness("run", "--json").document["run"]


def altered(project, run, name, old, new):
    """A copy of *run* by another *name*, with *old* replaced by *new* in the trace of S1-en."""
    folder = project / "reports" / "runs" / name
    shutil.copytree(project / "reports" / "runs" / run, folder)
    (trace,) = (folder / "traces").glob("*S1-en*")
    text = trace.read_text(encoding="utf-8")
    assert old in text
    trace.write_text(text.replace(old, new), encoding="utf-8")


def test_two_runs_of_the_same_recordings_are_the_same(project, harness, run):
    """One line on stdout, and nothing on stderr."""
    again = harness("run", "--json").document["run"]

    ended = harness("diff", run, again)
    assert (ended.code, ended.out, ended.err) == (ExitCode.PASS, "2 trials compared: 2 the same, 0 different\n", "")


def test_a_changed_argument_is_shown(project, harness, run):
    """That trajectories differ is no failure: the gate decides, with contracts."""
    altered(project, run, "changed", '"city":"Berlin"', '"city":"Bern"')

    ended = harness("diff", run, "changed", "--case", "S1*")
    assert (ended.code, ended.err) == (ExitCode.PASS, "")
    assert '  they part at step 1: `get_weather` with `city` "Berlin", against "Bern"\n' in ended.out
    assert '!     args.city: "Berlin" → "Bern"\n' in ended.out
    assert ended.out.endswith("1 trial compared: 0 the same, 1 different\n")


def test_markdown_is_for_a_page(project, harness, run):
    """The same view in a fence."""
    altered(project, run, "changed", '"city":"Berlin"', '"city":"Bern"')

    out = harness("diff", run, "changed", "--format", "markdown").out
    assert out.startswith(
        f"## Trajectories: `{run}` → `changed`\n\n### `lean_react × scripted shared/S1-en`\n\n```diff\n"
    )
    assert '!     args.city: "Berlin" → "Bern"\n' in out


def test_the_document_is_what_its_schema_says(project, harness, run):
    """Real output against the published schema."""
    altered(project, run, "changed", '"city":"Berlin"', '"city":"Bern"')

    document = harness("diff", run, "changed", "--json").document
    jsonschema.validate(document, schema_of("diff"))
    assert [("S1-en", False), ("S2-en", True)] == [(trial["a"]["case"], trial["same"]) for trial in document["trials"]]


def test_two_agents_of_one_run(project, harness, run):
    """The same cases under two names of a design, trial by trial."""
    folder = project / "reports" / "runs" / "two"
    shutil.copytree(project / "reports" / "runs" / run, folder)
    results = folder / "results.jsonl"
    own = results.read_text(encoding="utf-8")
    results.write_text(own + own.replace('"agent":"lean_react"', '"agent":"other"'), encoding="utf-8")
    for trace in list((folder / "traces").iterdir()):
        shutil.copy(trace, trace.with_name(trace.name.replace("lean_react", "other")))

    ended = harness("diff", "two", "--agent", "lean_react", "--agent", "other")
    assert (ended.code, ended.out) == (ExitCode.PASS, "2 trials compared: 2 the same, 0 different\n")


def test_a_trial_without_a_trace_is_named(project, harness, run):
    """It was not compared, so the command does not pass."""
    altered(project, run, "lost", "Berlin", "Bern")
    for trace in (project / "reports" / "runs" / "lost" / "traces").glob("*S2-en*"):
        trace.unlink()

    ended = harness("diff", run, "lost", "--case", "S2-en")
    assert (ended.code, ended.out) == (
        ExitCode.COULD_NOT_CHECK,
        (
            "without a trace, so not compared: lean_react × scripted shared/S2-en\n"
            "0 trials compared: 0 the same, 0 different\n"
        ),
    )


def test_one_run_is_held_against_what_is_accepted(project, harness, run):
    """The closest of the accepted ways is named, and only what was done is compared."""
    harness("accept", "--reason", "first")
    same = harness("diff", run)
    assert (same.code, same.out) == (ExitCode.PASS, "2 trials compared: 2 the same, 0 different\n")

    altered(project, run, "changed", '"city":"Berlin"', '"city":"Bern"')
    ended = harness("diff", "changed", "--case", "S1*")
    assert (ended.code, ended.err) == (ExitCode.PASS, "")
    assert ended.out.startswith("DIFFERS lean_react × scripted shared/S1-en, against accepted way 1 of 1\n")
    assert '  they part at step 1: `get_weather` with `city` "Berlin", against "Bern"\n' in ended.out
    assert "the answer" not in ended.out
    document = harness("diff", "changed", "--json").document
    jsonschema.validate(document, schema_of("diff"))
    assert [("accepted", 1, 1, False), ("accepted", 1, 1, True)] == [
        (document["a"], trial["closest"], trial["accepted"], trial["same"]) for trial in document["trials"]
    ]


def test_one_run_without_anything_accepted_is_no_success(project, harness, run):
    """Exit 4, with the ways to compare it."""
    ended = harness("diff", run)

    assert (ended.code, ended.out) == (ExitCode.NOTHING_COMPARED, "")
    assert ended.err == (
        f"error[nothing-to-diff]: no trajectory is accepted for any of the 2 trials of {run}\n\n"
        'hint: name a second run, two agents of this one (`--agent A --agent B`), or `harness accept --reason "…"` first\n'
    )


def test_nothing_in_common_is_no_success(project, harness, run):
    """Exit 4, with what each run has."""
    ended = harness("diff", run, run, "--agent", "lean_react", "--agent", "deep_think")

    assert (ended.code, ended.out) == (ExitCode.NOTHING_COMPARED, "")
    assert ended.err == (
        f"error[nothing-to-diff]: no trial is in both: there are 2 in {run} and 0 in {run}\n\n"
        "hint: `harness diff --help` lists what narrows it\n"
    )


def test_differently_named_sides_are_hinted_at(project, harness, run):
    """Trials on both sides, none of which has a counterpart."""
    folder = project / "reports" / "runs" / "renamed"
    shutil.copytree(project / "reports" / "runs" / run, folder)
    results = folder / "results.jsonl"
    results.write_text(
        results.read_text(encoding="utf-8").replace('"agent":"lean_react"', '"agent":"b"'), encoding="utf-8"
    )

    ended = harness("diff", run, "renamed")
    assert ended.code == ExitCode.NOTHING_COMPARED
    assert ended.err.endswith("hint: give --agent, or --model, twice where the two are named differently\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("{run}", "{run}", "{run}"), "harness diff compares two runs, agents or models"),
        (("{run}", "{run}", *("--model", "m") * 3), "harness diff compares two runs, agents or models"),
        (("{run}", "{run}", "--trial", "-1"), "argument --trial: `-1` is no whole number of at least 0"),
        (("{run}", "{run}", "--trial", "x"), "argument --trial: `x` is no whole number of at least 0"),
        ((), "the following arguments are required: RUN"),
    ],
)
def test_wrong_words_are_a_usage_error(project, harness, run, words, told):
    """Said before anything is read."""
    ended = harness("diff", *(word.format(run=run) for word in words))

    assert (ended.code, ended.out) == (ExitCode.USAGE, "")
    assert ended.err.startswith(f"error[bad-arguments]: {told}\n\nhint: ")


def test_an_unknown_run_is_a_usage_error(project, harness, run):
    """With the newest there is."""
    ended = harness("diff", run, "nope")

    assert ended.code == ExitCode.USAGE
    assert ended.err == f"error[no-such-run]: no run named `nope`\n\nhint: the newest is `{run}`\n"
