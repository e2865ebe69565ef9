"""Design × case."""

from __future__ import annotations

from harness.compare.designs import designs_of, rivals_of
from harness.compare.matrix import rows_of
from harness.records.comparison import MatrixCell
from harness.records.messages import Usage
from harness.records.trajectory import Call, Divergence, Turn

from .builders import local, outcomes, verdict


def rows(*verdicts, differ=None):
    """The rows of these verdicts."""
    designs = designs_of(verdicts)
    order = {(one.set, one.case): number for number, one in reversed(list(enumerate(verdicts)))}
    groups, _ = rivals_of(designs, order)
    return rows_of(groups, designs, order, differ=differ)


def test_a_cell_tells_its_trials():
    """How many were kept, what broke, and what one took on average."""
    (row,) = rows(
        *outcomes("b", [[True, False]], tokens=Usage(10, 2)), verdict("a", "S1", llm_calls=4), verdict("a", "S1", 1)
    )

    assert ("shared", "S1", "goldensets/shared.yaml:2") == (row.set, row.case, row.at)
    assert (
        MatrixCell(design="a × scripted", kept=2, trials=2, verdict="kept", llm_calls=3.0, tokens=120.0),
        MatrixCell(
            design="b × scripted", kept=1, trials=2, verdict="broken", broken=("CX3",), llm_calls=2.0, tokens=12.0
        ),
    ) == row.cells


def test_rows_stand_in_the_order_of_the_run():
    """Not in that of their names."""
    verdicts = [verdict(agent, case) for agent in "ab" for case in ("S9", "S10", "S1")]

    assert ["S9", "S10", "S1"] == [row.case for row in rows(*verdicts)]


def test_designs_of_every_provenance_stand_in_one_row():
    """They ran the same case; only those answered alike are asked why they differ."""
    asked = []

    def differ(a, b):
        asked.append((a.agent, a.model, b.agent, b.model))

    (row,) = rows(
        *outcomes("a", [True]), *outcomes("b", [True]), *local("a", [True]), *local("b", [False]), differ=differ
    )

    assert ["a × scripted", "a × small", "b × scripted", "b × small"] == [cell.design for cell in row.cells]
    assert [("a", "scripted", "b", "scripted"), ("a", "small", "b", "small")] == asked
    assert [("a × scripted", "b × scripted", None), ("a × small", "b × small", None)] == [
        (part.a, part.b, part.divergence) for part in row.why
    ]


def test_a_cell_that_was_not_checked_says_so():
    """Beside two designs that were."""
    (row,) = rows(*outcomes("a", [True]), *outcomes("b", [True]), verdict("c", "S9"), *outcomes("c", [None]))[:1]

    assert ["kept", "kept", "could_not_check"] == [cell.verdict for cell in row.cells]


def test_long_texts_of_turns_are_cut():
    """The trace has the whole; arguments become a text where they are too long, and calls are at most twelve."""
    call = Call(tool="look", args={"text": "y" * 1000}, result="z" * 1000, error="")
    turn = Turn(text="x" * 1000, thinking="t" * 1000, calls=(call,) * 40)
    (row,) = rows(
        *outcomes("a", [True]), *outcomes("b", [True]),
        differ=lambda a, b: Divergence(step=2, a=turn, b=None, because="so"),
    )  # fmt: skip
    (part,) = row.why
    shown = part.divergence.a

    assert (160, 160, 12) == (len(shown.text), len(shown.thinking), len(shown.calls))
    assert ("x" * 159 + "…", "z" * 159 + "…") == (shown.text, shown.calls[0].result)
    assert shown.calls[0].args.startswith("{'text': 'yyy")
    assert 160 == len(shown.calls[0].args)
    assert None is part.divergence.b
