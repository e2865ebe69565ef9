"""The committed golden sets: names that exist, facts that the world bears out, and cases that mean what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.contracts.catalogue import builtin, contracts_for
from harness.contracts.view import CONTROL_TOOLS
from harness.goldensets.lint import lint
from harness.goldensets.load import find_sets, load_set
from harness.records.tool import as_tool
from harness.worlds import find_world
from harness.worlds.world import EMPTY
from harness.worlds.world_file import list_worlds

FOLDER = Path(__file__).parents[2] / "goldensets"
SETS = {name: load_set(path) for name, path in find_sets(FOLDER).items()}
CASES = [case for golden in SETS.values() for case in golden.cases]
DESIGNS = ("lean_react", "plan_execute", "ultrathink", "deep_think", "two_phase", "newsdesk")
LANGUAGES = ("de", "en", "pt", "ru", "zh")
BY_DESIGN = re.compile(r"C[LPUDEG]\d+")


def fact_numbers(id: str) -> list[float]:
    return [fact.number for case in CASES if case.id == id for fact in case.facts.all if fact.number is not None]


def test_cases_are_the_declared_ones():
    """Every shared question with its language variants, and every one of the lean loop."""
    shared = "S1-de S1-en S2-en S2-pt S3-de S3-en S4 S5-pt S5-en S6-de S6-en S7 S8-pt S8-en S9 S10-ru S10-en S11"

    assert f"{shared} S12-zh S12-en" == " ".join(case.id for case in SETS["shared"].cases)
    assert [f"L-G{n}" for n in range(1, 11)] == [case.id for case in SETS["lean_react"].cases]


@pytest.mark.parametrize("name", SETS)
def test_every_name_exists(name):
    """Contracts, in `advisory` too, and worlds are known."""
    assert [] == [
        str(problem) for problem in lint(SETS[name], contracts=builtin(), worlds=[*list_worlds(FOLDER), EMPTY])
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_contracts_can_be_read(case):
    """What a case states in the operator language is a contract, for each design."""
    stated = {entry.get("name") if isinstance(entry, dict) else entry for entry in case.contracts} - {None}

    for design in case.designs or DESIGNS:
        found = {contract.id for contract in contracts_for(case, design, builtin())}
        assert {name for name in stated - found if not BY_DESIGN.fullmatch(name)} == set()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_world_offers_what_a_case_requires(case):
    """A tool that must be called is on the belt, its arguments fit its schema, and the world can be opened."""
    belt = {tool.name: tool for tool in map(as_tool, find_world(FOLDER, case.world or EMPTY).open().tools)}

    for rule in case.tools.required:
        if "*" in rule.tool or rule.tool in CONTROL_TOOLS:  # these are the design's own
            continue
        assert rule.tool in belt
        assert set(rule.args) <= set(belt[rule.tool].spec.parameters["properties"])


def test_facts_are_those_of_the_world():
    """Numbers that the cases expect are computed from the world's own rows."""
    world = find_world(FOLDER, "newsroom").open()
    budgets = {
        row["id"]: int(row["text"].split("Budget: ")[1].split(" EUR")[0].replace(" ", ""))
        for row in world.rows("SELECT * FROM documents WHERE text LIKE '%Budget:%'")
    }
    irrelevant = world.rows(
        "SELECT count(*) AS n FROM clusters WHERE data = ? AND 'IRRELEVANTE' IN (prioridade, tag)", world.today
    )
    weather = {row["city"]: row["temperature_c"] for row in world.rows("SELECT * FROM weather")}

    assert [weather["Berlin"]] == fact_numbers("S1-de") == fact_numbers("L-G1")
    assert [budgets["alpha"], budgets["beta"], budgets["alpha"] - budgets["beta"]] == fact_numbers("S3-de")
    assert fact_numbers("S3-de") == fact_numbers("L-G3") == fact_numbers("L-G5")
    assert [irrelevant[0]["n"]] == fact_numbers("S4")
    assert [budgets["gamma-archiv"]] == fact_numbers("S6-en") == fact_numbers("L-G4")
    assert [sum(budgets.values())] == fact_numbers("S7")
    assert [7, 19, weather["Lisbon"] - weather["Berlin"]] == fact_numbers("L-G10")
    assert ["P1_CRITICO"] == [row["prioridade"] for row in world.rows("SELECT * FROM clusters WHERE id = 102")]


def test_language_variants_differ_in_language_alone():
    """Variants of a question have the same class, plan, writes, limits, world and model; shared ones the same tools too."""
    families: dict[str, set[str]] = {}
    for case in CASES:
        family, _, lang = case.id.rpartition("-")
        if lang in LANGUAGES:
            families.setdefault(family, set())
    for case in CASES:
        head, _, lang = case.id.rpartition("-")
        family = head if lang in LANGUAGES else case.id
        if family in families:
            same = [case.class_, case.plan, case.writes, case.intent, case.limits, case.world, case.model]
            if case in SETS["shared"].cases:  # elsewhere what is written or said is in the language of the case
                same += [case.tools, case.contracts]
            families[family].add(json.dumps(same, default=str))

    assert {} == {family: told for family, told in families.items() if len(told) > 1}
    assert 8 == len([family for family in families if family.startswith("S")])


def test_simple_cases_may_not_plan():
    """The policy of both sets holds every simple case."""
    assert [] == [case.id for case in CASES if case.class_ == "simple" and "CX13" not in case.contracts]


def test_cases_of_one_path_only_are_tagged():
    """What only a scripted model does on demand is tagged, so that real models need not be asked."""
    assert ["L-G7", "L-G8", "L-G9"] == [case.id for case in SETS["lean_react"].cases if "scripted" in case.tags]
    assert [] == [case.id for case in SETS["shared"].cases if "scripted" in case.tags]
