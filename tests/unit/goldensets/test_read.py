"""A golden set from YAML: what it becomes, and what is said when it cannot."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError
from harness.goldensets.read import read_set
from harness.records.case import Fact, GoldenCase, GoldenSet, ImageContent, TextContent, ToolRule

HEAD = "cases:\n  - id: a\n    question: Hi?\n"


def read(text: str) -> GoldenSet:
    return read_set(text.encode(), name="set", shown="goldensets/set.yaml")


def refusal(text: str) -> str:
    with pytest.raises(BadFileError) as caught:
        read(text)
    return str(caught.value)


def test_friendly_forms_are_spelt_out():
    """Bare texts and numbers are facts, bare names are required tools, `class` is the case's class."""
    case = read(HEAD + "    class: complex\n    facts: {all: [rain, 7, 1.5]}\n    tools: {required: [get_*]}\n").cases[
        0
    ]

    assert "complex" == case.class_
    assert (Fact(text="rain"), Fact(number=7.0), Fact(number=1.5)) == case.facts.all
    assert (ToolRule(tool="get_*"),) == case.tools.required


def test_parts_of_a_question_keep_their_kind():
    """A question of parts holds texts and images as they were told apart."""
    case = read("cases: [{id: a, content: [{text: Look}, {image: a.png}], facts: {all: [7]}}]").cases[0]

    assert (TextContent(text="Look"), ImageContent(image="a.png")) == case.content


def test_positions_are_kept():
    """A case knows its own line and the line of each of its keys."""
    case = read("about: x\n" + HEAD + "    facts:\n      all: [7]\n    contracts:\n      - CX1\n      - CX2\n").cases[0]

    assert "goldensets/set.yaml:3" == case.at
    assert {"id": 3, "question": 4, "facts": 5, "contracts": 7, "contracts.0": 8, "contracts.1": 9} == case.lines


def test_set_gives_its_world_to_cases_without_one():
    """A case's own world wins over the set's."""
    golden = read("world: w\n" + HEAD + "    plan: none\n  - {id: b, question: Hi?, plan: none, world: v}\n")

    assert ["w", "v"] == [case.world for case in golden.cases]


def test_policies_add_contracts_to_the_cases_that_they_select():
    """A policy's contracts stand behind a case's own, each once, with the policy's line."""
    golden = read(
        "policies:\n  - when: {class: simple, lang: [de, en]}\n    contracts: [CX13, CX14]\n"
        "cases:\n"
        "  - {id: a, question: Hi?, class: simple, contracts: [CX14]}\n"
        "  - {id: b, question: Hi?, class: complex, plan: none}\n"
        "  - {id: c, question: Hi?, class: simple, lang: ru, plan: none}\n"
    )

    assert [("CX14", "CX13"), (), ()] == [case.contracts for case in golden.cases]
    assert 3 == golden.cases[0].lines["contracts.1"]


def test_policy_of_a_design_selects_the_cases_for_it_alone():
    """A case for several designs cannot be given what only one of them must keep."""
    golden = read(
        "policies:\n  - when: {design: lean}\n    contracts: [CX13]\n"
        "cases:\n"
        "  - {id: a, question: Hi?, plan: none, designs: [lean]}\n"
        "  - {id: b, question: Hi?, plan: none, designs: [lean, old]}\n"
        "  - {id: c, question: Hi?, plan: none}\n"
    )

    assert [("CX13",), (), ()] == [case.contracts for case in golden.cases]


def test_digest_names_the_content():
    """Two files with the same bytes have the same digest, and another byte makes another."""
    one, two = read(HEAD + "    plan: none\n"), read(HEAD + "    plan: none\n#\n")

    assert read(HEAD + "    plan: none\n").digest == one.digest
    assert one.digest != two.digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "cases:\n  - id: a\n    qestion: Hi?\n",
            "error[unknown-key]: goldensets/set.yaml:3: case `a` has no key `qestion`\n\nhint: did you mean `question`?",
        ),
        (
            HEAD + "    facts:\n      al: [7]\n",
            "error[unknown-key]: goldensets/set.yaml:5: `facts` of case `a` has no key `al`\n\nhint: did you mean `all`?",
        ),
        (
            HEAD + "    facts:\n      all:\n        - {numbr: 7}\n",
            (
                "error[unknown-key]: goldensets/set.yaml:6: `all` of case `a` has no key `numbr`\n\n"
                "hint: did you mean `number`?"
            ),
        ),
        (
            HEAD + "    tools:\n      required:\n        - {tool: t, atleast: 2}\n",
            (
                "error[unknown-key]: goldensets/set.yaml:6: `required` of case `a` has no key `atleast`\n\n"
                "hint: did you mean `at_least`?"
            ),
        ),
        (
            HEAD + "    zzz: 1\n    limits: {llm_calls: 3}\n",
            (
                "error[unknown-key]: goldensets/set.yaml:4: case `a` has no key `zzz`\n\n"
                "hint: known keys: id, question, turns, content, history, lang, class, tags, designs, model, options, user, "
                "world, knowledge, facts, tools, plan, intent, method, writes, limits, legs, faults, volatile, order, format, "
                "status, reason, contracts, advisory, trials, allow_loopback, notes"
            ),
        ),
        (
            HEAD + "    class_: simple\n",
            "error[unknown-key]: goldensets/set.yaml:4: case `a` has no key `class_`\n\nhint: did you mean `class`?",
        ),
        (
            "world: w\nworlds: v\n" + HEAD,
            "error[unknown-key]: goldensets/set.yaml:2: the set has no key `worlds`\n\nhint: did you mean `world`?",
        ),
        (
            "policies:\n  - when:\n      klass: simple\n    contracts: [CX13]\n" + HEAD + "    plan: none\n",
            "error[unknown-key]: goldensets/set.yaml:3: `when` has no key `klass`\n\nhint: did you mean `class`?",
        ),
        ("cases:\n  - question: Hi?\n", "error[bad-golden]: goldensets/set.yaml:2: a case has no `id`"),
        (
            HEAD + "    facts: {all: 7}\n",
            "error[bad-golden]: goldensets/set.yaml:4: case `a`: `facts.all`: input should be a valid array",
        ),
        (
            HEAD + "    writes: one\n",
            "error[bad-golden]: goldensets/set.yaml:4: case `a`: `writes`: input should be a valid integer",
        ),
        (
            HEAD + "    plan: maybe\n",
            "error[bad-golden]: goldensets/set.yaml:4: case `a`: `plan`: input should be 'none', 'required' or 'either'",
        ),
        ("cases: []\n", "error[bad-golden]: goldensets/set.yaml:1: the set has no cases"),
        ("- a\n", "error[bad-golden]: goldensets/set.yaml:1: a golden set is a mapping with `cases`"),
        ("", "error[bad-golden]: goldensets/set.yaml: a golden set is a mapping with `cases`"),
        ("cases:\n  - a\n", "error[bad-golden]: goldensets/set.yaml:2: a case is a mapping with `id` and `question`"),
        (
            "format: 2\n" + HEAD,
            (
                "error[unknown-format]: goldensets/set.yaml:1: golden set format 2 is not known to this version (it reads 1)"
                "\n\nhint: update tapegate, or write the set in that format"
            ),
        ),
        (
            "policies:\n  - when: {class: complex}\n    contracts: [CX13]\n" + HEAD + "    plan: none\n",
            "error[dead-policy]: goldensets/set.yaml:2: the policy selects no case of this set",
        ),
        (
            HEAD + "    limits: {llm_calls: 3}\n",
            (
                "error[case-never-fails]: goldensets/set.yaml:2: case `a`: can never fail: it expects nothing of its own\n\n"
                "hint: state `facts`, `tools`, `writes`, `plan`, `status` or `contracts`"
            ),
        ),
    ],
)
def test_mistakes_are_told_with_file_and_line(text, said):
    """Each mistake names file, line, case and what to do."""
    assert said == refusal(text)


words = st.sampled_from(["a", "none", "t", "(", "x*", "", "completed", "CX1", "../x", "timeout", "state_saved"])
keys = st.sampled_from(
    [
        *GoldenCase.__struct_fields__,
        "class",
        "all",
        "any",
        "required",
        "tool",
        "regex",
        "number",
        "when",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10**12) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | words, inner, max_size=3),
    max_leaves=8,
)
cases = st.dictionaries(keys, values, max_size=3).map(
    lambda stated: {"id": "a", "question": "Hi?", "plan": "none"} | stated
)


@given(
    st.fixed_dictionaries(
        {"cases": st.lists(cases | values, max_size=2)}, optional={"policies": values, "world": values}
    )
)
def test_any_structure_is_read_or_refused(written):
    """Whatever stands under whatever key, the answer is a set or a `BadFileError` with a place in the file."""
    try:
        at = read(json.dumps(written, ensure_ascii=False)).cases[0].at
    except BadFileError as error:
        at = error.at

    assert "goldensets/set.yaml:1" == at
