"""A golden set from YAML: checked against the records, friendly forms spelt out, policies merged in, positions kept."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
import pydantic
import pydantic_core
from msgspec.structs import replace

from harness.errors import BadFileError
from harness.goldensets.lint import lint
from harness.goldensets.validation import Validation
from harness.goldensets.yaml_tree import YamlTree, read_yaml
from harness.records.case import (
    Fact,
    Facts,
    Fault,
    GoldenCase,
    GoldenSet,
    ImageContent,
    Leg,
    Limits,
    Policy,
    TextContent,
    ToolRule,
    ToolRules,
)
from harness.records.digest import digest_bytes
from harness.records.messages import Json

SET_FORMAT = 1
SET_KEYS = ("format", "about", "world", "policies", "cases")
POLICY_WHEN = ("class", "lang", "tag", "plan", "intent", "design")
SET_BY_LOADER = ("at", "lines")
"""Fields of a case that nobody writes."""

Path = tuple[str | int, ...]
T = TypeVar("T", bound=msgspec.Struct)
_case_form = Validation(GoldenCase)
_policy_form = Validation(Policy)

_RECORD_OF: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "cases": (GoldenCase,),
    "policies": (Policy,),
    "facts": (Facts,),
    "all": (Fact,),
    "any": (Fact,),
    "none": (Fact,),
    "tools": (ToolRules,),
    "required": (ToolRule,),
    "limits": (Limits,),
    "legs": (Leg,),
    "faults": (Fault,),
    "content": (TextContent, ImageContent),
}
"""What the mapping under each key is read as; tells which keys it may have."""


def read_set(content: bytes, *, name: str, shown: str) -> GoldenSet:
    """
    Read and check a golden set.

    Args:
        content: The file's bytes.
        name: The set's name.
        shown: The file's name as positions give it.

    Raises:
        BadFileError: It is no golden set, or lint refuses one of its cases; *at* is file:line.
    """
    tree = read_yaml(content, shown=shown)
    written = _top(tree)
    cases = tuple(_case(raw, number, tree, written.get("world")) for number, raw in enumerate(written["cases"]))
    policies = tuple(_policy(raw, number, tree) for number, raw in enumerate(written.get("policies") or ()))
    merged = tuple(_with_policies(case, policies, tree) for case in cases)
    golden = GoldenSet(
        name=name,
        path=shown,
        about=written.get("about") or "",
        world=written.get("world"),
        cases=merged,
        digest=digest_bytes(content),
    )
    for number, policy in enumerate(policies):
        if not any(selects(policy, case) for case in cases):
            raise BadFileError(
                "dead-policy", "the policy selects no case of this set", at=tree.at(("policies", number))
            )
    for problem in lint(golden):
        raise problem
    return golden


def selects(policy: Policy, case: GoldenCase) -> bool:
    """Whether *case* is among those that *policy* is for; a design selects the cases that are for it alone."""
    has: dict[str, Iterable[str]] = {
        "class": (case.class_,),
        "lang": (case.lang,),
        "tag": case.tags,
        "plan": (case.plan,),
        "intent": (case.intent,),
        "design": case.designs if len(case.designs) == 1 else (),
    }
    for key, wanted in policy.when.items():
        choices = (wanted,) if isinstance(wanted, str) else wanted
        if not set(choices) & set(has[key]):
            return False
    return True


def _top(tree: YamlTree) -> dict[str, Json]:
    written = tree.value
    if not isinstance(written, dict):
        raise BadFileError("bad-golden", "a golden set is a mapping with `cases`", at=tree.at(()))
    for key in written:
        if key not in SET_KEYS:
            raise _unknown_key(key, "the set", SET_KEYS, at=tree.at((key,)))
    form = written.get("format", SET_FORMAT)
    if form != SET_FORMAT:
        hint = "update tapegate, or write the set in that format"
        message = f"golden set format {form} is not known to this version (it reads {SET_FORMAT})"
        raise BadFileError("unknown-format", message, hint=hint, at=tree.at(("format",)))
    for key in ("about", "world"):
        if not isinstance(written.get(key), str | None):
            raise BadFileError("bad-golden", f"`{key}` must be a text", at=tree.at((key,)))
    for key in ("cases", "policies"):
        if not isinstance(written.get(key) or [], list):
            raise BadFileError("bad-golden", f"`{key}` must be a list", at=tree.at((key,)))
    if not written.get("cases"):
        raise BadFileError("bad-golden", "the set has no cases", at=tree.at(("cases",)))
    return written


def _case(raw: Json, number: int, tree: YamlTree, world: str | None) -> GoldenCase:
    path: Path = ("cases", number)
    if not isinstance(raw, dict):
        raise BadFileError("bad-golden", "a case is a mapping with `id` and `question`", at=tree.at(path))
    for key in ("class_", *SET_BY_LOADER):
        if key in raw:
            raise _unknown_key(key, _who(raw), _keys("cases"), at=tree.at((*path, key)))
    case: GoldenCase = _validated(_case_form, spelt_out(raw), path, tree, who=_who(raw))
    lines = {key: tree.lines[*path, key] for key in raw}
    stated = raw.get("contracts") or ()
    lines |= {f"contracts.{place}": tree.lines[*path, "contracts", place] for place in range(len(stated))}
    return replace(case, world=case.world or world, at=tree.at(path), lines=lines)


def _policy(raw: Json, number: int, tree: YamlTree) -> Policy:
    path: Path = ("policies", number)
    if not isinstance(raw, dict):
        raise BadFileError("bad-golden", "a policy is a mapping with `when` and `contracts`", at=tree.at(path))
    policy: Policy = _validated(_policy_form, raw, path, tree, who="the policy")
    for key in policy.when:
        if key not in POLICY_WHEN:
            raise _unknown_key(key, "`when`", POLICY_WHEN, at=tree.at((*path, "when", key)))
    return policy


def _with_policies(case: GoldenCase, policies: tuple[Policy, ...], tree: YamlTree) -> GoldenCase:
    """Put the contracts of every policy that selects *case* behind its own, each once."""
    contracts = list(case.contracts)
    lines = dict(case.lines)
    for number, policy in enumerate(policies):
        if not selects(policy, case):
            continue
        for place, contract in enumerate(policy.contracts):
            if contract not in contracts:
                lines[f"contracts.{len(contracts)}"] = tree.lines["policies", number, "contracts", place]
                contracts.append(contract)
    return replace(case, contracts=tuple(contracts), lines=lines)


def spelt_out(raw: Mapping[str, Json]) -> dict[str, Json]:
    """A case with its friendly forms written in full: bare facts, bare tool names, `class`."""
    case = {("class_" if key == "class" else key): value for key, value in raw.items()}
    if isinstance(facts := case.get("facts"), dict):
        case["facts"] = {key: _each(items, _fact) for key, items in facts.items()}
    if isinstance(tools := case.get("tools"), dict) and "required" in tools:
        case["tools"] = {**tools, "required": _each(tools["required"], _tool_rule)}
    return case


def _each(items: Json, spell: Any) -> Json:
    return [spell(item) for item in items] if isinstance(items, list) else items


def _fact(item: Json) -> Json:
    if isinstance(item, str):
        return {"text": item}
    return {"number": item} if isinstance(item, int | float) and not isinstance(item, bool) else item


def _tool_rule(item: Json) -> Json:
    return {"tool": item} if isinstance(item, str) else item


def _validated(form: Validation[T], raw: Json, path: Path, tree: YamlTree, *, who: str) -> T:
    """Hold *raw* against its record; the first thing that does not fit is told with its line."""
    try:
        return form.read(pydantic_core.to_json(raw))
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[0]
    place = _written_path((*path, *problem["loc"]))
    at = tree.at(place)
    match problem["type"]:
        case "unexpected_keyword_argument":
            raise _unknown_key(str(place[-1]), _where(place, who), _keys(*place[:-1]), at=at)
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            raise BadFileError("bad-golden", f"{_where(place, who)} has no `{place[-1]}`", at=at)
        case _:
            message = problem["msg"][:1].lower() + problem["msg"][1:]
            raise BadFileError("bad-golden", f"{who}: `{_dotted(place[len(path) :])}`: {message}", at=at)


def _written_path(path: Path) -> Path:
    """A path of the records as it stands in the file."""
    return tuple("class" if part == "class_" else part for part in path)


def _where(place: Path, who: str) -> str:
    """The innermost named thing around *place*: `` `facts` of case `S1` `` or the case itself."""
    inside = [part for part in place[2:-1] if isinstance(part, str)]
    return f"`{inside[-1]}` of {who}" if inside else who


def _who(raw: Mapping[str, Json]) -> str:
    return f"case `{raw['id']}`" if isinstance(raw.get("id"), str) else "a case"


def _dotted(path: Path) -> str:
    return ".".join(str(part) for part in path) or "case"


def _keys(*path: str | int) -> list[str]:
    """The keys that the mapping at *path* may have."""
    names = [part for part in path if isinstance(part, str) and part in _RECORD_OF]
    records = _RECORD_OF[names[-1]] if names else ()
    keys = [name for record in records for name in record.__struct_fields__]
    return ["class" if key == "class_" else key for key in keys if key not in SET_BY_LOADER]


def _unknown_key(key: str, where: str, known: Iterable[str], *, at: str) -> BadFileError:
    close = difflib.get_close_matches(key, list(known), n=1, cutoff=0.5)
    hint = f"did you mean `{close[0]}`?" if close else f"known keys: {', '.join(known)}"
    return BadFileError("unknown-key", f"{where} has no key `{key}`", hint=hint, at=at)
