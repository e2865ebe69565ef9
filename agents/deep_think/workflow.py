"""
Workflow files, read into a graph and refused where it cannot work as drawn.

A file that passes has no dead end and no node that is never reached or never ends, names only conditions that exist and
read declared state, and says for every outcome of a condition where it leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import BadFileError
from harness.records.digest import digest_bytes

from .conditions import CONDITIONS
from .graph import END, NODE_TYPES, STAGES, Edge, Node, Workflow

MAX_BYTES = 64_000
_TOP = ("name", "description", "version", "state_schema", "nodes", "edges", "entry_point")
_CONFIG = ("llm_client", "max_tokens", "temperature", "tools", "tool_manager", "max_parallel_calls", "timeout")


_loaded: dict[tuple[str, bool], Workflow] = {}


def load_workflow(path: Path, *, faithful: bool = True) -> Workflow:
    """
    Load the workflow file at *path*, once a process for each content.

    Args:
        path: The YAML file, UTF-8, at most 64 kB.
        faithful: Refuse a graph that cannot work as drawn. False lets dead ends, nodes that are never reached and
            conditions on undeclared state pass, for a drawing that is run to show what it breaks.

    Raises:
        BadFileError: The file is no such graph (`bad-workflow`); *at* is file:line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFileError("bad-workflow", f"cannot be read: {error.strerror}", at=str(path)) from None
    key = (digest_bytes(content), faithful)
    if key not in _loaded:
        _loaded[key] = read_workflow(content, shown=f"{path.parent.name}/{path.name}", faithful=faithful)
    return _loaded[key]


def read_workflow(content: bytes, *, shown: str, faithful: bool = True) -> Workflow:
    """
    Read a workflow from its *content*; *shown* is what errors call the file.

    Raises:
        BadFileError: As for `load_workflow`.
    """
    top = _mapping(_parsed(content, shown), shown, "a workflow", _TOP, required=_TOP)
    nodes = {name: _node(name, part, shown) for name, part in _mapping(top["nodes"], shown, "nodes").items()}
    schema = {name: _text(part, shown) for name, part in _mapping(top["state_schema"], shown, "state_schema").items()}
    edges: dict[str, Edge] = {}
    for edge in (_edge(part, nodes, shown) for part in _sequence(top["edges"], shown)):
        if edge.source in edges:
            raise _bad(f"a second edge leaves `{edge.source}`; one edge decides where it leads", shown, edge.line)
        edges[edge.source] = edge
    workflow = Workflow(
        name=_text(top["name"], shown), description=_text(top["description"], shown),
        version=_text(top["version"], shown), state_schema=schema, nodes=nodes, edges=edges,
        entry_point=_text(top["entry_point"], shown), shown=shown,
    )  # fmt: skip
    if workflow.entry_point not in nodes:
        raise _no_node(workflow.entry_point, nodes, shown, top["entry_point"].line)
    if faithful:
        for message, line in workflow.flaws():
            raise _bad(message, shown, line)
    return workflow


class _Part(NamedTuple):
    """A piece of YAML: a text, a list of parts or a mapping of parts, with its line (from 1)."""

    value: Any
    line: int


def _parsed(content: bytes, shown: str) -> _Part:
    import yaml  # only the first trial of a process reads the file

    if len(content) > MAX_BYTES:
        raise _bad(f"{len(content)} bytes, the limit is {MAX_BYTES}", shown, 1)
    try:
        root = yaml.compose(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise _bad(f"no YAML: {problem}", shown, mark.line + 1 if mark else 1) from None
    if root is None:
        raise _bad("the file is empty", shown, 1)
    return _part(root, shown, set())


def _part(node: Any, shown: str, seen: set[int]) -> _Part:
    """*node* of PyYAML's tree with every scalar as its text: `true` is the name of an outcome as well."""
    line = node.start_mark.line + 1
    if id(node) in seen:
        raise _bad("anchors and aliases are not read here; write the value out", shown, line)
    seen.add(id(node))
    if node.id == "scalar":
        return _Part(node.value, line)
    if node.id == "sequence":
        return _Part([_part(item, shown, seen) for item in node.value], line)
    found: dict[str, _Part] = {}
    for key, value in node.value:
        if key.id != "scalar" or key.value in found:
            raise _bad(f"the key `{key.value}` stands twice or is no text", shown, key.start_mark.line + 1)
        part = _part(value, shown, seen)
        found[key.value] = part._replace(line=key.start_mark.line + 1)
    return _Part(found, line)


def _node(name: str, part: _Part, shown: str) -> Node:
    fields = _mapping(part, shown, f"node `{name}`", ("type", "config"), required=("type",))
    kind = _text(fields["type"], shown)
    if kind not in NODE_TYPES:
        known = ", ".join(NODE_TYPES)
        raise _bad(f"node `{name}` has the unknown type `{kind}`; there are: {known}", shown, fields["type"].line)
    config = _mapping(fields.get("config", _Part({}, part.line)), shown, f"config of `{name}`", _CONFIG)
    stage = _text(config["llm_client"], shown) if "llm_client" in config else ""
    if stage and stage not in STAGES:
        known = ", ".join(STAGES)
        raise _bad(f"node `{name}` asks the unknown stage `{stage}`; there are: {known}", shown, part.line)
    if kind in ("llm_node", "analysis_node") and not stage:
        raise _bad(f"node `{name}` asks a model, so its config needs `llm_client`", shown, part.line)
    tokens, heat = _number(config.get("max_tokens"), shown), _number(config.get("temperature"), shown)
    tools = "tools" in config and _text(config["tools"], shown) == "true"
    whole = None if tokens is None else int(tokens)
    return Node(name=name, type=kind, stage=stage, max_tokens=whole, temperature=heat, tools=tools, line=part.line)


def _edge(part: _Part, nodes: Mapping[str, Node], shown: str) -> Edge:
    keys = ("from", "to", "type", "condition", "path_map")
    fields = _mapping(part, shown, "an edge", keys, required=("from", "type"))
    source, kind = _text(fields["from"], shown), _text(fields["type"], shown)
    if source not in nodes:
        raise _no_node(source, nodes, shown, fields["from"].line)
    if kind == "simple":
        given = {"": _required(fields, "to", shown, part.line)}
        condition = ""
    elif kind == "conditional":
        name = _required(fields, "condition", shown, part.line)
        condition = _text(name, shown)
        given = _mapping(_required(fields, "path_map", shown, part.line), shown, "path_map")
        _check_outcomes(condition, given, shown, name.line)
    else:
        raise _bad(f"unknown edge type `{kind}`; there are: simple, conditional", shown, fields["type"].line)
    for target in (*given.values(), *([fields["to"]] if "to" in fields else [])):
        if _text(target, shown) not in (*nodes, END):
            raise _no_node(target.value, nodes, shown, target.line)
    targets = {outcome: target.value for outcome, target in given.items()}
    return Edge(source=source, condition=condition, targets=targets, line=part.line)


def _check_outcomes(condition: str, given: Mapping[str, _Part], shown: str, line: int) -> None:
    if condition not in CONDITIONS:
        raise _bad(f"no condition is named `{condition}`; there are: {', '.join(CONDITIONS)}", shown, line)
    outcomes = CONDITIONS[condition].outcomes
    if missing := [outcome for outcome in outcomes if outcome not in given]:
        raise _bad(f"path_map leaves open where `{condition}` leads on `{missing[0]}`", shown, line)
    for outcome, target in given.items():
        if outcome not in outcomes:
            known = ", ".join(outcomes)
            raise _bad(f"`{condition}` never comes to `{outcome}`, but to: {known}", shown, target.line)


def _mapping(
    part: _Part, shown: str, what: str, known: Iterable[str] | None = None, *, required: Iterable[str] = ()
) -> dict[str, _Part]:
    if not isinstance(part.value, dict):
        raise _bad(f"{what} must be a mapping", shown, part.line)
    for key, value in part.value.items():
        if known is not None and key not in known:
            raise _bad(f"{what} has the unknown key `{key}`; known are: {', '.join(known)}", shown, value.line)
    for key in required:
        _required(part.value, key, shown, part.line)
    return part.value


def _required(fields: Mapping[str, _Part], key: str, shown: str, line: int) -> _Part:
    if key not in fields:
        raise _bad(f"the key `{key}` is missing", shown, line)
    return fields[key]


def _sequence(part: _Part, shown: str) -> list[_Part]:
    if not isinstance(part.value, list):
        raise _bad("edges must be a list", shown, part.line)
    return part.value


def _text(part: _Part, shown: str) -> str:
    if not isinstance(part.value, str):
        raise _bad("a text is expected here", shown, part.line)
    return part.value


def _number(part: _Part | None, shown: str) -> float | None:
    if part is None:
        return None
    try:
        return float(_text(part, shown))
    except ValueError:
        raise _bad(f"`{part.value}` is no number", shown, part.line) from None


def _no_node(name: str, nodes: Iterable[str], shown: str, line: int) -> BadFileError:
    return _bad(f"there is no node `{name}`; there are: {', '.join(nodes)}", shown, line)


def _bad(message: str, shown: str, line: int) -> BadFileError:
    hint = "mend the graph; `harness explain deep_think` draws it once it is whole"
    return BadFileError("bad-workflow", message, hint=hint, at=f"{shown}:{line}")
