"""CE3–CE5, CE7 and CE12: what the news desk changes in its store, and that what it reads there is what the rows say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from harness.contracts.base import TRIGGERED, Broken, Found, broken, contract
from harness.contracts.newsdesk import DESK
from harness.contracts.react_actions import decoded
from harness.contracts.view import ToolUse, TrialView
from harness.records.messages import Json

UPDATE = "update_cluster_priority"
PRIORITIES = frozenset({"P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"})
FIELDS = frozenset({"id", "titulo", "resumo", "prioridade", "tag"})
"""All that a search by meaning tells of a cluster."""
CLOSE = 1e-6
"""Distances nearer to each other than this are told apart by no store that keeps 32-bit numbers."""
_NOT_RUN = frozenset({"unknown_tool", "invalid_args", "denied"})


@contract("CE3", designs=DESK, needs=("tool_call",))
def single_updates(view: TrialView) -> Iterator[Found]:
    """A change is of one cluster, named by one whole number, and a run changes the store at most once."""
    done: list[ToolUse] = []
    for use in view.uses:
        if use.data.effect != "write":
            continue
        yield TRIGGERED
        result = use.outcome
        if result is None or not result.ok:
            continue
        done.append(use)
        named = (use.args or {}).get("cluster_id")
        if use.tool == UPDATE and (not isinstance(named, int) or isinstance(named, bool)):
            yield broken(
                [use.event, use.result], f"{UPDATE} ran for {json.dumps(named)[:40]}, which is no single cluster"
            )
        changed = {effect.key for effect in result.effects if effect.kind == "clusters"}
        if len(changed) > 1:
            yield broken([use.event, use.result], f"one call of {use.tool} changed {len(changed)} clusters")
        elif use.tool == UPDATE and changed - {str(named)}:
            yield broken([use.event, use.result], f"{UPDATE} changed cluster {min(changed)}, asked for was {named}")
    if len(done) > 1:
        yield broken([use.event for use in done], f"the store is changed {len(done)} times in one run")


@contract("CE4", designs=DESK, needs=("tool_call",))
def known_priorities(view: TrialView) -> Iterator[Found]:
    """A priority that the store does not know is refused and changes nothing."""
    for use in view.uses:
        result = use.outcome
        if use.tool != UPDATE or result is None:
            continue
        yield TRIGGERED
        wanted = (use.args or {}).get("nova_prioridade")
        if isinstance(wanted, str) and wanted in PRIORITIES:
            continue
        if result.ok or result.effects:
            yield broken([use.event, use.result], f"the priority {json.dumps(wanted)[:40]} is stored")


@contract("CE5", designs=DESK, needs=("tool_call",))
def writes_when_asked(view: TrialView) -> Iterator[Found]:
    """Nothing is written but where the question asks for a change, and by POST."""
    for use in view.uses:
        result = use.outcome
        if use.data.effect != "write" or result is None:
            continue
        yield TRIGGERED
        if not result.ok and result.error_kind in _NOT_RUN and not result.effects:
            continue
        if view.case.intent != "edit":
            yield broken([use.event, use.result], f"{use.tool} runs for a question that asks for no change")
        elif view.case.method == "GET":
            yield broken([use.event, use.result], f"{use.tool} runs for a GET")


@contract("CE7", designs=DESK, needs=("tool_result",))
def rows_of_the_store(view: TrialView) -> Iterator[Found]:
    """
    A query returns each cluster once, no more than asked for, and just those that the store's rows hold; a count is the
    number of the rows.
    """
    for use in view.uses:
        result = use.outcome
        if result is None or not result.ok or use.tool not in ("query_clusters", "count_clusters"):
            continue
        yield TRIGGERED
        witness, expected = [use.event, use.result], result.expected
        value = decoded(result.text)
        if not isinstance(value, dict) or (problem := _no_truth(expected)):
            yield broken(witness, f"{use.tool} gives no object" if not isinstance(value, dict) else problem)
        elif use.tool == "count_clusters":
            if expected is not None and value.get("count") != expected.get("count"):
                yield broken(witness, f"{use.tool} says {value.get('count')}, the store has {expected.get('count')}")
        else:
            yield from _rows(use, value, expected)


def _rows(use: ToolUse, value: dict[str, Json], expected: Json) -> Iterator[Broken]:
    witness, result = [use.event, use.result], use.outcome
    ids = _ids(value.get("clusters"))
    if ids is None or result is None:
        yield broken(witness, f"{use.tool} gives no list of clusters")
        return
    twice = [id for id, number in Counter(ids).items() if number > 1]
    most = (use.args or {}).get("limite")
    if twice:
        yield broken(witness, f"{use.tool} gives cluster {twice[0]} {ids.count(twice[0])} times")
    if isinstance(most, int) and len(ids) > most:
        yield broken(witness, f"{use.tool} gives {len(ids)} clusters, asked for were {most}")
    if expected is None or twice:
        return
    truth = expected["ids"]
    shown = truth[: len(ids)] if result.truncated else truth  # what goes to the model may be cut at its end
    if ids != shown:
        missing, extra = [id for id in shown if id not in ids], [id for id in ids if id not in shown]
        what = f"misses {missing}" if missing else f"has {extra} too much" if extra else "has them in another order"
        yield broken(witness, f"{use.tool} {what}: the store's rows are {_short(shown)}")
    elif result.hits is not None and result.hits != len(truth):
        yield broken(witness, f"{use.tool} reports {result.hits} hits, the store's rows are {len(truth)}")


@contract("CE12", designs=DESK, needs=("tool_result",))
def nearest_first(view: TrialView) -> Iterator[Found]:
    """A search by meaning tells five fields of each cluster, in the exact order of the cosine, by vectors of one length."""
    for use in view.uses:
        result = use.outcome
        if use.tool != "semantic_search_clusters" or result is None or not result.ok:
            continue
        yield TRIGGERED
        witness, expected = [use.event, use.result], result.expected
        value = decoded(result.text)
        rows = value.get("resultados") if isinstance(value, dict) else None
        ids = _ids(rows)
        if ids is None or not isinstance(rows, list):
            yield broken(witness, f"{use.tool} gives no list of clusters")
            continue
        other = next((row for row in rows if row.keys() != FIELDS), None)
        if other is not None:
            yield broken(witness, f"a result has the fields {', '.join(sorted(other))}")
        problem = _no_truth(expected)
        if problem or expected is None:
            if problem:
                yield broken(witness, problem)
            continue
        if expected["asked_dimension"] != expected["dimension"]:
            what = f"{expected['asked_dimension']} numbers, the store's have {expected['dimension']}"
            yield broken(witness, f"the query's vector has {what}")
        else:
            yield from _nearest(use, ids, expected)


def _nearest(use: ToolUse, ids: list[Json], expected: dict[str, Json]) -> Iterator[Broken]:
    witness, result = [use.event, use.result], use.outcome
    distance: dict[Json, float] = dict(expected["nearest"])
    unknown = [id for id in ids if id not in distance]
    if unknown:
        yield broken(witness, f"cluster {unknown[0]} is found, and is none of the day's with a vector")
        return
    asked = min(expected["limite"], len(distance))
    if len(set(ids)) != len(ids) or (len(ids) != asked and not (result is not None and result.truncated)):
        yield broken(witness, f"{len(ids)} clusters are found, {len(set(ids))} of them different, expected {asked}")
        return
    for before, after in pairwise(ids):
        if _wrong_way(before, after, distance):
            near, far = distance[after], distance[before]
            yield broken(witness, f"cluster {after} ({near:.6f}) stands behind {before} ({far:.6f}), which is farther")
            return
    left = [id for id in distance if id not in ids]
    nearer = next((id for id in left if ids and _wrong_way(ids[-1], id, distance)), None)
    if nearer is not None:
        near, far = distance[nearer], distance[ids[-1]]
        yield broken(witness, f"cluster {nearer} ({near:.6f}) is left out, and {ids[-1]} ({far:.6f}) is found")


def _wrong_way(before: Json, after: Json, distance: dict[Json, float]) -> bool:
    """Whether two neighbours stand the wrong way round: the nearer one first, equal ones by id."""
    if distance[before] == distance[after]:
        return bool(after < before)
    return distance[before] > distance[after] + CLOSE


def _no_truth(expected: Json) -> str:
    """What keeps a result from being compared; a world without oracles states nothing at all."""
    if isinstance(expected, dict) and "oracle_failed" in expected:
        return f"the store's own answer is not known: {expected['oracle_failed']}"
    return ""


def _ids(rows: Json) -> list[Json] | None:
    """The ids of *rows*, or None where they are no list of objects with ids."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get("id"), int) for row in rows):
        return None
    return [row["id"] for row in rows]


def _short(ids: list[Json]) -> str:
    shown = ", ".join(map(str, ids[:8]))
    return f"[{shown}{', …' if len(ids) > 8 else ''}]"
