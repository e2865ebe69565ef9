"""CU1–CU12 on traces made by hand: kept by sound ones, broken by each way of getting it wrong."""

from __future__ import annotations

from typing import Any

import pytest

from harness.contracts.ultrathink import (
    constant_tools,
    fallback_by_mode,
    legal_thinking,
    no_fallback_beside_native,
    nothing_beside_thinking,
)
from harness.contracts.ultrathink_switches import (
    both_paths_agree,
    honest_budget,
    idle_unless_enabled,
    switches_at_turns,
)
from harness.contracts.ultrathink_thoughts import concludes_as_it_answers, thinking_is_harmless, thinks_before_acting
from harness.records.case import Fact, Facts
from harness.records.trace import ConfigResolved, Effect, Trace, Warned
from harness.testing.builders import answer, check, make_case, make_trace, model_turn, reasons, tool_use

ENABLE, DISABLE, THINK = "enable_ultrathink", "disable_ultrathink", "think_step_by_step"
CONTROL = ("get_weather", ENABLE, DISABLE)
ALL = (*CONTROL, THINK)
BETA = "interleaved-thinking-2025-05-14"
ON: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 2048}, "max_tokens": 9000}
ADAPTIVE: dict[str, Any] = {"thinking": {"type": "adaptive"}}
SECTION = {"embeds": {"thinking_section": "d"}}
WITH_TOOL = {"embeds": {"thinking_section_with_tool": "d"}}
REPLY = {ENABLE: "Ativado, com orçamento de 2.048 tokens.", DISABLE: "Desativado."}


def ask(kind: str = "budget", params: dict[str, Any] | None = None, *, tools: Any = CONTROL, **call: Any) -> Any:
    """A model call of a model of that kind."""
    return model_turn("x", capability=kind, params=params or {}, tools=tools, **call)


def trace(*steps: Any, question: str = "?", finished: dict[str, Any] | None = None, **config: Any) -> Trace:
    """A leg whose layer is configured so."""
    return make_trace(*steps, answer("x"), started={"config": config, "question": question}, finished=finished)


def flip(tool: str, asked: int = 2048, used: int = 2048, *, text: str = "", warned: bool | None = None) -> list[Any]:
    """A switch being thrown, and what is said of it."""
    call, result = tool_use(
        tool, {"budget_tokens": asked} if tool == ENABLE else {}, text=text or REPLY[tool], effect="none"
    )
    told: list[Any] = []
    if tool == ENABLE:
        told = [ConfigResolved(key="budget_tokens", asked=asked, used=used)]
        told += [Warned(code="budget_clamped", detail=f"{asked} became {used}")] if warned or asked != used else []
        told = told[:1] if warned is False else told
    return [call, *told, result]


LEGAL = [
    ("budget", {}),
    ("budget", {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 1025}),
    ("budget", {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
    ("budget", {"thinking": {"type": "enabled", "budget_tokens": 9000}, "max_tokens": 4000, "betas": [BETA]}),
    ("budget", {"thinking": {"type": "disabled"}}),
    ("adaptive", ADAPTIVE),
    ("adaptive", {"thinking": {"type": "disabled"}}),
    ("adaptive", {"thinking": {"type": "between_tools"}}),
    ("always_on", {}),
    ("always_on", ADAPTIVE),
    ("none", {}),
]
ILLEGAL = [
    ("budget", {"thinking": {"type": "enabled", "budget_tokens": 1023}}, "a budget of 1023 tokens is sent, the least is 1024"),
    ("budget", {"thinking": {"type": "enabled"}}, "a budget of None tokens is sent, the least is 1024"),
    ("budget", {"thinking": {"type": "enabled", "budget_tokens": 4000}, "max_tokens": 4000}, "a budget of 4000 tokens is not below max_tokens 4000"),
    ("budget", ADAPTIVE, "thinking `adaptive` is sent"),
    ("adaptive", ON, "thinking `enabled` with 2048 tokens is sent"),
    ("adaptive", {"thinking": {"type": "adaptive", "budget_tokens": 7}}, "thinking `adaptive` with a budget of 7 is sent"),
    ("always_on", ON, "thinking `enabled` with 2048 tokens is sent"),
    ("always_on", {"thinking": {"type": "disabled"}}, "thinking `disabled` is sent"),
    ("none", ADAPTIVE, "a thinking parameter is sent to a model that takes none"),
    ("odd", {}, "`odd` is no kind of model"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "params"), LEGAL)
def test_cu1_legal_shapes(kind: str, params: dict[str, Any]) -> None:
    """Each kind of model, with what it takes."""
    assert ["kept"] == reasons(check(legal_thinking, trace(ask(kind, params)), agent="ultrathink"))


@pytest.mark.parametrize(("kind", "params", "because"), ILLEGAL)
def test_cu1_illegal_shapes(kind: str, params: dict[str, Any], because: str) -> None:
    """Each kind of model, with what it answers with a 400."""
    found = check(legal_thinking, trace(ask(kind, params)), agent="ultrathink")

    assert [f"model ({kind}): {because}"] == reasons(found)
    assert (1,) == found[0].witness


def test_cu1_a_budget_beyond_the_reply_needs_tools_and_the_beta() -> None:
    """Thinking between tool calls spans the turn only where there are tools."""
    params = {"thinking": {"type": "enabled", "budget_tokens": 9000}, "max_tokens": 4000, "betas": [BETA]}

    assert ["kept"] == reasons(check(legal_thinking, trace(ask(params=params))))
    assert ["model (budget): a budget of 9000 tokens is not below max_tokens 4000"] == reasons(
        check(legal_thinking, trace(ask(params=params, tools=())))
    )


@pytest.mark.parametrize("kind", ["budget", "adaptive", "always_on"])
def test_cu2_no_fallback_beside_native(kind: str) -> None:
    """A model that thinks natively has neither the tool nor the section, however that is named."""
    titled = {"system_sections": ("ROLLE", "RACIOCÍNIO PASSO A PASSO")}

    assert ["kept"] == reasons(check(no_fallback_beside_native, trace(ask(kind))))
    assert ["model thinks natively, and is offered think_step_by_step"] == reasons(
        check(no_fallback_beside_native, trace(ask(kind, tools=ALL)))
    )
    for section in (SECTION, WITH_TOOL, titled):
        assert ["model thinks natively, and its prompt has the fallback's section"] == reasons(
            check(no_fallback_beside_native, trace(ask(kind, **section)))
        )
    assert ["vacuous"] == reasons(check(no_fallback_beside_native, trace(ask("none", tools=ALL, **WITH_TOOL))))
    assert ["vacuous"] == reasons(check(no_fallback_beside_native, trace(ask(kind, tools=ALL), layer=False)))


@pytest.mark.parametrize(
    ("mode", "enabled", "tools", "section", "expected"),
    [
        ("both", True, ALL, WITH_TOOL, "kept"),
        ("both", False, ALL, {}, "kept"),
        ("tool", True, ALL, {}, "kept"),
        ("prompt", True, CONTROL, SECTION, "kept"),
        ("prompt", False, CONTROL, {}, "kept"),
        ("both", True, CONTROL, SECTION, "mode both: think_step_by_step is not offered"),
        ("prompt", True, ALL, SECTION, "mode prompt: think_step_by_step is offered"),
        ("both", True, ALL, {}, "mode both, on: the section is not in the prompt"),
        ("tool", True, ALL, SECTION, "mode tool, on: the section is in the prompt"),
        ("both", False, ALL, WITH_TOOL, "mode both, off: the section is in the prompt"),
        ("prompt", True, CONTROL, WITH_TOOL, "mode prompt: the section names think_step_by_step"),
        ("both", True, ALL, SECTION, "mode both: the section does not name think_step_by_step"),
    ],
)
def test_cu3_fallback_by_mode(mode: str, enabled: bool, tools: Any, section: Any, expected: str) -> None:
    """Tool, section and what it names, for each mode, on and off."""
    asked = trace(ask("none", tools=tools, **section), ultrathink=enabled, fallback_mode=mode)

    assert expected == reasons(check(fallback_by_mode, asked))[0]


def test_cu3_is_for_the_fallback_alone() -> None:
    """Models that think natively, and runs without the layer, are not asked."""
    assert ["vacuous"] == reasons(check(fallback_by_mode, trace(ask("budget"))))
    assert ["vacuous"] == reasons(check(fallback_by_mode, trace(ask("none", tools=()), layer=False)))


def test_cu4_constant_tools() -> None:
    """The same tools in every call and over turns; two models may have two lists."""
    kept = [trace(ask(), ask(), ask("none", tools=ALL, model="other")), trace(ask())]
    grown = trace(ask("none", tools=CONTROL), ask("none", tools=ALL))
    sorted_ = trace(ask(), ask(tools=(ENABLE, DISABLE, "get_weather")))

    assert ["kept"] == reasons(check(constant_tools, kept))
    assert ["the tools changed: +think_step_by_step"] == reasons(check(constant_tools, grown))
    assert (1, 3) == check(constant_tools, grown)[0].witness
    assert ["the tools changed: another order"] == reasons(check(constant_tools, sorted_))
    assert ["the tools changed: -get_weather"] == reasons(
        check(constant_tools, [trace(ask()), trace(ask(tools=(ENABLE, DISABLE)))])
    )


def test_cu4_both_switches_are_there() -> None:
    """A call without them breaks it, unless there is no layer."""
    assert ["disable_ultrathink is not offered"] == reasons(check(constant_tools, trace(ask(tools=(ENABLE,)))))
    assert ["enable_ultrathink and disable_ultrathink are not offered"] == reasons(
        check(constant_tools, trace(ask(tools=())))
    )
    assert ["vacuous"] == reasons(check(constant_tools, trace(ask(tools=()), layer=False)))


@pytest.mark.parametrize(
    ("asked", "used", "text"),
    [
        (2048, 2048, "2.048 tokens"),
        (500, 1024, "1,024 tokens"),
        (500_000, 128_000, "128 000 tokens"),
        (500_000, 128_000, "128000"),
    ],
)
def test_cu5_clamped_and_told(asked: int, used: int, text: str) -> None:
    """A budget in range is used, one out of range is clamped with a warning; the reply names it in any spelling."""
    switched = trace(ask(calls=[(ENABLE, {"budget_tokens": asked})]), flip(ENABLE, asked, used, text=text), ask())

    assert ["kept"] == reasons(check(honest_budget, switched))


def test_cu5_lowered_where_a_reply_has_no_room() -> None:
    """A budget below the clamp is fine where the reply is short, and not where it is long."""
    short, long = {"max_tokens": 16_000}, {"max_tokens": 200_000}

    assert ["kept"] == reasons(
        check(honest_budget, trace(ask(params=short), flip(ENABLE, 500_000, 14_976, text="14.976")))
    )
    assert ["500000 tokens became 14976, expected 128000 or less for want of room"] == reasons(
        check(honest_budget, trace(ask(params=long), flip(ENABLE, 500_000, 14_976, text="14.976")))
    )


@pytest.mark.parametrize(
    ("steps", "because"),
    [
        (flip(ENABLE, 500, 500, text="500 tokens"), "500 tokens became 500, expected 1024 or less for want of room"),
        (flip(ENABLE, 500, 1024, text="1.024", warned=False), "500 tokens became 1024 without a warning"),
        (flip(ENABLE, 500, 1024, text="500 tokens"), "the reply of enable_ultrathink does not name the 1024 tokens that are used"),
        (flip(ENABLE, 500, 1024, text="11.024"), "the reply of enable_ultrathink does not name the 1024 tokens that are used"),
        (tool_use(ENABLE, {"budget_tokens": 500}, text="500"), "nothing says what became of the budget"),
        (flip(ENABLE, 4000, 5000, text="5.000"), "4000 tokens became 5000, expected 4000 or less for want of room"),
    ],
)  # fmt: skip
def test_cu5_broken(steps: Any, because: str) -> None:
    """Taken as it was, changed in silence, told wrongly, told by nobody, or raised."""
    assert [because] == reasons(check(honest_budget, trace(ask(), steps, ask())))


def test_cu5_a_call_with_a_budget_of_its_own_says_nothing_of_another() -> None:
    """A call that thinks with fewer tokens was given the room that those need, and no more."""
    own = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 9216}

    assert ["kept"] == reasons(
        check(honest_budget, trace(ask(params=own), flip(ENABLE, 128_000, 62_976, text="62.976")))
    )


def test_cu5_each_switch_is_told_by_itself() -> None:
    """What was said of an earlier switch does not speak for the next one."""
    silent = tool_use(ENABLE, {"budget_tokens": 2048}, text=REPLY[ENABLE])

    assert ["nothing says what became of the budget"] == reasons(
        check(honest_budget, trace(ask(), flip(ENABLE), silent))
    )


def test_cu5_another_budget_than_was_asked_for() -> None:
    """What is said to have been asked for is what was."""
    call, told, result = flip(ENABLE, 4000, 4000, text="4.000")
    misread = [tool_use(ENABLE, {"budget_tokens": 3000}, text="4.000")[0], told, result]

    assert ["3000 tokens are asked for, 4000 were understood"] == reasons(check(honest_budget, trace(ask(), misread)))
    assert call.args == {"budget_tokens": 4000}


@pytest.mark.parametrize(
    ("kind", "params", "call", "expected"),
    [
        ("budget", {}, {}, "kept"),
        ("none", {}, {"tools": ALL}, "kept"),
        ("adaptive", {"thinking": {"type": "disabled"}}, {}, "kept"),
        ("adaptive", {"thinking": {"type": "between_tools"}}, {}, "kept"),
        ("always_on", {"effort": "low"}, {}, "kept"),
        ("budget", ON, {}, "not on, and thinking `enabled` is sent"),
        ("adaptive", ADAPTIVE, {}, "not on, and thinking `adaptive` is sent"),
        ("always_on", {}, {}, "not on, and model is not told to use its lowest effort"),
        ("always_on", {"effort": "high"}, {}, "not on, and model is not told to use its lowest effort"),
        ("budget", {"betas": [BETA]}, {}, "not on, and thinking between tool calls is asked for"),
        ("none", {}, {"tools": ALL, **WITH_TOOL}, "not on, and the fallback's section is in the prompt"),
    ],
)
def test_cu6_idle_unless_enabled(kind: str, params: Any, call: Any, expected: str) -> None:
    """Off, nothing is asked for, and models that think unasked are told to think as little as they can."""
    assert [expected] == reasons(check(idle_unless_enabled, trace(ask(kind, params, **call))))
    assert ["vacuous"] == reasons(check(idle_unless_enabled, trace(ask(kind, params, **call), ultrathink=True)))
    assert ["vacuous"] == reasons(check(idle_unless_enabled, trace(ask(kind, params, **call), layer=False)))


def test_cu6_after_a_switch() -> None:
    """What was disabled in an earlier turn stays off, what was enabled there is on; a failed switch changes nothing."""
    off = trace(ask(params=ON), flip(DISABLE), ask(params=ON), ultrathink=True)
    failed = trace(ask(params=ON), tool_use(DISABLE, {"why": "?"}, error="invalid_args"), ultrathink=True)
    lost = trace(ask(params=ON), flip(DISABLE), ultrathink=True, finished={"status": "failed", "reason": "llm_calls"})

    assert ["not on, and thinking `enabled` is sent"] == reasons(
        check(idle_unless_enabled, [off, trace(ask(params=ON), ultrathink=True)])
    )
    for before in (failed, lost):
        assert ["vacuous"] == reasons(check(idle_unless_enabled, [before, trace(ask(params=ON), ultrathink=True)]))


def test_cu6_a_resumed_leg_is_as_it_was() -> None:
    """A switch that was thrown before a stop is not in force behind it, where the same turn goes on."""
    cut = trace(ask(params=ON), flip(DISABLE), ultrathink=True)
    resumed = trace(ask(params=ON), ultrathink=True, question="")

    assert ["vacuous"] == reasons(check(idle_unless_enabled, [cut, resumed]))


def test_cu7_a_switch_waits_for_the_next_turn() -> None:
    """Nothing changes behind it in its own turn; the next one, of the user's, reflects it."""
    first = trace(ask(), flip(ENABLE), ask())

    assert ["kept"] == reasons(check(switches_at_turns, [first, trace(ask(params=ON))]))
    assert ["thinking changed inside an unfinished turn"] == reasons(
        check(switches_at_turns, trace(ask(), flip(ENABLE), ask(params=ON)))
    )
    assert ["kept"] == reasons(check(switches_at_turns, trace(ask(), ask())))
    assert ["thinking changed inside an unfinished turn"] == reasons(
        check(switches_at_turns, trace(ask(params=ON), ask(), ultrathink=True))
    )


def test_cu7_on_from_the_start() -> None:
    """What is configured holds from the first call on; another budget, or none, is told of that budget and no other."""
    on: dict[str, Any] = {"ultrathink": True, "ultrathink_budget": 2048}
    less: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048}
    lowered = ConfigResolved(key="budget_tokens", asked=2048, used=1024)
    another = ConfigResolved(key="budget_tokens", asked=1024, used=1024)

    assert ["kept"] == reasons(check(switches_at_turns, trace(ask(params=ON), **on)))
    assert ["kept"] == reasons(check(switches_at_turns, trace(lowered, ask(params=less), **on)))
    assert ["it is on from the start, and no thinking is asked for"] == reasons(
        check(switches_at_turns, trace(ask(), **on))
    )
    for steps in ([ask(params=less)], [another, ask(params=less)]):
        assert ["it is on from the start, and 1024 tokens are sent, not 2048"] == reasons(
            check(switches_at_turns, trace(*steps, **on))
        )


def test_cu5_room_that_there_is() -> None:
    """That a reply has no room for a budget is so where its limit says so, and nowhere else."""
    told = [
        ConfigResolved(key="budget_tokens", asked=2048, used=None),
        Warned(code="budget_clamped", detail="2048 tokens asked for, none used"),
    ]

    assert ["kept"] == reasons(check(honest_budget, trace(*told, ask(params={"max_tokens": 1024}))))
    assert ["2048 tokens are told to have no room, and the reply has some"] == reasons(
        check(honest_budget, trace(*told, ask(params={"max_tokens": 9000})))
    )


@pytest.mark.parametrize(
    ("switch", "kind", "call", "because"),
    [
        (ENABLE, "budget", {}, "no thinking is asked for"),
        (ENABLE, "budget", {"params": {"thinking": {"type": "enabled", "budget_tokens": 9999}}}, "9999 tokens are sent, not 2048"),
        (ENABLE, "adaptive", {}, "no thinking is asked for"),
        (ENABLE, "none", {"tools": ALL}, "the section is not in the prompt"),
        (DISABLE, "budget", {"params": ON}, "thinking is asked for"),
        (DISABLE, "none", {"tools": ALL, **WITH_TOOL}, "the section is in the prompt"),
    ],
)  # fmt: skip
def test_cu7_a_switch_that_is_not_reflected(switch: str, kind: str, call: Any, because: str) -> None:
    """A turn that begins as if nothing had been switched."""
    legs = [trace(ask(kind), flip(switch)), trace(ask(kind, **call))]

    assert [f"{switch} was called in an earlier turn, and {because}"] == reasons(check(switches_at_turns, legs))


def test_cu7_effort_is_thinking_too() -> None:
    """A model that always thinks keeps its effort to the end of a turn, and has the lowest one in the next."""
    low = {**ADAPTIVE, "effort": "low"}
    first = trace(ask("always_on", ADAPTIVE), flip(DISABLE), ask("always_on", ADAPTIVE), ultrathink=True)
    hasty = trace(ask("always_on", ADAPTIVE), flip(DISABLE), ask("always_on", low), ultrathink=True)

    assert ["kept"] == reasons(check(switches_at_turns, [first, trace(ask("always_on", low), ultrathink=True)]))
    assert ["thinking changed inside an unfinished turn"] == reasons(check(switches_at_turns, hasty))


def test_cu7_a_resumed_leg_is_the_same_turn() -> None:
    """A leg that goes on with a turn thinks as that turn did, though a switch was thrown before the stop."""
    cut = trace(ask(), flip(ENABLE))
    on = trace(ask(params=ON), question="")
    then = trace(ask(params=ON))

    assert ["kept"] == reasons(check(switches_at_turns, [cut, trace(ask(), question="")]))
    assert ["thinking changed inside an unfinished turn"] == reasons(check(switches_at_turns, [cut, on]))
    assert ["kept"] == reasons(check(switches_at_turns, [cut, trace(ask(), question=""), then]))


def test_cu7_a_reply_without_room_for_a_budget() -> None:
    """Where it is said that no budget fits, the turn after the switch need not think."""
    told = ConfigResolved(key="budget_tokens", asked=2048, used=None)

    assert ["kept"] == reasons(check(switches_at_turns, [trace(ask(), flip(ENABLE)), trace(told, ask())]))


@pytest.mark.parametrize(
    ("params", "call", "because"),
    [
        ({"temperature": 0.2}, {}, "temperature 0.2 is sent"),
        ({"top_k": 5}, {}, "top_k 5 is sent"),
        ({"top_p": 0.5}, {}, "top_p 0.5 is sent"),
        ({"prefill": True}, {}, "the reply is to go on from a text of ours"),
        ({}, {"tool_choice": THINK}, f"the tool choice is forced: {THINK}"),
        ({}, {"tool_choice": "required"}, "the tool choice is forced: required"),
    ],
)
def test_cu8_nothing_beside_thinking(params: Any, call: Any, because: str) -> None:
    """What a thinking model refuses, for each kind that thinks; models that do not think take it."""
    fine = {"temperature": 1, "top_p": 0.95}
    for kind, thinking in (("budget", ON), ("adaptive", ADAPTIVE), ("always_on", {})):
        assert ["kept"] == reasons(
            check(nothing_beside_thinking, trace(ask(kind, {**thinking, **fine}, tool_choice="auto")))
        )
        assert [f"model thinks, and {because}"] == reasons(
            check(nothing_beside_thinking, trace(ask(kind, {**thinking, **params}, **call)))
        )
    assert ["vacuous"] == reasons(check(nothing_beside_thinking, trace(ask("budget", params, **call))))


ARGS = {"problem": "17 × 23", "reasoning_steps": ["17 × 20 = 340", "17 × 3 = 51"], "conclusion": "391"}
TEXT = "Problema: 17 × 23\n  1. 17 × 20 = 340\n  2. 17 × 3 = 51\nConclusão: 391"


def thought(text: str = TEXT, args: Any = ARGS, **use: Any) -> Any:
    """A thought with the tool."""
    return tool_use(THINK, args, text=text, **{"effect": "none", **use})


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (thought(), "kept"),
        (thought(error="invalid_args"), "vacuous"),
        (thought(effects=(Effect("store", "thought", None, "391"),)), f"{THINK} changes the store"),
        (thought(effect="write"), f"{THINK} changes the store"),
        (thought("17 × 23\n1. 17 × 20 = 340\n391"), "the result does not repeat “2. 17 × 3 = 51” in its place"),
        (thought("17 × 23\n2. 17 × 3 = 51\n1. 17 × 20 = 340\n391"), "the result does not repeat “2. 17 × 3 = 51” in its place"),
        (thought("1. 17 × 20 = 340\n2. 17 × 3 = 51\n391"), "the result does not repeat “17 × 23” in its place"),
        (thought(TEXT.replace("391", "…")), "the result does not repeat “391” in its place"),
    ],
)  # fmt: skip
def test_cu9_thinking_is_harmless(use: Any, expected: str) -> None:
    """No effect, and problem, steps from 1 and conclusion in the result."""
    assert [expected] == reasons(check(thinking_is_harmless, trace(ask("none", tools=ALL), use)))


ACT = tool_use("get_weather", {"city": "Berlin"})


@pytest.mark.parametrize(
    ("kind", "steps", "expected"),
    [
        ("complex", [thought(), ACT], "kept"),
        ("complex", [thought()], "kept"),
        ("complex", [tool_use("manage_plan"), thought(), ACT], "kept"),
        ("complex", [ACT, thought()], f"{THINK} is not called with 2 steps before the first tool acts"),
        ("complex", [], f"{THINK} is not called with 2 steps at all"),
        ("complex", [thought(args={**ARGS, "reasoning_steps": ["one"]}), ACT], f"{THINK} is not called with 2 steps before the first tool acts"),
        ("complex", [thought(error="invalid_args"), ACT], f"{THINK} is not called with 2 steps before the first tool acts"),
        ("simple", [ACT], "kept"),
        ("simple", [thought(), ACT], f"{THINK} is called for a simple question"),
        ("any", [], "vacuous"),
    ],
)  # fmt: skip
def test_cu10_thinks_before_acting(kind: str, steps: Any, expected: str) -> None:
    """Complex questions are thought through first, simple ones not at all."""
    ran = trace(ask("none", tools=(*ALL, "manage_plan")), steps, ultrathink=True)

    assert [expected] == reasons(check(thinks_before_acting, ran, make_case(class_=kind)))


def test_cu10_is_for_the_tool_alone() -> None:
    """Models that think natively, the mode without a tool, and a layer that is off are not asked for thoughts."""
    case = make_case(class_="complex")

    assert ["vacuous"] == reasons(check(thinks_before_acting, trace(ask("budget"), ACT, ultrathink=True), case))
    assert ["vacuous"] == reasons(check(thinks_before_acting, trace(ask("none"), ACT, ultrathink=True), case))
    assert ["vacuous"] == reasons(check(thinks_before_acting, trace(ask("none", tools=ALL), ACT), case))


@pytest.mark.parametrize(
    ("conclusion", "final", "expected"),
    [
        ("17 × 23 = 391", "It is 391.", "kept"),
        ("So I add them up.", "It is 391.", "kept"),
        ("Take 3 steps.", "It is 391.", "kept"),
        ("The answer is 391.", "It is 381.", "the last thought concludes 391, and the answer does not say so"),
        ("The answer is 381.", "It is 391.", "the answer says 391, and the last thought concludes 381"),
        ("No idea.", "No idea.", "kept"),
    ],
)
def test_cu11_concludes_as_it_answers(conclusion: str, final: str, expected: str) -> None:
    """The fact in both, in the answer alone, in the conclusion alone, and another number in its place."""
    case = make_case(facts=Facts(all=(Fact(number=391),)))
    ran = make_trace(
        ask("none", tools=ALL), thought(args={**ARGS, "conclusion": "381"}),
        thought(args={**ARGS, "conclusion": conclusion}), answer(final),
    )  # fmt: skip

    assert [expected] == reasons(check(concludes_as_it_answers, ran, case))
    assert ["vacuous"] == reasons(check(concludes_as_it_answers, ran, make_case()))


def test_cu11_of_several_facts_one_may_be_concluded() -> None:
    """A conclusion that states one of the facts does not contradict an answer that states them all."""
    case = make_case(facts=Facts(all=(Fact(number=120000), Fact(number=95000), Fact(text="Alpha"))))
    ran = make_trace(
        ask("none", tools=ALL), thought(args={**ARGS, "conclusion": "It has 120,000."}),
        answer("Alpha has 120,000, Beta 95,000."),
    )  # fmt: skip

    assert ["kept"] == reasons(check(concludes_as_it_answers, ran, case))


def test_cu12_both_paths_agree() -> None:
    """Where both paths are used, every call of a turn is shaped alike; where one is, there is nothing to compare."""
    split = "one path thinks, offers or instructs otherwise than the other"

    assert ["kept"] == reasons(check(both_paths_agree, trace(ask(params=ON), ask(params=ON), both_paths=True)))
    assert [split] == reasons(check(both_paths_agree, trace(ask(params=ON), ask(), both_paths=True)))
    assert [split] == reasons(
        check(both_paths_agree, trace(ask("none", tools=ALL, **WITH_TOOL), ask("none", tools=ALL), both_paths=True))
    )
    assert ["vacuous"] == reasons(check(both_paths_agree, trace(ask(params=ON), ask())))
    assert ["vacuous"] == reasons(check(both_paths_agree, trace(ask(), both_paths=True)))
