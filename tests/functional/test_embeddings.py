"""Embedding calls of tools: asked of their own server whoever answers the chats, recorded as its own, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from harness.testing.embeddings import EmbeddingServer, hash_vector
from harness.testing.project import FILES, ScratchProject

TOOLS = '''
"""A tool that compares two texts by their vectors."""

from harness.records.tool import tool


def build(world):
    @tool(effect="read")
    async def compare(one: str, other: str) -> dict:
        """How near two texts are."""
        a, b = (await world.embed([one, other], model="e5")).vectors
        return {"near": round(sum(x * y for x, y in zip(a, b)), 3)}

    return [compare]
'''
SCRIPT = """
    format: 1
    steps:
      - expect: {last_role: user, tools: [compare]}
        reply: {tool_calls: [{name: compare, args: {one: a, other: a}}]}
      - expect: {tool_result: {name: compare, contains: "1.0"}}
        reply: {text: They are 7 times the same.}
    """
DECLARED = """
    [tool.harness]
    [[tool.harness.matrix]]
    set = "smoke"
    agents = ["example"]

    [tool.harness.models.e5]
    answered_by = "local"
    base_url = "{base_url}"
    sha256 = "{sha256}"
    server = "fake 1"
    """
CASSETTE = "cassettes/example/scripted/smoke/weather.0.yaml"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """An embedding server on loopback."""
    with EmbeddingServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: EmbeddingServer) -> ScratchProject:
    """A project whose tool embeds, with a script for its chats and a server for its vectors."""
    files = {
        **FILES,
        "pyproject.toml": DECLARED.format(base_url=server.base_url, sha256="ab" * 32),
        "goldensets/worlds/yard/tools.py": TOOLS,
        "goldensets/scripts/smoke/example/weather.yaml": SCRIPT,
    }
    project = ScratchProject(tmp_path, files)
    project.replace("goldensets/smoke.yaml", "get_weather", "compare")
    return project


def test_a_script_answers_chats_and_a_real_server_the_vectors(project: ScratchProject, server: EmbeddingServer) -> None:
    """One recording holds both, each under who really answered it, with what proves the embedding model."""
    ran = project.harness("record", "--model", "scripted")
    cassette = yaml.safe_load(project.path(CASSETTE).read_text(encoding="utf-8"))
    calls = {each["meta"]["call"]: each for each in cassette["interactions"]}

    assert 0 == ran.exit_code, ran.stderr
    assert [["a", "a"]] == server.asked
    assert ("scripted", "local") == (cassette["provenance"]["answered_by"], cassette["provenance"]["embeddings_by"])
    assert {"e5": {"model_sha256": "ab" * 32, "server": "fake 1"}} == cassette["provenance"]["embedders"]
    assert [("chat", "scripted"), ("embedding", "local"), ("chat", "scripted")] == [
        (call["meta"].get("kind", "chat"), call["meta"]["answered_by"]) for _, call in sorted(calls.items())
    ]
    assert f"{server.base_url}/embeddings" == calls[2]["request"]["uri"]
    assert 0 == project.harness("cassettes", "check").exit_code


@pytest.mark.parametrize("port", [(), ("--wire",)])
def test_vectors_are_replayed_without_their_server(
    project: ScratchProject, server: EmbeddingServer, port: tuple[str, ...]
) -> None:
    """On both replay ports the tool gets the recorded vectors, and nothing is asked."""
    project.harness("record", "--model", "scripted")
    server.asked.clear()
    ran = project.harness("run", "--json", *port)

    assert 0 == ran.exit_code, ran.stdout
    assert [("kept", "scripted")] == [(each["verdict"], each["provenance"]) for each in ran.document["results"]]
    assert [] == server.asked


def test_another_text_is_a_miss(project: ScratchProject) -> None:
    """A text that was not embedded while recording cannot be checked."""
    project.harness("record", "--model", "scripted")
    project.replace("goldensets/worlds/yard/tools.py", "[one, other]", '[one, other, "more"]')
    ran = project.harness("run", "--json")

    assert (3, "cassette-miss") == (ran.exit_code, ran.document["results"][0]["code"])


def test_a_server_that_is_down_leaves_no_recording(project: ScratchProject) -> None:
    """Without its embedding server nothing is kept: a tool that failed for that would be recorded as the truth."""
    text = project.path("pyproject.toml").read_text(encoding="utf-8")
    project.path("pyproject.toml").write_text(text.replace("127.0.0.1:", "127.0.0.1:9/", 1), encoding="utf-8")
    project.replace("goldensets/scripts/smoke/example/weather.yaml", "1.0", "failed")
    ran = project.harness("record", "--model", "scripted")

    assert 3 == ran.exit_code
    assert "an embedding call found no server (ConnectError: " in ran.stdout + ran.stderr
    assert not project.path(CASSETTE).exists()


def test_vectors_without_proof_are_refused(project: ScratchProject) -> None:
    """A recording that does not say which file and which server gave its vectors fails the check."""
    project.harness("record", "--model", "scripted")
    text = project.path(CASSETTE).read_text(encoding="utf-8")
    start, end = text.index("  embedders:"), text.index("  responses:")
    project.path(CASSETTE).write_text(text[:start] + text[end:], encoding="utf-8")
    checked = project.harness("cassettes", "check")

    assert 0 != checked.exit_code
    assert "embeds with `e5`, and does not give the sha256 of the model's file" in checked.stdout + checked.stderr
    assert "embeds with `e5`, and names no server" in checked.stdout + checked.stderr


def test_hash_vectors_mean_nothing() -> None:
    """The server's vectors are those of a digest: only equal texts are near."""
    near = sum(x * y for x, y in zip(hash_vector("a"), hash_vector("b"), strict=True))

    assert abs(near) < 0.2
