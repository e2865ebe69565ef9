"""The news desk's executor: four messages, one action each, one write, and a pipeline behind every failure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.agents.load import LoadedAgent
from harness.records.case import GoldenCase
from harness.records.faults import ErrorKind
from harness.records.messages import ThinkingBlock
from harness.records.react_lines import react_lines
from harness.records.tool import ToolError, tool
from harness.testing.fakes import FakeWorld, Ran, Said, fails, run_agent, says
from harness.worlds import find_world

GOLDENSETS = Path(__file__).parents[2] / "goldensets"
COUNT = "Quantas notícias irrelevantes temos hoje?"
COUNTED = "Notícias irrelevantes (pela prioridade ou pela tag) em 2026-03-10: **8**."
CHANGE = "Mude a prioridade do cluster 120 para P2."
CHANGED = "A prioridade do cluster 120 mudou de P3 para **P2**."


def acts(name: str, /, thought: str = "falta saber", **args: Any) -> Said:
    """A reply with one action."""
    return says(json.dumps({"thought": thought, "action": name, "action_input": args}, ensure_ascii=False))


def ends(text: str, thought: str = "basta") -> Said:
    """A reply with the answer."""
    return says(json.dumps({"thought": thought, "action": "Final Answer", "action_input": text}, ensure_ascii=False))


UPDATE = acts("update_cluster_priority", cluster_id=120, nova_prioridade="P2_ESTRATEGICO")
COUNTS = acts("count_clusters", prioridade="IRRELEVANTE")


def ask(desk: LoadedAgent, question: str, replies: Sequence[Said], **kwargs: Any) -> Ran:
    """Put *question* to the desk on the newsroom's world, or on another one; *kwargs* also take fields of the case."""
    world: Any = kwargs.pop("world", None) or find_world(GOLDENSETS, "newsroom").open()
    options = kwargs.pop("options", None)
    case = GoldenCase(id="case", question=question, lang="pt", **kwargs)
    return run_agent(desk, replies, world=world, case=case, options=options)


def observed(ran: Ran, n: int) -> str:
    """The last message of the *n*th request, from 1."""
    return ran.requests[n - 1].messages[-1].text


def fallbacks(ran: Ran) -> list[str]:
    """The reasons for which the pipeline answered."""
    return [event.data.reason for event in ran.events("fallback_used")]


def warned(ran: Ran) -> list[str]:
    """The codes of the warnings."""
    return [event.data.code for event in ran.events("warning")]


def changes(ran: Ran) -> list[tuple[str, str]]:
    """Key and new priority of each cluster that differs in the store."""
    return [(change.key, change.after["prioridade"]) for change in ran.trace.events[-1].data.store_diff]


def test_a_lookup_and_an_answer(desk: LoadedAgent) -> None:
    """Thought, action, observation, answer; each in its turn and its iteration."""
    ran = ask(desk, COUNT, [COUNTS, ends("Temos **8** notícias irrelevantes hoje.")])
    steps = [
        (e.type, e.turn, e.round) for e in ran.trace if e.type in ("llm_call", "thinking", "tool_call", "tool_result")
    ]

    assert "Temos **8** notícias irrelevantes hoje." == ran.answer
    assert ("completed", "") == ran.ending
    assert [
        ("llm_call", 1, 1),
        ("thinking", 1, 1),
        ("tool_call", 1, 1),
        ("tool_result", 1, 1),
        ("llm_call", 2, 2),
        ("thinking", 2, 2),
    ] == steps
    assert ["json_action"] == [event.data.source for event in ran.events("tool_call")]


def test_what_the_model_is_asked(desk: LoadedAgent) -> None:
    """Role, date, contracts of the tools and the form stand in the prompt; sampling and the stop are the document's."""
    request = ask(desk, COUNT, [ends("**8**.")]).requests[0]
    system = request.messages[0].text

    assert "Hoje é 2026-03-10" in system
    assert '"nome": "update_cluster_priority"' in system
    assert '"enum": ["IRRELEVANTE", "P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO"]' in system
    assert "no máximo 4 mensagens" in system
    assert (0.2, 0.8, 2048, ("Observation:",)) == (
        request.temperature,
        request.top_p,
        request.max_tokens,
        request.stop,
    )
    assert () == request.tools
    assert ["system", "user"] == [message.role for message in request.messages]


def test_a_model_without_sampling_parameters_is_asked_without(desk: LoadedAgent) -> None:
    """Models that refuse a temperature are not sent one."""
    request = ask(replace(desk, default_model="claude-opus-4-7"), COUNT, [ends("**8**.")]).requests[0]

    assert (None, None) == (request.temperature, request.top_p)


def test_the_conversation_only_grows(desk: LoadedAgent) -> None:
    """History, question, reply, observation: what was sent is sent again as it was."""
    history = ({"role": "user", "text": "Oi."}, {"role": "assistant", "text": "Bom dia."})
    ran = ask(desk, COUNT, [COUNTS, says("hm"), ends("**8**.")], history=history, knowledge="A redação fecha às 18h.")
    first, second, third = (request.messages for request in ran.requests)

    assert ["system", "user", "assistant", "user"] == [message.role for message in first]
    assert "CONHECIMENTO:\nA redação fecha às 18h." in first[0].text
    assert first == second[:4]
    assert second == third[:6]
    assert 'Observation: {"data":"2026-03-10","prioridade":"IRRELEVANTE","tag":null,"count":8}' == second[5].text


def test_thinking_of_the_model_goes_back_with_its_reply(desk: LoadedAgent) -> None:
    """Signed blocks stay with the message that they belong to."""
    block = ThinkingBlock("thinking", "hm", "sig")
    ran = ask(desk, COUNT, [says('{"action": "count_clusters"}', thinking=(block,)), ends("**20**.")])

    assert (block,) == ran.requests[1].messages[2].thinking


def test_the_four_stages_are_told(desk: LoadedAgent) -> None:
    """A user sees how far the run is, each stage once, never back."""
    ran = ask(desk, COUNT, [COUNTS, acts("count_clusters"), ends("**8** de **20**.")])
    told = [(event.data.stage, event.data.value) for event in ran.events("progress")]

    assert [("entendendo", 0.25), ("planejando", 0.5), ("consultando", 0.75), ("sintetizando", 1.0)] == told


def test_only_the_first_action_runs(desk: LoadedAgent) -> None:
    """What the model invents behind its action is no observation and no second action; the trace says what was dropped."""
    both = says('{"action": "count_clusters"}\nObservation: {"count": 99}\n{"action": "read_doc"}')
    ran = ask(desk, COUNT, [both, ends("**20**.")])

    assert ["count_clusters"] == [event.data.tool for event in ran.events("tool_call")]
    assert "99" not in observed(ran, 2)
    assert ["discarded_text"] == warned(ran)
    assert ran.events("warning")[0].data.detail.startswith('Observation: {"count": 99}')


def test_a_bad_reply_is_told_once_with_its_reason(desk: LoadedAgent) -> None:
    """The reader's reason goes back as an observation; a good reply after it counts as the first."""
    ran = ask(desk, COUNT, [says("[]"), COUNTS, says("{}"), ends("**8**.")])

    assert "**8**." == ran.answer
    assert [] == fallbacks(ran)
    assert observed(ran, 2).startswith('Observation: {"error": "formato", "message": "não há um objeto JSON')
    assert ["no_json", "no_action"] == [event.data.detail.partition(":")[0] for event in ran.events("warning")]


def test_an_empty_reply_is_not_sent_back(desk: LoadedAgent) -> None:
    """No provider takes an empty message of the assistant."""
    ran = ask(desk, COUNT, [says(""), ends("**8**.")])

    assert ["system", "user", "user"] == [message.role for message in ran.requests[1].messages]


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([fails("connection")], "no_llm"),
        ([fails("authentication")], "no_llm"),
        ([fails("not_found")], "no_llm"),
        ([fails("server_error")], "llm_error"),
        ([COUNTS, fails("timeout")], "llm_error"),
        ([says("hm"), says("hm")], "parse"),
        ([says("x", finish_reason="length"), says("x", finish_reason="length")], "parse"),
        ([says("[" + json.dumps({"action": "count_clusters"}) + "]"), says("{}")], "parse"),
        ([ends("{}"), ends("Usei count_clusters: 8.")], "parse"),
        ([COUNTS, COUNTS, COUNTS, COUNTS], "exhausted"),
        ([says("hm"), COUNTS, says("hm"), COUNTS], "exhausted"),
    ],
)
def test_every_failure_ends_in_the_pipeline(desk: LoadedAgent, replies: list[Said], reason: str) -> None:
    """The user gets the store's number from the deterministic pipeline, and the trace says why."""
    ran = ask(desk, COUNT, replies)

    assert COUNTED == ran.answer
    assert [reason] == fallbacks(ran)
    assert ("completed", "") == ran.ending
    assert len(replies) == len(ran.requests)
    last = ran.events("tool_call")[-1]
    assert ("internal", "fallback") == (last.data.source, last.phase)
    assert "final_answer" == json.loads(list(react_lines(ran.trace))[-1])["type"]


def test_a_tool_that_crashes_ends_in_the_pipeline(desk: LoadedAgent) -> None:
    """A defect of a tool is not the model's to work around."""

    @tool(effect="read")
    def search_docs(query: str) -> str:
        """Search."""
        raise RuntimeError("wires crossed")

    ran = ask(desk, "Wie warm ist es?", [acts("search_docs", query="Wetter")], world=FakeWorld([search_docs]))

    assert ["tool_crash"] == fallbacks(ran)
    assert ran.answer.startswith("I cannot answer that right now.")


def test_a_cut_reply_is_told_as_such(desk: LoadedAgent) -> None:
    """A reply that reached its limit is never read, even where its first object is whole."""
    cut = says('{"action": "count_clusters"}', finish_reason="length")
    ran = ask(desk, COUNT, [cut, ends("**8**.")])

    assert ["truncated_output", "parse_failure"] == warned(ran)
    assert [] == ran.events("tool_call")


def test_at_most_four_messages(desk: LoadedAgent) -> None:
    """Bad replies count; an option above four is lowered, and the trace says so."""
    ran = ask(desk, COUNT, [COUNTS] * 9, options={"max_iterations": 9})
    [resolved] = ran.events("config_resolved")

    assert 4 == len(ran.requests)
    assert ("max_iterations", 9, 4) == (resolved.data.key, resolved.data.asked, resolved.data.used)


def test_fewer_messages_by_option(desk: LoadedAgent) -> None:
    """The model is told how many it has."""
    ran = ask(desk, COUNT, [COUNTS] * 2, options={"max_iterations": 2})

    assert ["exhausted"] == fallbacks(ran)
    assert "no máximo 2 mensagens" in ran.requests[0].messages[0].text


@pytest.mark.parametrize("off", ["0", 0, False, "", "true", "2"])
def test_switched_off_nobody_is_asked(desk: LoadedAgent, off: Any) -> None:
    """Only `1` and true switch the executor on; off, the pipeline answers, and that is no fallback."""
    ran = ask(desk, COUNT, [], options={"react": off})

    assert COUNTED == ran.answer
    assert [] == fallbacks(ran)


@pytest.mark.parametrize("on", ["1", 1, True, " 1 "])
def test_switched_on_the_model_is_asked(desk: LoadedAgent, on: Any) -> None:
    """The values that the environment and the command line have for yes."""
    assert "**8**." == ask(desk, COUNT, [ends("**8**.")], options={"react": on}).answer


def test_a_write_that_was_asked_for(desk: LoadedAgent) -> None:
    """One cluster, the priority that was asked for, confirmed."""
    ran = ask(desk, CHANGE, [UPDATE, ends("Pronto: o cluster 120 agora é **P2**.")])

    assert [("120", "P2_ESTRATEGICO")] == changes(ran)
    assert "Pronto: o cluster 120 agora é **P2**." == ran.answer


@pytest.mark.parametrize(
    "replies",
    [
        [UPDATE, fails()],
        [UPDATE, says("hm"), says("hm")],
        [UPDATE, COUNTS, COUNTS, COUNTS],
        [UPDATE, ends("{}"), ends("update_cluster_priority ok")],
        [UPDATE, UPDATE, UPDATE, UPDATE],
    ],
)
def test_after_a_write_no_failure_writes_again(desk: LoadedAgent, replies: list[Said]) -> None:
    """Once something was written, the answer says what it was, and the pipeline does not run."""
    ran = ask(desk, CHANGE, replies)
    done = [event for event in ran.events("tool_result") if event.data.ok and event.data.effects]

    assert CHANGED == ran.answer
    assert [] == fallbacks(ran)
    assert "answered_from_write" in warned(ran)
    assert 1 == len(done)
    assert [("120", "P2_ESTRATEGICO")] == changes(ran)


def test_a_feeling_is_stored_and_told_after_a_failure(desk: LoadedAgent) -> None:
    """What was written need not be a priority."""
    feels = acts("update_current_feeling", username="vera", feeling="Happy")
    ran = ask(desk, "I feel happy today!", [feels, fails()])

    assert "Done: the change that you asked for was made." == ran.answer


def test_any_other_change_is_told_after_a_failure(desk: LoadedAgent) -> None:
    """A writing tool of somebody else's has arguments of its own."""

    @tool(effect="write")
    def archive(nova_prioridade: str) -> Any:
        """Archive."""
        return {"archived": nova_prioridade}

    ran = ask(desk, CHANGE, [acts("archive", nova_prioridade="P1"), fails()], world=FakeWorld([archive]))

    assert "Feito: a alteração pedida foi registrada." == ran.answer


@pytest.mark.parametrize(
    ("question", "method", "action", "reason"),
    [
        (CHANGE, "GET", UPDATE, "só de leitura (GET)"),
        (COUNT, "POST", UPDATE, "o usuário não pediu alteração nenhuma"),
        ("O que mudou no cluster 120?", "POST", UPDATE, "o usuário não pediu alteração nenhuma"),
        ("Estou triste hoje.", "POST", UPDATE, "o usuário não pediu alteração nenhuma"),
        ("Mude o cluster 121 para P2.", "POST", UPDATE, "o usuário não pediu a alteração do cluster 120"),
        ("Mude os clusters 120 e 121 para P2.", "POST", UPDATE, "nunca em lote"),
        ("Mude todas as notícias P3 para P2.", "POST", UPDATE, "nunca em lote"),
        (
            "Is vera sad?",
            "POST",
            acts("update_current_feeling", username="vera", feeling="Sad"),
            "o usuário não pediu alteração nenhuma",
        ),
    ],
)
def test_a_write_that_nobody_asked_for_is_refused(
    desk: LoadedAgent, question: str, method: Any, action: Said, reason: str
) -> None:
    """The model is told why, the call stands in the trace as denied, and nothing is written."""
    ran = ask(desk, question, [action, ends("Nada foi alterado.")], method=method)
    [result] = ran.events("tool_result")

    assert "denied" == result.data.error_kind
    assert reason in observed(ran, 2)
    assert [] == changes(ran)


def test_a_second_write_is_refused(desk: LoadedAgent) -> None:
    """One write a run, also of the same cluster."""
    again = acts("update_cluster_priority", cluster_id=120, nova_prioridade="P1_CRITICO")
    ran = ask(desk, CHANGE, [UPDATE, again, ends("O cluster 120 agora é **P2**.")])

    assert "só uma alteração por pergunta" in observed(ran, 3)
    assert [("120", "P2_ESTRATEGICO")] == changes(ran)


@pytest.mark.parametrize(
    "args",
    [
        {"cluster_id": [120, 121], "nova_prioridade": "P2_ESTRATEGICO"},
        {"cluster_id": "*", "nova_prioridade": "P2_ESTRATEGICO"},
        {"cluster_id": "120", "nova_prioridade": "P2_ESTRATEGICO"},
        {"cluster_id": 120, "nova_prioridade": "P2"},
        {"cluster_id": 120},
    ],
)
def test_arguments_that_do_not_fit_change_nothing(desk: LoadedAgent, args: dict[str, Any]) -> None:
    """Lists, wildcards and unknown values are failures that the model may correct."""
    ran = ask(desk, CHANGE, [acts("update_cluster_priority", **args), UPDATE, ends("O cluster 120 agora é **P2**.")])

    assert ["invalid_args", None] == [event.data.error_kind for event in ran.events("tool_result")]
    assert [("120", "P2_ESTRATEGICO")] == changes(ran)


@pytest.mark.parametrize("kind", ["timeout", "crash"])
def test_after_an_unknown_outcome_nothing_is_written(desk: LoadedAgent, kind: str) -> None:
    """A write that timed out or crashed may have happened: neither the model nor the pipeline repeats it."""
    tried: list[int] = []

    @tool(effect="write")
    def update_cluster_priority(cluster_id: int, nova_prioridade: str) -> Any:
        """Change."""
        tried.append(cluster_id)
        raise ToolError("timeout", "no answer") if kind == "timeout" else RuntimeError("gone")

    replies = [UPDATE, UPDATE, fails()] if kind == "timeout" else [UPDATE]
    ran = ask(desk, CHANGE, replies, world=FakeWorld([update_cluster_priority]))

    assert [120] == tried
    assert "Não posso fazer alterações agora; nada foi alterado por este pedido." == ran.answer


def test_an_unknown_tool_is_an_observation(desk: LoadedAgent) -> None:
    """The model is told what there is, and goes on."""
    ran = ask(desk, COUNT, [acts("contar_tudo"), COUNTS, ends("**8**.")])

    assert '"error":"unknown_tool"' in observed(ran, 2)
    assert "**8**." == ran.answer


def test_a_long_observation_is_cut_by_items(desk: LoadedAgent) -> None:
    """Twenty items do not fit: fewer whole ones are shown, as JSON, and marked as cut; the trace knows."""
    ran = ask(desk, "Liste as notícias de hoje.", [acts("query_clusters"), ends("São muitas notícias.")])
    shown = json.loads(observed(ran, 2).removeprefix("Observation: "))
    [result] = ran.events("tool_result")

    assert shown["truncado"] is True
    assert [101, 102, 103] == [cluster["id"] for cluster in shown["clusters"]][:3]
    assert 3 < len(shown["clusters"]) < 20
    assert (True, 20) == (result.data.truncated, result.data.hits)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"resposta": 8}', "não JSON"),
        ("Thought: pensei.\n\n8", "rótulo"),
        ("```sql\nSELECT 1", "não está fechado"),
        ("Consultei `count_clusters`.", "ferramenta count_clusters"),
        ("A mais importante é a (101).", "número interno 101"),
        ("O cluster 102 trata disso.", "número interno 102"),
    ],
)
def test_an_answer_that_cannot_be_shown_is_written_again(desk: LoadedAgent, bad: str, reason: str) -> None:
    """JSON, steps, tools, open fences and internal numbers come back to the model with the reason."""
    look = acts("query_clusters", prioridade="P1_CRITICO")
    good = "Há três.\n\n### Fontes\n\n1. Aurora Linhas (cluster 101)\n2. Sanções (cluster 102)"
    ran = ask(desk, "Liste as notícias P1 de hoje.", [look, ends(bad), ends(good)])

    assert good == ran.answer
    assert reason in observed(ran, 3)


def test_numbers_that_the_user_used_may_be_said(desk: LoadedAgent) -> None:
    """A cluster that the question names is no internal number."""
    look = acts("get_cluster_details", cluster_id=102)
    ran = ask(desk, "Do que trata o cluster 102?", [look, ends("O cluster 102 trata de sanções.")])

    assert "O cluster 102 trata de sanções." == ran.answer


def test_a_fence_in_the_answer_survives(desk: LoadedAgent) -> None:
    """Code with braces, quotes and line breaks arrives as the model meant it."""
    text = 'Por exemplo:\n\n```sql\nSELECT tag, count(*)\nFROM clusters -- {"a"}\nGROUP BY tag;\n```'
    ran = ask(desk, "Mostre um SQL num bloco de código.", [ends(text)])

    assert text == ran.answer


def test_streamed_replies_are_read_the_same_and_not_shown(desk: LoadedAgent) -> None:
    """With the option, JSON comes in chunks that no user sees; lines and answer are the same."""
    plain = ask(desk, COUNT, [COUNTS, ends("**8**.")])
    streamed = ask(desk, COUNT, [COUNTS, ends("**8**.")], options={"stream": True})

    assert list(react_lines(plain.trace)) == list(react_lines(streamed.trace))
    assert streamed.events("llm_chunk")
    assert not any(event.data.visible for event in streamed.events("llm_chunk"))


@pytest.mark.parametrize("kind", ["rate_limit", "bad_request"])
def test_an_error_in_a_stream_of_steps_ends_in_an_answer(desk: LoadedAgent, kind: ErrorKind) -> None:
    """A client that reads lines sees the pipeline's steps and its answer, not a broken stream."""
    kinds = [json.loads(line)["type"] for line in react_lines(ask(desk, COUNT, [COUNTS, fails(kind)]).trace)]

    assert ["thought", "action", "observation", "action", "observation", "final_answer"] == kinds
