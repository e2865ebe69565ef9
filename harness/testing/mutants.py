"""
Mutants: agents, or the runtime around one, that are wrong in one known way, so that a contract is seen to say no.

    Mutant(
        id="lean-saves-at-the-end", contract="CL6", about="saves only when it answers", because="is not saved",
        agent=LEAN, build=SavesAtTheEnd, replies=(calls(BERLIN), says("7 °C")),
    )

A mutant is code. It runs in the very runtime that trials run in, on replies written by hand, and so does its sound
twin: the agent as it is. The twin keeps the contract, the mutant breaks it and nothing else but what *also* explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.agents.load import LoadedAgent
from harness.agents.protocol import Agent, AgentContext
from harness.contracts.base import Contract
from harness.contracts.catalogue import builtin
from harness.contracts.judge import judge
from harness.records.case import GoldenCase
from harness.records.finding import Finding
from harness.records.messages import Json
from harness.testing.fakes import FakeWorld, Ran, Said, run_agent

Build = Callable[[AgentContext], Agent]
WEATHER = GoldenCase(id="case", question="What is the weather in Berlin?", class_="complex")
FAMILIES = ("CX", "CL", "CP", "CU", "CD", "CE", "CG")
"""Contracts that hold every run. The rules of single cases (facts, tools, endings) are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change for the worse. *build* makes the mutant of *agent*; a runtime is changed in *build* by way of its context."""

    id: str
    contract: str
    """The contract that it must break."""
    about: str
    """What is wrong with it, in one clause."""
    because: str
    """Words that the finding must hold."""
    agent: LoadedAgent
    """The design that it is a mutant of, under whose name it runs."""
    build: Build
    replies: tuple[Said, ...]
    sound_replies: tuple[Said, ...] = ()
    """What the model says to the sound twin, where that asks more, less or other things; else *replies*."""
    sound_build: Build | None = None
    """The twin, where it is not the design as it stands."""
    case: GoldenCase = WEATHER
    world: Callable[[], FakeWorld] = FakeWorld
    sound_world: Callable[[], FakeWorld] | None = None
    options: Mapping[str, Json] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    """Other contracts that it cannot help breaking, each with the reason."""

    def run(self) -> Ran:
        """Run the mutant."""
        return self._run(self.build, self.replies, self.world)

    def run_sound(self) -> Ran:
        """Run its twin, in which nothing is wrong."""
        build = self.sound_build or self.agent.build
        return self._run(build, self.sound_replies or self.replies, self.sound_world or self.world)

    def _run(self, build: Build, replies: Sequence[Said], world: Callable[[], FakeWorld]) -> Ran:
        agent = replace(self.agent, build=build)
        return run_agent(agent, replies, world=world(), case=self.case, options=dict(self.options))


def held(design: str) -> tuple[Contract, ...]:
    """The contracts of every run that are for *design*."""
    return tuple(
        contract
        for contract in builtin().values()
        if contract.id.rstrip("0123456789") in FAMILIES and contract.applies_to(design)
    )


def findings(case: GoldenCase, ran: Ran) -> tuple[Finding, ...]:
    """What the contracts of every run find in *ran*."""
    return judge(case, ran.judged(), held(ran.cell.agent))


def broken_in(found: Iterable[Finding]) -> set[str]:
    """Names of the contracts that broke, or that could not be checked."""
    return {finding.contract for finding in found if finding.state in ("broken", "could_not_check")}
