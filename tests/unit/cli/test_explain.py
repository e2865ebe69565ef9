"""`harness explain`: codes, contracts, agents, schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from harness.cli.codes import CODES
from harness.contracts.markdown import CODES as MARKDOWN
from harness.reports.documents import DOCUMENTS, schema_of

REPO = Path(__file__).parents[3]


def test_a_code_is_explained_with_its_exit_code(harness):
    """What it means and what to do; no project is needed."""
    assert harness("explain", "cassette-missing").out == (
        "cassette-missing (exit 3): A declared cell has no cassette\n\nhint: harness record --mode missing\n"
    )


@pytest.mark.parametrize("code", [*CODES, *MARKDOWN])
def test_every_code_can_be_asked_for(harness, code, tmp_path, monkeypatch):
    """Outside of any project too."""
    monkeypatch.chdir(tmp_path)

    document = harness("explain", code, "--json").document
    jsonschema.validate(document, schema_of("explain"))
    assert (document["name"], document["kind"]) == (code, "code")


def test_an_agent_is_explained_in_its_own_words(project, harness):
    """Its module's docstring, its profiles, its options with defaults."""
    text = harness("explain", "lean_react").out

    assert text.startswith("lean_react: one loop with native tool calls")
    assert "profiles: reference, seed_literal\n" in text
    assert "max_steps" in text
    assert "(default 20)" in text
    assert harness("explain", "lean_react@seed_literal", "--json").document["kind"] == "agent"


def add_to_the_agent(project: Path, code: str) -> None:
    """Put *code* at the end of the lean design's module."""
    path = project / "agents" / "lean_react" / "agent.py"
    path.write_text(f"{path.read_text()}\n\n{code}")


def test_an_agent_that_draws_itself_is_shown(project, harness):
    """The picture stands below the options."""
    add_to_the_agent(project, 'def draw():\n    return "question ─▶ answer\\x1b[31m"\n')

    assert harness("explain", "lean_react").out.endswith("\n\nquestion ─▶ answer\\x1b[31m\n")


def test_a_picture_that_fails_is_told(project, harness):
    """The rest of what there is to know of the agent stands all the same."""
    add_to_the_agent(project, "def draw():\n    return 1 / 0\n")
    text = harness("explain", "lean_react").out

    assert "profiles: reference, seed_literal\n" in text
    assert text.endswith("(its picture cannot be drawn: ZeroDivisionError: division by zero)\n")


@pytest.mark.parametrize("agent", sorted(path.parent.name for path in REPO.glob("agents/*/agent.py")))
def test_every_design_is_explained(project, harness, agent):
    """What it is, its profiles, and help for each of its options."""
    text = harness("explain", agent).out

    assert text.startswith(f"{agent}: ")
    assert "profiles: reference" in text
    assert "  (default" not in text


def test_a_contract_is_explained(project, harness):
    """Its version, its kind, the designs that it is for, and its rule."""
    text = harness("explain", "CX13").out

    assert text.startswith("CX13 (version 1, behavioural: depends on the model, for every design)\n\nA simple question")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_schema_is_a_valid_schema(harness, name):
    """Published as JSON Schema 2020-12, and each of its objects requires all that it names."""
    schema = json.loads(harness("explain", f"schema:{name}").out)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"harness {name}"
    objects = [each for each in schema.get("$defs", {}).values() if "properties" in each]
    assert all(list(each["properties"]) == each["required"] for each in objects)


@pytest.mark.parametrize(
    ("name", "committed"), [("golden-set", "goldensets/schema.json"), ("script", "goldensets/scripts/schema.json")]
)
def test_the_files_that_people_write_have_schemas_too(harness, name, committed):
    """The same that editors complete by."""
    assert json.loads((REPO / committed).read_text()) == json.loads(harness("explain", f"schema:{name}").out)


def test_an_error_document_keeps_to_its_schema(project, harness):
    """The document of every command that cannot do its work."""
    document = harness("explain", "nonsense", "--json").document

    jsonschema.validate(document, schema_of("error"))
    assert document["error"]["code"] == "no-such-topic"


@pytest.mark.parametrize(
    ("topic", "suggestion"),
    [("cassete-miss", "cassette-miss"), ("lean_raect", "lean_react"), ("schema:runs", "schema:run"), ("CL99", "CL9")],
)
def test_an_unknown_topic_suggests_the_nearest(project, harness, topic, suggestion):
    """Codes, agents, contracts and schemas are all searched."""
    assert f"did you mean `{suggestion}`?" in harness("explain", topic).err


def test_an_unknown_schema_names_those_that_there_are(harness):
    """Nothing else lists them, and the nearest name may be far."""
    told = harness("explain", "schema:judge").err

    assert "error[no-such-topic]: nothing is known of `schema:judge`" in told
    assert "there are schema:run, " in told
    assert told.rstrip().endswith(", schema:golden-set, schema:script")
    assert "schema:judge-calibrate" in told
