"""CE3–CE5, CE7 and CE12: what the news desk changes, and that what it reads is what the rows say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.newsdesk_store import (
    known_priorities,
    nearest_first,
    rows_of_the_store,
    single_updates,
    writes_when_asked,
)
from harness.records.trace import Effect
from harness.testing.builders import check, make_case, reasons

from .desk_traces import desk, used

EDIT = make_case(intent="edit")


def update(cluster=120, priority="P2_ESTRATEGICO", *, changed=(120,), **fields):
    """A call that changes a priority."""
    args = {"cluster_id": cluster, "nova_prioridade": priority}
    effects = [Effect("clusters", str(id), {"prioridade": "P3"}, {"prioridade": "P2"}) for id in changed]
    return used("update_cluster_priority", args, effect="write", effects=effects, **fields)


def refused(error, **fields):
    """A change that is not made."""
    return update(error=error, changed=(), **fields)


FEELING = used(
    "update_current_feeling", {"username": "vera"}, effect="write",
    effects=[Effect("feelings", "1", None, {}), Effect("users", "vera", {}, {})],
)  # fmt: skip


def test_ce3_one_cluster_once():
    """One change of one cluster keeps CE3, refused ones beside it, and so does a write elsewhere."""
    assert ["kept"] == reasons(check(single_updates, desk(refused("invalid_args", cluster=[1, 2]), update())))
    assert ["kept"] == reasons(check(single_updates, desk(FEELING)))


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        ([update([1, 2, 3])], "update_cluster_priority ran for [1, 2, 3], which is no single cluster"),
        ([update("all")], 'update_cluster_priority ran for "all", which is no single cluster'),
        ([update(True)], "update_cluster_priority ran for true, which is no single cluster"),
        ([update(changed=(120, 121))], "one call of update_cluster_priority changed 2 clusters"),
        ([update(changed=(121,))], "update_cluster_priority changed cluster 121, asked for was 120"),
        ([update(), update(121, changed=(121,))], "the store is changed 2 times in one run"),
    ],
)
def test_ce3_batches(steps, because):
    """Lists, wildcards, several clusters in one call, and several calls break CE3."""
    assert because in reasons(check(single_updates, desk(*steps)))


def test_ce4_the_four_priorities():
    """The four priorities, and a refusal of any other word, keep CE4."""
    for priority in ("P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"):
        assert ["kept"] == reasons(check(known_priorities, desk(update(priority=priority))))
    assert ["kept"] == reasons(check(known_priorities, desk(refused("invalid_args", priority="urgente"))))


def test_ce4_refused_and_stored_all_the_same():
    """A refusal that changes the store breaks CE4."""
    trace = desk(update(priority="urgente", error="invalid_args"))

    assert ['the priority "urgente" is stored'] == reasons(check(known_priorities, trace))


@pytest.mark.parametrize("priority", ["P1", "urgente", "p2_estrategico", "", 1, None, ["P1_CRITICO"]])
def test_ce4_another_word(priority):
    """Any other word that gets through breaks CE4."""
    told = json.dumps(priority)

    assert [f"the priority {told} is stored"] == reasons(check(known_priorities, desk(update(priority=priority))))


def test_ce5_asked_for():
    """A change that the question asks for, by POST, keeps CE5; so does one that is refused."""
    assert ["kept"] == reasons(check(writes_when_asked, desk(update()), EDIT))
    assert ["kept"] == reasons(check(writes_when_asked, desk(refused("denied"))))


def test_ce5_not_asked_for():
    """A change for a reading question, or for a GET, breaks CE5, even where it comes to nothing."""
    get = make_case(intent="edit", method="GET")

    assert ["update_cluster_priority runs for a question that asks for no change"] == reasons(
        check(writes_when_asked, desk(update()))
    )
    assert ["update_cluster_priority runs for a question that asks for no change"] == reasons(
        check(writes_when_asked, desk(refused("not_found")))
    )
    assert ["update_cluster_priority runs for a GET"] == reasons(check(writes_when_asked, desk(update()), get))


def query(ids, truth=(101, 102, 103), *, limite=50, **fields):
    """A query that gives *ids* where the store has *truth*."""
    text = json.dumps({"data": "2026-03-10", "clusters": [{"id": id, "titulo": "t"} for id in ids]})
    known = {"text": text, "expected": {"ids": list(truth), "matching": len(truth)}, "hits": len(ids)}
    return used("query_clusters", {"limite": limite}, **(known | fields))


def test_ce7_the_rows():
    """Just the store's rows, in order, keep CE7; what is cut for the model may end early."""
    assert ["kept"] == reasons(check(rows_of_the_store, desk(query([101, 102, 103]))))
    assert ["kept"] == reasons(check(rows_of_the_store, desk(query([101, 102], truncated=True, hits=3))))
    assert ["kept"] == reasons(check(rows_of_the_store, desk(query([101], expected=None))))
    assert ["kept"] == reasons(check(rows_of_the_store, desk(query([101, 102], [101, 102], limite=2))))
    assert ["vacuous"] == reasons(check(rows_of_the_store, desk(query([], error="invalid_args"))))


@pytest.mark.parametrize(
    ("step", "because"),
    [
        (query([101, 102, 102]), "query_clusters gives cluster 102 2 times"),
        (query([101, 103]), "query_clusters misses [102]: the store's rows are [101, 102, 103]"),
        (query([101, 102, 103, 104]), "query_clusters has [104] too much: the store's rows are [101, 102, 103]"),
        (query([103, 102, 101]), "query_clusters has them in another order: the store's rows are [101, 102, 103]"),
        (query([101, 102, 103], limite=2), "query_clusters gives 3 clusters, asked for were 2"),
        (query([101, 103], truncated=True, hits=3), "query_clusters misses [102]: the store's rows are [101, 102]"),
        (query([101], truncated=True, hits=2), "query_clusters reports 2 hits, the store's rows are 3"),
        (query([], text="none"), "query_clusters gives no object"),
        (query([], text="{}"), "query_clusters gives no list of clusters"),
        (query([], text='{"clusters": ["101"]}'), "query_clusters gives no list of clusters"),
        (query([101], expected={"oracle_failed": "KeyError: 'x'"}), "the store's own answer is not known: KeyError: 'x'"),
    ],
)  # fmt: skip
def test_ce7_other_rows(step, because):
    """Rows twice, left out, added, out of order or beyond the limit break CE7."""
    assert because in reasons(check(rows_of_the_store, desk(step)))


def test_ce7_counts():
    """A count is the number of the store's rows."""
    right = used("count_clusters", {}, text='{"count": 8}', expected={"count": 8})
    wrong = used("count_clusters", {}, text='{"count": 7}', expected={"count": 8})

    assert ["kept"] == reasons(check(rows_of_the_store, desk(right)))
    assert ["count_clusters says 7, the store has 8"] == reasons(check(rows_of_the_store, desk(wrong)))


FOUND = {"titulo": "t", "resumo": "r", "prioridade": "P1_CRITICO", "tag": "Energia"}
NEAREST = [[103, 0.1], [102, 0.2], [101, 0.2], [104, 0.3], [105, 0.3000001]]


def search(ids, *, limite=3, nearest=NEAREST, row=FOUND, dimensions=(384, 384), **fields):
    """A search by meaning that gives *ids*."""
    text = json.dumps({"resultados": [{"id": id, **row} for id in ids]})
    truth = {"asked_dimension": dimensions[0], "dimension": dimensions[1], "nearest": nearest, "limite": limite}
    known = {"text": text, "expected": truth, "hits": len(ids)}
    return used("semantic_search_clusters", {"texto_busca": "fusões", "limite": limite}, **(known | fields))


EVEN = [[101, 0.1], [102, 0.2], [103, 0.2]]


def test_ce12_the_nearest_first():
    """The exact order keeps CE12; where distances cannot be told apart either order will do, and equal ones go by id."""
    assert ["kept"] == reasons(check(nearest_first, desk(search([101, 102, 103], nearest=EVEN))))
    close = [[103, 0.1], [105, 0.3000001], [104, 0.3]]
    assert ["kept"] == reasons(check(nearest_first, desk(search([103, 105, 104], nearest=close))))
    assert ["kept"] == reasons(check(nearest_first, desk(search([101], nearest=EVEN, truncated=True, hits=3))))
    assert ["kept"] == reasons(check(nearest_first, desk(search([101, 102, 103], limite=9, nearest=EVEN))))
    assert ["kept"] == reasons(check(nearest_first, desk(search([7], expected=None))))


@pytest.mark.parametrize(
    ("step", "because"),
    [
        (search([102, 103, 101]), "cluster 103 (0.100000) stands behind 102 (0.200000), which is farther"),
        (search([101, 103, 102], nearest=EVEN), "cluster 102 (0.200000) stands behind 103 (0.200000), which is farther"),
        (search([103, 104, 105]), "cluster 102 (0.200000) is left out, and 105 (0.300000) is found"),
        (search([103, 101]), "2 clusters are found, 2 of them different, expected 3"),
        (search([103, 103, 102]), "3 clusters are found, 2 of them different, expected 3"),
        (search([103, 999, 102]), "cluster 999 is found, and is none of the day's with a vector"),
        (search([103], row={"titulo": "t"}), "a result has the fields id, titulo"),
        (search([103], row=FOUND | {"distancia": 0.1}), "a result has the fields distancia, id, prioridade, resumo, tag, titulo"),
        (search([103], dimensions=(768, 384)), "the query's vector has 768 numbers, the store's have 384"),
        (search([103], dimensions=(0, 384)), "the query's vector has 0 numbers, the store's have 384"),
        (search([], text="[]"), "semantic_search_clusters gives no list of clusters"),
        (search([103], expected={"oracle_failed": "x"}), "the store's own answer is not known: x"),
    ],
)  # fmt: skip
def test_ce12_another_order(step, because):
    """Another order, other fields, clusters left out or unknown, and vectors of another length break CE12."""
    assert because in reasons(check(nearest_first, desk(step)))


IDS = st.lists(st.integers(100, 109), max_size=6)


@given(truth=st.lists(st.integers(100, 109), unique=True, max_size=5), ids=IDS)
def test_ce7_nothing_but_the_rows(truth, ids):
    """The law: CE7 is kept by the store's own rows and by no other list."""
    found = reasons(check(rows_of_the_store, desk(query(ids, sorted(truth)))))

    assert (["kept"] == found) == (ids == sorted(truth))


@given(
    distances=st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=1, max_size=5),
    limite=st.integers(1, 6),
    order=st.randoms(use_true_random=False),
)
def test_ce12_nothing_but_the_order(distances, limite, order):
    """The law: CE12 is kept by the exact order, ties by id, and by no other one."""
    nearest = sorted([far, id] for id, far in enumerate(distances, start=100))
    exact = [id for _, id in nearest][:limite]
    ids = [id for _, id in nearest]
    order.shuffle(ids)
    truth = [[id, far] for far, id in nearest]
    found = reasons(check(nearest_first, desk(search(ids[:limite], limite=limite, nearest=truth))))

    assert ["kept"] == reasons(check(nearest_first, desk(search(exact, limite=limite, nearest=truth))))
    assert (["kept"] == found) == (ids[:limite] == exact)
