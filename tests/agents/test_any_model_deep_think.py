"""Deep thinking under models that say anything: every run ends, within its limits, and keeps each structural contract."""

from __future__ import annotations

import asyncio
import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.agents.load import LoadedAgent, load_agent
from harness.agents.run_trial import TrialSetup, run_trial
from harness.cassettes.clock import VirtualClock
from harness.cassettes.fingerprint import Fingerprinter
from harness.contracts.judge import judge
from harness.models.port import Answered, CallInfo
from harness.records.case import GoldenCase, Leg, Limits
from harness.records.messages import ModelReply, ModelRequest, ThinkingBlock
from harness.records.run import Cell
from harness.testing.fakes import NOW, Ran, Said, call, calls, fails, run_agent, says
from harness.testing.mutants import held
from harness.testing.ports import ListPort

from .any_model import SHARES, many

MOST = 500
"""Model calls of any run: eight rounds of three verifiers and a correction, each with its tools and its tries."""
QUESTION = "17 只羊，除 9 只外都跑了，还剩几只？"
TEXTS = st.sampled_from(
    [
        "还剩 9 只。",
        "还剩 8 只。",
        "9 只：除 9 只外都跑了。",
        "其余都跑了，剩 9 只。",
        "x" * 300,
        "长" * 25_000,
        "½ {0} {",
    ]
)
SEVERITIES = st.sampled_from(["critical", "gap", "minor", "huge", "", 7])
ISSUES = st.lists(
    st.fixed_dictionaries({"severity": SEVERITIES}, optional={"where": TEXTS, "what": TEXTS}), max_size=3
)  # fmt: skip


def verdict(passed: Any, issues: Any) -> str:
    """A verifier's reply as JSON."""
    return json.dumps({"passed": passed, "issues": issues}, ensure_ascii=False)


PASSES = st.just(verdict(True, []))
VERDICTS = PASSES | st.one_of(
    st.builds(verdict, st.booleans(), ISSUES),
    st.builds(verdict, st.sampled_from([True, "yes", None, 1]), ISSUES | st.none() | st.just(["x"])),
    st.builds(verdict, st.booleans(), ISSUES).map(lambda text: text[:-2]),
    st.builds(verdict, st.booleans(), ISSUES).map(lambda text: f"```json\n{text}\n```"),
    st.sampled_from(
        ["很好。\nVERDICT: PASS", "有错。\nVERDICT: FAIL", "No, I cannot say yes.", '{"passed": true, "passed": false}']
    ),
)
TOOLS = st.lists(
    st.sampled_from(
        [
            call("get_weather", city="Berlin"),
            call("get_weather", city="Atlantis"),
            call("get_weather", '{"city": "Ber'),
            call("write_note", text="9"),
            call("write_note", text=9),
            call("broken_tool"),
            call("delete_everything"),
        ]
    ),
    min_size=1,
    max_size=3,
)
BLOCKS = st.sampled_from([(), (ThinkingBlock("thinking", "hm", "sig"),)])
KINDS = st.sampled_from(["server_error", "timeout", "rate_limit", "bad_request", "broken_stream"])
FAILURES = st.builds(fails, KINDS)
BLANK = st.sampled_from(["", "  "])
JUDGED: st.SearchStrategy[Said] = st.integers(0, 11).flatmap(
    lambda kind: {0: TEXTS.map(says), 1: FAILURES, 2: BLANK.map(says)}.get(
        kind, (VERDICTS if kind < 5 else PASSES).map(says)
    )
)
"""What verifiers say."""
TOOLED = st.builds(lambda asked, text, thinking: calls(*asked, text=text, thinking=thinking), TOOLS, TEXTS, BLOCKS)
CUT = TEXTS.map(lambda text: says(text, finish_reason="length"))
SAID: st.SearchStrategy[Said] = st.integers(0, 12).flatmap(
    lambda kind: {0: BLANK.map(says), 1: FAILURES, 2: VERDICTS.map(says), 3: CUT, 4: TOOLED, 5: TOOLED, 6: TOOLED}.get(
        kind, TEXTS.map(says)
    )
)
"""What everybody else says."""
OPTIONS = st.fixed_dictionaries(
    {"max_iterations": st.integers(1, 8), "max_tool_steps": st.integers(0, 2)},
    optional={
        "required_verifications": st.sampled_from([1, 2, 3]),
        "max_errors": st.integers(1, 4),
        "enable_planning": st.booleans(),
        "enable_parallel_check": st.booleans(),
        "enable_self_improvement": st.booleans(),
        "max_parallel": st.integers(1, 3),
        "adaptive": st.booleans(),
        "model_stages": st.sampled_from([{}, {"verification": "claude-haiku-4-5"}]),
        "llm_params": st.sampled_from([{}, {"top_p": 0.9, "temperature": 1.5}]),
    },
)
STOPS = st.none() | st.tuples(
    st.sampled_from(["state_saved", "verification", "solution", "llm_result"]), st.integers(1, 6)
)
OF_THE_MODEL = frozenset({"CX8", "CX15"})
"""There is no recording, and an answer is the model's summary word for word, Markdown or not."""
ENDS = frozenset({"", "max_iterations", "max_errors", "llm_errors", "no_session"})


class ByPurpose(ListPort):
    """Answers verifiers from one list and everybody else from another, over and over."""

    def __init__(self, said: list[Said], judged: list[Said]) -> None:
        super().__init__(())
        self._said, self._judged = cycle(said), cycle(judged)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        reply = next(self._judged if call.purpose == "verify" else self._said)
        if isinstance(reply, ModelReply):
            named = [replace(one, id=f"{call.number}.{n}") for n, one in enumerate(reply.tool_calls)]
            reply = replace(reply, tool_calls=tuple(named))
        self._left.append(reply)
        return super().chat_sync(request, call)


@pytest.fixture(scope="session")
def deep() -> LoadedAgent:
    """The design that verifies what it answers."""
    return load_agent(Path(__file__).parent.parent.parent / "agents", "deep_think")


def kept(agent: LoadedAgent, case: GoldenCase, ran: Ran) -> None:
    """Every structural contract holds, and the run came to an end of its own within its limits."""
    SHARES.count(ran)
    structural = [one for one in held(agent.name) if one.kind == "S" and one.id not in OF_THE_MODEL]
    broken = [
        f"{f.contract}: {f.because}"
        for f in judge(case, ran.judged(), structural)
        if f.state not in ("kept", "vacuous")
    ]

    assert [] == broken
    assert "" == ran.trial.code, ran.trial.because
    assert len(ran.requests) <= MOST
    assert ran.ending[1] in ENDS


@many
@given(
    said=st.lists(SAID, min_size=1, max_size=8),
    judged=st.lists(JUDGED, min_size=1, max_size=8),
    options=OPTIONS,
    stop=STOPS,
    given_=st.sampled_from([{}, {"knowledge": "羊会跑。"}, {"history": ({"role": "user", "text": "你好"},)}]),
)
def test_deep_think_under_any_model(
    deep: LoadedAgent,
    new_world: Any,
    said: list[Said],
    judged: list[Said],
    options: dict[str, Any],
    stop: Any,
    given_: dict[str, Any],
) -> None:
    """Random verdicts, texts, tool calls and errors, stopped anywhere: the loop keeps its contracts and ends."""
    legs = (Leg(stop_after=dict([stop])), Leg(resume=True)) if stop else ()
    limits = Limits(llm_calls=MOST)
    case = GoldenCase(id="case", question=QUESTION, lang="zh", class_="complex", limits=limits, legs=legs, **given_)
    port = ByPurpose(said, judged)
    setup = TrialSetup(
        cell=Cell(deep.name, "scripted", "tests", "case"),
        case=case,
        agent=deep,
        world=new_world(),
        port=port,
        clock=VirtualClock(NOW),
        fingerprints=Fingerprinter(),
        tape=port,
        default_model="gpt-4.1",
        options=options,
    )
    kept(deep, case, Ran(asyncio.run(run_trial(setup)), port.requests, setup.cell))


@many
@given(verdicts=st.lists(st.booleans(), min_size=3, max_size=3), most=st.integers(1, 3))
def test_parallel_and_serial_come_to_the_same(
    deep: LoadedAgent, new_world: Any, verdicts: list[bool], most: int
) -> None:
    """The same verdicts on the same solution pass it or fail it, whether they are asked for at once or in turn."""

    def passed(*, parallel: bool) -> bool:
        said = [says(verdict(one, [] if one else [{"severity": "gap", "where": "", "what": "?"}])) for one in verdicts]
        given_up = verdicts.index(False) + 1 if False in verdicts and not parallel else len(verdicts)
        replies = [says("还剩 9 只。"), *said[:given_up], says("9 只。")]
        options = {
            "enable_parallel_check": parallel, "enable_self_improvement": False, "max_errors": 1, "max_parallel": most,
        }  # fmt: skip
        case = GoldenCase(id="case", question=QUESTION, lang="zh", class_="complex", limits=Limits(llm_calls=MOST))
        ran = run_agent(deep, replies, world=new_world(), case=case, options=options)
        kept(deep, case, ran)
        return ran.ending[0] == "completed"

    assert all(verdicts) == passed(parallel=True) == passed(parallel=False)
