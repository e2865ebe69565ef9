"""The facts of the news desk's cases: right answers in several wordings keep them, plausible wrong ones break them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.contracts.answer import facts
from harness.goldensets.load import load_set
from harness.testing.builders import answer, check, make_trace

CASES = {case.id: case for case in load_set(Path(__file__).parents[2] / "goldensets" / "newsdesk.yaml").cases}
LONG = " ".join(["palavra"] * 121)
TWINS = {
    "E-G1-stream": "E-G1", "E-G1-off": "E-G1", "E-F1": "E-G1", "E-F3": "E-G1", "E-F4": "E-G1", "E-F5": "E-G1",
    "E-F1-en": "E-G1-en", "E-F2": "E-G3", "E-G5-stream": "E-G5", "E-G6-stream": "E-G6", "E-F6": "E-G6", "E-F7": "E-G6",
    "E-G7-tries": "E-G7",
}  # fmt: skip

RIGHT = {
    "E-G1": ["Temos **8** notícias irrelevantes.", "Oito notícias.", "Notícias irrelevantes em 2026-03-10: **8**."],
    "E-G1-en": ["There are eight.", "8 irrelevant items"],
    "E-G2": ["Ontem foram 2.", "Duas notícias."],
    "E-G2-en": ["Two.", "Yesterday: 2"],
    "E-G3": ["Aurora Linhas; sanções à Rússia; Solaris compra a Ventus por R$ 2,4 bi."],
    "E-G3-en": ["Aurora Linhas; US sanctions; Solaris buys Ventus for R$ 2,4 bi."],
    "E-G4": ["Novas sanções contra a Rússia; União Europeia e Índia negociam."],
    "E-G4-en": ["New sanctions against Russia; the EU and India talk."],
    "E-G5": ["A Solaris comprou 60 % da Ventus por R$ 2,4 bi.\n\n### Fontes\n\n1. cluster 103"],
    "E-G5-en": ["Solaris bought 60% of Ventus for R$ 2.4 billion.\n\n## Sources\n\n1. cluster 103"],
    "E-G6": ["O cluster 120 agora tem a prioridade P2.", "120: P2_ESTRATEGICO"],
    "E-G6-en": ["Cluster 120 is P2 now."],
    "E-G6-get": ["Nada foi alterado: a consulta só lê.", "Não posso alterar o cluster 120 por GET."],
    "E-G7": ["Não altero em lote: 120, 121 e 122.", "Nada foi alterado. Pedidos: 120; 121; 122."],
    "E-G7-en": ["I cannot change 120, 121 and 122 at once.", "Nothing was changed: 120, 121, 122."],
    "E-G8": ["O cluster 999 não existe.", "Não encontrei o cluster 999."],
    "E-G8-en": ["Cluster 999 was not found.", "There is no such cluster: 999."],
    "E-G9": ["Valores: P1_CRITICO, P2_ESTRATEGICO, P3_MONITORAMENTO e IRRELEVANTE."],
    "E-G9-en": ["Allowed: P1, P2, P3, irrelevant."],
    "E-G10": ["Assim:\n\n```sql\nSELECT 1\n```"],
    "E-G10-en": ["So:\n\n```sql\nSELECT 1;\n```\nDone."],
    "E-N1": ["A Solaris pagou R$ 2,4 bi, e o fundo Orla negocia com o Mercado Bom."],
    "E-P1": ["São 5 notícias P2.", "Cinco."],
    "E-P2": ["São 5 notícias P3."],
    "E-P3": ["O leilão de transmissão e o julgamento do ICMS."],
    "E-P4": ["Há 20 notícias.", "São **20** ao todo."],
    "E-W1": ["O porto de Itaguá."],
    "E-W2": ["O cluster 121 agora é irrelevante.", "121: IRRELEVANTE"],
    "E-F8": ["Não consigo responder a isso agora."],
}  # fmt: skip

WRONG = {
    "E-G1": ["Temos 7 notícias irrelevantes.", "São 20.", "São 80."],
    "E-G1-en": ["There are 7.", "20 items"],
    "E-G2": ["Ontem foram 8.", "Nenhuma."],
    "E-G2-en": ["Eight.", "None."],
    "E-G3": ["Aurora Linhas e sanções.", "Aurora, sanções, Ventus, 2,4 bi, e o leilão de transmissão."],
    "E-G3-en": ["Aurora Linhas and sanctions.", "Aurora Linhas, sanctions, Ventus 2,4 bi, Mercado Bom"],
    "E-G4": ["Novas sanções contra a Rússia.", "Sanções, Índia e Ventus."],
    "E-G4-en": ["Sanctions.", "Sanctions, India, Aurora."],
    "E-G5": [
        "A Solaris comprou 60 % da Ventus por R$ 2,4 bi.",
        "A Solaris comprou 40 % da Ventus por R$ 2,4 bi.\n\n### Fontes\n\n1. x",
        f"Solaris, Ventus, 60 %, R$ 2,4 bi: {LONG}\n\n### Fontes\n\n1. x",
    ],
    "E-G5-en": ["Solaris bought 60% of Ventus.\n\n## Sources\n\n1. x", f"Solaris Ventus 60 R$ 2.4 bi {LONG}\n\n# Sources\n"],
    "E-G6": ["Pronto.", "O cluster 120 agora é P3.", "O cluster 121 agora é P2."],
    "E-G6-en": ["Cluster 120 is P1 now."],
    "E-G6-get": ["Pronto: o cluster 120 mudou de P3 para P2.", "O cluster 120 agora é P2."],
    "E-G7": ["Pronto: 120, 121 e 122 são P1.", "Nada foi alterado."],
    "E-G7-en": ["Done: 120, 121 and 122.", "Nothing was changed."],
    "E-G8": ["Pronto: o cluster 999 é P1.", "Não encontrei."],
    "E-G8-en": ["Cluster 999 is P1 now."],
    "E-G9": ["Pronto.", "Mudei para P1.", "Só P1, P2 e P3."],
    "E-G9-en": ["Done.", "Use P1, P2 or P3."],
    "E-G10": ["SELECT 1", "```sql SELECT 1```", "```sql\nSELECT 1"],
    "E-G10-en": ["`SELECT 1`"],
    "E-N1": ["A Solaris pagou R$ 2,4 bi.", "O fundo Orla negocia."],
    "E-P1": ["São 4.", "São 50."],
    "E-P2": ["São 42.", "São 5 ou 42."],
    "E-P3": ["O leilão de transmissão."],
    "E-P4": ["Há 15 notícias.", "Há 200."],
    "E-W1": ["Nenhuma."],
    "E-W2": ["O cluster 121 agora é P3."],
    "E-F8": ["Em Berlim fazem 7 °C.", "Não consigo responder, mas são 7 °C."],
}  # fmt: skip


def state(id: str, text: str) -> str:
    return str(check(facts, make_trace(answer(text)), CASES[id])[0].state)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in RIGHT.items() for text in texts])
def test_right_answers_keep_the_facts(id: str, text: str) -> None:
    """A correct answer is not refused for its wording or its language's words for numbers."""
    assert "kept" == state(id, text)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in WRONG.items() for text in texts])
def test_wrong_answers_break_the_facts(id: str, text: str) -> None:
    """A plausible wrong answer is not let through."""
    assert "broken" == state(id, text)


def test_twins_share_their_facts() -> None:
    """A case without answers of its own has the facts of one that has."""
    assert {} == {one: other for one, other in TWINS.items() if CASES[one].facts.none != CASES[other].facts.none}
    assert {} == {one: other for one, other in TWINS.items() if CASES[one].facts.all != CASES[other].facts.all}


def test_every_case_is_tried() -> None:
    """A new case brings answers of both kinds."""
    assert CASES.keys() - TWINS.keys() == RIGHT.keys() == WRONG.keys()
