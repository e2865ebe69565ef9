"""The reasoning layer around the lean loop: on models of several kinds, over turns and stops, and with it left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from harness.agents.load import LoadedAgent
from harness.agents.protocol import Reply
from harness.cassettes.bodies import readable
from harness.cassettes.player import Player
from harness.config import load_config
from harness.errors import UsageError
from harness.matrix import PlannedCell
from harness.records.case import GoldenCase, Leg
from harness.records.messages import Message, ModelRequest, ThinkingBlock
from harness.records.run import Cell, Trial
from harness.testing.fakes import FakeWorld, Ran, Said, call, calls, fails, run_agent, says, says_json
from harness.testing.mutants import broken_in, findings
from harness.trials import Project, replay

ROOT = Path(__file__).parents[2]
BETA = "interleaved-thinking-2025-05-14"
CONTROL = ["enable_ultrathink", "disable_ultrathink"]
THINK = "think_step_by_step"
BELT = ["get_weather", "broken_tool", "write_note", "manage_plan"]
BERLIN = call("get_weather", city="Berlin")
THOUGHT = call(THINK, problem="17 × 23", reasoning_steps=["17 × 20 = 340", "17 × 3 = 51"], conclusion="391")
TWO_TURNS = GoldenCase(id="case", turns=("Ative.", "E agora?"), class_="toggle", lang="pt")
COMPLEX_MESSAGES = (Message("user", "Quanto é 17 × 23? Explique."),)
COMPLEX = GoldenCase(id="case", question="Quanto é 17 × 23? Explique.", class_="complex", lang="pt")


def run(ultra: LoadedAgent, model: str, *replies: Said, case: GoldenCase = COMPLEX, **options: Any) -> Ran:
    """Run the design on *model*; every contract of every run holds, and the trial has a verdict."""
    agent = replace(ultra, default_model=model)
    ran = run_agent(agent, replies, world=_world(), case=case, options=options)

    assert "" == ran.trial.code, ran.trial.because
    assert set() == broken_in(findings(case, ran))
    return ran


def _world() -> FakeWorld:
    from .conftest import Notebook

    return Notebook()


def test_an_unknown_fallback_mode_is_the_callers_mistake(ultra: LoadedAgent) -> None:
    """It is refused when the agent is built, as what an option cannot be."""
    with pytest.raises(UsageError) as caught:
        run_agent(ultra, [], world=_world(), case=COMPLEX, options={"fallback_mode": "promt"})

    assert ("bad-option", "fallback_mode is `tool`, `prompt` or `both`, not `promt`") == (
        caught.value.code, caught.value.message,
    )  # fmt: skip


def offered(request: ModelRequest) -> list[str]:
    """The names of the tools of a request."""
    return [spec.name for spec in request.tools]


def resolved(ran: Ran, key: str) -> list[tuple[Any, Any]]:
    """What was asked for and what was used, each time something was said of *key*."""
    return [(e.data.asked, e.data.used) for e in ran.events("config_resolved") if e.data.key == key]


def test_middleware_with_openai_model(ultra: LoadedAgent) -> None:
    """GPT-4o is offered the tool and told of it; its request has no thinking parameter; it thinks, then answers."""
    ran = run(ultra, "gpt-4o", calls(THOUGHT), says("17 × 23 = 391"), ultrathink=True)
    request = ran.requests[0]

    assert [*BELT, *CONTROL, THINK] == offered(request)
    assert (None, None, ()) == (request.thinking, request.max_tokens, request.betas)
    assert "RACIOCÍNIO PASSO A PASSO" in ran.events("llm_call")[0].data.system_sections
    assert ["thinking_section_with_tool"] == list(ran.events("llm_call")[0].data.embeds)
    assert "17 × 23 = 391" == ran.answer


def test_middleware_with_xai_model(ultra: LoadedAgent) -> None:
    """Grok gets the tool alone in the mode `tool`, and its prompt is the loop's own."""
    ran = run(ultra, "xai/grok-4", calls(THOUGHT), says("391"), ultrathink=True, fallback_mode="tool")

    assert [*BELT, *CONTROL, THINK] == offered(ran.requests[0])
    assert "RACIOCÍNIO" not in ran.requests[0].messages[0].text
    assert {} == ran.events("llm_call")[0].data.embeds


def test_think_tool_execution(ultra: LoadedAgent) -> None:
    """The tool runs in the loop: problem, numbered steps and conclusion come back to the model, and nothing changes."""
    ran = run(ultra, "gpt-4o", calls(THOUGHT), says("391"), ultrathink=True)
    result = ran.events("tool_result")[0].data

    assert result.text == ran.requests[1].messages[-1].text
    for part in ("Problema: 17 × 23", "1. 17 × 20 = 340", "2. 17 × 3 = 51", "Conclusão: 391", "Agora você pode agir"):
        assert part in result.text
    assert (True, ()) == (result.ok, result.effects)
    assert ["think_tool"] == [event.data.source for event in ran.events("thinking")]
    assert result.text == ran.events("thinking")[0].data.text
    assert ran.events("thinking")[0].turn == ran.events("tool_call")[0].turn


def test_a_thought_without_steps_comes_back_as_an_error(ultra: LoadedAgent) -> None:
    """The model is told what was wrong, and may think again."""
    empty = call(THINK, problem="?", reasoning_steps=[], conclusion="!")
    ran = run(ultra, "gpt-4o", calls(empty), calls(THOUGHT), says("391"), ultrathink=True)
    first = ran.events("tool_result")[0].data

    assert (False, "invalid_args") == (first.ok, first.error_kind)
    assert "pelo menos 1 etapa" in ran.requests[1].messages[-1].text


def test_a_model_with_budgets_thinks_between_tools(ultra: LoadedAgent) -> None:
    """Budget and beta in every call of the turn, and the blocks go back with the results as they came."""
    blocks = (ThinkingBlock("thinking", "Vejo.", "c2ln"), ThinkingBlock("redacted", data="eA=="))
    ran = run(ultra, "claude-sonnet-4-5", calls(BERLIN, thinking=blocks), says("Chove."), ultrathink=True)

    assert [("enabled", 10_000)] * 2 == [
        (r.thinking.type, r.thinking.budget_tokens) for r in ran.requests if r.thinking
    ]
    assert [(18_192, (BETA,))] * 2 == [(r.max_tokens, r.betas) for r in ran.requests]
    assert blocks == ran.requests[1].messages[2].thinking
    assert [BETA] == ran.events("llm_call")[0].data.params["betas"]
    assert [*BELT, *CONTROL] == offered(ran.requests[0])


def test_the_tool_to_think_with_is_refused_where_it_is_not_offered(ultra: LoadedAgent) -> None:
    """A model that thinks natively and calls it all the same is told that there is no such tool."""
    ran = run(ultra, "claude-sonnet-4-5", calls(THOUGHT), says("391"), ultrathink=True)

    assert "unknown_tool" == ran.events("tool_result")[0].data.error_kind


def test_a_switch_holds_from_the_next_question_on(ultra: LoadedAgent) -> None:
    """Enabled in the middle of a turn, the layer thinks in the next one; the state of the session carries it there."""
    enable = call("enable_ultrathink", budget_tokens=500)
    ran = run(ultra, "claude-sonnet-4-5", calls(enable), calls(BERLIN), says("Pronto."), says("Sim."), case=TWO_TURNS)

    assert [None, None, None, 1024] == [r.thinking and r.thinking.budget_tokens for r in ran.requests]
    assert [("on", "off")] == resolved(ran, "thinking")
    assert [(500, 1024), (1024, 1024)] == resolved(ran, "budget_tokens")
    assert ["budget_clamped"] == [event.data.code for event in ran.events("warning")]
    assert 1 == len({tuple(offered(request)) for request in ran.requests})
    assert "ultrathink" in ran.events("state_saved")[-1].data.parts


def test_a_model_that_always_thinks_is_told_to_think_less(ultra: LoadedAgent) -> None:
    """Disabling maps to the lowest effort, from the next question on, and the reply of the switch says so."""
    ran = run(
        ultra, "claude-opus-5-5", calls(call("disable_ultrathink")), says("Olá."), says("Olá."), case=TWO_TURNS,
        ultrathink=True,
    )  # fmt: skip

    assert [("adaptive", None)] * 2 + [(None, "low")] == [
        (r.thinking and r.thinking.type, r.effort) for r in ran.requests
    ]
    assert "menor esforço possível, `low`" in ran.events("tool_result")[0].data.text
    assert [("off", "on"), ("off", "low")] == resolved(ran, "thinking")


def test_a_stop_in_the_middle_of_a_turn_changes_nothing(ultra: LoadedAgent) -> None:
    """A session cut off behind a switch goes on as it would have: the switch still waits for the next question."""
    legs = (Leg(stop_after={"state_saved": 1}), Leg(resume=True))
    case = GoldenCase(id="case", question="Ative e veja o tempo.", class_="toggle", legs=legs, lang="pt")
    replies = (calls(call("enable_ultrathink")), calls(BERLIN), says("Chove."))
    cut = run(ultra, "claude-sonnet-4-5", *replies, case=case)
    whole = run(ultra, "claude-sonnet-4-5", *replies, case=msgspec.structs.replace(case, legs=()))

    assert 2 == len(cut.trial.traces)
    assert whole.requests == cut.requests
    assert 1 == len({ran.events("state_saved")[-1].data.parts["ultrathink"] for ran in (cut, whole)})
    assert [None] * 3 == [request.thinking for request in cut.requests]


def test_a_failed_call_is_asked_again_as_before(ultra: LoadedAgent) -> None:
    """Errors of the provider change nothing about thinking."""
    ran = run(ultra, "claude-sonnet-4-5", fails(), calls(BERLIN), fails(), says("Chove."), ultrathink=True)

    assert 1 == len({request.thinking for request in ran.requests})


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "claude-opus-4-7"])
def test_without_the_layer_it_is_the_lean_loop(ultra: LoadedAgent, lean: LoadedAgent, model: str) -> None:
    """With `layer: false` each request equals the lean loop's own, whatever else is set."""
    replies = (calls(call("manage_plan", action="create_plan", tasks=["ver"])), calls(BERLIN), says("Chove."))
    bare = run(ultra, model, *replies, layer=False, ultrathink=True, max_tokens=4096)
    own = run_agent(replace(lean, default_model=model), replies, world=_world(), case=COMPLEX)

    assert own.requests == bare.requests
    assert [] == bare.events("config_resolved")


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "claude-opus-4-7"])
def test_a_layer_that_is_off_adds_its_tools_alone(ultra: LoadedAgent, lean: LoadedAgent, model: str) -> None:
    """Installed and not enabled, everything in a request but the layer's own tools is the lean loop's."""
    replies = (calls(call("manage_plan", action="create_plan", tasks=["ver"])), calls(BERLIN), says("Chove."))
    idle = run(ultra, model, *replies, case=msgspec.structs.replace(COMPLEX, class_="any"))
    own = run_agent(replace(lean, default_model=model), replies, world=_world(), case=COMPLEX)

    assert own.requests == [_without_own_tools(request) for request in idle.requests]
    assert all(set(CONTROL) <= set(offered(request)) for request in idle.requests)


def _without_own_tools(request: ModelRequest) -> ModelRequest:
    kept = tuple(spec for spec in request.tools if spec.name not in (*CONTROL, THINK))
    return msgspec.structs.replace(request, tools=kept)


def test_the_layer_works_on_streams(ultra: LoadedAgent) -> None:
    """A loop that streams is asked for by the layer as one that does not."""
    streamed = run(ultra, "claude-sonnet-4-5", says("Olá, Vera."), ultrathink=True, stream=True)
    whole = run(ultra, "claude-sonnet-4-5", says("Olá, Vera."), ultrathink=True)

    assert [msgspec.structs.replace(r, stream=True) for r in whole.requests] == streamed.requests


def test_the_layer_streams_for_loops_of_their_own(
    ultra: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType]
) -> None:
    """A loop that reads chunks itself gets a stream of the call as the layer wants it, and the rest of its context."""
    layer, middleware = part(ultra, "layer"), part(ultra, "middleware")

    class Streaming:
        def __init__(self, ctx: Any) -> None:
            made = middleware.UltrathinkMiddleware(enabled_by_default=True, capability_of=ctx.models.capability)
            self.ctx = layer.installed(made, ctx)

        async def run(self, question: Any) -> Any:
            stream = self.ctx.models.stream(
                [question.message], tools=self.ctx.tools.specs(), stage=self.ctx.clock.today()
            )
            async for _ in stream:
                pass
            from harness.records.trace import FinalAnswer

            yield FinalAnswer(text=stream.reply.text)

    agent = replace(ultra, build=Streaming)
    ran = run_agent(agent, [says("Olá, Vera.")], world=_world(), case=COMPLEX)

    assert "Olá, Vera." == ran.answer
    assert (True, "enabled") == (ran.requests[0].stream, ran.requests[0].thinking and ran.requests[0].thinking.type)
    assert "2026-03-10" == ran.events("llm_call")[0].data.stage


class Counting:
    """A model client that notes by which path it is asked."""

    default_model = "gpt-4o"

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def chat(self, messages: Any, **options: Any) -> Reply:
        """The async path."""
        return self._asked("async")

    def chat_sync(self, messages: Any, **options: Any) -> Reply:
        """The sync path."""
        return self._asked("sync")

    def _asked(self, path: str) -> Reply:
        self.paths.append(path)
        return Reply(reply=says("Olá."), turn=len(self.paths), span="s")


@pytest.mark.parametrize(
    ("settings", "paths"),
    [
        ({}, ["async", "async", "async"]),
        ({"sync": True}, ["sync", "sync", "sync"]),
        ({"both_paths": True}, ["async", "sync", "async"]),
        ({"sync": True, "both_paths": True}, ["sync", "async", "sync"]),
    ],
)
def test_the_path_is_the_one_that_is_chosen(
    ultra: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType], settings: dict[str, bool], paths: list[str]
) -> None:
    """The model is asked by the async path, by the sync one, or by both in turn."""
    models = Counting()
    layered = part(ultra, "layer").LayeredModels(models, part(ultra, "middleware").UltrathinkMiddleware(), **settings)

    async def ask() -> list[int]:
        return [(await layered.chat(COMPLEX_MESSAGES)).turn for _ in paths]

    assert [1, 2, 3] == asyncio.run(ask())
    assert paths == models.paths
    assert 3 == layered.turn


def test_the_layer_goes_around_other_loops(
    ultra: LoadedAgent, old: LoadedAgent, part: Callable[[LoadedAgent, str], ModuleType]
) -> None:
    """Plan and execute, which asks by prompt and offers no tools, thinks natively inside the same layer."""
    layer, middleware = part(ultra, "layer"), part(ultra, "middleware")

    def build(ctx: Any) -> Any:
        made = middleware.UltrathinkMiddleware(enabled_by_default=True, capability_of=ctx.models.capability)
        return old.build(layer.installed(made, ctx))

    agent = replace(old, build=build, default_model="claude-sonnet-4-5")
    reply = says_json(action="get_weather", args={"city": "Berlin"}, answer="{temperature_c} °C", if_it_fails="Não.")
    ran = run_agent(agent, [reply], world=_world())

    assert "7 °C" == ran.answer
    assert ("enabled", ()) == (ran.requests[0].thinking and ran.requests[0].thinking.type, ran.requests[0].tools)


# Replays of the golden cases


class Bare(Project):
    """The project with the lean loop in place of every design."""

    def agent(self, name: str) -> LoadedAgent:
        """The lean loop."""
        return super().agent("lean_react")


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    """This project."""
    made = Project(load_config(ROOT))
    yield made
    made.close()


def planned(project: Project, case: str, **options: Any) -> PlannedCell:
    """A golden case of the design, with *options* over its own."""
    golden = next(one for one in project.golden_set("ultrathink").cases if one.id == case)
    return PlannedCell(cell=Cell("ultrathink", "scripted", "ultrathink", case), case=golden, options=options)


def replayed(project: Project, case: str, **options: Any) -> Trial:
    """A golden case replayed."""
    trial = asyncio.run(replay(project, planned(project, case, **options), port="fast"))

    assert "" == trial.could_not_check
    return trial


def test_sync_and_async_give_equal_traces(project: Project) -> None:
    """On every golden case both paths to the model, alone and in turn, write the same events at the same times."""
    for case in project.golden_set("ultrathink").cases:
        late = _events(replayed(project, case.id, sync=False, both_paths=False))
        for options in ({"sync": True, "both_paths": False}, {"both_paths": True}):
            assert late == _events(replayed(project, case.id, **options)), case.id


def _events(trial: Trial) -> list[Any]:
    """Every event of *trial*; of the configuration only what is asked, not by which path."""
    events: list[Any] = [msgspec.to_builtins(event) for trace in trial.traces for event in trace.events]
    for event in events:
        if event["type"] == "trial_started":
            event["data"]["config"] = {
                name: value for name, value in event["data"]["config"].items() if name not in ("sync", "both_paths")
            }
    return events


def test_recorded_bodies_without_the_layer_are_the_lean_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was recorded with `layer: false` is, body for body, what the lean loop itself sends through litellm."""
    sent: list[tuple[str, str]] = []
    play = Player.play_wire

    def noting(self: Player, method: str, uri: str, body: bytes, *rest: Any) -> Any:
        interaction = play(self, method, uri, body, *rest)
        sent.append((interaction.request_body, readable(body, "application/json")))
        return interaction

    monkeypatch.setattr(Player, "play_wire", noting)
    bare = Bare(load_config(ROOT))
    trial = asyncio.run(replay(bare, planned(bare, "U-bare"), port="wire"))
    bare.close()

    assert ("", "") == (trial.could_not_check, trial.drift)
    assert 2 == len(sent)
    assert [recorded for recorded, _ in sent] == [now for _, now in sent]
