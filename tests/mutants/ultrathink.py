"""Mutants of the reasoning layer: wrong parameters, wrong tools, wrong budgets, wrong times, and thoughts that do harm."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import msgspec

from harness.agents.load import load_agent
from harness.agents.protocol import Agent, AgentContext, Question
from harness.records.case import Fact, Facts, GoldenCase
from harness.records.messages import ModelRequest, Thinking
from harness.records.tool import tool
from harness.records.trace import EventData, FinalAnswer
from harness.testing.fakes import call, calls, says
from harness.testing.mutants import Build, Mutant

from .ground import AGENTS, BERLIN, World

CLAUDE = load_agent(AGENTS, "ultrathink")
"""The design with its own model, which takes a budget."""
GPT = replace(CLAUDE, default_model="gpt-4o")
ADAPTIVE = replace(CLAUDE, default_model="claude-opus-4-7")
ALWAYS_ON = replace(CLAUDE, default_model="claude-opus-5-5")
design: Any = sys.modules[CLAUDE.build.__module__]
layer: Any = importlib.import_module(f"{design.__name__}.middleware")

ANY = GoldenCase(id="case", question="What is the weather in Berlin?", class_="any")
COMPLEX = msgspec.structs.replace(ANY, class_="complex")
TURNS = GoldenCase(id="case", turns=("Switch it.", "And now?"), class_="any")
SUM = GoldenCase(
    id="case", question="Is 17 × 23 equal to 381 or to 391?", class_="any", facts=Facts(all=(Fact(number=391),))
)  # fmt: skip
ENABLE = call("enable_ultrathink", budget_tokens=500)
DISABLE = call("disable_ultrathink")
THOUGHT = call(
    "think_step_by_step", problem="17 × 23", reasoning_steps=["17 × 20 = 340", "17 × 3 = 51"], conclusion="It is 391."
)
RAINY = says("It rains in Berlin.")
ON = {"ultrathink": True}


def made_with(kind: type) -> Build:
    """Builds the design with a layer of *kind*."""
    return lambda ctx: design.assembled(ctx, kind)


class KnowsByPrefix(layer.UltrathinkMiddleware):
    """Takes every model whose name begins as that of a Claude 4 for one that takes a budget."""

    def _thinking(self, request: ModelRequest) -> ModelRequest:
        return msgspec.structs.replace(request, thinking=Thinking("enabled", self._in_force.budget_tokens))


class OffersBeforeItKnows(layer.UltrathinkMiddleware):
    """Chooses the tools before it knows the model."""

    def get_tools(self, model: str | None = None) -> tuple[Callable[..., Any], ...]:
        """What a model gets that nobody knows."""
        return super().get_tools(None)


class AlwaysNamesTheTool(layer.UltrathinkMiddleware):
    """Writes of the tool in the prompt, whether or not it is offered."""

    def _section(self, *, names_tool: bool) -> str:
        return super()._section(names_tool=True)


class IgnoresTheMode(layer.UltrathinkMiddleware):
    """Offers the tool to think with in every mode."""

    def get_tools(self, model: str | None = None) -> tuple[Callable[..., Any], ...]:
        """All three."""
        return (self.enable_ultrathink, self.disable_ultrathink, self.think_step_by_step)


class HidesWhatIsDone(layer.UltrathinkMiddleware):
    """Offers no switch that would change nothing."""

    def get_tools(self, model: str | None = None) -> tuple[Callable[..., Any], ...]:
        """The tools without the switch that was thrown last."""
        return tuple(f for f in super().get_tools(model) if not self._wanted.enabled or f != self.enable_ultrathink)


class TakesAnyBudget(layer.UltrathinkMiddleware):
    """Takes a budget as it is given."""

    def _fit(self, asked: int) -> Any:
        return layer.Budget(asked, 0)


class TellsWhatWasAsked(layer.UltrathinkMiddleware):
    """Says the budget that was asked for instead of the one that is used."""

    @tool(effect="none")
    def enable_ultrathink(self, budget_tokens: int | None = None) -> str:
        """Enable."""
        super().enable_ultrathink(budget_tokens)
        return f"Ativado com {budget_tokens} tokens."


class ForgetsWhatWasSwitched(layer.UltrathinkMiddleware):
    """Begins each turn as it was built."""

    def set_state(self, state: Any) -> None:
        """Keep the settings."""
        super().set_state({**(state or {}), "ultrathink_enabled": self._default.enabled})


class LetsThemThink(layer.UltrathinkMiddleware):
    """Tells a model that always thinks nothing while the layer is off."""

    def _idle(self, request: ModelRequest) -> ModelRequest:
        return request


class SwitchesAtOnce(layer.UltrathinkMiddleware):
    """Switches in the middle of a turn."""

    def _prepared(self, request: ModelRequest) -> ModelRequest:
        self._in_force = self._wanted
        return super()._prepared(request)


class ForcesTheTool(layer.UltrathinkMiddleware):
    """Forces a tool on a model that thinks."""

    def _thinking(self, request: ModelRequest) -> ModelRequest:
        return msgspec.structs.replace(super()._thinking(request), tool_choice="get_weather")


class DropsTheLastStep(layer.UltrathinkMiddleware):
    """Repeats all steps of a thought but the last."""

    @tool(effect="none")
    def think_step_by_step(self, problem: str, reasoning_steps: tuple[str, ...], conclusion: str) -> Any:
        """Think."""
        return super().think_step_by_step(problem, reasoning_steps[:-1], conclusion)


class WritesItDown(layer.UltrathinkMiddleware):
    """Has a tool to think with that writes."""

    @tool(effect="write")
    def think_step_by_step(self, problem: str, reasoning_steps: tuple[str, ...], conclusion: str) -> Any:
        """Think."""
        return super().think_step_by_step(problem, reasoning_steps, conclusion)


class SaysToActFirst(layer.UltrathinkMiddleware):
    """Tells the model to think about what it did."""

    def _section(self, *, names_tool: bool) -> str:
        section: str = super()._section(names_tool=names_tool)
        return section.replace("antes de agir", "depois de agir")


class AnswersSomethingElse:
    """Answers with another number than was concluded."""

    def __init__(self, ctx: AgentContext) -> None:
        self._agent: Agent = CLAUDE.build(ctx)

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and miscopy the answer."""
        async for event in self._agent.run(question):
            if isinstance(event, FinalAnswer):
                event = FinalAnswer(text=event.text.replace("391", "381"))  # noqa: PLW2901
            yield event


class AsyncForgets(layer.UltrathinkMiddleware):
    """Looks the state up on the sync path alone."""

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        """Call the model as if nothing had been switched."""
        wanted, self._wanted = self._wanted, self._default
        self._in_force, prepared = self._default, None
        try:
            prepared = self._prepared(request)
        finally:
            self._wanted = self._in_force = wanted
        return await handler(prepared)


MUTANTS = (
    Mutant(
        id="ultra-knows-by-prefix", contract="CU1", about="sends a budget to a model that takes none", agent=ADAPTIVE,
        because="claude-opus-4-7 (adaptive): thinking `enabled` with 10000 tokens is sent",
        build=made_with(KnowsByPrefix), replies=(RAINY,), case=ANY, options=ON,
    ),
    Mutant(
        id="ultra-offers-before-it-knows", contract="CU2", about="chooses the tools before it knows the model",
        because="claude-sonnet-4-5 thinks natively, and is offered think_step_by_step", agent=CLAUDE,
        build=made_with(OffersBeforeItKnows), replies=(RAINY,), case=ANY,
    ),
    Mutant(
        id="ultra-always-names-the-tool", contract="CU3", about="names a tool that is not offered", agent=GPT,
        because="mode prompt: the section names think_step_by_step", build=made_with(AlwaysNamesTheTool),
        replies=(RAINY,), case=ANY, options={**ON, "fallback_mode": "prompt"},
    ),
    Mutant(
        id="ultra-ignores-the-mode", contract="CU3", about="offers the tool where only the prompt is wanted", agent=GPT,
        because="mode prompt: think_step_by_step is offered", build=made_with(IgnoresTheMode), replies=(RAINY,),
        case=ANY, options={"fallback_mode": "prompt"},
    ),
    Mutant(
        id="ultra-hides-what-is-done", contract="CU4", about="offers other tools once it is on", agent=CLAUDE,
        because="the tools changed: -enable_ultrathink", build=made_with(HidesWhatIsDone),
        replies=(calls(ENABLE), RAINY), case=ANY,
    ),
    Mutant(
        id="ultra-takes-any-budget", contract="CU5", about="takes 500 tokens as they are", agent=CLAUDE,
        because="500 tokens became 500, expected 1024", build=made_with(TakesAnyBudget),
        replies=(calls(ENABLE), RAINY), case=ANY,
    ),
    Mutant(
        id="ultra-tells-what-was-asked", contract="CU5", about="says 500 tokens and uses 1,024", agent=CLAUDE,
        because="the reply of enable_ultrathink does not name the 1024 tokens", build=made_with(TellsWhatWasAsked),
        replies=(calls(ENABLE), RAINY), case=ANY,
    ),
    Mutant(
        id="ultra-forgets-what-was-switched", contract="CU6", about="is on again in the turn after it was disabled",
        because="not on, and thinking `enabled` is sent", agent=CLAUDE, build=made_with(ForgetsWhatWasSwitched),
        replies=(calls(DISABLE), RAINY, RAINY), case=TURNS, options=ON,
        also={"CU7": "the turn after the switch does not reflect it"},
    ),
    Mutant(
        id="ultra-lets-them-think", contract="CU6", about="lets a model that always thinks do so at any effort",
        because="not on, and claude-opus-5-5 is not told to use its lowest effort", agent=ALWAYS_ON,
        build=made_with(LetsThemThink), replies=(RAINY,), case=ANY,
    ),
    Mutant(
        id="ultra-switches-at-once", contract="CU7", about="stops thinking in the middle of a turn", agent=CLAUDE,
        because="thinking changed inside an unfinished turn", build=made_with(SwitchesAtOnce), world=World,
        replies=(calls(DISABLE), calls(BERLIN), RAINY), case=ANY, options=ON,
    ),
    Mutant(
        id="ultra-forces-the-tool", contract="CU8", about="forces a tool on a model that thinks", agent=CLAUDE,
        because="claude-sonnet-4-5 thinks, and the tool choice is forced: get_weather", build=made_with(ForcesTheTool),
        replies=(calls(BERLIN), RAINY), case=ANY, world=World, options=ON,
    ),
    Mutant(
        id="ultra-drops-the-last-step", contract="CU9", about="loses a step of a thought", agent=GPT,
        because="the result does not repeat “2. 17 × 3 = 51” in its place", build=made_with(DropsTheLastStep),
        replies=(calls(THOUGHT), says("391")), case=SUM,
    ),
    Mutant(
        id="ultra-writes-it-down", contract="CU9", about="writes thoughts down", agent=GPT,
        because="think_step_by_step changes the store", build=made_with(WritesItDown),
        replies=(calls(THOUGHT), says("391")), case=SUM,
    ),
    Mutant(
        id="ultra-says-to-act-first", contract="CU10", about="has its model act first and think later", agent=GPT,
        because="think_step_by_step is not called with 2 steps before the first tool acts", world=World,
        build=made_with(SaysToActFirst), replies=(calls(BERLIN), calls(THOUGHT), RAINY),
        sound_replies=(calls(THOUGHT), calls(BERLIN), RAINY), case=COMPLEX, options=ON,
    ),
    Mutant(
        id="ultra-answers-something-else", contract="CU11", about="concludes 391 and answers 381", agent=GPT,
        because="the last thought concludes 391, and the answer does not say so", build=AnswersSomethingElse,
        replies=(calls(THOUGHT), says("It is 391.")), case=SUM,
    ),
    Mutant(
        id="ultra-async-forgets", contract="CU12", about="looks the state up on one of two paths", agent=CLAUDE,
        because="one path thinks, offers or instructs otherwise than the other", build=made_with(AsyncForgets),
        world=World, replies=(calls(ENABLE), RAINY, calls(BERLIN), RAINY), case=TURNS, options={"both_paths": True},
        also={"CU7": "the first call of the turn after the switch is made by the path that forgets"},
    ),
)  # fmt: skip
