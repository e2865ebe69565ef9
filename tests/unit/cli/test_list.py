"""`harness list`: what there is, as a table and as JSON."""

from __future__ import annotations

import jsonschema
import pytest

from harness.reports.documents import schema_of


@pytest.mark.parametrize(
    ("what", "name"), [("agents", "lean_react"), ("sets", "shared"), ("contracts", "CX13"), ("models", "scripted")]
)
def test_each_list_names_what_there_is(project, harness, what, name):
    """One row a thing on stdout, and the same names in the document, which keeps to its schema."""
    document = harness("list", what, "--json").document
    listed = harness("list", what).out

    jsonschema.validate(document, schema_of("list"))
    names = [item["name"] for item in document]
    assert name in names
    assert all(item["about"] for item in document)
    assert all(each in listed for each in names)


def test_agents_say_their_profiles_and_options(project, harness):
    """What a cell can be named after."""
    agents = {agent["name"]: agent for agent in harness("list", "agents", "--json").document}

    assert {"lean_react", "plan_execute", "ultrathink", "deep_think", "two_phase", "newsdesk"} <= set(agents)
    assert {"plan_execute"} >= {name for name in agents if "seed_literal" not in agents[name]["profiles"]}
    assert ["reference", "seed_literal"] == agents["lean_react"]["profiles"]
    assert agents["lean_react"]["more"]["options"]["max_steps"] == 20


def test_declared_models_are_listed_with_who_answers(project, harness):
    """A local model carries its server."""
    (project / "pyproject.toml").write_text(
        '[tool.harness.models."small"]\nanswered_by = "local"\nserver = "llama.cpp b1"\nask_for = "small-q4"\n'
    )

    models = harness("list", "models", "--json").document
    assert ["scripted", "small"] == [model["name"] for model in models]
    assert models[1] == {
        "name": "small",
        "profiles": [],
        "about": "llama.cpp b1",
        "more": {"answered_by": "local", "ask_for": "small-q4"},
    }


def test_nothing_to_list_is_said_on_stderr(project, harness):
    """stdout is for data, and there is none."""
    (project / "pyproject.toml").write_text('[tool.harness]\nagents = "none"\n')

    ended = harness("list", "agents")
    assert (ended.code, ended.out, ended.err) == (0, "", "no agents in this project\n")
    assert harness("list", "agents", "--json").document == []


def test_a_wrong_word_lists_the_right_ones(harness):
    """argparse names the choices, in words that differ from one Python to the next."""
    error = harness("list", "agnets").err

    assert error.startswith("error[bad-arguments]: argument what: invalid choice: 'agnets'")
    assert "contracts" in error


def test_contracts_come_in_the_order_of_their_numbers(harness):
    """CX2 comes before CX10, and the common ones before those of a design."""
    names = [item["name"] for item in harness("list", "contracts", "--json").document]

    assert [f"CX{n}" for n in range(1, 16)] == names[:15]
    assert names.index("CD2") < names.index("CD10")
