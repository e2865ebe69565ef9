"""The JSON Schema that editors use."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from harness.errors import BadFileError
from harness.goldensets.load import find_sets
from harness.goldensets.read import read_set
from harness.goldensets.schema import golden_schema, golden_schema_text
from harness.goldensets.yaml_tree import read_yaml

FOLDER = Path(__file__).parents[3] / "goldensets"
validator = jsonschema.Draft202012Validator(golden_schema())


def problems(text: str) -> list[str]:
    return [error.message for error in validator.iter_errors(read_yaml(text.encode(), shown="set.yaml").value)]


def test_committed_schema_is_current():
    """`goldensets/schema.json` is what the records say today."""
    assert golden_schema_text() == (FOLDER / "schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", find_sets(FOLDER).values(), ids=lambda path: path.stem)
def test_committed_sets_fit_the_schema(path):
    """What the loader takes, the editor takes; and the header that tells the editor is there."""
    text = path.read_text(encoding="utf-8")

    assert [] == problems(text)
    assert text.startswith("# yaml-language-server: $schema=schema.json\n")


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("{id: a, qestion: Hi?}", "Additional properties are not allowed ('qestion' was unexpected)"),
        ("{question: Hi?}", "'id' is a required property"),
        ("{id: a, at: x}", "Additional properties are not allowed ('at' was unexpected)"),
        ("{id: a, plan: maybe}", "'maybe' is not one of ['none', 'required', 'either']"),
    ],
)
def test_editors_see_mistakes(case, said):
    """Unknown keys, missing ones and wrong words are underlined."""
    assert [said] == problems(f"cases: [{case}]")


def test_example_of_the_readme_loads():
    """The set that the README shows is one."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    example = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0]

    golden = read_set(example.encode(), name="weather", shown="goldensets/weather.yaml")

    assert ["weather", "two-cities"] == [case.id for case in golden.cases]
    assert [] == problems(example)


def test_mistake_of_the_readme_is_told_as_it_shows():
    """The error text in the README is the one that people see."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    example = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0].replace("question:", "qestion:", 1)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)[0]

    with pytest.raises(BadFileError) as caught:
        read_set(example.encode(), name="weather", shown="goldensets/weather.yaml")

    assert shown.strip() == str(caught.value)
