"""Pydantic's twins of the records: what goes in comes out, and nothing else does."""

from __future__ import annotations

import msgspec
import pydantic
import pytest

from harness.goldensets.validation import Validation
from harness.records.case import Fact, Facts, GoldenCase, ImageContent, Leg, TextContent, ToolRule, ToolRules

FORM = Validation(GoldenCase)
FULL = GoldenCase(
    id="a", content=(TextContent(text="What is this?"), ImageContent(image="images/a.png")),
    facts=Facts(all=(Fact(number=7.5, tolerance=0.5),), none=(Fact(text="nine"),)),
    tools=ToolRules(required=(ToolRule(tool="search_*", args={"deep": {"er": [1, None]}}),), allowed=("a", "b")),
    legs=(Leg(stop_after={"state_saved": 1}), Leg(resume=True)), advisory={"*": ("CX1",)}, options={"n": 1},
)  # fmt: skip


@pytest.mark.parametrize("case", [GoldenCase(id="a"), FULL])
def test_a_record_written_and_read_is_the_same(case):
    """A case with its defaults, and one with records in records, come back equal and as records."""
    read = FORM.read(msgspec.json.encode(case))

    assert case == read
    assert isinstance(read.facts, Facts)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{"id": "a", "quetsion": "?"}', ("quetsion",)),
        (b'{"id": "a", "facts": {"all": [{"txt": "x"}]}}', ("facts", "all", 0, "txt")),
        (b'{"id": "a", "trials": "2"}', ("trials",)),
        (b"{}", ("id",)),
    ],
)
def test_what_does_not_fit_is_refused_at_its_place(content, place):
    """An unknown key, a wrong type without any leniency and a missing key are told by their path."""
    with pytest.raises(pydantic.ValidationError) as caught:
        FORM.read(content)

    assert place == caught.value.errors()[0]["loc"]


def test_two_cases_do_not_share_their_mappings():
    """A default that can be changed is made anew for each record."""
    one, other = FORM.read(b'{"id": "a"}'), FORM.read(b'{"id": "b"}')

    assert one.options is not other.options
