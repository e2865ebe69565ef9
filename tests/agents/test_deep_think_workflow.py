"""The graph of deep thinking: what a workflow file says, what it may not say, and how it is drawn."""

from __future__ import annotations

import dataclasses
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BadFileError
from harness.testing.fakes import FakeWorld, run_agent, says

from .deep_runs import DEEP, FIRST, PASS, SUMMARY, case, fail

PACKAGE = DEEP.build.__module__
workflow: Any = importlib.import_module(f"{PACKAGE}.workflow")
conditions: Any = importlib.import_module(f"{PACKAGE}.conditions")
graph: Any = importlib.import_module(f"{PACKAGE}.graph")
state: Any = importlib.import_module(f"{PACKAGE}.state")
agent: Any = importlib.import_module(PACKAGE)
FOLDER = Path(DEEP.folder)
TYPES, STAGES, KNOWN = (", ".join(names) for names in (graph.NODE_TYPES, graph.STAGES, conditions.CONDITIONS))
TOP = "name, description, version, state_schema, nodes, edges, entry_point"
CONFIG = "llm_client, max_tokens, temperature, tools, tool_manager, max_parallel_calls, timeout"
SHIPPED = (FOLDER / "workflow.yaml").read_text(encoding="utf-8")
SMALL = """\
name: small
description: two steps
version: 1.0
state_schema: {enable_planning: bool, plan: str}
nodes:
  first:
    type: state_node
  second:
    type: llm_node
    config: {llm_client: summary, max_tokens: 10, temperature: 0.5, tools: true}
edges:
- from: first
  type: conditional
  condition: needs_planning
  path_map: {true: second, false: second}
- from: second
  to: __end__
  type: simple
entry_point: first
"""


def read(text: str, *, faithful: bool = True) -> Any:
    """Read a workflow from its text."""
    return workflow.read_workflow(text.encode(), shown="w.yaml", faithful=faithful)


def refused(text: str) -> str:
    """Where and why a workflow is refused."""
    with pytest.raises(BadFileError) as caught:
        read(text)
    assert "bad-workflow" == caught.value.code
    assert "mend the graph" in caught.value.hint
    return f"{caught.value.at}: {caught.value.message}"


def test_a_small_one() -> None:
    """Nodes, edges and settings as the file has them."""
    small = read(SMALL)
    first, second = small.nodes.values()

    assert ("small", "two steps", "1.0", "first") == (small.name, small.description, small.version, small.entry_point)
    assert ("", None, None, False) == (first.stage, first.max_tokens, first.temperature, first.tools)
    assert ("summary", 10, 0.5, True) == (second.stage, second.max_tokens, second.temperature, second.tools)
    assert {"true": "second", "false": "second"} == small.edges["first"].targets


WAYS = "{true: second, false: second}"
REFUSALS = (
    ("- from: second\n  to: __end__\n  type: simple\n", "", "8: node `second` is a dead end: no edge leaves it"),
    (WAYS, "{true: __end__, false: __end__}", "8: node `second` is never reached: no way leads to it from `first`"),
    ("  to: __end__", "  to: first", "6: no way leads from node `first` to __end__"),
    ("- from: second", "- from: lost", "16: there is no node `lost`; there are: first, second"),
    ("  to: __end__", "  to: third", "17: there is no node `third`; there are: first, second"),
    ("{true: second", "{true: third", "15: there is no node `third`; there are: first, second"),
    ("path_map", "to: third\n  path_map", "15: there is no node `third`; there are: first, second"),
    ("entry_point: first", "entry_point: zeroth", "19: there is no node `zeroth`; there are: first, second"),
    ("- from: second", "- from: first", "16: a second edge leaves `first`; one edge decides where it leads"),
    ("needs_planning", "needs_luck", f"14: no condition is named `needs_luck`; there are: {KNOWN}"),
    (WAYS, "{true: second}", "14: path_map leaves open where `needs_planning` leads on `false`"),
    (WAYS, "{true: second, false: second, x: second}", "15: `needs_planning` never comes to `x`, but to: true, false"),
    (
        "enable_planning: bool, ",
        "",
        "12: `needs_planning` reads `enable_planning`, which state_schema does not declare",
    ),
    ("llm_node", "magic_node", f"9: node `second` has the unknown type `magic_node`; there are: {TYPES}"),
    ("summary", "gpt", f"8: node `second` asks the unknown stage `gpt`; there are: {STAGES}"),
    ("llm_client: summary, ", "", "8: node `second` asks a model, so its config needs `llm_client`"),
    ("max_tokens: 10", "max_tokens: many", "10: `many` is no number"),
    ("max_tokens: 10", "max_tokens: [10]", "10: a text is expected here"),
    ("temperature", "heat", f"10: config of `second` has the unknown key `heat`; known are: {CONFIG}"),
    ("version: 1.0", "colour: red", f"3: a workflow has the unknown key `colour`; known are: {TOP}"),
    ("  type: simple", "  type: straight", "18: unknown edge type `straight`; there are: simple, conditional"),
    ("  to: __end__\n", "", "16: the key `to` is missing"),
    ("  condition: needs_planning\n", "", "12: the key `condition` is missing"),
    ("entry_point: first\n", "", "1: the key `entry_point` is missing"),
    ("nodes:\n", "nodes: none\nmore:\n", f"6: a workflow has the unknown key `more`; known are: {TOP}"),
    ("{enable_planning: bool, plan: str}", "all", "4: state_schema must be a mapping"),
    ("name: small", "name: small\nname: large", "2: the key `name` stands twice or is no text"),
    ("name: small", "name: [small", "2: no YAML: did not find expected ',' or ']'"),
)


@pytest.mark.parametrize(("old", "new", "message"), REFUSALS, ids=[new or old for old, new, _ in REFUSALS])
def test_what_is_refused(old: str, new: str, message: str) -> None:
    """Each flaw is named with the line where it stands."""
    assert old in SMALL

    assert f"w.yaml:{message}" == refused(SMALL.replace(old, new, 1))


def test_edges_are_a_list() -> None:
    """Edges by name would hide which of two decides."""
    assert "w.yaml:11: edges must be a list" == refused(
        SMALL.partition("edges:")[0] + "edges: {}\nentry_point: first\n"
    )


def test_no_aliases() -> None:
    """A value that stands in two places by an alias is refused: a small file must not grow in memory."""
    aliased = SMALL.replace("{true: second, false: second}", "&ways {true: second, false: second}").replace(
        "state_schema: {", "state_schema: {more: &text str, again: *text, "
    )

    assert "w.yaml:4: anchors and aliases are not read here; write the value out" == refused(aliased)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "w.yaml:1: the file is empty"),
        (b"- a\n- b\n", "w.yaml:1: a workflow must be a mapping"),
        (b"name: \xff\n", "w.yaml:1: no YAML: cannot be parsed"),
        (b"#" * 64_001, "w.yaml:1: 64001 bytes, the limit is 64000"),
    ],
)
def test_what_is_no_workflow_at_all(content: bytes, message: str) -> None:
    """Empty, huge and undecodable files are refused before anything is made of them."""
    with pytest.raises(BadFileError) as caught:
        workflow.read_workflow(content, shown="w.yaml")

    assert message == f"{caught.value.at}: {caught.value.message}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The path is named."""
    with pytest.raises(BadFileError) as caught:
        workflow.load_workflow(tmp_path / "none.yaml")

    assert f"{tmp_path / 'none.yaml'}: cannot be read: No such file or directory" == (
        f"{caught.value.at}: {caught.value.message}"
    )


def test_a_file_is_read_once_for_its_content(tmp_path: Path) -> None:
    """The same content is the same graph, however often it is loaded; a changed file is another one."""
    path = tmp_path / "w.yaml"
    path.write_text(SMALL, encoding="utf-8")
    first, again = workflow.load_workflow(path), workflow.load_workflow(path)
    path.write_text(SMALL.replace("two steps", "more"), encoding="utf-8")

    assert first is again
    assert "more" == workflow.load_workflow(path).description


def test_the_shipped_graph_is_whole() -> None:
    """Seven nodes; the schema names what conditions may read, and all of it is in the state."""
    shipped = workflow.load_workflow(FOLDER / "workflow.yaml")
    fields = {field.name for field in dataclasses.fields(state.State)}

    assert 7 == len(shipped.nodes)
    assert set(shipped.state_schema) <= fields
    assert {"needs_planning", "needs_improvement", "verification_outcome"} == {
        edge.condition for edge in shipped.edges.values() if edge.condition
    }


def test_the_graph_decides_the_way() -> None:
    """The engine goes where the edges lead: a file without improvement improves nothing."""
    shorter = read(
        SHIPPED.replace(
            "    type: conditional\n    condition: needs_improvement\n    path_map:\n      true: improve_solution\n"
            "      false: verify_solution\n",
            "    to: verify_solution\n    type: simple\n",
        )
        .replace("  - from: improve_solution\n    to: verify_solution\n    type: simple\n\n", "")
        .replace(SHIPPED[SHIPPED.index("  improve_solution:") : SHIPPED.index("  # 验证：")], "")
    )
    built = dataclasses.replace(DEEP, build=lambda ctx: agent.DeepThink(ctx, shorter))
    ran = run_agent(built, [FIRST, PASS, PASS, PASS, SUMMARY], world=FakeWorld(), case=case())

    assert ["solve", "verify", "verify", "verify", "summary"] == [
        event.data.purpose for event in ran.events("llm_call")
    ]


def test_a_node_that_nobody_wrote_is_refused() -> None:
    """A graph that leads to a node without a step does not start."""
    strange = read(SHIPPED.replace("improve_solution", "polish_solution"))
    built = dataclasses.replace(DEEP, build=lambda ctx: agent.DeepThink(ctx, strange))
    with pytest.raises(BadFileError) as caught:
        run_agent(built, [], world=FakeWorld(), case=case())

    assert "no step is written for node `polish_solution`" in caught.value.message


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"successful_verifications": 3}, "enough"),
        ({"successful_verifications": 2}, "again"),
        ({"successful_verifications": 3, "current_iteration": 30}, "enough"),
        ({"successful_verifications": 2, "current_iteration": 30}, "exhausted"),
        ({"consecutive_failures": 1}, "failed"),
        ({"consecutive_failures": 10}, "exhausted"),
        ({"consecutive_failures": 1, "current_iteration": 30}, "exhausted"),
    ],
)
def test_what_comes_after_a_verification(fields: dict[str, Any], outcome: str) -> None:
    """Enough passes end it well, a limit ends it badly, and one failure is corrected."""
    assert outcome == conditions.CONDITIONS["verification_outcome"].decide(state.State("?", **fields))


@pytest.mark.parametrize("name", sorted(conditions.CONDITIONS))
def test_conditions_read_what_they_say(name: str) -> None:
    """Each condition names fields of the state, and comes to one of its outcomes."""
    condition = conditions.CONDITIONS[name]
    check = importlib.import_module(f"{PACKAGE}.verdicts").Check("pass")

    assert condition.decide(state.State("?", verification_results=[check])) in condition.outcomes
    assert set(condition.reads) <= {field.name for field in dataclasses.fields(state.State)}


def test_the_literal_graph_only_loads_as_it_is() -> None:
    """The drawing of the document has a dead end, and is refused unless that is asked for."""
    path = FOLDER / "workflow.seed_literal.yaml"
    with pytest.raises(BadFileError) as caught:
        workflow.load_workflow(path)
    flaws = [message for message, _ in workflow.load_workflow(path, faithful=False).flaws()]
    line = path.read_text(encoding="utf-8").splitlines().index("  generate_thinking_plan:") + 1

    assert f"deep_think/workflow.seed_literal.yaml:{line}" == caught.value.at
    assert [
        "node `generate_thinking_plan` is a dead end: no edge leaves it",
        "node `parallel_verification` is a dead end: no edge leaves it",
        "node `parallel_verification` is never reached: no way leads to it from `initialize_deep_think`",
        "`needs_planning` reads `plan`, which state_schema does not declare",
    ] == flaws


def test_the_literal_run() -> None:
    """The correction is thrown away for a new solution of the bare problem, and one word passes it."""
    replies = [says("8"), fail("wrong"), says("9"), says("8 or 9"), says("不通过"), says("9 sheep.")]
    ran = run_agent(DEEP, replies, world=FakeWorld(), case=case(), name="deep_think@seed_literal")
    purposes = [event.data.purpose for event in ran.events("llm_call")]

    assert ["solve", "verify", "correct", "solve", "verify", "summary"] == purposes
    assert "9" not in ran.requests[3].messages[1].text.split("**问题陈述:**")[0]
    assert "wrong" not in "".join(message.text for message in ran.requests[2].messages)
    assert ("completed", "") == ran.ending
    assert "9 sheep." == ran.answer


def test_the_literal_plan_is_used_nowhere() -> None:
    """A plan is asked for with the bare problem, the next node of the file goes on, and no prompt holds it."""
    replies = [says("count those that stay"), says("9"), says("yes"), says("9 sheep.")]
    options: dict[str, Any] = {"enable_planning": True}
    ran = run_agent(DEEP, replies, world=FakeWorld(), case=case(), name="deep_think@seed_literal", options=options)

    assert ["plan", "solve", "verify", "summary"] == [event.data.purpose for event in ran.events("llm_call")]
    assert case().question == ran.requests[0].messages[1].text
    assert not any("count those that stay" in m.text for asked in ran.requests for m in asked.messages)


def test_the_picture() -> None:
    """A box for each node, with what it asks, and its ways on; the end is named."""
    picture = agent.draw()

    assert picture.startswith("deep_thinking_workflow 1.0\nstart ─▶ initialize_deep_think\n")
    assert (
        "┌─────────────────┐\n"
        "│ verify_solution │ model of stage verification, 1500 tokens, T 0.2\n"
        "└─┬───────────────┘\n"
        "  ◇ verification_outcome\n"
        "  ├─ again ─────▶ verify_solution\n"
        "  ├─ failed ────▶ correct_solution\n"
        "  ├─ enough ────▶ generate_final_summary\n"
        "  └─ exhausted ─▶ generate_final_summary\n"
    ) in picture
    assert "│ initialize_deep_think │ no model\n" in picture
    assert "  └─▶ end\n" in picture


def test_the_picture_of_a_drawing_with_gaps() -> None:
    """A node without an edge is drawn as one."""
    literal = workflow.load_workflow(FOLDER / "workflow.seed_literal.yaml", faithful=False)
    picture = importlib.import_module(f"{PACKAGE}.picture").draw(literal)

    assert 2 == picture.count("  ╳ no edge")


def test_yaml_waits_for_the_first_run() -> None:
    """Loading the design imports no YAML: `harness list` has no use for it."""
    code = (
        "import sys; from pathlib import Path; from harness.agents.load import load_agent;"
        f"load_agent(Path({str(FOLDER.parent)!r}), 'deep_think'); print('yaml' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ), timeout=60
    )  # fmt: skip

    assert "False" == done.stdout.strip()
