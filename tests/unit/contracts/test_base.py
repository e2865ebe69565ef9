"""What a contract is."""

from __future__ import annotations

import pytest

from harness.contracts import broken, contract, triggered
from harness.errors import BadFileError
from harness.testing.builders import answer, check, make_trace, reasons, tool_use


@contract("retrieve_before_answer", kind="B", version=2, designs=("news",), needs=("final_answer",))
def retrieve_before_answer(view, *, tool="search_docs"):
    """
    Each answer follows
    at least one call of *tool*.

    More words.
    """
    for final in view.finals:
        yield triggered(final)
        if not any(use.tool == tool and use.event.seq < final.seq for use in view.uses):
            yield broken(final, f"answered without calling `{tool}`")


def test_a_contract_says_what_it_is():
    """Its id, kind, version, designs and the first sentence of its docstring."""
    rule = retrieve_before_answer

    assert ("retrieve_before_answer", "B", 2, ("news",)) == (rule.id, rule.kind, rule.version, rule.designs)
    assert "Each answer follows at least one call of *tool*." == rule.about
    assert rule.doc.endswith("More words.")


def test_it_holds_and_breaks():
    """It is kept, broken with its reason, or vacuous."""
    assert ["kept"] == reasons(check(retrieve_before_answer, make_trace(tool_use("search_docs"), answer("x"))))
    assert ["answered without calling `search_docs`"] == reasons(check(retrieve_before_answer, make_trace(answer("x"))))
    assert ["vacuous"] == reasons(check(retrieve_before_answer, make_trace()))


def test_options():
    """The same rule with other options is another contract; unknown options are refused."""
    other = retrieve_before_answer.with_options(id="news first", tool="search_news")

    assert ["answered without calling `search_news`"] == reasons(check(other, make_trace(answer("x"))))
    assert ("news first", {"tool": "search_news"}) == (other.id, other.options)
    with pytest.raises(BadFileError, match="has no option `tol`"):
        retrieve_before_answer.with_options(tol="x")


def test_designs():
    """A contract for one design is for all of its profiles, and for no other."""
    assert retrieve_before_answer.applies_to("news@seed_literal")
    assert not retrieve_before_answer.applies_to("newsdesk")


def test_a_docstring_is_needed():
    """A contract that does not say its rule is refused when it is made."""
    with pytest.raises(TypeError, match="contract x: its function needs a docstring"):
        contract("x")(lambda view: iter(()))


def test_broken_names_events():
    """A witness is sorted, without doubles and gaps, and has the turn of its first event that has one."""
    events = make_trace(tool_use("a"), answer("x")).events
    found = broken([events[2], None, events[1], events[2]], "because")

    assert ((1, 2), "because", None) == (found.witness, found.because, found.turn)
    assert () == broken(None, "nothing to show").witness
