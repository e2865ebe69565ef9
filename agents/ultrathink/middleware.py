"""
The reasoning layer: any loop thinks more thoroughly with it, on any model.

    middleware = UltrathinkMiddleware(budget_tokens=15_000, enabled_by_default=True, capability_of=ctx.models.capability)
    reply = await middleware.awrap_model_call(request, handler)

Models that think natively are asked to, with parameters that they take. All others get a tool to think with, a section
of the system prompt, or both. What to do is decided for each call from the model that it asks for, never from one seen
before. A model may switch the layer on and off; that takes effect when the user's next turn begins, because thinking
may not change inside an unfinished tool loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec

from harness.records.capability import NO_THINKING, Capability
from harness.records.messages import Json, Message, ModelRequest, ToolSpec
from harness.records.tool import ToolError, as_tool, tool
from harness.records.trace import ConfigResolved, EventData, Thought, Warned

from . import prompts
from .thinking import Budget, adaptive, can_think, fit_budget, illegal_beside, in_range, least, with_budget

T = TypeVar("T")
FallbackMode = Literal["tool", "prompt", "both"]
DEFAULT_BUDGET_TOKENS = 10_000
ENABLE, DISABLE, THINK = "enable_ultrathink", "disable_ultrathink", "think_step_by_step"

BudgetTokens = Annotated[int | None, "Tokens para o raciocínio, de 1024 a 128000; sem valor, o orçamento padrão"]
Problem = Annotated[str, "O problema, enunciado com clareza"]
Steps = Annotated[tuple[str, ...], "As etapas do raciocínio, cada uma apoiada na anterior"]
Conclusion = Annotated[str, "A conclusão a que as etapas levam"]


class Switch(msgspec.Struct, frozen=True):
    """Whether the layer is on, and with how many tokens where a model takes a budget."""

    enabled: bool
    budget_tokens: int


class UltrathinkMiddleware:
    """
    Thinking for any model, switched on and off by the caller or by the model itself.

    Args:
        budget_tokens: Tokens to think with, where a model takes a budget; brought into 1,024 to 128,000.
        enabled_by_default: Whether it is on before anybody switches it.
        interleaved_thinking: Whether models with a budget think between tool calls too.
        fallback_mode: What models without native thinking get: `tool`, `prompt` or `both`.
        strong_prompt: Whether the section of the prompt says "must" instead of "may".
        capability_of: How a model thinks, by its name; without it none is known to.

    Raises:
        ValueError: *fallback_mode* is another word.
    """

    def __init__(
        self,
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        enabled_by_default: bool = False,  # noqa: FBT001, FBT002  # the order is that of the design's document
        interleaved_thinking: bool = True,  # noqa: FBT001, FBT002
        fallback_mode: FallbackMode = "both",
        *,
        strong_prompt: bool = False,
        capability_of: Callable[[str], Capability] | None = None,
    ) -> None:
        if fallback_mode not in get_args(FallbackMode):
            raise ValueError(f"fallback_mode is `tool`, `prompt` or `both`, not `{fallback_mode}`")
        self.emit: Callable[[EventData], None] = _unheard
        """Where events go; whoever installs the layer sets it."""
        self._default = Switch(enabled_by_default, budget_tokens)
        self._wanted = self._in_force = self._default
        self._interleaved = interleaved_thinking
        self._mode = fallback_mode
        self._strong = strong_prompt
        self._capability_of = capability_of or _unknown
        self._last: ModelRequest | None = None
        self._system: Message | None = None
        self._told: set[str] = set()

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], T]) -> T:
        """Call *handler* with *request* as the layer wants it; every other field of it stays as it is."""
        return handler(self._prepared(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[T]]) -> T:
        """The async twin of `wrap_model_call`."""
        return await handler(self._prepared(request))

    def requires_fallback(self, model: str | None = None) -> bool:
        """Whether *model* has no native thinking; True where it is not known, or nobody says which it is."""
        return model is None or self._capability_of(model).kind == "none"

    def get_tools(self, model: str | None = None) -> tuple[Callable[..., Any], ...]:
        """The tools that *model* is offered; they depend on the model and the mode alone, never on what is switched on."""
        if self.requires_fallback(model) and self._mode != "prompt":
            return (self.enable_ultrathink, self.disable_ultrathink, self.think_step_by_step)
        return (self.enable_ultrathink, self.disable_ultrathink)

    def get_system_prompt_addition(self, model: str | None = None) -> str:
        """The section that *model*'s system prompt gets while the layer is on; empty where it gets none."""
        if not self.requires_fallback(model) or self._mode == "tool":
            return ""
        return self._section(names_tool=self._mode == "both")

    def named_sections(self) -> dict[str, str]:
        """Every section that a prompt may get, by the name under which a trace proves that it is there."""
        return {
            "thinking_section": self._section(names_tool=False),
            "thinking_section_with_tool": self._section(names_tool=True),
        }

    @tool(effect="none", name=ENABLE)
    def enable_ultrathink(self, budget_tokens: BudgetTokens = None) -> str:
        """Ativa o raciocínio profundo a partir da próxima pergunta do usuário. Use só quando o usuário pedir."""
        asked = self._default.budget_tokens if budget_tokens is None else budget_tokens
        budget = self._fit(asked)
        self._emit_budget(asked, budget)
        self._queue(Switch(enabled=True, budget_tokens=budget.used))
        said = prompts.ENABLED.format(used=_grouped(budget.used))
        if budget.used != asked:
            said += prompts.CLAMPED.format(asked=_grouped(asked), used=_grouped(budget.used))
        if self._last is not None:
            kind = self._capability_of(self._last.model).kind
            no_room = "" if budget.max_tokens else prompts.NO_ROOM
            note = {"none": prompts.FALLBACK, "budget": no_room}.get(kind, prompts.ADAPTIVE)
            said += note.format(model=self._last.model)
        return said + prompts.FROM_NEXT_TURN

    @tool(effect="none", name=DISABLE)
    def disable_ultrathink(self) -> str:
        """Desativa o raciocínio profundo a partir da próxima pergunta do usuário. Use só quando o usuário pedir."""
        model = self._last.model if self._last is not None else ""
        capability = self._capability_of(model)
        said = prompts.DISABLED
        if capability.kind == "always_on":
            said = prompts.LOW_EFFORT.format(model=model, effort=capability.efforts[0])
        elif capability.lowest == "between_tools":
            said = prompts.BETWEEN_TOOLS.format(model=model)
        self._queue(Switch(enabled=False, budget_tokens=self._wanted.budget_tokens))
        return said + prompts.FROM_NEXT_TURN

    @tool(effect="none", name=THINK)
    def think_step_by_step(self, problem: Problem, reasoning_steps: Steps, conclusion: Conclusion) -> str:
        """
        Raciocina passo a passo sobre um problema complexo antes de agir. Não consulta nem altera nada.

        Use para:
        - problemas matemáticos difíceis
        - raciocínio lógico em várias etapas
        - análise e depuração de código
        - decisões de arquitetura
        - qualquer tarefa que exija cuidado
        """
        if not any(step.strip() for step in reasoning_steps):
            raise ToolError("invalid_args", prompts.NO_STEPS)
        steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(reasoning_steps, start=1))
        text = prompts.THOUGHT.format(problem=problem, steps=steps, conclusion=conclusion)
        self.emit(Thought(text=text, source="think_tool"))
        return text

    def get_state(self) -> dict[str, Json]:
        """What is to survive a stop; what is in force beside it only while a change waits for the user's next turn."""
        state: dict[str, Json] = _as_state(self._wanted)
        if self._in_force != self._wanted:
            state["in_force"] = _as_state(self._in_force)
        return state

    def set_state(self, state: Mapping[str, Any] | None) -> None:
        """Take over what `get_state` gave; what is missing in it, all of it for None, is as it was built."""
        state = state or {}
        self._wanted = self._as_switch(state)
        self._in_force = self._as_switch(state.get("in_force") or state)

    def _prepared(self, request: ModelRequest) -> ModelRequest:
        """*request* as the layer wants it, with the tools of its own wherever tools are offered."""
        if not in_tool_loop(request.messages):
            self._in_force = self._wanted
        self._tell(
            "capability", request.model, self._capability_of(request.model).kind, "as the table of models has it"
        )
        request = msgspec.structs.replace(request, tools=self._with_own(request.model, request.tools))
        self._last = request
        if self.requires_fallback(request.model):
            return self._instructed(request) if self._in_force.enabled else request
        return self._thinking(request) if self._in_force.enabled else self._idle(request)

    def _with_own(self, model: str, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """*offered* and the layer's tools; a call without tools, which could not run any, stays without."""
        if not offered:
            return offered
        return (*offered, *(as_tool(function).spec for function in self.get_tools(model)))

    def _instructed(self, request: ModelRequest) -> ModelRequest:
        """*request* with the section behind its system prompt; it names the tool only where that is offered."""
        section = self.get_system_prompt_addition(request.model)
        if THINK in section and all(spec.name != THINK for spec in request.tools):
            section = self._section(names_tool=False)
        if not section:
            return request
        first = request.messages[0] if request.messages and request.messages[0].role == "system" else None
        text = (first.text if first else "") + section
        if self._system is None or self._system.text != text:
            self._system = Message("system", text)  # the same one in every call, so that nobody reads it twice
        rest = request.messages[1:] if first else request.messages
        return msgspec.structs.replace(request, messages=(self._system, *rest))

    def _thinking(self, request: ModelRequest) -> ModelRequest:
        """*request* with native thinking, and nothing beside it that the model would refuse."""
        if not can_think(request):
            self._tell("thinking", "on", "off", "the reply goes on from a text that is given")
            return request
        capability = self._capability_of(request.model)
        if capability.kind == "budget":
            budget = fit_budget(self._in_force.budget_tokens, request.max_tokens, capability)
            if self._is_news(f"budget {self._in_force.budget_tokens} {budget}"):
                self._emit_budget(self._in_force.budget_tokens, budget)
            if budget is None:
                return request
            thinking = with_budget(request, capability, budget, interleaved=self._interleaved)
        else:
            thinking = adaptive(request)
        changes = illegal_beside(thinking, capability)
        for name, (asked, used) in changes.items():
            self._tell(name, asked, used, "a thinking model takes no other value")
        return msgspec.structs.replace(thinking, **{name: used for name, (_, used) in changes.items()})

    def _idle(self, request: ModelRequest) -> ModelRequest:
        """*request* without thinking, or with the least that its model can be told to do."""
        idle = least(request, self._capability_of(request.model))
        if idle is not request:
            used = idle.thinking.type if idle.thinking is not None else idle.effort
            self._tell("thinking", "off", used, "this model thinks unless it is told otherwise")
        return idle

    def _section(self, *, names_tool: bool) -> str:
        if names_tool:
            lead = prompts.MUST_USE_TOOL if self._strong else prompts.MAY_USE_TOOL
        else:
            lead = prompts.MUST_THINK if self._strong else prompts.MAY_THINK
        return prompts.SECTION.format(lead=lead)

    def _fit(self, asked: int) -> Budget:
        """A budget of *asked* tokens as the last call's model and its replies allow it; max_tokens 0 where none fits."""
        last = self._last
        fitted = None
        if last is not None and self._capability_of(last.model).kind == "budget":
            fitted = fit_budget(asked, last.max_tokens, self._capability_of(last.model))
        return fitted or Budget(in_range(asked), 0, "" if in_range(asked) == asked else "out of range")

    def _queue(self, switch: Switch) -> None:
        self._wanted = switch
        because = "thinking does not change inside an unfinished tool loop: from the user's next turn on"
        self.emit(ConfigResolved(key="thinking", asked=_word(switch), used=_word(self._in_force), why=because))

    def _emit_budget(self, asked: int, budget: Budget | None) -> None:
        """Say what became of a budget, and warn where it is not what was asked for."""
        used = budget.used if budget is not None else None
        why = budget.why if budget is not None else "max_tokens has no room for a budget, so the model does not think"
        self.emit(ConfigResolved(key="budget_tokens", asked=asked, used=used, why=why))
        if used != asked:
            self.emit(Warned(code="budget_clamped", detail=f"{asked} tokens asked for, {used or 'none'} used: {why}"))

    def _tell(self, key: str, asked: Json, used: Json, why: str) -> None:
        """Say what became of a setting, unless that was said before."""
        if self._is_news(f"{key} {asked} {used}"):
            self.emit(ConfigResolved(key=key, asked=asked, used=used, why=why))

    def _is_news(self, what: str) -> bool:
        news = what not in self._told
        self._told.add(what)
        return news

    def _as_switch(self, state: Mapping[str, Any]) -> Switch:
        enabled = state.get("ultrathink_enabled", self._default.enabled)
        return Switch(bool(enabled), int(state.get("budget_tokens", self._default.budget_tokens)))


def in_tool_loop(messages: Sequence[Message]) -> bool:
    """Whether the model's last word in *messages* asked for tools: then its turn is not over."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    return last is not None and bool(last.tool_calls)


def _unheard(_event: EventData) -> None:
    """Events of a layer that is installed nowhere."""


def _unknown(_model: str) -> Capability:
    return NO_THINKING


def _as_state(switch: Switch) -> dict[str, Json]:
    return {"ultrathink_enabled": switch.enabled, "budget_tokens": switch.budget_tokens}


def _word(switch: Switch) -> str:
    return "on" if switch.enabled else "off"


def _grouped(number: int) -> str:
    """*number* as Portuguese writes it: `10.000`."""
    return f"{number:,}".replace(",", ".")
