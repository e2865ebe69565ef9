"""The policy of the gate: one place, errors that name the line, and no key that nobody knows."""

from __future__ import annotations

import os
import tomllib
from datetime import date
from pathlib import Path

import pytest

from harness.errors import BadFileError, UsageError
from harness.gate.policy_file import MOST_BYTES, Policy, load_policy

ENTRY = """
[[quarantine]]
contract = "CX1"
case = "S1"
owner = "vera"
reason = "a flaky tool"
expires = 2030-01-01
"""


def written(folder: Path, text: str, name: str = "gate.toml") -> Path:
    """Write a file of the project."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def of_pyproject(folder: Path, text: str, file: str | None = None) -> Policy:
    """Read the policy of a project whose pyproject.toml says *text*."""
    written(folder, text, "pyproject.toml")
    table = tomllib.loads(text).get("tool", {}).get("harness", {}).get("gate", {})
    return load_policy(folder, table, file)


def test_nothing_said_is_everything_blocks(tmp_path: Path) -> None:
    """Without a table every contract blocks and trajectories are reported."""
    policy = of_pyproject(tmp_path, "[tool.harness]\n")

    assert (("*",), (), "report", "pyproject.toml", frozenset()) == (
        policy.rules.blocking, policy.rules.advisory, policy.rules.trajectories, policy.file, policy.stated,
    )  # fmt: skip


def test_a_file_has_the_same_keys(tmp_path: Path) -> None:
    """Named in the table, relative to the project; what is stated and where entries stand is kept."""
    written(tmp_path, f'advisory = ["CX15"]\n[tolerate]\ntokens = 0.3\n{ENTRY}')
    policy = of_pyproject(tmp_path, '[tool.harness.gate]\npolicy = "gate.toml"\n')

    assert (("CX15",), 0.3, "gate.toml", {"tokens"}, "gate.toml:5") == (
        policy.rules.advisory, policy.rules.tolerate.tokens, policy.file, policy.stated, policy.place(0),
    )  # fmt: skip
    assert date(2030, 1, 1) == policy.rules.quarantine[0].expires


def test_the_command_line_takes_the_place_of_the_named_file(tmp_path: Path) -> None:
    """A path for a path."""
    other = written(tmp_path, 'trajectories = "block"\n', "strict.toml")
    policy = of_pyproject(tmp_path, '[tool.harness.gate]\npolicy = "none.toml"\n', str(other))

    assert ("block", str(other)) == (policy.rules.trajectories, policy.file)


@pytest.mark.parametrize("file", [None, "gate.toml"])
def test_two_policies_are_refused(tmp_path: Path, file: str | None) -> None:
    """Rules in the table beside a file, by whichever way it is named, would leave people guessing."""
    written(tmp_path, "")
    named = "" if file else 'policy = "gate.toml"\n'

    with pytest.raises(UsageError) as refused:
        of_pyproject(tmp_path, f"[tool.harness.gate]\n{named}advisory = ['CX1']\n", file)
    source = "--policy gate.toml" if file else "`policy = gate.toml`"
    line = 2 if file else 3
    assert str(refused.value) == (
        f"error[two-policies]: pyproject.toml:{line}: {source} and [tool.harness.gate] are two policies: the table has "
        "`advisory`\n\nhint: move the keys of the table into the file; policies are never merged"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("blokcing = []\n", "gate.toml:1: the policy has no key `blokcing`\n\nhint: did you mean `blocking`?"),
        ("\n[tolerate]\ntoken = 1\n", "gate.toml:3: the policy has no key `tolerate.token`\n\nhint: did you mean `tokens`?"),
        ("tolerate.tokenss = 1\n", "gate.toml:1: the policy has no key `tolerate.tokenss`\n\nhint: did you mean `tokens`?"),
        (
            f"{ENTRY}\n[[quarantine]] # a second\nowne = 'x'\n",
            "gate.toml:10: the policy has no key `quarantine[1].owne`\n\nhint: did you mean `owner`?",
        ),
        ("zzz = 1\n", "gate.toml:1: the policy has no key `zzz`\n\nhint: known keys: advisory, blocking, "),
        ("\ntolerate = {tokens = -1}\n", "gate.toml:2: `tolerate.tokens`: expected `float` >= 0.0"),
        ("[tolerate]\ntokens = 'x'\n", "gate.toml:2: `tolerate.tokens`: expected `float`, got `str`"),
        ("[[quarantine]]\ncase = 'S1'\n", "gate.toml:1: `quarantine[0]`: object missing required field `contract`"),
        ("trajectories = 'maybe'\n", "gate.toml:1: `trajectories`: invalid enum value 'maybe'"),
        ("a = 1\nb = = 2\n", "gate.toml:2: not valid TOML: Invalid value (at line 2, column 5)"),
        ("policy = 'other.toml'\n", "gate.toml:1: a policy names no other file\n\nhint: take `policy` out"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    """A misspelt key is a policy that nobody has: it is never passed over."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, text)

    with pytest.raises(BadFileError) as refused:
        load_policy(tmp_path, {}, "gate.toml")
    assert str(refused.value).startswith(f"error[bad-policy]: {told}")


def test_the_table_is_told_at_its_line_too(tmp_path: Path) -> None:
    """The same in pyproject.toml, among other tables."""
    text = '[tool.other]\ntokens = 1\n[tool.harness.gate.tolerate]\ncost = "much"\n'

    with pytest.raises(BadFileError) as refused:
        of_pyproject(tmp_path, text)
    assert "pyproject.toml:4" == refused.value.at


@pytest.mark.parametrize(("content", "told"), [(None, "cannot be read"), (b"\xff", "not valid TOML")])
def test_a_file_that_is_not_there_is_no_policy(tmp_path: Path, content: bytes | None, told: str) -> None:
    """Exit 2, never the policy that lets everything pass."""
    if content is not None:
        (tmp_path / "gate.toml").write_bytes(content)

    with pytest.raises(BadFileError, match=told):
        load_policy(tmp_path, {"policy": "gate.toml"})


def test_a_policy_that_is_no_path_is_refused(tmp_path: Path) -> None:
    """The key names a file."""
    with pytest.raises(BadFileError, match="`policy` is the path of a file"):
        of_pyproject(tmp_path, "[tool.harness.gate]\npolicy = 3\n")


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    """A pipe, a folder and a file that nobody wrote are refused before a byte of them is read."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "long").write_text("#" * (MOST_BYTES + 1))

    for name in ("pipe", "folder", "long"):
        with pytest.raises(BadFileError, match="a policy is a file of at most 1,000,000 bytes"):
            load_policy(tmp_path, {"policy": name})
