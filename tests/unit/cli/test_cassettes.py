"""`harness cassettes`: check, show, why, scrub, export."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from harness.errors import ExitCode
from harness.reports.documents import schema_of

S1 = "cassettes/lean_react/scripted/shared/S1-en.0.yaml"


def test_sound_cassettes_have_no_problem(project, harness):
    """Every file belongs to a cell of the matrix and proves what it claims."""
    assert harness("cassettes", "check").out == "no problem in 2 cassettes\n"
    document = harness("cassettes", "check", "--json").document
    jsonschema.validate(document, schema_of("cassettes-check"))
    assert document == {"files": 2, "problems": []}


def test_problems_name_the_file_the_code_and_the_fix(project, harness):
    """A missing, an orphaned and a damaged cassette: exit 3."""
    folder = project / "cassettes" / "lean_react" / "scripted" / "shared"
    (folder / "S2-en.0.yaml").rename(folder / "S9-xx.0.yaml")

    ended = harness("cassettes", "check")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert ended.out.endswith("\n\n2 problems in 2 cassettes\n")
    assert (
        "S9-xx.0.yaml: no case of the matrix needs this cassette [cassette-orphan]\n  fix: delete the file\n"
        in ended.out
    )
    codes = {problem["code"] for problem in harness("cassettes", "check", "--json").document["problems"]}
    assert codes == {"cassette-missing", "cassette-orphan"}


def test_cassettes_of_profiles_are_no_orphans(project, harness):
    """Profiles stand outside the matrix; tests run them."""
    of_profile = project / "cassettes" / "lean_react@seed_literal" / "scripted" / "shared"
    of_profile.mkdir(parents=True)
    (of_profile / "S1-en.0.yaml").write_bytes((project / S1).read_bytes())

    assert harness("cassettes", "check", "--json").document == {"files": 3, "problems": []}


def test_a_cassette_is_shown_call_by_call(project, harness):
    """Who answered, and what was asked and answered in each call."""
    lines = harness("cassettes", "show", S1).out.splitlines()

    assert lines[0].startswith(f"{S1}, 2 calls, recorded ")
    assert lines[0].endswith(", answered by scripted: gpt-4.1-mini")
    assert "  asked     user: What is the weather in Berlin?" in lines
    document = harness("cassettes", "show", S1, "--json").document
    jsonschema.validate(document, schema_of("cassettes"))
    assert document["text"].splitlines() == lines


def test_a_hostile_cassette_cannot_steer_the_terminal(project, harness):
    """A recording is untrusted input."""
    path = project / S1
    path.write_text(path.read_text().replace("in Berlin, with rain", "in Berlin\\u001b[2J", 1))

    assert "\x1b" not in harness("cassettes", "show", S1).out


def test_a_cassette_that_replays_says_so(project, harness):
    """Nothing to explain is exit 0."""
    ended = harness("cassettes", "why", S1)

    assert (ended.code, ended.out) == (0, f"{S1} replays: every call of today's agent is in it\n")


def test_a_miss_is_explained_with_the_words_that_changed(project, harness):
    """The nearest recording, what differs, and the command."""
    prompts = project / "agents" / "lean_react" / "prompts.py"
    prompts.write_text(prompts.read_text().replace("Du ", "Sie ", 1))

    ended = harness("cassettes", "why", S1)
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert ended.out.startswith("[cassette-miss] ")
    assert "[-Du-]{+Sie+}" in ended.out
    command = "harness record shared --agent lean_react --model scripted --case S1-en --mode stale"
    assert ended.out.endswith(f"\n\nhint: if the change is meant, `{command}`\n")


def test_a_file_of_no_case_cannot_be_explained(project, harness):
    """The hint says where cassettes stand."""
    assert "cassettes stand at cassettes/<agent>/<model>/" in harness("cassettes", "why", "pyproject.toml").err


def test_secrets_are_taken_out(project, harness):
    """A file with one is written, a file without is not."""
    path = project / S1
    clean = path.read_bytes()
    path.write_bytes(
        clean.replace(b"What is the weather in Berlin?", b"What of sk-proj-abcdefghijklmnopqrstuvwx123456?")
    )

    document = harness("cassettes", "scrub", S1, str(Path(S1).with_name("S2-en.0.yaml")), "--json").document
    jsonschema.validate(document, schema_of("cassettes"))
    assert document["written"] == [S1]
    assert b"sk-proj" not in path.read_bytes()


def test_ci_does_not_scrub(project, harness, monkeypatch):
    """A recording is changed where the change is reviewed."""
    monkeypatch.setenv("CI", "true")

    assert harness("cassettes", "scrub", S1, "--json").document["error"]["code"] == "ci-write"


def test_an_export_is_what_vcrpy_writes(project, harness):
    """Without provenance and meta, on stdout or in a file."""
    exported = yaml.safe_load(harness("cassettes", "export", S1).out)
    harness("cassettes", "export", S1, "--to", "plain.yaml")

    assert exported.keys() == {"interactions", "version"}
    assert exported["interactions"][0].keys() == {"request", "response"}
    assert exported == yaml.safe_load((project / "plain.yaml").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show"], "show takes one PATH"),
        (["show", "a", "b"], "show takes one PATH"),
        (["scrub"], "scrub takes at least one PATH"),
        (["check", S1], "check takes no PATH: it reads them all"),
        (["show", S1, "--to", "x"], "show takes no --to"),
    ],
)
def test_wrong_words_are_exit_2(project, harness, words, message):
    """Each action takes what it needs."""
    document = harness("cassettes", *words, "--json").document

    assert (document["error"]["message"], document["exit_code"]) == (message, 2)


def test_a_file_that_cannot_be_written_is_exit_2(project, harness):
    """The reason is the system's."""
    assert (
        "nowhere/x cannot be written: No such file or directory"
        in harness("cassettes", "export", S1, "--to", "nowhere/x").err
    )


def test_a_file_that_is_not_there_is_exit_3(project, harness):
    """A missing cassette is missing, whoever asks."""
    assert harness("cassettes", "show", "cassettes/none.yaml").code == ExitCode.COULD_NOT_CHECK
