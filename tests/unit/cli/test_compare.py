"""`harness compare` in a scratch project: what it takes, what it refuses, and how it ends."""

from __future__ import annotations

import shutil

import jsonschema
import msgspec
import pytest

from harness.errors import ExitCode
from harness.reports.documents import schema_of
from harness.reports.runs import read_results

TWIN = 'agents = ["lean_react", "twin"]'


@pytest.fixture
def twins(project):
    """The project with a second design, a copy of the first one with its recordings."""
    shutil.copytree(project / "agents" / "lean_react", project / "agents" / "twin")
    shutil.copytree(project / "cassettes" / "lean_react", project / "cassettes" / "twin")
    pyproject = project / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace('agents = ["lean_react"]', TWIN))
    return project


@pytest.fixture
def run(twins, harness):
    """The id of a run of both designs."""
    return harness("run", "--json").document["run"]


def rewritten(project, run, name, change):
    """A copy of *run* by another *name*, with *change* applied to each verdict."""
    folder = project / "reports" / "runs" / name
    shutil.copytree(project / "reports" / "runs" / run, folder)
    verdicts = [change(verdict) for verdict in read_results(folder)]
    (folder / "results.jsonl").write_bytes(b"".join(msgspec.json.encode(verdict) + b"\n" for verdict in verdicts))
    return folder


def changed(record, /, **fields):
    """*record* with other *fields*."""
    return msgspec.structs.replace(record, **fields)


def test_the_matrix_is_replayed_first(twins, harness):
    """Without RUN: a run folder appears, and the comparison is about it."""
    ended = harness("compare", "--json")
    (run,) = (twins / "reports" / "runs").iterdir()

    jsonschema.validate(ended.document, schema_of("compare"))
    assert (ExitCode.PASS, 0, run.name) == (ended.code, ended.document["exit_code"], ended.document["run"])
    assert [("lean_react", 2), ("twin", 2)] == [(one["agent"], one["cases"]) for one in ended.document["designs"]]
    assert ["S1-en", "S2-en"] == [row["case"] for row in ended.document["matrix"]]
    assert [[None], [None]] == [[part["divergence"] for part in row["why"]] for row in ended.document["matrix"]]


def test_a_stored_run_is_compared_as_it_is(run, twins, harness):
    """By a unique part of its id; nothing is replayed."""
    ended = harness("compare", run[-4:])

    assert (ExitCode.PASS, "") == (ended.code, ended.err)
    assert ended.out.startswith("shared: 2 designs answered by scripts, 2 cases that all of them ran\n")
    assert ended.out.endswith(f"COMPARED  2 designs on 2 cases, 1 pair; run {run}\n")
    assert [run] == [path.name for path in (twins / "reports" / "runs").iterdir()]


def test_markdown_is_for_a_page(run, harness):
    """The same as a document for people."""
    out = harness("compare", run, "--format", "markdown").out

    assert out.startswith(
        "## Designs compared: COMPARED\n\n2 designs on 2 cases, 1 pair.\n\n### `shared`, answered by: scripted\n"
    )
    assert out.endswith(f"Replayed offline: no sample is new. Run `{run}`.\n")


def test_where_designs_part_is_read_from_the_traces(run, twins, harness):
    """Of both; a trial without a trace is passed over."""
    (trace,) = (twins / "reports" / "runs" / run / "traces").glob("twin*S1-en*")
    trace.write_text(trace.read_text(encoding="utf-8").replace('"city":"Berlin"', '"city":"Bern"'), encoding="utf-8")
    (gone,) = (twins / "reports" / "runs" / run / "traces").glob("twin*S2-en*")
    gone.unlink()

    first, second = harness("compare", run, "--json").document["matrix"]
    assert '`get_weather` with `city` "Berlin", against "Bern"' == first["why"][0]["divergence"]["because"]
    assert [] == second["why"]


def test_flags_narrow_what_is_compared(run, harness):
    """Agents in the order in which they are named, after the run; sets, models and cases."""
    ended = harness(
        "compare", run, "twin", "lean_react", "--set", "shared", "--model", "scripted", "--case", "S1*", "--json"
    )

    assert ["twin", "lean_react"] == [one["agent"] for one in ended.document["designs"]]
    assert ["S1-en"] == [row["case"] for row in ended.document["matrix"]]


def test_a_stale_run_is_refused(run, twins, harness):
    """As the gate refuses it, unless it is asked for as it is stored."""
    agent = twins / "agents" / "twin" / "agent.py"
    agent.write_text(agent.read_text() + "\n# changed\n")

    refused = harness("compare", run)
    assert (ExitCode.COULD_NOT_CHECK, "") == (refused.code, refused.out)
    assert refused.err.startswith(f"error[stale-run]: run `{run}` was made before these changed: agent `twin`")
    assert ExitCode.PASS == harness("compare", run, "--stored").code


def test_a_local_model_that_fails_everything(run, twins, harness):
    """Samples of two designs that keep nothing: exit 5, and what would tell."""
    rewritten(
        twins, run, "failed",
        lambda v: changed(v, provenance="local", model="small", verdict="broken", cassette_digest=f"{v.agent}{v.case}"),
    )  # fmt: skip

    ended = harness("compare", "failed", "--stored", "--json")
    (pair,) = ended.document["pairs"]
    assert (ExitCode.INCONCLUSIVE, 5) == (ended.code, ended.document["exit_code"])
    assert (0, 0, 2, "mcnemar_exact", 1.0) == (
        pair["wins"], pair["losses"], pair["ties"], pair["test"], pair["p_value"],
    )  # fmt: skip
    assert ended.document["needs_trials"] == pair["needs_trials"] > 2
    assert [[0.0, 0.0], [2, 2]] == [
        [one["kept_rate"] for one in ended.document["designs"]], [one["trials"] for one in ended.document["designs"]],
    ]  # fmt: skip


def test_designs_that_were_answered_in_different_ways(run, twins, harness):
    """Named, they are refused; unnamed, each is without a rival, and nothing is compared."""
    rewritten(twins, run, "mixed", lambda v: changed(v, provenance="local", model="small") if v.agent == "twin" else v)

    refused = harness("compare", "mixed", "lean_react", "twin", "--stored")
    assert ExitCode.USAGE == refused.code
    assert refused.err == (
        "error[unlike-provenance]: `lean_react` was answered by scripts, and `twin` by a local model: such trials are never"
        " compared\n\nhint: record both with the same model, or name designs and models that were answered alike\n"
    )
    unnamed = harness("compare", "mixed", "--stored")
    assert ExitCode.NOTHING_COMPARED == unnamed.code
    assert "shared: S1-en, S2-en left out: lean_react × scripted alone ran it" in unnamed.out
    assert "shared: S1-en, S2-en left out: twin × small alone ran it" in unnamed.out


def test_a_trial_that_could_not_be_checked(twins, harness):
    """Exit 3; the other case is compared."""
    (twins / "cassettes" / "twin" / "scripted" / "shared" / "S1-en.0.yaml").unlink()

    ended = harness("compare")
    assert ExitCode.COULD_NOT_CHECK == ended.code
    assert "shared: S1-en left out: could not be checked: cassette-missing" in ended.out
    assert "COULD NOT CHECK  1 trial without a verdict; otherwise 2 designs on 1 case" in ended.out


def test_another_recorded_world_is_no_comparison(run, twins, harness):
    """A design that saw other rows: the case is left out, and the exit code says so."""
    rewritten(
        twins, run, "worlds",
        lambda v: changed(v, lock=changed(v.lock, world="other")) if (v.agent, v.case) == ("twin", "S1-en") else v,
    )  # fmt: skip

    ended = harness("compare", "worlds", "--stored")
    assert ExitCode.COULD_NOT_CHECK == ended.code
    assert "shared: S1-en left out: not the same recorded world for all of them" in ended.out


def test_one_design_alone(project, harness):
    """By name a usage error with a hint; in the matrix, nothing was compared."""
    named = harness("compare", "lean_react")
    unnamed = harness("compare")

    assert ExitCode.USAGE == named.code
    assert named.err.startswith(
        "error[one-design]: `lean_react` alone has nothing to be compared with\n\nhint: name another"
    )
    assert ExitCode.NOTHING_COMPARED == unnamed.code
    assert "NOTHING COMPARED  no two designs of one provenance answered the same case" in unnamed.out


def test_a_set_that_a_design_does_not_run(twins, harness):
    """It is refused before anything is replayed."""
    pyproject = twins / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace(TWIN, 'agents = ["lean_react"]'))
    shutil.rmtree(twins / "cassettes" / "twin")

    ended = harness("compare", "lean_react", "twin", "--set", "shared")
    assert ExitCode.USAGE == ended.code
    assert ended.err.startswith(
        "error[unlike-sets]: `twin × scripted` does not run the set `shared`: the matrix does not declare it, and nothing"
    )
    assert not (twins / "reports" / "runs").exists()


def test_a_design_outside_of_the_matrix_with_recordings(twins, harness):
    """Who has recordings can be compared, declared or not."""
    pyproject = twins / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace(TWIN, 'agents = ["lean_react"]'))

    assert ExitCode.PASS == harness("compare", "lean_react", "twin", "--case", "S1-en", "--case", "S2-en").code


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["lean_rect"], "error[no-such-agent]: `lean_rect` is neither a stored run nor an agent\n\nhint: did you mean `lean_react`?"),
        (["twin", "lean_rect"], "error[no-such-agent]: `lean_rect` is neither a stored run nor an agent"),
        (["--stored"], "error[bad-arguments]: --stored goes with RUN"),
        (["--set", "shard"], "error[no-such-set]: "),
        (["--case", "nothing"], "error[no-such-case]: "),
        (["twin", "--write"], "error[bad-arguments]: --write goes with --set alone: "),
        (["--format", "html"], "error[bad-arguments]: argument --format: invalid choice: 'html'"),
    ],
)  # fmt: skip
def test_words_that_mean_nothing(twins, harness, words, error):
    """Each is a usage error that says what would do."""
    ended = harness("compare", *words)

    assert (ExitCode.USAGE, "") == (ended.code, ended.out)
    assert ended.err.startswith(error)
    assert "\n\nhint: " in ended.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["plan_execute"], "has no trial of the agent `plan_execute`\n\nhint: it has: lean_react, twin\n"),
        (["--set", "newsdesk"], "has no trial of the set `newsdesk`\n\nhint: it has: shared\n"),
        (["--model", "big"], "has no trial of the model `big`\n\nhint: it has: scripted\n"),
    ],
)
def test_a_run_that_has_no_such_trial(run, harness, words, error):
    """A misspelt flag must not leave the others to be compared."""
    ended = harness("compare", run, *words)

    assert (ExitCode.USAGE, f"error[not-in-run]: run `{run}` {error}") == (ended.code, ended.err)


def test_a_part_of_an_id_that_is_not_unique(run, harness):
    """It is said of the run, and not taken for an agent."""
    harness("run")

    assert harness("compare", run[:8]).err.startswith("error[no-such-run]: ")


def test_writing_what_is_committed(twins, harness):
    """Files of each set; a second time there is nothing to write."""
    first = harness("compare", "--write")
    again = harness("compare", "--write")

    assert (ExitCode.PASS, "wrote reports/comparison/shared.md\nwrote reports/comparison/shared.json\n") == (
        first.code, first.err,
    )  # fmt: skip
    assert "reports/comparison already says so; nothing was written\n" == again.err
    assert "run `" not in (twins / "reports" / "comparison" / "shared.md").read_text().lower().replace(
        "harness run", ""
    )


def test_ci_does_not_write(twins, harness, monkeypatch):
    """Unless it is told to."""
    monkeypatch.setenv("CI", "true")

    refused = harness("compare", "--write")
    assert (ExitCode.USAGE, "") == (refused.code, refused.out)
    assert refused.err.startswith("error[ci-write]: comparisons are not written in CI: ")
    assert not (twins / "reports" / "comparison").exists()
    assert ExitCode.PASS == harness("compare", "--write", "--allow-ci-write").code


def test_what_is_not_whole_is_not_written(twins, harness):
    """The comparison is printed all the same, as one document."""
    (twins / "cassettes" / "twin" / "scripted" / "shared" / "S1-en.0.yaml").unlink()

    ended = harness("compare", "--write", "--json")
    assert (ExitCode.COULD_NOT_CHECK, 3) == (ended.code, ended.document["exit_code"])
    assert "nothing was written: the comparison is not whole\n" == ended.err
    assert not (twins / "reports" / "comparison").exists()


def test_the_help_tells_each_exit_code(harness):
    """What CI may rely on."""
    out = " ".join(harness("compare", "--help").out.split())

    assert (
        "Exit codes: 0 compared; 2 asked for what is never compared; 3 a trial could not be checked, or was not the same for"
        in out
    )
    assert (
        "4 no two designs answered the same case; 5 only samples were compared, and every pair is left to chance" in out
    )
