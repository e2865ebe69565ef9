"""Comparisons that are refused when somebody asks for them by name: across provenance, and across sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from harness.compare.designs import Design
from harness.errors import UsageError
from harness.records.run import Provenance

ANSWERED: dict[Provenance, str] = {
    "live": "a provider",
    "local": "a local model",
    "scripted": "scripts",
    "none": "nobody that is named",
}


def refuse_unlike(designs: Sequence[Design], *, agents: Sequence[str], models: Sequence[str]) -> None:
    """
    Refuse to compare agents, or models, that were asked for by name and have nothing in common.

    Raises:
        UsageError: Two of them were answered in different ways, or ran different sets; or there is one alone.
    """
    for names, of in ((agents, _agent), (models, _model)):
        for one, other in combinations(dict.fromkeys(names), 2):
            _refuse([d for d in designs if of(d) == one], [d for d in designs if of(d) == other], one, other)
    if len(set(agents)) == 1 and not _any_two_alike(designs):
        raise UsageError(
            "one-design",
            f"`{agents[0]}` alone has nothing to be compared with",
            hint=f"name another design: `harness compare {agents[0]} …`; `harness list agents` lists them",
        )


def _agent(design: Design) -> str:
    return design.agent


def _model(design: Design) -> str:
    return design.model


Named = Callable[[Design], str]


def _any_two_alike(designs: Sequence[Design]) -> bool:
    return any(a.provenance == b.provenance for a, b in combinations(designs, 2))


def _refuse(ones: Sequence[Design], others: Sequence[Design], one: str, other: str) -> None:
    """Refuse the two, unless a design of each was answered alike and ran the same set; trials without a verdict prove nothing."""
    ones, others = [d for d in ones if d.trials], [d for d in others if d.trials]
    if not ones or not others:
        return
    alike = [(a, b) for a in ones for b in others if a.provenance == b.provenance]
    if not alike:
        raise UsageError(
            "unlike-provenance",
            f"`{one}` was answered by {_answered(ones)}, and `{other}` by {_answered(others)}: such trials are never compared",
            hint="record both with the same model, or name designs and models that were answered alike",
        )
    if not any(a.sets & b.sets for a, b in alike):
        raise UsageError(
            "unlike-sets",
            f"`{one}` and `{other}` ran no set in common: {_sets(ones)} against {_sets(others)}",
            hint="designs are compared on the same questions only; put both into one row of [[tool.harness.matrix]]",
        )


def _answered(designs: Sequence[Design]) -> str:
    return " and ".join(ANSWERED[provenance] for provenance in sorted({design.provenance for design in designs}))


def _sets(designs: Sequence[Design]) -> str:
    return ", ".join(sorted({name for design in designs for name in design.sets}))
