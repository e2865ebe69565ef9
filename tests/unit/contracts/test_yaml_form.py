"""Contracts as golden sets state them."""

from __future__ import annotations

import pytest
import yaml

from harness.contracts.catalogue import builtin
from harness.contracts.yaml_form import OPERATORS, read_contract
from harness.errors import BadFileError
from harness.testing.builders import answer, check, make_trace, model_turn, reasons, tool_use

TRACE = make_trace(
    model_turn(), tool_use("search_docs", {"query": "x"}, error="timeout"), model_turn(),
    tool_use("update", {"id": 1}, effect="write"), answer("done"),
)  # fmt: skip


def judged(text):
    """What one YAML entry finds in the trace above."""
    return reasons(check(read_contract(yaml.safe_load(text), builtin(), at="set.yaml:3"), TRACE))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CX5", "kept"),
        ("never: {tool: delete_*}", "kept"),
        ("never: {tool: update}", "tool_call update, which must never happen"),
        ("eventually: final_answer", "kept"),
        ("at_least: {n: 2, of: update}", "1 times (tool: update), expected at least 2"),
        ("at_most: {n: 0, of: update}", "1 times (tool: update), expected at most 0"),
        ("exactly: {n: 1, of: update}", "kept"),
        ("always: {each: {tool: '*'}, is: {ok: true}}", "tool_call search_docs is not (ok: True)"),
        ("precedes: {first: search_docs, then: final_answer}", "kept"),
        ("precedes: [final_answer, update]", "tool_call update without (type: final_answer) before it"),
        ("responds: {to: search_docs, with: update, within: {turns: 1}}", "kept"),
        (
            "responds: {to: search_docs, with: update, within: {events: 1}}",
            "tool_call search_docs is not followed by (tool: update) within 1 events",
        ),
        ("same_turn: {this: update, that: search_docs}", "tool_call update without (tool: search_docs) in its turn"),
        ("not_same_turn: {this: update, that: search_docs}", "kept"),
        ("{never: update, before: search_docs}", "kept"),
        ("{never: update, after: search_docs}", "tool_call update, which must never happen after (tool: search_docs)"),
        ("{eventually: update, between: {from: search_docs, to: final_answer}}", "kept"),
        ("{never: update, between: [update, final_answer]}", "kept"),
        ("answer_exact: {text: done}", "kept"),
        ("answer_language: {lang: de}", "kept"),
    ],
)
def test_forms(text, expected):
    """Each form is read and holds what it says."""
    assert [expected] == judged(text)


def test_every_operator_is_read():
    """No operator is without a form."""
    forms = {"never", "eventually", "at_least", "at_most", "exactly", "always", "precedes", "responds"}

    assert forms | {"same_turn", "not_same_turn"} == set(OPERATORS)


def test_names_and_places():
    """A name of one's own names the finding; without one it is what the contract says. Both know their line."""
    stated = {"name": "hands off", "never": "update"}
    finding = check(read_contract(stated, builtin(), at="set.yaml:3"), TRACE)[0]

    assert ("hands off", "set.yaml:3") == (finding.contract, finding.at)
    assert "never (tool: update)" == read_contract({"never": "update"}, builtin()).id
    assert "polite" == read_contract({"name": "polite", "answer_matches": {"regex": "please"}}, builtin()).id


@pytest.mark.parametrize(
    ("stated", "message", "hint"),
    [
        ("CX99", "case `c`: no contract named `CX99`", "did you mean `CX9`? `harness list contracts` names every one"),
        ({"nevr": "x"}, "case `c`: no contract named `nevr`", "did you mean `never`?"),
        (
            {"never": "x", "always": "y"},
            "case `c`: a contract states exactly one operator, this one `never`, `always`",
            "",
        ),
        ({"name": "x"}, "case `c`: a contract states exactly one operator, this one none", ""),
        (3, "case `c`: a contract is a name or a mapping, not `3`", ""),
        ({"at_most": {"n": -1, "of": "x"}}, "`n` of `at_most` is a count, not `-1`", ""),
        ({"at_most": {"n": 1}}, "`at_most` takes {n: …, of: …}, not", ""),
        ({"responds": {"to": "x"}}, "`responds` takes {to: …, with: …, within: …}, not", ""),
        ({"responds": {"to": "x", "with": "y", "within": 3}}, "`within` takes {events: n} or {turns: n}, not `3`", ""),
        ({"never": "x", "before": "a", "after": "b"}, "a contract has one scope, this one before, after", ""),
        ({"never": "x", "between": "a"}, "`between` takes {from: …, to: …}, not `a`", ""),
        ({"CX5": {"n": 1}}, "contract `CX5` has no option `n`", "its options: none"),
        ({"CX5": {}, "after": "x"}, "case `c`: `CX5` takes options and no scope", ""),
        ("answer_exact", "contract `answer_exact` needs the option `text`", ""),
        ({"answer_exact": {"txt": "x"}}, "contract `answer_exact` has no option `txt`", "its options: `text`"),
    ],
)
def test_mistakes(stated, message, hint):
    """A contract that cannot be read says what is wrong, where, and what would be right."""
    with pytest.raises(BadFileError) as caught:
        read_contract(stated, builtin(), at="set.yaml:3", where="case `c`")

    assert caught.value.message.startswith(message)
    assert caught.value.hint.startswith(hint)
    assert "set.yaml:3" == caught.value.at
