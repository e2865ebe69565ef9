"""Mutants of deep thinking: its graph, its counting, its verifiers, and what it makes of all that."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from harness.agents.load import load_agent
from harness.agents.protocol import Agent, AgentContext, Question
from harness.records.case import GoldenCase
from harness.records.trace import Verification
from harness.testing.fakes import fails, says, says_json
from harness.testing.mutants import Mutant

from .ground import AGENTS

DEEP = load_agent(AGENTS, "deep_think")
deep: Any = importlib.import_module(DEEP.build.__module__)
checking: Any = importlib.import_module(f"{DEEP.build.__module__}.checking")
state_of: Any = importlib.import_module(f"{DEEP.build.__module__}.state")
verdicts: Any = importlib.import_module(f"{DEEP.build.__module__}.verdicts")

SHEEP = GoldenCase(id="case", question="All but 9 of 17 sheep run. How many are left?", class_="complex")
KNOWING = GoldenCase(id="case", question=SHEEP.question, class_="complex", knowledge="Sheep do come back.")
PLAIN = {"enable_self_improvement": False}
SOLVED = says("Eight sheep are left.")
CORRECTED = says("Nine sheep are left: all but nine ran.")
AGAIN = says("Nine.")
PASS = says_json(passed=True, issues=[])
FAIL = says_json(passed=False, issues=[{"severity": "critical", "where": "", "what": "17 is not the number that ran"}])
HEDGED = says("No, I cannot say yes.")
SUMMARY = says("There are 9 sheep left.")

THREE = (PASS, PASS, PASS)
STRAIGHT = (SOLVED, *THREE, SUMMARY)
MENDED = (SOLVED, FAIL, CORRECTED, *THREE, SUMMARY)
RELAPSED = (SOLVED, PASS, FAIL, CORRECTED, *THREE, SUMMARY)


def of(kind: Any) -> Callable[[AgentContext], Agent]:
    """Builds an agent of *kind*, a mutant of the engine, on the repaired graph."""

    def build(ctx: AgentContext) -> Agent:
        agent: Agent = kind(ctx, deep.load_workflow(deep._WORKFLOW))
        return agent

    return build


class SolvesAgain(deep.DeepThink):
    """Goes from a correction back to the bare problem."""

    async def _walk(self, state: Any) -> None:
        was = state.node
        await super()._walk(state)
        if was == "correct_solution":
            state.node = "deep_think_iteration"


class OnePassWillDo(deep.DeepThink):
    """Sums up after the first pass."""

    async def _walk(self, state: Any) -> None:
        await super()._walk(state)
        if state.node == "verify_solution" and state.successful_verifications:
            state.node = "generate_final_summary"

    def _shortfall(self, state: Any) -> str:
        return ""


class CountsTheFirstTwice(deep.DeepThink):
    """Books the first verdict once more, without asking anybody."""

    async def _verify(self, state: Any, node: Any) -> None:
        await super()._verify(state, node)
        if state.current_iteration == 1 and not state.failed:
            counts = state.count(state.verification_results)
            number, required = state.current_iteration, state.required_verifications
            again = Verification(
                round=number, index=0, of=1, passed=True, verdict="pass", count=counts[0], required=required,
                solution_digest=deep.solution_digest(state.current_solution),
            )  # fmt: skip
            self._ctx.emit(again, round=number)


class DropsTheCorrection(deep.DeepThink):
    """Has the solution corrected, and goes on with the old one."""

    def _take(self, state: Any, text: str, origin: Any) -> None:
        if origin != "correct":
            super()._take(state, text, origin)


class CorrectsBlindly(deep.DeepThink):
    """Keeps the verdict's issues from the solver."""

    async def _correct(self, state: Any, node: Any) -> None:
        kept, state.verification_results = state.verification_results, []
        await super()._correct(state, node)
        state.verification_results = kept


def with_state(kind: Any) -> type[Any]:
    """An engine whose state is of *kind*."""

    class Engine(deep.DeepThink):
        def _open(self, question: Question) -> Any:
            state = super()._open(question)
            return kind(**{field.name: getattr(state, field.name) for field in fields(state)})

    return Engine


class NeverStartsOver(state_of.State):
    """Adds up passes, whatever comes between them."""

    def take(self, solution: str) -> None:
        """Go on with a new solution and the old passes."""
        passes = self.successful_verifications
        super().take(solution)
        self.successful_verifications = passes

    def count(self, checks: list[Any]) -> list[int]:
        """Count a round on top of all others."""
        before = self.successful_verifications
        super().count(checks)
        self.successful_verifications = before + sum(check.passed for check in checks)
        return [self.successful_verifications]


class Majority(state_of.State):
    """Lets a round pass if most of it does."""

    def count(self, checks: list[Any]) -> list[int]:
        """Count the votes."""
        super().count(checks)
        if sum(check.passed for check in checks) * 2 > len(checks):
            self.successful_verifications, self.consecutive_failures = len(checks), 0
        return list(range(1, len(checks) + 1))


class NeverFails(deep.DeepThink):
    """Calls a run complete that came to its limit."""

    def _shortfall(self, state: Any) -> str:
        return ""


class OneRoundMore(deep.DeepThink):
    """Is off by one round."""

    def _open(self, question: Question) -> Any:
        state = super()._open(question)
        state.max_iterations += 1
        return state


class VerifiesBehindTheMarker(deep.DeepThink):
    """Hands the verifier what stands behind a heading, which is nothing where there is no heading."""

    async def _verify(self, state: Any, node: Any) -> None:
        whole = state.current_solution
        state.current_solution = whole.partition("### Detailed solution")[2]
        await super()._verify(state, node)
        state.current_solution = whole


class TakesYesForAPass(checking.Checker):
    """Looks for a word."""

    async def _check(self, state: Any, node: Any, index: int, place: Any, *, tries: int = 1) -> Any:
        number = state.current_iteration + 1
        reply = await self._asker.ask(
            node, checking.verify_request(state, place), purpose="verify", slot=f"verify/{number}/{index}", round=number
        )
        return verdicts.Check("pass") if "yes" in reply.text.lower() else verdicts.read_verdict(reply.text)


class SkipsWhatIsLate(checking.Checker):
    """Lets a round be decided by those that answered in time."""

    async def round(self, state: Any, node: Any, of: int, place: Any) -> list[Any]:
        """Ask all, and forget the late ones."""
        checks = [check for check in await super().round(state, node, of, place) if check.verdict != "timeout"]
        state.required_verifications = len(checks)
        return checks


class OneByOne(checking.Checker):
    """Asks the verifiers of a parallel round in turn."""

    async def round(self, state: Any, node: Any, of: int, place: Any) -> list[Any]:
        """Ask one after the other."""
        return [await self._check(state, node, index, place) for index in range(of)]


def with_checker(kind: Any) -> type[Any]:
    """An engine whose verifiers are asked by *kind*."""

    class Engine(deep.DeepThink):
        def __init__(self, ctx: AgentContext, workflow: Any) -> None:
            super().__init__(ctx, workflow)
            own = self._checker
            self._checker = kind(ctx, self._asker, at_once=own._at_once, timeout_s=60)

    return Engine


class IgnoresThePlan(deep.DeepThink):
    """Has a plan made, and shows it to nobody."""

    async def _plan(self, state: Any, node: Any) -> None:
        await super()._plan(state, node)
        state.plan = ""


class OneModelForAll(deep.DeepThink):
    """Lets the solver's model judge its own work."""

    def __init__(self, ctx: AgentContext, workflow: Any) -> None:
        super().__init__(ctx, workflow)
        self._asker._models = {}


class VerifierRepairs(deep.DeepThink):
    """Takes the verifier's words for the new solution."""

    async def _correct(self, state: Any, node: Any) -> None:
        self._take(state, state.verification_results[0].issues[0].what, "correct")


class ShowsEarlierVerdicts(deep.DeepThink):
    """Tells each verifier what the one before it said."""

    async def _verify(self, state: Any, node: Any) -> None:
        known = state.knowledge_context
        state.knowledge_context = "".join(f"Another verifier says: {c.verdict}" for c in state.verification_results)
        await super()._verify(state, node)
        state.knowledge_context = known


class AnswersWithTheSolution(deep.DeepThink):
    """Has a summary made, and shows the solution."""

    async def _summarize(self, state: Any, node: Any) -> None:
        await super()._summarize(state, node)
        state.answer = state.current_solution


class SumsUpTheFirst(deep.DeepThink):
    """Sums up the first version."""

    first = ""

    def _take(self, state: Any, text: str, origin: Any) -> None:
        self.first = self.first or text
        super()._take(state, text, origin)

    async def _summarize(self, state: Any, node: Any) -> None:
        state.current_solution = self.first
        await super()._summarize(state, node)


class ProgressFalls(deep.DeepThink):
    """Starts over with its progress at each correction."""

    def _tell(self, state: Any, status: str, **more: str) -> None:
        if status == "correcting":
            state.progress = 0.0
        super()._tell(state, status, **more)


class BareProblem(deep.DeepThink):
    """Keeps the context from verifiers."""

    async def _verify(self, state: Any, node: Any) -> None:
        kept = state.conversation_history, state.knowledge_context
        state.conversation_history, state.knowledge_context = "", ""
        await super()._verify(state, node)
        state.conversation_history, state.knowledge_context = kept


PARALLEL = {**PLAIN, "enable_parallel_check": True}
MUTANTS = (
    Mutant(
        id="deep-solves-again", contract="CD1", about="re-solves the bare problem after a correction", agent=DEEP,
        because="solve follows correct", build=of(SolvesAgain), case=SHEEP, options=PLAIN | {"cache": False},
        replies=(SOLVED, FAIL, CORRECTED, AGAIN, *THREE, SUMMARY), sound_replies=MENDED,
        also={"CD3": "the correction is thrown away, and another solution is verified"},
    ),
    Mutant(
        id="deep-one-pass-will-do", contract="CD1", about="sums up after one pass", agent=DEEP, case=SHEEP,
        because="the summary comes after 1 passes in a row", build=of(OnePassWillDo), options=PLAIN,
        replies=(SOLVED, PASS, SUMMARY), sound_replies=STRAIGHT, also={"CD2": "one pass is not three"},
    ),
    Mutant(
        id="deep-counts-the-first-twice", contract="CD2", about="counts the first verdict twice", agent=DEEP, case=SHEEP,
        because="3 verdicts come from 2 model calls", build=of(CountsTheFirstTwice), options=PLAIN,
        replies=(SOLVED, PASS, PASS, SUMMARY), sound_replies=STRAIGHT,
        also={"CD7": "no reply states the verdict that is counted again"},
    ),
    Mutant(
        id="deep-drops-the-correction", contract="CD3", about="verifies the old text after a correction", agent=DEEP,
        because="the text that failed is verified again", build=of(DropsTheCorrection), case=SHEEP, options=PLAIN,
        replies=MENDED,
    ),
    Mutant(
        id="deep-corrects-blindly", contract="CD3", about="corrects without the verdict's issues", agent=DEEP,
        because="the correction is not shown the issues of the verdict", build=of(CorrectsBlindly), case=SHEEP,
        options=PLAIN, replies=MENDED,
    ),
    Mutant(
        id="deep-never-starts-over", contract="CD4", about="adds up passes across a failure", agent=DEEP, case=SHEEP,
        because="after a failed verdict in round 2 the count is 1, not 0", build=of(with_state(NeverStartsOver)),
        replies=(SOLVED, PASS, FAIL, CORRECTED, PASS, PASS, SUMMARY), sound_replies=RELAPSED, options=PLAIN,
        also={"CD2": "the three passes that it counts are not the last three verdicts"},
    ),
    Mutant(
        id="deep-never-fails", contract="CD5", about="calls an exhausted run complete", agent=DEEP, case=SHEEP,
        because="1 failures in a row end as completed", build=of(NeverFails), options=PLAIN | {"max_errors": 1},
        replies=(SOLVED, FAIL, SUMMARY), also={"CD2": "it completes without a pass"},
    ),
    Mutant(
        id="deep-one-round-more", contract="CD5", about="verifies once after the last round", agent=DEEP, case=SHEEP,
        because="round 3 is verified, max_iterations is 2", build=of(OneRoundMore), options=PLAIN | {"max_iterations": 2},
        replies=(SOLVED, FAIL, CORRECTED, FAIL, AGAIN, FAIL, SUMMARY),
        sound_replies=(SOLVED, FAIL, CORRECTED, FAIL, SUMMARY),
    ),
    Mutant(
        id="deep-verifies-nothing", contract="CD6", about="verifies what stands behind a heading that is not there",
        because="the verifier is not shown the solution", agent=DEEP, build=of(VerifiesBehindTheMarker), case=SHEEP,
        options=PLAIN, replies=STRAIGHT,
    ),
    Mutant(
        id="deep-takes-yes-for-a-pass", contract="CD7", about="passes whatever has “yes” in it", agent=DEEP, case=SHEEP,
        because="the reply states unparsable, the verdict is pass", build=of(with_checker(TakesYesForAPass)),
        replies=(SOLVED, HEDGED, PASS, PASS, SUMMARY), options=PLAIN,
        sound_replies=(SOLVED, HEDGED, CORRECTED, *THREE, SUMMARY),
    ),
    Mutant(
        id="deep-ignores-the-plan", contract="CD8", about="makes a plan and shows it to nobody", agent=DEEP, case=SHEEP,
        because="the call for solve is not shown the plan", build=of(IgnoresThePlan),
        options=PLAIN | {"enable_planning": True}, replies=(says("1. Count. 2. Check."), *STRAIGHT),
    ),
    Mutant(
        id="deep-one-model-for-all", contract="CD9", about="verifies with the solver's model", agent=DEEP, case=SHEEP,
        because="its stage names claude-haiku-4-5", build=of(OneModelForAll), replies=STRAIGHT,
        options=PLAIN | {"model_stages": {"verification": "claude-haiku-4-5"}},
    ),
    Mutant(
        id="deep-majority", contract="CD10", about="passes a round of which most passed", agent=DEEP, case=SHEEP,
        because="one of round 1 failed, yet the count is 3", build=of(with_state(Majority)), options=PARALLEL,
        replies=(SOLVED, PASS, FAIL, PASS, SUMMARY),
        sound_replies=(SOLVED, PASS, FAIL, PASS, CORRECTED, *THREE, SUMMARY),
        also={"CD2": "one of its verdicts is no pass", "CD4": "the failure in the round does not set the count back"},
    ),
    Mutant(
        id="deep-skips-what-is-late", contract="CD10", about="leaves a verifier out that timed out", agent=DEEP,
        because="round 1 has 3 verifiers and 2 verdicts", build=of(with_checker(SkipsWhatIsLate)), case=SHEEP,
        options=PARALLEL, replies=(SOLVED, PASS, fails("timeout"), PASS, SUMMARY),
        sound_replies=(SOLVED, PASS, fails("timeout"), PASS, CORRECTED, *THREE, SUMMARY),
        also={
            "CD1": "two passes are not enough for a summary",
            "CD2": "two verdicts are not three",
            "CD7": "the last verdict is booked in the place of the one that was late",
        },
    ),
    Mutant(
        id="deep-one-by-one", contract="CD10", about="asks the verifiers of a parallel round in turn", agent=DEEP,
        because="the verifiers of round 1 run 1 at a time, not 3", build=of(with_checker(OneByOne)), case=SHEEP,
        options=PARALLEL, replies=STRAIGHT,
    ),
    Mutant(
        id="deep-verifier-repairs", contract="CD11", about="takes the verifier's words for the solution", agent=DEEP,
        because="the solution is no reply of the solver", build=of(VerifierRepairs), case=SHEEP, options=PLAIN,
        replies=(SOLVED, FAIL, *THREE, SUMMARY), sound_replies=MENDED,
        also={"CD3": "no solver is asked for a correction"},
    ),
    Mutant(
        id="deep-shows-earlier-verdicts", contract="CD11", about="shows a verifier what others said", agent=DEEP,
        because="two verifiers of one solution are shown different messages", build=of(ShowsEarlierVerdicts),
        case=SHEEP, options=PLAIN, replies=STRAIGHT,
    ),
    Mutant(
        id="deep-answers-with-the-solution", contract="CD12", about="shows the solution in place of the summary",
        because="the answer is not the summary", agent=DEEP, build=of(AnswersWithTheSolution), case=SHEEP,
        options=PLAIN, replies=STRAIGHT,
    ),
    Mutant(
        id="deep-sums-up-the-first", contract="CD12", about="sums up an older version", agent=DEEP, case=SHEEP,
        because="the summary is made of another text than the last solution", build=of(SumsUpTheFirst), options=PLAIN,
        replies=MENDED,
    ),
    Mutant(
        id="deep-progress-falls", contract="CD13", about="lets progress fall at a correction", agent=DEEP, case=SHEEP,
        because="progress falls from 0.25 to 0", build=of(ProgressFalls), options=PLAIN, replies=RELAPSED,
    ),
    Mutant(
        id="deep-bare-problem", contract="CD14", about="keeps the context from verifiers", agent=DEEP, case=KNOWING,
        because="the verify call is not shown the background knowledge", build=of(BareProblem), options=PLAIN,
        replies=STRAIGHT,
    ),
)  # fmt: skip
