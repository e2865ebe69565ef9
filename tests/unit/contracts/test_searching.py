"""CX14: failed searches."""

from __future__ import annotations

import pytest

from harness.contracts.searching import search_alternatives
from harness.records.trace import ErrorRaised
from harness.testing.builders import answer, check, make_trace, model_turn, reasons, tool_use

GAMMA = {"query": "Gamma"}


def failing(*, hits=None):
    """A turn with a search for Gamma that times out, or that finds nothing."""
    outcome = {"error": "timeout"} if hits is None else {"hits": hits}
    return [model_turn(calls=[("search_docs", GAMMA)]), tool_use("search_docs", GAMMA, **outcome)]


def searched(query, **fields):
    """A turn with another search."""
    return [model_turn(calls=[("search_docs", {"query": query})]), tool_use("search_docs", {"query": query}, **fields)]


def test_cx14_alternatives():
    """Another query, another tool, or an answer that says so keeps CX14, after a failure and after zero hits."""
    for first in (failing(), failing(hits=0)):
        other = make_trace(first, searched("Projekt G", hits=1), answer("48 000"))
        tool = make_trace(first, model_turn(), tool_use("read_doc", {"doc_id": "gamma"}), answer("48 000"))
        honest = make_trace(first, model_turn("x"), answer("I could not find a document on Gamma."))

        for trace in (other, tool, honest):
            assert ["kept"] == reasons(check(search_alternatives, trace))


@pytest.mark.parametrize(
    "text",
    [
        "Dazu wurde leider nichts gefunden.", "Es gibt keine Treffer.", "Não encontrei o documento.",
        "К сожалению, ничего не найдено.", "没有找到相关文件。", "The search timed out.", "There are 0 clusters.",
    ],
)  # fmt: skip
def test_cx14_says_so_in_many_languages(text):
    """An answer that says so is understood in the languages of the sets."""
    assert ["kept"] == reasons(check(search_alternatives, make_trace(failing(), answer(text))))


def test_cx14_silence_and_repetition():
    """An answer that ignores the failure, or the same call again, breaks CX14."""
    silent = make_trace(failing(), answer("Gamma costs 48 000 EUR."))
    again = make_trace(failing(), failing(), failing(), answer("Gamma costs 48 000 EUR."))
    late = make_trace(failing(), failing(), failing(), searched("Projekt G", hits=1), answer("48 000"))

    assert ["search_docs failed, and the answer does not say so"] == reasons(check(search_alternatives, silent))
    assert "search_docs failed, and the same call is repeated" == reasons(check(search_alternatives, again))[0]
    assert ["search_docs failed, and the same call is repeated"] == reasons(check(search_alternatives, late))


def test_cx14_planning_is_no_alternative():
    """A call of the plan tool is not another search."""
    trace = make_trace(
        failing(hits=0), model_turn(), tool_use("manage_plan", {"action": "read_plan"}), answer("48 000")
    )

    assert ["search_docs found nothing, and the answer does not say so"] == reasons(check(search_alternatives, trace))


def test_cx14_honest_failure_and_other_tools():
    """A run that fails with an error has said so, and a failing tool that is no search is not meant."""
    failed = make_trace(failing(), ErrorRaised(kind="max_steps", message="x"), finished={"status": "failed"})
    weather = make_trace(model_turn(), tool_use("get_weather", error="not_found"), answer("Atlantis: 3 °C"))

    assert ["kept"] == reasons(check(search_alternatives, failed))
    assert ["vacuous"] == reasons(check(search_alternatives, weather))
