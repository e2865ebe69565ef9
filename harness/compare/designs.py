"""Who is compared with whom: verdicts sorted into designs, and designs into groups that ran the same sets, answered alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.records.comparison import LeftOut
from harness.records.run import CaseVerdict, Provenance

Place = tuple[str, str]
"""Set and case."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """One design with one model, and its trials that have a verdict; *unchecked* are those that have none."""

    agent: str
    profile: str
    model: str
    provenance: Provenance
    trials: Mapping[Place, tuple[CaseVerdict, ...]]
    unchecked: tuple[CaseVerdict, ...] = ()

    @property
    def name(self) -> str:
        """As `DesignFigures.name`."""
        return f"{self.agent} × {self.model}"

    @property
    def sampled(self) -> bool:
        """Whether its recordings are samples of what a model does."""
        return self.provenance in {"live", "local"}

    @property
    def sets(self) -> frozenset[str]:
        """The sets of which it has a verdict."""
        return frozenset(set_name for set_name, _ in self.trials)


@dataclass(frozen=True, kw_only=True)
class Rivals:
    """
    Designs of one provenance that ran the same *sets*: at least two.

    *places* are cases that two of them or more answered, *common* those that all did; *left_out* tells of the others.
    """

    provenance: Provenance
    sets: tuple[str, ...]
    designs: tuple[Design, ...]
    places: tuple[Place, ...] = ()
    common: tuple[Place, ...] = ()
    left_out: tuple[LeftOut, ...] = field(default=())

    @property
    def sampled(self) -> bool:
        """Whether the group's recordings are samples."""
        return self.designs[0].sampled


def designs_of(verdicts: Iterable[CaseVerdict], *, first: Sequence[str] = ()) -> list[Design]:
    """
    Sort *verdicts* into designs: those of the agents *first* in that order, then by name.

    Trials without a model call, and those that could not be checked, belong to the design of their agent and model.

    Raises:
        UsageError: One design with one model was answered in two ways, such as by a script and by a provider.
    """
    found: dict[tuple[str, str], list[CaseVerdict]] = {}
    for verdict in verdicts:
        found.setdefault((verdict.agent, verdict.model), []).append(verdict)
    order = {agent: number for number, agent in enumerate(first)}
    keys = sorted(found, key=lambda key: (order.get(key[0], len(order)), key))
    return [_design(found[key]) for key in keys]


def rivals_of(designs: Sequence[Design], order: Mapping[Place, int]) -> tuple[list[Rivals], list[LeftOut]]:
    """
    Put *designs* into groups, and tell of the cases that are in none since one design alone ran them.

    Args:
        designs: As `designs_of` gives them.
        order: The place of each case in the run.
    """
    rosters: dict[tuple[Provenance, tuple[int, ...]], list[str]] = {}
    for provenance in dict.fromkeys(design.provenance for design in designs):
        for set_name in dict.fromkeys(set_name for set_name, _ in order):
            roster = tuple(
                number
                for number, design in enumerate(designs)
                if design.provenance == provenance and set_name in design.sets
            )
            if roster:
                rosters.setdefault((provenance, roster), []).append(set_name)
    groups, left_out = [], []
    for (provenance, roster), sets in rosters.items():
        chosen = tuple(designs[number] for number in roster)
        places = sorted(
            {place for design in chosen for place in design.trials if place[0] in sets}, key=order.__getitem__
        )
        if len(chosen) > 1:
            groups.append(_rivals(provenance, tuple(sets), chosen, places))
        else:
            left_out += [_alone(place, chosen[0]) for place in places]
    return groups, left_out


def _design(verdicts: Sequence[CaseVerdict]) -> Design:
    one = verdicts[0]
    answered = sorted({verdict.provenance for verdict in verdicts} - {"none"})
    if len(answered) > 1:
        raise UsageError(
            "unlike-provenance",
            f"{one.agent} × {one.model} was answered by {' and '.join(answered)} models: its trials are never put together",
            hint=f"`harness record --agent {one.agent} --model {one.model} --mode all` records them alike",
        )
    trials: dict[Place, list[CaseVerdict]] = {}
    for verdict in verdicts:
        if verdict.verdict != "could_not_check":
            trials.setdefault((verdict.set, verdict.case), []).append(verdict)
    provenance: Provenance = answered[0] if answered else "scripted" if one.model == "scripted" else "none"
    return Design(
        agent=one.agent,
        profile=one.profile,
        model=one.model,
        provenance=provenance,
        trials={
            place: tuple(_samples(each) if provenance in {"live", "local"} else each) for place, each in trials.items()
        },
        unchecked=tuple(verdict for verdict in verdicts if verdict.verdict == "could_not_check"),
    )


def _samples(trials: Sequence[CaseVerdict]) -> Iterator[CaseVerdict]:
    """One trial for each recording, a broken one where its replays did not end alike."""
    by_recording: dict[str, CaseVerdict] = {}
    for trial in sorted(trials, key=lambda verdict: verdict.trial):
        key = trial.cassette_digest or f"trial {trial.trial}"
        if key not in by_recording or (by_recording[key].verdict == "kept" and trial.verdict == "broken"):
            by_recording[key] = trial
    yield from by_recording.values()


def _rivals(
    provenance: Provenance, sets: tuple[str, ...], designs: tuple[Design, ...], places: Sequence[Place]
) -> Rivals:
    compared, common, left_out = [], [], []
    for place in places:
        ran = [design for design in designs if place in design.trials]
        if len(ran) < 2:
            left_out.append(_alone(place, ran[0]))
        elif differs := _unlike(place, ran):
            names = tuple(design.name for design in ran)
            left_out.append(LeftOut(set=place[0], case=place[1], kind="unlike", designs=names, because=differs))
        else:
            compared.append(place)
            if len(ran) == len(designs):
                common.append(place)
            else:
                left_out.append(_partly(place, ran, designs))
    return Rivals(
        provenance=provenance, sets=sets, designs=designs, places=tuple(compared), common=tuple(common),
        left_out=tuple(left_out),
    )  # fmt: skip


def _alone(place: Place, design: Design) -> LeftOut:
    because = f"{design.name} alone ran it"
    return LeftOut(set=place[0], case=place[1], kind="alone", designs=(design.name,), because=because)


def _partly(place: Place, ran: Sequence[Design], designs: Sequence[Design]) -> LeftOut:
    missing = ", ".join(design.name for design in designs if design not in ran)
    return LeftOut(
        set=place[0], case=place[1], kind="partly", designs=tuple(design.name for design in ran),
        because=f"not answered by {missing}, so it counts in pairs only",
    )  # fmt: skip


def _unlike(place: Place, ran: Sequence[Design]) -> str:
    """What of the case was not the same for all who *ran* it; empty where all was."""
    trials = [trial for design in ran for trial in design.trials[place]]
    for what, seen in (
        ("question", {trial.lock.golden for trial in trials}),
        ("recorded world", {trial.lock.world for trial in trials}),
        ("injected fault", {trial.fault for trial in trials}),
    ):
        if len(seen) > 1:
            return f"not the same {what} for all of them"
    return ""
