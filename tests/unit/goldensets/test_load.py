"""Loading through the compiled form."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.errors import BadFileError
from harness.goldensets.load import find_sets, load_set
from harness.goldensets.read import read_set

ROOT = Path(__file__).parents[3]
EVERY_KEY = """
about: Every key once
world: newsroom
cases:
  - id: a
    turns: [one, two]
    history: [{role: user, text: hi}, {role: assistant, text: hello}]
    lang: de
    class: complex
    tags: [t]
    designs: [lean]
    model: m
    options: {budget: 3}
    user: vera
    knowledge: k
    facts: {all: [x, 7], any: [{regex: y}], none: [{number: 1, tolerance: 0.5}]}
    tools: {required: [{tool: t, args: {a: [1]}, different: true}], allowed: [t, u], forbidden: [w]}
    plan: required
    intent: edit
    method: GET
    writes: 1
    limits: {llm_calls: 3, seconds: 1.5}
    faults: [{kind: timeout, call: 2}]
    volatile: [z]
    order: strict
    format: json
    status: failed
    reason: r
    contracts: [CX1, {never: {type: error}}]
    advisory: {lean: [CX2]}
    trials: 2
    allow_loopback: true
    notes: n
  - {id: b, question: Hi?, legs: [{stop_after: {state_saved: 1}}, {resume: true}], tools: {allowed: []}}
  - {id: c, content: [{text: x}, {image: y.png}], writes: 0}
"""


def project(folder: Path, text: str = EVERY_KEY) -> Path:
    path = folder / "goldensets" / "set.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_compiled_form_says_what_the_file_says(tmp_path):
    """Read from YAML, written compiled, read compiled: three times the same records."""
    path = project(tmp_path)
    read = read_set(path.read_bytes(), name="set", shown="goldensets/set.yaml")

    assert read == load_set(path)
    assert read == load_set(path)
    assert 1 == len(list((tmp_path / ".cache" / "goldensets").iterdir()))


def test_changed_file_is_read_anew(tmp_path):
    """The compiled form never wins over the file, and forerunners are dropped."""
    path = project(tmp_path)
    load_set(path)
    project(tmp_path, "cases: [{id: z, question: Hi?, plan: none}]")

    assert ["z"] == [case.id for case in load_set(path).cases]
    assert 1 == len(list((tmp_path / ".cache" / "goldensets").iterdir()))


def test_a_mistake_is_told_each_time(tmp_path):
    """A file that is refused leaves nothing compiled behind."""
    path = project(tmp_path, "cases: [{id: z}]")

    for _ in range(2):
        with pytest.raises(BadFileError, match="give exactly one of"):
            load_set(path)


@pytest.mark.parametrize("content", [b"", b"\xff\xff", b"\x80", b"not msgpack at all", b"\x91" * 50_000])
def test_broken_cache_is_read_over(tmp_path, content):
    """Whatever lies in the cache, the file is what counts."""
    path = project(tmp_path)
    good = load_set(path)
    for compiled in (tmp_path / ".cache" / "goldensets").iterdir():
        compiled.write_bytes(content)

    assert good == load_set(path)


def test_without_cache_nothing_is_written(tmp_path):
    """`cached=False` leaves the project as it is."""
    load_set(project(tmp_path), cached=False)

    assert not (tmp_path / ".cache").exists()


def test_project_that_cannot_be_written_is_read_all_the_same(tmp_path):
    """A cache is never needed: here a file stands in its way."""
    path = project(tmp_path)
    (tmp_path / ".cache").write_text("in the way")

    assert 3 == len(load_set(path).cases)


def test_missing_file_is_told(tmp_path):
    """A set that is not there is a usage error with its path."""
    path = tmp_path / "goldensets" / "no.yaml"
    with pytest.raises(BadFileError) as caught:
        load_set(path)

    assert f"error[unreadable-file]: {path}: cannot be read: No such file or directory" == str(caught.value)


def test_sets_are_found_by_name(tmp_path):
    """Every YAML file directly in the folder is a set."""
    project(tmp_path)
    (tmp_path / "goldensets" / "worlds").mkdir()
    (tmp_path / "goldensets" / "worlds" / "world.yaml").touch()

    assert {"set": tmp_path / "goldensets" / "set.yaml"} == find_sets(tmp_path / "goldensets")


def test_replay_imports_neither_yaml_nor_pydantic():
    """With the compiled forms in place, loading all sets of this project stays clear of heavy imports."""
    for path in find_sets(ROOT / "goldensets").values():
        load_set(path)
    script = (
        "import sys\nfrom pathlib import Path\nfrom harness.goldensets.load import find_sets, load_set\n"
        "for path in find_sets(Path('goldensets')).values(): load_set(path.resolve())\n"
        "print([name for name in ('yaml', 'pydantic', 'sqlite3', 'litellm', 'httpx') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip

    assert "[]\n" == ran.stdout


def test_replay_loads_both_sets_within_two_milliseconds():
    """The best of many loads; only a lasting slowdown can break this."""
    paths = [ROOT / "goldensets" / f"{name}.yaml" for name in ("shared", "lean_react")]
    best = 1.0
    for _ in range(30):
        began = time.perf_counter()
        for path in paths:
            load_set(path)
        best = min(best, time.perf_counter() - began)

    assert best < 0.002
