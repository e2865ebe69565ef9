"""Tools: their schema comes from annotations, and what a model passes is held against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest

from harness.records.tool import ToolError, as_tool, is_tool, tool


@tool(effect="read", ms=120)
def get_weather(
    city: Annotated[str, "Name of the city"], days: int = 1, unit: Literal["c", "f"] | None = None
) -> dict[str, Any]:
    """Weather of a city."""
    return {"city": city, "days": days, "unit": unit}


def test_the_schema_is_the_signature() -> None:
    """Names, types, defaults and descriptions of parameters are the JSON Schema that models see."""
    spec = as_tool(get_weather).spec

    assert ("get_weather", "Weather of a city.") == (spec.name, spec.description)
    assert {
        "type": "object",
        "properties": {
            "city": {"description": "Name of the city", "type": "string"},
            "days": {"type": "integer", "default": 1},
            "unit": {"anyOf": [{"enum": ["c", "f"]}, {"type": "null"}], "default": None},
        },
        "required": ["city"],
        "additionalProperties": False,
    } == spec.parameters


def test_defaults_are_filled_in() -> None:
    """Arguments that a model leaves out take their defaults."""
    assert {"city": "Bonn", "days": 1, "unit": None} == as_tool(get_weather).check({"city": "Bonn"})


@pytest.mark.parametrize(
    ("args", "because"),
    [
        ({}, "Object missing required field `city`"),
        ({"city": 7}, "Expected `str`, got `int` - at `$.city`"),
        ({"city": "Bonn", "days": "2"}, "Expected `int`, got `str` - at `$.days`"),
        ({"city": "Bonn", "town": "Bonn"}, "Object contains unknown field `town`"),
    ],
)
def test_wrong_arguments_are_refused_by_field(args: dict[str, Any], because: str) -> None:
    """Nothing is guessed or converted: a wrong argument is named with its place."""
    with pytest.raises(ToolError) as caught:
        as_tool(get_weather).check(args)

    assert ("invalid_args", f"invalid arguments for get_weather: {because}") == (
        caught.value.kind,
        caught.value.message,
    )


def closure(answer: int) -> Callable[[], int]:
    """A tool that is defined anew each time."""

    @tool(effect="none")
    def ask() -> int:
        """Answer."""
        return answer

    return ask


def test_tools_that_are_defined_anew_share_a_schema_and_keep_their_function() -> None:
    """A world that defines its tools inside `build` pays for their schema once, and each trial calls its own."""
    one, two = as_tool(closure(1)), as_tool(closure(2))

    assert one.spec is two.spec
    assert (1, 2) == (one.function(), two.function())


def test_what_is_no_tool_says_so() -> None:
    """A function without the mark, or with a parameter that has no annotation, cannot be a tool."""

    @tool(effect="none")
    def bare(city):  # the mistake under test
        """Take anything."""

    assert not is_tool(len)
    with pytest.raises(TypeError, match="is not marked with @tool"):
        as_tool(closure)
    with pytest.raises(TypeError, match="tool bare: parameter city has no annotation"):
        as_tool(bare)
