"""The facts of deep thinking's cases: right answers in several wordings keep them, plausible wrong ones break them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.contracts.answer import facts
from harness.goldensets.load import load_set
from harness.testing.builders import answer, check, make_trace

CASES = {case.id: case for case in load_set(Path(__file__).parents[2] / "goldensets" / "deep_think.yaml").cases}

SHEEP_ZH = (
    ["还剩 9 只。", "九只羊留了下来。"],
    ["还剩 8 只。", "17 − 9 = 8，所以剩 8 只。", "17 只羊，除 9 只外都跑了，还剩几只？"],
)
SHEEP_EN = (
    ["9 sheep are left.", "Nine: all but nine ran away."],
    ["8 are left.", "None are left.", "17 sheep, all but 9 run away. How many are left?"],
)
PROOF_ZH = (
    ["和是偶数：(2k+1)+(2m+1)=2(k+m+1)。", "设 2n + 1 和 2m + 1，其和为偶数。"],
    ["和是偶数。", "(2k+1)+(2m+1) 是奇数。"],
)
PROOF_EN = (
    ["It is even: (2m+1) + (2n+1) = 2(m+n+1).", "With 2·k + 1 twice, the sum is even."],
    ["It is even.", "2k+1 is odd."],
)
CACHE_ZH = (["两层缓存；写入时失效，用抖动防雪崩。", "缓存要能失效，热点键防击穿。"], ["用缓存。", "缓存会失效。"])
CACHE_EN = (
    ["A cache that writes invalidate, with locks against a stampede."],
    ["Use a cache.", "Invalidate the cache."],
)
LIMIT_ZH = (["**注意：以下内容未经验证。**\n\n用两层缓存。"], ["用两层缓存。", "**注意：以下内容未经验证。**"])
LIMIT_EN = (["**Note: what follows is unverified.**\n\nUse a cache."], ["Use a cache.", "This is unverified."])
BUDGET_ZH = (
    ["Alpha 120000 欧元，Beta 95000 欧元，相差 25000 欧元。", "12 万对 9.5 万，差 2.5 万欧元。"],
    ["Alpha 更多。", "120000 对 95000。"],
)
BUDGET_EN = (
    ["Alpha 120,000 EUR, Beta 95,000 EUR: 25,000 EUR more.", "120k against 95k, 25k apart."],
    ["Alpha has more.", "120,000 and 95,000."],
)
TRIP_ZH = (["差 25000 欧元；超过 500 欧元的出差需要事先批准。"], ["差 25000 欧元；不需要。", "超过 500 欧元需要批准。"])
TRIP_EN = (
    ["25,000 EUR more; above 500 EUR a trip needs approval."],
    ["25,000 EUR more; go ahead.", "Above 500 EUR it needs approval."],
)
HEAT_ZH = (["21 °C。", "图中是 21 度。"], ["12 °C。", "21。"])
HEAT_EN = (["21 °C.", "It shows 21 degrees."], ["12 °C.", "It shows 21."])

ANSWERS: dict[str, tuple[list[str], list[str]]] = {
    "D-G1": SHEEP_ZH, "D-G1-en": SHEEP_EN, "D-G2": PROOF_ZH, "D-G2-en": PROOF_EN, "D-G3": CACHE_ZH, "D-G3-en": CACHE_EN,
    "D-G4": LIMIT_ZH, "D-G4-en": LIMIT_EN, "D-G5": LIMIT_ZH, "D-G5-en": LIMIT_EN, "D-G6": BUDGET_ZH,
    "D-G6-en": BUDGET_EN, "D-G7": BUDGET_ZH, "D-G7-en": BUDGET_EN, "D-G8": TRIP_ZH, "D-G8-en": TRIP_EN,
    "D-G9": PROOF_ZH, "D-G9-en": PROOF_EN, "D-G10": HEAT_ZH, "D-G10-en": HEAT_EN, "stop-and-resume": PROOF_EN,
    "asked-again": SHEEP_ZH, "check-times-out": BUDGET_ZH, "waves": SHEEP_EN, "parallel-fails": SHEEP_ZH,
    "plan-fails": PROOF_EN, "models-by-stage": PROOF_ZH,
    "history-and-knowledge": (["Gamma 的预算是 48000 欧元。"], ["Gamma 的预算是 84000 欧元。", "没有找到。"]),
    "one-write-a-turn": (["120 and 121 are P2 now."], ["120 is P2 now.", "120 and 121 are P3."]),
    "adaptive": (["**注意：以下内容未经验证。**\n\n还剩 9 只。"], ["还剩 9 只。", "**注意：以下内容未经验证。**\n\n还剩 8 只。"]),
}  # fmt: skip
WITHOUT_ANSWER = {"provider-down"}


def state(id: str, text: str) -> str:
    """Whether the facts of a case are kept by a text."""
    return str(check(facts, make_trace(answer(text)), CASES[id])[0].state)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, (right, _) in ANSWERS.items() for text in right])
def test_right_answers_keep_the_facts(id: str, text: str) -> None:
    """A correct answer is not refused for its wording."""
    assert "kept" == state(id, text)


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, (_, wrong) in ANSWERS.items() for text in wrong])
def test_wrong_answers_break_the_facts(id: str, text: str) -> None:
    """A plausible wrong answer is not let through."""
    assert "broken" == state(id, text)


def test_every_case_is_tried() -> None:
    """A new case brings answers of both kinds, unless it ends without one."""
    assert CASES.keys() == ANSWERS.keys() | WITHOUT_ANSWER


def test_twins_differ_in_words_alone() -> None:
    """Each Chinese case of the table has an English twin with the same options, limits and ending."""
    chinese = [id for id in CASES if id.startswith("D-G") and not id.endswith("-en")]

    assert 10 == len(chinese)
    for id in chinese:
        twins = [CASES[id], CASES[f"{id}-en"]]
        for field in ("options", "limits", "status", "reason", "class_", "contracts", "plan", "writes", "world"):
            assert getattr(twins[0], field) == getattr(twins[1], field), f"{id} {field}"
