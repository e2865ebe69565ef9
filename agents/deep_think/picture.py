"""A workflow as a picture in plain text: a box for each node, and below it where its edge leads."""

from __future__ import annotations

from collections.abc import Iterator

from .graph import END, Node, Workflow


def draw(workflow: Workflow) -> str:
    """Draw *workflow*, its nodes in the order of the file, each with the conditions that lead on from it."""
    lines = [f"{workflow.name} {workflow.version}", f"start ─▶ {workflow.entry_point}"]
    for node in workflow.nodes.values():
        lines += ["", *_box(node), *_ways(workflow, node.name)]
    return "\n".join([*lines, ""])


def _box(node: Node) -> Iterator[str]:
    label = f" {node.name} "
    told = [node.stage and f"model of stage {node.stage}", "tools" if node.tools else ""]
    if node.max_tokens is not None:
        told.insert(1, f"{node.max_tokens} tokens, T {node.temperature:g}" if node.temperature is not None else "")
    about = ", ".join(part for part in told if part) or "no model"
    yield f"┌{'─' * len(label)}┐"
    yield f"│{label}│ {about}"
    yield f"└─┬{'─' * (len(label) - 2)}┘"


def _ways(workflow: Workflow, name: str) -> Iterator[str]:
    edge = workflow.edges.get(name)
    if edge is None:
        yield "  ╳ no edge"
        return
    if not edge.condition:
        yield f"  └─▶ {_target(edge.targets[''])}"
        return
    yield f"  ◇ {edge.condition}"
    width = max(map(len, edge.targets))
    for number, (outcome, target) in enumerate(edge.targets.items(), start=1):
        corner = "└" if number == len(edge.targets) else "├"
        yield f"  {corner}─ {outcome} {'─' * (width - len(outcome))}─▶ {_target(target)}"


def _target(name: str) -> str:
    return "end" if name == END else name
