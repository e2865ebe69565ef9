"""The JSON Schema of golden sets, for editors; `goldensets/schema.json` is its committed form."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from harness.goldensets.read import POLICY_WHEN, SET_BY_LOADER, SET_FORMAT
from harness.goldensets.validation import Validation
from harness.records import case as case_records
from harness.records.case import GoldenCase, Policy
from harness.records.messages import Json

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def golden_schema() -> dict[str, Json]:
    """The schema of a golden set as a person writes it, friendly forms included."""
    case = Validation(GoldenCase).json_schema()
    policy = Validation(Policy).json_schema()
    definitions = case.pop("$defs")
    definitions |= {"GoldenCase": _as_written(case), "Policy": policy}
    _describe(definitions)
    _befriend(definitions)
    policy["properties"]["when"]["propertyNames"] = {"enum": list(POLICY_WHEN)}
    return {
        "$schema": SCHEMA_ID,
        "title": "Golden set",
        "description": "Cases that agents are held to, and policies over them.",
        "type": "object",
        "additionalProperties": False,
        "required": ["cases"],
        "properties": {
            "format": {"const": SET_FORMAT, "description": "Version of this format."},
            "about": {"type": "string", "description": "What the set is for, in one sentence."},
            "world": {"type": "string", "description": "The world of every case that names none itself."},
            "policies": {"type": "array", "items": {"$ref": "#/$defs/Policy"}},
            "cases": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/GoldenCase"}},
        },
        "$defs": dict(sorted(definitions.items())),
    }


def golden_schema_text() -> str:
    """The content of `goldensets/schema.json`."""
    return json.dumps(golden_schema(), indent=2, ensure_ascii=False) + "\n"


def _as_written(case: dict[str, Json]) -> dict[str, Json]:
    """A case without what the loader sets, its `class` named as in YAML."""
    properties = {
        ("class" if name == "class_" else name): value
        for name, value in case["properties"].items()
        if name not in SET_BY_LOADER
    }
    return {**case, "properties": properties}


def _describe(definitions: dict[str, Json]) -> None:
    """Put the docstrings of the records' fields into the schema; titles made of names only repeat them."""
    told = _field_docstrings(Path(case_records.__file__))
    told["GoldenCase", "class_"] = "What kind of question it is; policies and contracts go by `simple` and `complex`."
    for record, schema in definitions.items():
        schema.pop("title", None)
        for name, value in schema["properties"].items():
            value.pop("title", None)
            field = "class_" if name == "class" else name
            if text := told.get((record, field)):
                schema["properties"][name] = {**value, "description": text}


def _befriend(definitions: dict[str, Json]) -> None:
    """Allow the friendly forms: a fact as a bare text or number, a required tool as its bare name."""
    for kind in definitions["Facts"]["properties"].values():
        kind["items"] = {"anyOf": [{"type": "string"}, {"type": "number"}, kind["items"]]}
    required = definitions["ToolRules"]["properties"]["required"]
    required["items"] = {"anyOf": [{"type": "string"}, required["items"]]}


def _field_docstrings(source: Path) -> dict[tuple[str, str], str]:
    """The string under each field of each class of *source*, by class and field."""
    told = {}
    for record in ast.parse(source.read_text(encoding="utf-8")).body:
        if not isinstance(record, ast.ClassDef):
            continue
        for field, below in zip(record.body, record.body[1:], strict=False):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                    told[record.name, name] = " ".join(text.split())
    return told
