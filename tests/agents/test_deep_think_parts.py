"""The smaller parts of deep thinking: options, difficulty, the state as a snapshot, its size, its golden images."""

from __future__ import annotations

import ast
import importlib
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.records.messages import ImagePart, Message
from harness.records.trace import Issue

from .deep_runs import DEEP, deep

PACKAGE = DEEP.build.__module__
FOLDER = Path(DEEP.folder)
README = FOLDER.parent / "README.md"
options: Any = importlib.import_module(f"{PACKAGE}.options")
difficulty: Any = importlib.import_module(f"{PACKAGE}.difficulty")
state: Any = importlib.import_module(f"{PACKAGE}.state")
verdicts: Any = importlib.import_module(f"{PACKAGE}.verdicts")
composing: Any = importlib.import_module(f"{PACKAGE}.composing")


def test_defaults() -> None:
    """The options that nobody sets are the document's, or the original's where it has none."""
    given_ = options.Options.of({})

    assert (30, 3, 10, 3, 60, 5) == (
        given_.max_iterations,
        given_.required_verifications,
        given_.max_errors,
        given_.max_parallel,
        given_.verify_timeout_s,
        given_.max_tool_steps,
    )
    assert (False, False, True, False, True) == (
        given_.enable_planning,
        given_.enable_parallel_check,
        given_.enable_self_improvement,
        given_.adaptive,
        given_.cache,
    )


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"max_iterations": 0}, "`max_iterations` must be a number from 1 on, not 0"),
        ({"required_verifications": True}, "`required_verifications` must be a number from 1 on, not True"),
        ({"max_errors": "ten"}, "`max_errors` must be a number from 1 on, not 'ten'"),
        ({"max_parallel": 2.5}, "`max_parallel` must be a number from 1 on, not 2.5"),
        ({"max_tool_steps": -1}, "`max_tool_steps` must be a number from 0 on, not -1"),
        ({"verify_timeout_s": 0}, "`verify_timeout_s` must be a number from 0.001 on, not 0"),
        (
            {"model_stages": {"verify": "gpt-4o"}},
            "`model_stages` knows no `verify`; it knows: planning, initial, improvement, verification, correction, summary",
        ),
        ({"model_stages": "gpt-4o"}, "`model_stages` must be a mapping, not 'gpt-4o'"),
        (
            {"llm_params": {"seed": 1}},
            "`llm_params` knows no `seed`; it knows: temperature, max_tokens, top_p, effort, stop",
        ),
    ],
)
def test_options_out_of_range(given_: dict[str, Any], message: str) -> None:
    """A value that cannot be is refused by name, before any model is asked."""
    with pytest.raises(UsageError) as caught:
        options.Options.of(given_)

    assert ("bad-option", f"deep_think: {message}") == (caught.value.code, caught.value.message)


def test_a_wrong_option_stops_the_trial() -> None:
    """The user is told which option is wrong, before anything is asked."""
    with pytest.raises(UsageError) as caught:
        deep(max_iterations=0)

    assert "`max_iterations` must be a number from 1 on, not 0" in caught.value.message


@pytest.mark.parametrize(
    ("question", "images", "expected"),
    [
        ("17 只羊，除 9 只外都跑了，还剩几只？", 0, "easy"),
        ("What is 17 × 23?", 0, "easy"),
        ("What is 17 × 23?", 1, "medium"),
        ("证明两个奇数之和为偶数。", 0, "medium"),
        ("Vergleiche Alpha und Beta.", 0, "medium"),
        ("Set the clusters 120, 121, 122 and 123 to P2, one after the other, please.", 0, "medium"),
        ("比较这些方案：" + "本地缓存与共享缓存的一致性和容量" * 3, 0, "hard"),
        ("word " * 61, 0, "hard"),
    ],
)
def test_difficulty(question: str, images: int, expected: str) -> None:
    """Length, demanding verbs and images make a question harder."""
    assert expected == difficulty.difficulty_of(question, images=images)


@given(st.integers(1, 100), st.integers(1, 100))
def test_rounds_stay_within_the_limit(most: int, least: int) -> None:
    """Harder questions never get fewer rounds, nobody more than the limit, and nobody too few to pass."""
    easy, medium, hard = (difficulty.rounds_for(level, most, least=least) for level in ("easy", "medium", "hard"))

    assert easy <= medium <= hard == most
    assert easy >= min(most, least)


@given(text=st.text(max_size=20), count=st.integers(0, 9), flag=st.booleans(), words=st.lists(st.text(max_size=5)))
def test_a_snapshot_holds_the_whole_state(text: str, count: int, flag: bool, words: list[str]) -> None:
    """Every field comes back as it was, through JSON."""
    was = state.State(
        text, conversation_history=text, knowledge_context=text, tool_results=words, plan=text, current_solution=text,
        current_iteration=count, max_iterations=count,
        verification_results=[verdicts.Check("fail", (Issue("gap", text, text),))], successful_verifications=count,
        required_verifications=count, consecutive_failures=count, max_errors=count, enable_planning=flag,
        enable_self_improvement=flag, enable_parallel_check=flag, status=text, progress=count / 9, error_message=text,
        node=text, images=(ImagePart("image/png", "eA=="),), lang=text, version=count, writes=words,
        answer=text, cache={"key": text},
    )  # fmt: skip
    parts = msgspec.json.decode(msgspec.json.encode(was.parts()))

    assert was == state.State.of(parts)
    assert {"problem", "solution", "counters", "report", "plan", "cache"} == set(parts)


def test_a_new_solution_has_no_passes() -> None:
    """What was passed is the text before it."""
    at = state.State("?", successful_verifications=2, version=1)
    at.take("new")

    assert ("new", 2, 0) == (at.current_solution, at.version, at.successful_verifications)


def test_history_begins_with_the_system() -> None:
    """What a system message said stands before all turns; results of tools are no turn."""
    turns = (Message("user", "a"), Message("tool", "t"), Message("system", "s"), Message("assistant", "b"))

    assert "说明：s\n用户：a\n助手：b" == composing.rendered_history(turns)


@pytest.mark.parametrize(
    ("text", "shown"), [("9" * 200, "9" * 200), ("9" * 201, "9" * 200 + "…"), ("", "")], ids=["200", "201", "none"]
)
def test_previews(text: str, shown: str) -> None:
    """What has 200 characters is shown whole."""
    assert shown == composing.preview(text)


def test_the_newest_results_are_shown() -> None:
    """Where tools found more than later stages are shown, the oldest results go."""
    lines = [f"- tool({n}) → {'x' * 1_490}" for n in range(6)]
    shown = composing.improve_request(state.State("?", tool_results=lines), composing.Place("today", "vera"))

    assert ["- tool(3)", "- tool(4)", "- tool(5)"] == [
        line[:9] for line in shown.messages[1].text.splitlines() if line.startswith("- tool")
    ]


def code_lines(path: Path) -> int:
    """Lines of a file that are neither blank nor comment; docstrings count."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def test_the_loop_can_be_read_in_one_sitting() -> None:
    """The engine is one module below 250 code lines; the folder's README has the sizes of today."""
    core = code_lines(FOLDER / "agent.py")
    whole = sum(code_lines(path) for path in FOLDER.rglob("*.py") if path.name != "prompts.py")
    row = next(line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `deep_think`"))

    assert core < 250
    assert row.endswith(f"| {core} lines | {whole} lines |")


def test_prompts_are_string_constants() -> None:
    """`prompts.py` holds texts and nothing that runs; who is addressed answers in the language of the question."""
    body = ast.parse((FOLDER / "prompts.py").read_text(encoding="utf-8")).body[1:]
    texts = {node.targets[0].id: node.value.value for node in body}
    systems = ("PLANNER", "SOLVER", "VERIFIER", "SUMMARIZER")

    assert all(isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) for node in body)
    assert all(texts[name].endswith("用提问所用的语言回答。") for name in systems)


def test_the_agent_asks_for_nothing_but_its_context() -> None:
    """Its modules import the protocol, records, errors and the standard library; YAML only where a file is read."""
    imported = {
        name
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }

    assert {"yaml", "msgspec"} == {name for name in imported if name.partition(".")[0] not in _standard()}
    assert {name for name in imported if name.startswith("harness")} <= {
        "harness.agents.protocol", "harness.errors", "harness.records.digest", "harness.records.faults",
        "harness.records.messages", "harness.records.trace",
    }  # fmt: skip


def _standard() -> set[str]:
    import sys

    return set(sys.stdlib_module_names) | {"harness"}


def test_the_golden_image_is_a_picture() -> None:
    """A PNG of a few bytes, 108 by 44 pixels."""
    content = (FOLDER.parent.parent / "goldensets/images/thermometer.png").read_bytes()

    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert (108, 44) == struct.unpack(">II", content[16:24])
    assert len(content) < 1_000
