"""The graph that a run walks: nodes, edges, and what keeps such a graph from working."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from .conditions import CONDITIONS
from .state import State

END = "__end__"
NODE_TYPES = ("state_node", "llm_node", "analysis_node", "tool_node")
"""`state_node` asks no model; the others are those of the design's document."""
STAGES = ("planning", "initial", "improvement", "verification", "correction", "summary")


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One step. *stage* names whose model is asked, empty where none is; *tools* says that tools are offered."""

    name: str
    type: str
    stage: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    tools: bool = False
    line: int = 0


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """The way on from *source*: by the outcome of *condition* through *targets*, or to the one target under ``""``."""

    source: str
    condition: str
    targets: dict[str, str]
    line: int = 0


class Workflow(msgspec.Struct, frozen=True, kw_only=True):
    """The graph of a workflow file; *edges* by the node that they leave."""

    name: str
    description: str
    version: str
    state_schema: dict[str, str]
    nodes: dict[str, Node]
    edges: dict[str, Edge]
    entry_point: str
    shown: str
    """What errors call the file."""

    def after(self, node: str, state: State) -> str:
        """The node that follows *node* in *state*, or `END`. Without an edge it is the next one of the file."""
        edge = self.edges.get(node)
        if edge is None:
            names = [*self.nodes, END]
            return names[names.index(node) + 1]
        return edge.targets[CONDITIONS[edge.condition].decide(state) if edge.condition else ""]

    @property
    def reachable(self) -> frozenset[str]:
        """The nodes that some way leads to from the entry point, itself included, and `END`."""
        return _closure(self.entry_point, {name: edge.targets.values() for name, edge in self.edges.items()})

    def flaws(self) -> Iterator[tuple[str, int]]:
        """What keeps the graph from working as drawn, with the line of each."""
        backward: dict[str, set[str]] = {}
        for edge in self.edges.values():
            for target in edge.targets.values():
                backward.setdefault(target, set()).add(edge.source)
        reached, ending = self.reachable, _closure(END, backward)
        nodes = self.nodes.values()
        yield from (
            (f"node `{n.name}` is a dead end: no edge leaves it", n.line) for n in nodes if n.name not in self.edges
        )
        for node in nodes:
            if node.name not in reached:
                yield f"node `{node.name}` is never reached: no way leads to it from `{self.entry_point}`", node.line
            elif node.name in self.edges and node.name not in ending:
                yield f"no way leads from node `{node.name}` to {END}", node.line
        for edge in self.edges.values():
            for field in CONDITIONS[edge.condition].reads if edge.condition else ():
                if field not in self.state_schema:
                    yield f"`{edge.condition}` reads `{field}`, which state_schema does not declare", edge.line


def _closure(start: str, ways: Mapping[str, Iterable[str]]) -> frozenset[str]:
    found, left = {start}, [start]
    while left:
        for target in ways.get(left.pop(), ()):
            if target not in found:
                found.add(target)
                left.append(target)
    return frozenset(found)
