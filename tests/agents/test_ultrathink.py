"""The reasoning layer by itself: which models think natively, what the others get, budgets, switches and state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any

import msgspec
import pytest

from harness.agents.load import LoadedAgent
from harness.models.capability import TABLE, capability_of
from harness.models.sendable import check_sendable
from harness.records.capability import MAX_BUDGET_TOKENS, MIN_BUDGET_TOKENS
from harness.records.messages import Message, ModelRequest, Thinking, ToolCall, ToolSpec
from harness.records.tool import ToolError, as_tool
from harness.records.trace import ConfigResolved, EventData, Thought, Warned

CONTROL = ("enable_ultrathink", "disable_ultrathink")
THINK = "think_step_by_step"
BETA = "interleaved-thinking-2025-05-14"
CLAUDE_FOUR = (
    "claude-sonnet-4",
    "claude-sonnet-4-5",
    "anthropic/claude-opus-4-1-20250805",
    "claude-haiku-4-5",
    "claude-opus-4-6",
)
OTHERS = ("gpt-4o", "gpt-5", "xai/grok-4", "gemini-2.5-pro", "claude-3-5-sonnet-20241022", "acme-reasoner-1", "")
LOOK = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
ASKED = ModelRequest(model="m", messages=(Message("system", "Be brief."), Message("user", "?")), tools=(LOOK,))
UNFINISHED = (*ASKED.messages, Message("assistant", "", (ToolCall("1", "look", "{}", {}),)), Message("tool", "7"))
FINISHED = (*UNFINISHED, Message("assistant", "It is 7."), Message("user", "And now?"))


class Layer:
    """A middleware, and what it emits."""

    def __init__(self, module: ModuleType, **settings: Any) -> None:
        self.middleware = module.UltrathinkMiddleware(**{"capability_of": capability_of, **settings})
        self.events: list[EventData] = []
        self.middleware.emit = self.events.append

    def sent(self, model: str, **changes: Any) -> ModelRequest:
        """What becomes of a request for *model*."""
        asked = msgspec.structs.replace(ASKED, model=model, **changes)
        request: ModelRequest = self.middleware.wrap_model_call(asked, lambda request: request)
        return request

    def tools(self, model: str | None = None) -> tuple[str, ...]:
        """The names of the tools that *model* is offered."""
        return tuple(as_tool(function).name for function in self.middleware.get_tools(model))

    def resolved(self, key: str) -> list[tuple[Any, Any]]:
        """What was asked for and what was used, each time something was said of *key*."""
        return [(e.asked, e.used) for e in self.events if isinstance(e, ConfigResolved) and e.key == key]

    @property
    def warnings(self) -> list[str]:
        """The codes of its warnings."""
        return [event.code for event in self.events if isinstance(event, Warned)]


@pytest.fixture(scope="session")
def layer(ultra: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType]) -> Callable[..., Layer]:
    """Makes middlewares with given settings."""
    module = part(ultra, "middleware")
    return lambda **settings: Layer(module, **settings)


@pytest.fixture(scope="session")
def prompts(ultra: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType]) -> ModuleType:
    """The texts of the layer."""
    return part(ultra, "prompts")


Make = Callable[..., Layer]


def test_the_defaults(layer: Make) -> None:
    """Ten thousand tokens, off, between tools too, tool and prompt: as the design's document has it."""
    made = layer()

    assert {"ultrathink_enabled": False, "budget_tokens": 10_000} == made.middleware.get_state()
    assert (*CONTROL, THINK) == made.tools()
    assert (BETA,) == layer(enabled_by_default=True).sent("claude-sonnet-4-5").betas


@pytest.mark.parametrize("mode", ["", "none", "Both", None, 1])
def test_other_fallback_modes_are_refused(layer: Make, mode: Any) -> None:
    """A mode that does not exist is refused when the layer is made, not when it is used."""
    with pytest.raises(ValueError, match="fallback_mode is `tool`, `prompt` or `both`, not"):
        layer(fallback_mode=mode)


@pytest.mark.parametrize("model", [*CLAUDE_FOUR, *(name for name in TABLE)])
def test_fallback_detection_anthropic(layer: Make, model: str) -> None:
    """No Claude that thinks natively gets the fallback, whatever its name looks like."""
    assert not layer().middleware.requires_fallback(model)


@pytest.mark.parametrize("model", [*OTHERS, None])
def test_fallback_detection_other_models(layer: Make, model: str | None) -> None:
    """Every other model gets the fallback: those of other vendors, old ones, unknown ones, and one that nobody names."""
    assert layer().middleware.requires_fallback(model)


def test_without_a_table_nothing_thinks_natively(layer: Make) -> None:
    """Who does not know how models think is careful, and takes the fallback."""
    assert layer(capability_of=None).middleware.requires_fallback("claude-sonnet-4-5")


@pytest.mark.parametrize("model", OTHERS)
def test_think_tool_available_for_fallback(layer: Make, model: str) -> None:
    """A model without native thinking is offered the tool to think with, beside the switches."""
    assert (*CONTROL, THINK) == layer().tools(model)
    assert ("look", *CONTROL, THINK) == tuple(spec.name for spec in layer().sent(model).tools)


@pytest.mark.parametrize("model", CLAUDE_FOUR)
@pytest.mark.parametrize("mode", ["tool", "prompt", "both"])
def test_think_tool_not_available_for_claude(layer: Make, model: str, mode: str) -> None:
    """A model that thinks natively is offered the two switches alone, whatever the mode."""
    assert CONTROL == layer(fallback_mode=mode).tools(model)
    assert ("look", *CONTROL) == tuple(spec.name for spec in layer(fallback_mode=mode).sent(model).tools)


def test_system_prompt_addition_fallback(layer: Make) -> None:
    """A model without native thinking is told when to think and how, in a section behind its prompt."""
    section = layer().middleware.get_system_prompt_addition("gpt-4o")
    sent = layer(enabled_by_default=True).sent("gpt-4o")

    assert section.startswith("\n\nRACIOCÍNIO PASSO A PASSO:\n")
    assert section.endswith("Responda no idioma da pergunta.")
    for word in ("matemáticos", "lógico", "depuração", "arquitetura", "1. ", "2. ", "3. ", "4. ", THINK):
        assert word in section
    assert "Be brief." + section == sent.messages[0].text
    assert ASKED.messages[1:] == sent.messages[1:]


@pytest.mark.parametrize("model", CLAUDE_FOUR)
def test_system_prompt_addition_claude(layer: Make, model: str) -> None:
    """A model that thinks natively is told nothing."""
    made = layer(enabled_by_default=True)

    assert "" == made.middleware.get_system_prompt_addition(model)
    assert ASKED.messages == made.sent(model).messages


def test_fallback_mode_tool_only(layer: Make) -> None:
    """In the mode `tool` there is the tool, and no word about it in the prompt."""
    made = layer(fallback_mode="tool", enabled_by_default=True)

    assert (*CONTROL, THINK) == made.tools("gpt-4o")
    assert "" == made.middleware.get_system_prompt_addition("gpt-4o")
    assert ASKED.messages == made.sent("gpt-4o").messages


def test_fallback_mode_prompt_only(layer: Make) -> None:
    """In the mode `prompt` there is the section, which names no tool, for there is none."""
    made = layer(fallback_mode="prompt", enabled_by_default=True)
    section = made.middleware.get_system_prompt_addition("gpt-4o")

    assert CONTROL == made.tools("gpt-4o")
    assert "raciocinar por escrito" in section
    assert THINK not in section
    assert made.sent("gpt-4o").messages[0].text.endswith(section)


def test_fallback_mode_both(layer: Make) -> None:
    """In the mode `both` there are both, and the section names the tool."""
    made = layer(fallback_mode="both", enabled_by_default=True)

    assert (*CONTROL, THINK) == made.tools("gpt-4o")
    assert THINK in made.sent("gpt-4o").messages[0].text


def test_the_stronger_wording(layer: Make) -> None:
    """With `strong_prompt` the section says that the model must think, in at least three steps; else it may."""
    said = {
        strong: layer(strong_prompt=strong).middleware.get_system_prompt_addition("gpt-4o") for strong in (False, True)
    }

    assert "você pode" in said[False]
    assert "você deve" not in said[False]
    assert "você deve" in said[True]
    assert "pelo menos 3 etapas" in said[True]


def test_descriptions_say_what_the_tools_are_for(layer: Make) -> None:
    """Each description names its purpose; that of the thinking tool lists the occasions."""
    texts = {as_tool(function).name: as_tool(function).spec.description for function in layer().middleware.get_tools()}

    assert "Ativa o raciocínio profundo" in texts["enable_ultrathink"]
    assert "Desativa o raciocínio profundo" in texts["disable_ultrathink"]
    for word in ("matemáticos", "lógico", "código", "arquitetura", "cuidado", "Não consulta nem altera nada"):
        assert word in texts[THINK]


def test_a_call_without_tools_stays_without(layer: Make) -> None:
    """Who offers no tools could not run any: none are added, and the section names none."""
    sent = layer(enabled_by_default=True).sent("gpt-4o", tools=())

    assert () == sent.tools
    assert "RACIOCÍNIO" in sent.messages[0].text
    assert THINK not in sent.messages[0].text


def test_a_prompt_is_made_where_there_is_none(layer: Make) -> None:
    """Where no system prompt stands, the section is one."""
    sent = layer(enabled_by_default=True).sent("gpt-4o", messages=ASKED.messages[1:])

    assert ["system", "user"] == [message.role for message in sent.messages]


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("claude-sonnet-4-5", Thinking("enabled", 10_000)),
        ("claude-3-7-sonnet-20250219", Thinking("enabled", 10_000)),
        ("claude-opus-4-6", Thinking("adaptive")),
        ("claude-opus-4-7", Thinking("adaptive")),
        ("claude-opus-5", Thinking("adaptive")),
        ("claude-sonnet-5", Thinking("adaptive")),
        ("claude-opus-5-5", Thinking("adaptive")),
        ("claude-haiku-5-5", Thinking("adaptive")),
        ("gpt-4o", None),
        ("gpt-5", None),
    ],
)
def test_each_kind_of_model_is_asked_its_own_way(layer: Make, model: str, thinking: Thinking | None) -> None:
    """Budgets for models that take one, none for those that dose themselves, no parameter for all others."""
    assert thinking == layer(enabled_by_default=True).sent(model).thinking


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        ("claude-sonnet-4-5", {}),
        ("claude-opus-4-7", {}),
        ("claude-sonnet-5", {}),
        ("gpt-4o", {}),
        ("claude-opus-5", {"thinking": Thinking("disabled")}),
        ("claude-haiku-5-5", {"thinking": Thinking("disabled")}),
        ("claude-sonnet-5-5", {"thinking": Thinking("between_tools")}),
        ("claude-opus-5-5", {"effort": "low"}),
        ("claude-mythos-5", {"effort": "low"}),
    ],
)
def test_while_it_is_off_a_request_stays_as_it_is(layer: Make, model: str, changes: dict[str, Any]) -> None:
    """Nothing but the tools differs, unless the model thinks unasked: then it is told to think as little as it can."""
    sent = layer().sent(model, temperature=0.2, tool_choice="look")

    expected = msgspec.structs.replace(ASKED, model=model, temperature=0.2, tool_choice="look", **changes)
    assert expected == msgspec.structs.replace(sent, tools=(LOOK,))


def test_an_effort_that_forbids_disabling_is_lowered(layer: Make) -> None:
    """A model that can be told to stop up to some effort only gets no more than that."""
    assert "high" == layer().sent("claude-opus-5", effort="max").effort
    assert "medium" == layer().sent("claude-opus-5", effort="medium").effort


@pytest.mark.parametrize("model", sorted(TABLE))
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("top_p", [0.5, 0.97])
def test_every_request_is_one_that_its_model_takes(layer: Make, model: str, enabled: bool, top_p: float) -> None:
    """On every model of the table a request with awkward parameters beside is legal while the model thinks."""
    awkward = {"temperature": 0.2, "top_p": top_p, "tool_choice": "look"} if enabled else {}
    sent = layer(enabled_by_default=enabled).sent(model, **awkward)

    check_sendable(sent)
    if enabled:
        kept = top_p if top_p > 0.95 and TABLE[model].sampling != "refused" else None
        assert (None, kept, "auto") == (sent.temperature, sent.top_p, sent.tool_choice)


def test_what_is_dropped_is_told(layer: Make) -> None:
    """Each parameter that a thinking model refuses is left out, once with a word about it."""
    made = layer(enabled_by_default=True)
    made.sent("claude-sonnet-4-5", temperature=0.2, top_p=0.97, tool_choice="look")
    made.sent("claude-sonnet-4-5", temperature=0.2, top_p=0.97, tool_choice="look")

    assert [(0.2, None)] == made.resolved("temperature")
    assert [("look", "auto")] == made.resolved("tool_choice")
    assert [] == made.resolved("top_p")


def test_a_reply_that_is_begun_cannot_think(layer: Make) -> None:
    """Where the reply goes on from a text of ours, no thinking is asked for, and that is told."""
    made = layer(enabled_by_default=True)
    begun = (*ASKED.messages, Message("assistant", "It is"))

    assert made.sent("claude-sonnet-4-5", messages=begun).thinking is None
    assert [("on", "off")] == made.resolved("thinking")


@pytest.mark.parametrize(
    ("interleaved", "model", "tools", "expected"),
    [
        (True, "claude-sonnet-4-5", (LOOK,), (BETA,)),
        (False, "claude-sonnet-4-5", (LOOK,), ()),
        (True, "claude-sonnet-4-5", (), ()),
        (True, "claude-3-7-sonnet", (LOOK,), ()),
        (True, "claude-opus-4-7", (LOOK,), ()),
        (True, "claude-opus-5-5", (LOOK,), ()),
        (True, "gpt-4o", (LOOK,), ()),
    ],
)
def test_thinking_between_tools_is_asked_for_where_it_must_be(
    layer: Make, interleaved: bool, model: str, tools: tuple[ToolSpec, ...], expected: tuple[str, ...]
) -> None:
    """The beta goes to models with budgets that know it, with tools, when it is wanted; never to any other."""
    made = layer(enabled_by_default=True, interleaved_thinking=interleaved)

    assert expected == made.sent(model, tools=tools).betas
    assert () == layer(interleaved_thinking=interleaved).sent(model, tools=tools).betas


@pytest.mark.parametrize(
    ("asked", "max_tokens", "used", "sent_max"),
    [
        (10_000, None, 10_000, 18_192),
        (10_000, 16_000, 10_000, 16_000),
        (500, None, 1024, 9216),
        (0, None, 1024, 9216),
        (128_001, 200_000, 128_000, 200_000),
        (500_000, 16_000, 14_976, 16_000),
        (500_000, None, 62_976, 64_000),
        (15_000, 16_000, 14_976, 16_000),
        (10_000, 1500, 1024, 1500),
        (10_000, 1025, 1024, 1025),
    ],
)
def test_budgets_are_brought_into_range(
    layer: Make, asked: int, max_tokens: int | None, used: int, sent_max: int
) -> None:
    """At least 1,024, at most 128,000, always below `max_tokens`; a change is told and warned of, once."""
    made = layer(budget_tokens=asked, enabled_by_default=True)
    first = made.sent("claude-sonnet-4-5", max_tokens=max_tokens)
    again = made.sent("claude-sonnet-4-5", max_tokens=max_tokens)

    assert Thinking("enabled", used) == first.thinking == again.thinking
    assert sent_max == first.max_tokens
    assert MIN_BUDGET_TOKENS <= used <= MAX_BUDGET_TOKENS
    assert used < sent_max
    assert [(asked, used)] == made.resolved("budget_tokens")
    assert (["budget_clamped"] if used != asked else []) == made.warnings


def test_a_reply_without_room_is_not_thought_about(layer: Make) -> None:
    """Where `max_tokens` leaves no room for any budget, the model does not think, and a warning says so."""
    made = layer(enabled_by_default=True)
    sent = made.sent("claude-sonnet-4-5", max_tokens=1024)

    assert (None, 1024) == (sent.thinking, sent.max_tokens)
    assert [(10_000, None)] == made.resolved("budget_tokens")
    assert ["budget_clamped"] == made.warnings


def test_models_with_short_replies_keep_their_limit(layer: Make) -> None:
    """A model whose replies end at 32,000 tokens is never asked for more."""
    sent = layer(budget_tokens=60_000, enabled_by_default=True).sent("claude-opus-4-1")

    assert (Thinking("enabled", 30_976), 32_000) == (sent.thinking, sent.max_tokens)


@pytest.mark.parametrize(
    ("asked", "used", "said"),
    [
        (None, 10_000, "10.000 tokens"),
        (15_000, 15_000, "15.000 tokens"),
        (500, 1024, "Foram pedidos 500; o permitido aqui é 1.024."),
        (-5, 1024, "Foram pedidos -5; o permitido aqui é 1.024."),
        (200_000, 62_976, "Foram pedidos 200.000; o permitido aqui é 62.976."),
    ],
)
def test_the_switch_says_what_it_made_of_a_budget(layer: Make, asked: int | None, used: int, said: str) -> None:
    """The reply names the tokens that will be used, and those that were asked for where they differ."""
    made = layer()
    made.sent("claude-sonnet-4-5")
    reply = made.middleware.enable_ultrathink(asked)

    assert said in reply
    assert "Vale a partir da próxima pergunta" in reply
    assert {"ultrathink_enabled": True, "budget_tokens": used} == _wanted(made)
    assert (["budget_clamped"] if asked not in (None, used) else []) == made.warnings


def test_the_switch_says_where_no_budget_fits(layer: Make) -> None:
    """A model whose replies are too short for any budget is not said to think."""
    made = layer()
    made.sent("claude-sonnet-4-5", max_tokens=1024)

    assert "As respostas são curtas demais para um orçamento" in made.middleware.enable_ultrathink(2000)
    made.sent("claude-sonnet-4-5", max_tokens=4096)
    assert "curtas demais" not in made.middleware.enable_ultrathink(2000)


def _wanted(made: Layer) -> dict[str, Any]:
    return {name: value for name, value in made.middleware.get_state().items() if name != "in_force"}


@pytest.mark.parametrize(
    ("model", "enabled", "disabled"),
    [
        ("claude-sonnet-4-5", "ativado", "Raciocínio profundo desativado."),
        ("claude-opus-4-7", "dosa o raciocínio por conta própria", "Raciocínio profundo desativado."),
        ("claude-opus-5-5", "dosa o raciocínio por conta própria", "passa a usar o menor esforço possível, `low`"),
        ("claude-sonnet-5-5", "dosa o raciocínio por conta própria", "só entre chamadas de ferramentas"),
        ("gpt-4o", "não tem raciocínio nativo", "Raciocínio profundo desativado."),
    ],
)
def test_the_switches_say_what_a_model_makes_of_them(layer: Make, model: str, enabled: str, disabled: str) -> None:
    """Each reply is honest about the model: who doses itself, who has no thinking, who cannot be told to stop."""
    made = layer()
    made.sent(model)

    assert enabled in made.middleware.enable_ultrathink()
    assert disabled in made.middleware.disable_ultrathink()


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-5-5", "gpt-4o"])
def test_switches_wait_for_the_next_turn(layer: Make, model: str) -> None:
    """Inside an unfinished tool loop nothing changes; with the next question it does, and a word said so before."""
    made = layer()
    off = made.sent(model)
    made.middleware.enable_ultrathink()
    inside = made.sent(model, messages=UNFINISHED)
    on = made.sent(model, messages=FINISHED)
    made.middleware.disable_ultrathink()
    after = made.sent(model, messages=ASKED.messages)

    def shape(sent: ModelRequest) -> tuple[Any, ...]:
        return (sent.thinking, sent.effort, sent.betas, sent.messages[0])

    assert shape(off) == shape(inside) == shape(after)
    assert shape(off) != shape(on)
    assert [("on", "off"), ("off", "on")] == [pair for pair in made.resolved("thinking") if set(pair) == {"on", "off"}]
    assert off.tools == inside.tools == on.tools


def test_what_is_saved_comes_back(layer: Make) -> None:
    """A layer that takes over the state of another one does what that would have done, queued switches included."""
    made = layer(enabled_by_default=True)
    made.sent("claude-sonnet-4-5")
    made.middleware.disable_ultrathink()
    other = layer()
    other.middleware.set_state(made.middleware.get_state())

    assert other.sent("claude-sonnet-4-5", messages=UNFINISHED).thinking == Thinking("enabled", 10_000)
    assert other.sent("claude-sonnet-4-5", messages=FINISHED).thinking is None
    assert {"ultrathink_enabled": False, "budget_tokens": 10_000} == other.middleware.get_state()


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (None, (False, 9000)),
        ({}, (False, 9000)),
        ({"ultrathink_enabled": True}, (True, 9000)),
        ({"budget_tokens": 2000}, (False, 2000)),
        ({"ultrathink_enabled": True, "budget_tokens": 2000}, (True, 2000)),
    ],
)
def test_state_comes_before_settings(layer: Make, state: dict[str, Any] | None, expected: tuple[bool, int]) -> None:
    """What a state holds wins over how the layer was built; what it does not hold is as it was built."""
    made = layer(budget_tokens=9000)
    made.middleware.set_state(state)

    assert expected == tuple(made.middleware.get_state().values())


def test_a_thought_is_repeated_and_told(layer: Make) -> None:
    """The thinking tool repeats problem, numbered steps and conclusion, says that the model may go on, and does nothing."""
    made = layer()
    text = made.middleware.think_step_by_step("17 × 23", ("17 × 20 = 340", "17 × 3 = 51"), "391")

    assert (
        "Raciocínio concluído.\n\nProblema: 17 × 23\n\nEtapas:\n  1. 17 × 20 = 340\n  2. 17 × 3 = 51\n\n"
        "Conclusão: 391\n\nAgora você pode agir com base neste raciocínio."
    ) == text
    assert [Thought(text=text, source="think_tool")] == made.events
    assert "none" == as_tool(made.middleware.think_step_by_step).effect


@pytest.mark.parametrize("steps", [(), ("",), (" ", "\n")])
def test_a_thought_without_steps_is_refused(layer: Make, steps: tuple[str, ...]) -> None:
    """Thinking without a step is an error that asks for one."""
    made = layer()

    with pytest.raises(ToolError, match="pelo menos 1 etapa"):
        made.middleware.think_step_by_step("?", steps, "!")
    assert [] == made.events


def test_the_twins_agree(layer: Make) -> None:
    """The async twin makes of a request what the sync one makes of it."""
    for model in ("claude-sonnet-4-5", "claude-opus-4-7", "gpt-4o"):
        sync, late = layer(enabled_by_default=True), layer(enabled_by_default=True)

        async def handler(request: ModelRequest) -> ModelRequest:
            return request

        asked = msgspec.structs.replace(ASKED, model=model)
        reply = asyncio.run(late.middleware.awrap_model_call(asked, handler))

        assert sync.sent(model) == reply
        assert sync.events == late.events


def test_it_decides_for_each_call_anew(layer: Make) -> None:
    """One layer serves models of every kind in one conversation; none is remembered for the next call."""
    made = layer(enabled_by_default=True)
    models = ("gpt-4o", "claude-sonnet-4-5", "claude-opus-4-7", "gpt-4o")
    sent = [made.sent(model) for model in models]

    assert [THINK in [spec.name for spec in request.tools] for request in sent] == [True, False, False, True]
    assert [None, "enabled", "adaptive", None] == [r.thinking and r.thinking.type for r in sent]
    assert sent[0] == sent[3]
    assert [("gpt-4o", "none"), ("claude-sonnet-4-5", "budget"), ("claude-opus-4-7", "adaptive")] == (
        made.resolved("capability")
    )


def test_nothing_is_printed(layer: Make, capsys: pytest.CaptureFixture[str]) -> None:
    """What happens becomes events; nothing goes to the console."""
    made = layer(enabled_by_default=True)
    made.sent("gpt-4o")
    made.middleware.enable_ultrathink(5)
    made.middleware.think_step_by_step("?", ("a",), "!")

    assert ("", "") == tuple(capsys.readouterr())


def test_every_text_answers_in_the_language_of_the_question(prompts: ModuleType) -> None:
    """The section ends as every prompt does, in the language of the design's document."""
    assert prompts.SECTION.endswith("Responda no idioma da pergunta.")
