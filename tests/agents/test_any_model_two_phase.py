"""The two-phase design under models that say anything: every run ends, and keeps each structural contract."""

from __future__ import annotations

import importlib
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent, load_agent
from harness.contracts.catalogue import builtin
from harness.contracts.judge import judge
from harness.contracts.tool_code import blocks_in, without_blocks
from harness.records.case import GoldenCase
from harness.records.faults import ModelError
from harness.testing.fakes import Said, fails, run_agent, says
from harness.worlds import WorldTemplate, find_world

from .any_model import SHARES, many

ROOT = Path(__file__).parents[2]
MOST_CALLS = 12
"""More model calls than any two turns of these options make."""
THE_MODELS_OWN = frozenset({"CX8", "CX15", "CG12"})
"""Replies are left over; and what is streamed as it comes has the Markdown and the language that the model gave it."""
SENSIBLE = st.sampled_from(
    [
        'update_current_feeling("vera", "Happy")',
        "update_current_feeling(username='vera', feeling='Sad', context='It rains')",
        'add_diary_entry("vera", "It\'s Anna\'s birthday")',
        "add_diary_entry('vera', {'content': 'two\\nlines', 'mood': 'Calm'})",
        'add_diary_entry(\n    "vera",\n    """three\n\'lines\'\n""",  # as said\n)',
        'update_user_profile("vera", {"city": "Perm", "likes": ["tea", ("a", 1)]})',
        "print(read_user_profile('vera'))",
        'read_emotional_history("vera")',
        'search_user_data("vera", "exam")',
        'read_file("chronicle.txt")',
        'write_file("notes/new.md", "```python\\n1\\n```")',
        "list_files()",
        'delete_file("notes/books.txt")',
        'add_relationship_insight("She misses her sister.")',
    ]
)
REFUSED = st.sampled_from(
    [
        'update_current_feeling("boris", "Angry")',
        'read_file("../../secret.txt")',
        'write_file("../../boris/files/diary.txt", "mine")',
        'list_files("..")',
        'read_file("/etc/passwd")',
        "os.system('rm -rf /')",
        "default_api.read_user_profile('vera')",
        "read_file(open('x').read())",
        "read_user_profile(*['vera'])",
        "update_current_feeling('vera', 'Hap' + 'py')",
        "x = read_user_profile('vera')",
        "[list_files(), list_files()]",
        "delete_everything()",
        "read_user_profile()",
        "read_user_profile('vera', 'vera')",
        "read_user_profile('vera', username='vera')",
        'update_current_feeling("vera, "Happy")',
        "search_user_data('vera', " + "[" * 12 + "]" * 12 + ")",
        "add_diary_entry('vera', '■')",
        "add_diary_entry('vera', '■■■■■')",
        "list_files()\n" * 70,
        "# nothing",
        "Just prose, it's nothing.",
    ]
)
CODE = st.lists(st.one_of(SENSIBLE, SENSIBLE, REFUSED), min_size=1, max_size=4).map("\n".join)
FENCES = st.sampled_from(
    [
        "```tool_code\n{}\n```", "```tool_code\n{}\n```", "```tool_code\n{}```", "```tool_code {} ```",
        "````tool_code\n{}\n````", "``` Tool_Code\n  {}\n```", "```python\n{}\n```", "```tool_code\n{}", "{}",
    ]
)  # fmt: skip
BLOCKS = st.builds(lambda fence, code: fence.replace("{}", code), FENCES, CODE)
GARBAGE = st.text(st.sampled_from("`tool_cde\n f(x,'\")\\аб漢"), max_size=40)
PROSE = st.sampled_from(
    ["", " \n", "Как я рада за тебя!", "Ничего не понимаю. Tool_code? It is a tool_code.", "■■■■■■"]
)
TEXTS = st.lists(st.one_of(PROSE, BLOCKS, BLOCKS, GARBAGE), max_size=4).map("\n".join)
MUCH = "x" * 5000
"""What ■ stands for, so that a failure can be printed."""
SAYS: st.SearchStrategy[Said] = st.one_of(
    st.builds(says, TEXTS),
    st.builds(says, TEXTS, finish_reason=st.sampled_from(["stop", "length"])),
    st.builds(says, PROSE),
    st.builds(fails, st.sampled_from(["server_error", "timeout", "broken_stream"])),
)
WORKS = st.builds(says, st.lists(BLOCKS, min_size=1, max_size=3).map("\n".join))
REPLIES = st.builds(lambda first, rest: [first, *rest], WORKS | SAYS, st.lists(SAYS, max_size=5))
OPTIONS = st.fixed_dictionaries(
    {
        "max_think_rounds": st.sampled_from([1, 1, 2, 3]),
        "allow_delete": st.booleans(),
        "max_result_chars": st.sampled_from([4000, 60]),
    }
)


@pytest.fixture(scope="module")
def two_phase() -> LoadedAgent:
    """The design."""
    return load_agent(ROOT / "agents", "two_phase")


@pytest.fixture(scope="module")
def guardian() -> WorldTemplate:
    """Its world."""
    return find_world(ROOT / "goldensets", "guardian")


def in_full(reply: Said, number: int) -> Said:
    """*reply* at its full length, and with a *number*, so that no answer says again what was thought."""
    if isinstance(reply, ModelError) or not reply.text.strip():
        return reply
    return msgspec.structs.replace(reply, text=f"{number} {reply.text.replace('■', MUCH)} {number}")


@many
@given(replies=REPLIES, options=OPTIONS, turns=st.integers(1, 2))
def test_two_phase_under_any_model(
    two_phase: LoadedAgent,
    guardian: WorldTemplate,
    replies: list[Said],
    options: dict[str, Any],
    turns: int,
) -> None:
    """Random blocks, garbage, fences, errors, silence and oversized texts: both phases keep their contracts."""
    asked = ("Я сегодня счастлива!", "Что ты записала?")[:turns]
    case = GoldenCase(id="case", turns=asked, lang="ru", class_="complex")
    world: Any = guardian.open()
    said = map(in_full, cycle(replies), range(MOST_CALLS))
    ran = run_agent(two_phase, said, world=world, case=case, options=options)
    refused = [event.data.text for event in ran.events("tool_result") if not event.data.ok]
    SHARES.count(ran, limited=any("at most" in text for text in refused))
    held = [
        contract
        for contract in builtin().values()
        if contract.kind == "S"
        and contract.applies_to(two_phase.name)
        and contract.id not in THE_MODELS_OWN
        and not contract.needs_options
    ]
    found = judge(case, ran.judged(), held)

    assert [] == [f"{one.contract}: {one.because}" for one in found if one.state not in ("kept", "vacuous")]
    assert "" == ran.trial.code
    assert ran.ending[1] in ("", "llm_errors")
    assert len(ran.requests) <= turns * (options["max_think_rounds"] + 1)


@many
@given(
    text=st.lists(
        st.sampled_from(
            [
                "```",
                "````",
                "`",
                "tool_code",
                "Tool_Code",
                "tool_codes",
                "\n",
                " ",
                "f('a')",
                "f('```')",
                "f(",
                "'",
                "é",
                ")",
            ]
        ),
        max_size=25,
    ).map("".join)
)
def test_two_readers_find_the_same_blocks(two_phase: LoadedAgent, text: str) -> None:
    """The design's own reader and that of the contracts, written apart, agree on where blocks begin and end."""
    own: Any = importlib.import_module(f"{two_phase.build.__module__}.tool_code")
    asked = [(one.name, one.block) for one in own.calls_in(text, {"f": ["a"]}) if not one.problem]
    read = [(one.tool, n) for n, block in enumerate(blocks_in(text)) for one in block.asked or () if one.tool]

    assert own.without_blocks(text) == without_blocks(text)
    assert [one for one in asked if one[0] == "f"] == [(name, n) for name, n in read if name == "f"]
