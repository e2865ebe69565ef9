"""The reasoning layer under models that say anything: runs end, keep their contracts, and ask for nothing illegal."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent
from harness.contracts.judge import judge
from harness.models.sendable import check_sendable
from harness.records.case import GoldenCase, Leg, Limits
from harness.records.messages import ThinkingBlock
from harness.testing.fakes import Said, call, calls, fails, run_agent, says
from harness.testing.mutants import held

from .any_model import SHARES, many

MOST = 60
"""Model calls of any run: three turns of at most twenty steps."""
TURNS = ("Miss.", "Und jetzt notiere.", "Sonst noch etwas?")
WORDS = st.sampled_from(["", " ", "Fertig.", "Es regnet in Berlin.", "17 × 23 = 391"])
BUDGETS = st.sampled_from([-1, 0, 500, 1024, 1025, 10_000, 15_999, 16_000, 128_000, 128_001, 10**12])
STEPS = st.lists(st.sampled_from(["a", "", " ", "1. x", "zwei\nZeilen"]), max_size=3)
SWITCHES = st.one_of(
    st.builds(lambda budget: call("enable_ultrathink", budget_tokens=budget), BUDGETS),
    st.sampled_from(
        [
            call("enable_ultrathink"),
            call("enable_ultrathink", budget_tokens="many"),
            call("enable_ultrathink", '{"budget_tokens": 5'),
            call("disable_ultrathink"),
            call("disable_ultrathink", why="tired"),
        ]
    ),
)
THOUGHTS = st.one_of(
    st.builds(
        lambda problem, steps, end: call("think_step_by_step", problem=problem, reasoning_steps=steps, conclusion=end),
        WORDS,
        STEPS,
        WORDS,
    ),
    st.sampled_from([call("think_step_by_step", problem="p"), call("think_step_by_step", "[]")]),
)
ACTS = st.sampled_from(
    [
        call("get_weather", city="Berlin"),
        call("get_weather", city="Atlantis"),
        call("get_weather", '{"city": "Ber'),
        call("write_note", text="7 °C"),
        call("broken_tool"),
        call("delete_everything"),
        call("manage_plan", action="create_plan", tasks=["messen", "notieren"]),
        call("manage_plan", action="mark_done", step_index=1),
    ]
)
BLOCKS = st.sampled_from(
    [(), (ThinkingBlock("thinking", "hm", "sig"),), (ThinkingBlock("redacted", data="eA=="), ThinkingBlock("thinking"))]
)
REPLIES: st.SearchStrategy[Said] = st.one_of(
    st.builds(says, WORDS),
    st.builds(fails, st.sampled_from(["server_error", "timeout", "bad_request", "broken_stream"])),
    st.builds(
        lambda asked, text, thinking: calls(*asked, text=text, thinking=thinking),
        st.lists(SWITCHES | THOUGHTS | ACTS, min_size=1, max_size=4),
        WORDS,
        BLOCKS,
    ),
)
MODELS = st.sampled_from(
    [
        "gpt-4o",
        "xai/grok-4",
        "acme-reasoner-1",
        "claude-sonnet-4-5",
        "claude-opus-4",
        "claude-opus-4-6",
        "claude-opus-4-7",
        "claude-opus-5",
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
    ]
)
OPTIONS = st.fixed_dictionaries(
    {"max_steps": st.sampled_from([3, 20])},
    optional={
        "ultrathink": st.booleans(),
        "ultrathink_budget": BUDGETS,
        "interleaved_thinking": st.booleans(),
        "fallback_mode": st.sampled_from(["tool", "prompt", "both"]),
        "strong_prompt": st.booleans(),
        "max_tokens": st.sampled_from([0, 1000, 1024, 1500, 4096, 16_000, 64_000]),
        "layer": st.booleans(),
        "sync": st.booleans(),
        "both_paths": st.booleans(),
        "stream": st.booleans(),
    },
)
STRETCHES = st.one_of(
    st.integers(1, 3).map(lambda n: {"turns": TURNS[:n]}),
    st.integers(1, 6).map(
        lambda n: {"question": TURNS[0], "legs": (Leg(stop_after={"state_saved": n}), Leg(resume=True))}
    ),
)


@many
@given(replies=st.lists(REPLIES, min_size=1, max_size=8), model=MODELS, options=OPTIONS, stretches=STRETCHES)
def test_ultrathink_under_any_model(
    ultra: LoadedAgent, new_world: Any, replies: list[Said], model: str, options: dict[str, Any], stretches: Any
) -> None:
    """Random switches, thoughts, tools, errors and silence on any model, over turns and stops."""
    case = GoldenCase(id="case", class_="any", limits=Limits(llm_calls=MOST), **stretches)
    agent = replace(ultra, default_model=model)
    ran = run_agent(agent, islice(cycle(replies), MOST + 1), world=new_world(), case=case, options=options)
    SHARES.count(ran)
    structural = [contract for contract in held("ultrathink") if contract.kind == "S" and contract.id != "CX8"]
    found = judge(case, ran.judged(), structural)

    assert [] == [f"{f.contract}: {f.because}" for f in found if f.state not in ("kept", "vacuous")]
    assert "" == ran.trial.code, ran.trial.because
    assert len(ran.requests) <= MOST
    assert ran.ending[1] in ("", "max_steps", "llm_errors", "empty_reply", "llm_calls", "no_session", "stopped")
    for request in ran.requests:
        check_sendable(request)
