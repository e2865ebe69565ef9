"""Comparisons that are refused when somebody asks for them by name."""

from __future__ import annotations

import pytest

from harness.compare import Chosen
from harness.errors import UsageError

from .builders import compared, local, outcomes, verdict


def refused(*verdicts, agents=(), models=()):
    """The error of a comparison that is asked for."""
    with pytest.raises(UsageError) as caught:
        compared(*verdicts, chosen=Chosen(agents=agents, models=models))
    return caught.value


def test_agents_that_were_answered_in_different_ways():
    """Even where both ran the same case."""
    error = refused(*outcomes("a", [True]), *local("b", [True]), agents=("a", "b"))

    assert ("unlike-provenance", 2) == (error.code, error.exit_code)
    assert "`a` was answered by scripts, and `b` by a local model: such trials are never compared" == error.message
    assert "record both with the same model, or name designs and models that were answered alike" == error.hint


def test_models_that_are_of_different_kinds():
    """A local model beside a provider's."""
    live = outcomes("a", [True], model="big", provenance="live")

    assert "`small` was answered by a local model, and `big` by a provider: such trials are never compared" == (
        refused(*local("a", [True]), *live, models=("small", "big")).message
    )


def test_agents_that_ran_different_sets():
    """The sets of both are named."""
    error = refused(verdict("a", "S1", set="one"), verdict("b", "S1", set="two"), agents=("a", "b"))

    assert "unlike-sets" == error.code
    assert "`a` and `b` ran no set in common: one against two" == error.message
    assert error.hint.startswith("designs are compared on the same questions only; ")


def test_each_two_that_are_asked_for_have_to_be_alike():
    """A third one that fits both does not excuse them."""
    error = refused(
        verdict("a", "S1", set="one"), verdict("b", "S1", set="two"), verdict("c", "S1", set="one"),
        verdict("c", "S1", set="two"), agents=("c", "a", "b"),
    )  # fmt: skip

    assert "`a` and `b` ran no set in common: one against two" == error.message


def test_one_design_alone():
    """Also where it was asked for twice, or ran with models that are not compared."""
    alone = "`a` alone has nothing to be compared with"

    assert alone == refused(*outcomes("a", [True]), agents=("a",)).message
    assert alone == refused(*outcomes("a", [True]), *local("a", [True]), agents=("a", "a")).message
    assert "name another design: `harness compare a …`; `harness list agents` lists them" == (
        refused(*outcomes("a", [True]), agents=("a",)).hint
    )


def test_one_agent_with_two_models_is_a_comparison():
    """Of models, answered alike."""
    found = compared(
        *local("a", [True]), *outcomes("a", [True], model="other", provenance="local"), chosen=Chosen(agents=("a",))
    )

    assert [("a × other", "a × small")] == [(pair.a, pair.b) for pair in found.pairs]


def test_agents_with_several_provenances_are_kept_apart():
    """Each kind is compared in its own group: nothing across was asked for."""
    every = [*outcomes("a", [True]), *outcomes("b", [True]), *local("a", [True]), *local("b", [True])]

    assert ["scripted", "local"] == [
        group.provenance for group in compared(*every, chosen=Chosen(agents=("a", "b"))).groups
    ]


def test_trials_without_a_verdict_refuse_nothing():
    """What could not be checked is no proof that sets differ: exit 3 tells of it."""
    found = compared(*outcomes("a", [True]), *outcomes("b", [None]), chosen=Chosen(agents=("a", "b")))

    assert 3 == found.exit_code
