"""The letter of the two-phase design's document, run beside the reference: what it breaks, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from harness.records.case import GoldenCase, ToolRule, ToolRules
from harness.testing.fakes import Ran, Said, run_agent
from harness.testing.mutants import broken_in, findings

from .guardian import GLAD, HAPPY, LITERAL, NOTES, TWO_PHASE, guardian, thinks

BROKEN_BY_THE_LETTER = {
    "CG2": "of a block the first call alone is read, an argument ends at any quotation mark, and keywords are not read",
    "CG3": "what is no string among the arguments is dropped, and the call is run without it",
    "CG11": "a feeling that is noted by keywords, or second in its block, is not noted at all",
}
TOLD = msgspec.structs.replace(HAPPY, tools=ToolRules(required=(ToolRule(tool="update_current_feeling"),)))
KEYWORDS = thinks('update_current_feeling(username="vera", feeling="Happy")')
SECOND = thinks('read_user_profile("vera")\nupdate_current_feeling("vera", "Happy")')
APOSTROPHE = thinks('add_diary_entry("vera", "It\'s Anna\'s birthday")')
ONE_LINE = thinks(text='```tool_code read_user_profile("vera") ```')
NESTED = thinks("list_files(sorted([]))")
NO_TOOL = thinks("delete_everything()")
LINES = thinks('add_diary_entry(\n    "vera",\n    "a quiet day",\n)')
OTHERS = thinks('update_current_feeling("boris", "Angry")')


def both(replies: Sequence[Said], case: GoldenCase) -> tuple[Ran, Ran]:
    """The reference and the letter on the same replies."""
    return (
        run_agent(TWO_PHASE, replies, world=guardian(), case=case),
        run_agent(LITERAL, replies, world=guardian(), case=case, name="two_phase@seed_literal"),
    )


@pytest.mark.parametrize(
    ("thought", "case", "expected"),
    [
        pytest.param(NOTES, TOLD, set(), id="one plain call"),
        pytest.param(OTHERS, HAPPY, set(), id="the name of another user"),
        pytest.param(KEYWORDS, TOLD, {"CG2", "CG11"}, id="keywords"),
        pytest.param(SECOND, TOLD, {"CG2", "CG11"}, id="two calls in a block"),
        pytest.param(APOSTROPHE, HAPPY, {"CG2"}, id="an apostrophe"),
        pytest.param(ONE_LINE, HAPPY, {"CG2"}, id="a block on one line"),
        pytest.param(LINES, HAPPY, {"CG2"}, id="a call over several lines"),
        pytest.param(NESTED, HAPPY, {"CG2", "CG3"}, id="a call inside of a call"),
        pytest.param(NO_TOOL, HAPPY, {"CG2"}, id="no tool"),
    ],
)
def test_what_the_letter_breaks(thought: Said, case: GoldenCase, expected: set[str]) -> None:
    """The reference keeps every contract on the same replies; the letter breaks these alone."""
    reference, letter = both((thought, GLAD), case)

    assert set() == broken_in(findings(case, reference))
    assert expected == broken_in(findings(case, letter))
    assert expected <= BROKEN_BY_THE_LETTER.keys()


@pytest.mark.parametrize(
    ("thought", "because"),
    [
        (KEYWORDS, "block 1 asks for update_current_feeling, run are none"),
        (SECOND, "block 1 asks for read_user_profile, update_current_feeling, run are read_user_profile"),
        (APOSTROPHE, "block 1 gives add_diary_entry other arguments than it ran with"),
        (NESTED, "block 1 asks for nothing that may be run, run are list_files"),
        (NO_TOOL, "block 1 asks for delete_everything, run are none"),
    ],
)
def test_the_finding_says_why(thought: Said, because: str) -> None:
    """The finding names the fault in the words of its contract, with a witness."""
    found = [finding for finding in findings(HAPPY, both((thought, GLAD), HAPPY)[1]) if finding.contract == "CG2"]

    assert [because] == [finding.because for finding in found]
    assert all(finding.witness for finding in found)
