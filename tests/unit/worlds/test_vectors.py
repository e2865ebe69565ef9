"""A world's vectors: read with what proves them, searched exactly, made anew by a command."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import Config, ModelConfig
from harness.errors import BadFileError, CouldNotCheckError, UsageError
from harness.testing.embeddings import EmbeddingServer, hash_vector
from harness.worlds import embed
from harness.worlds.vectors import FILE, Vectors, cosine_distance, load_vectors, mean, nearest

numbers = st.floats(-1, 1, allow_nan=False).map(lambda x: round(x, 3))
vectors = st.tuples(numbers, numbers, numbers)


@given(vectors, st.dictionaries(st.integers(1, 9), vectors, max_size=6))
def test_nearest_is_the_exact_order(query, among):
    """The law: each key once, by growing cosine distance, equal ones by key."""
    found = nearest(query, among)
    places = [(cosine_distance(query, among[key]), key) for key in found]

    assert sorted(among) == sorted(found)
    assert sorted(places) == places


@given(vectors, vectors, st.floats(0.1, 10))
def test_cosine_distance_knows_direction_only(one, other, factor):
    """The law: from 0 to 2, the same both ways, and length does not matter."""
    distance = cosine_distance(one, other)

    assert -1e-9 <= distance <= 2 + 1e-9
    assert math.isclose(distance, cosine_distance(other, one), abs_tol=1e-9)
    assert math.isclose(distance, cosine_distance([factor * x for x in one], other), abs_tol=1e-6)


def test_mean_is_plain():
    """The mean is not brought back to length 1: of two opposite vectors it is null."""
    assert ((0.5, 0.5), (0.0, 0.0)) == (mean([(1.0, 0.0), (0.0, 1.0)]), mean([(1.0, 0.0), (-1.0, 0.0)]))


def test_other_dimension_is_refused():
    """Vectors of two models are never compared, and both lengths are told."""
    with pytest.raises(CouldNotCheckError) as caught:
        nearest((1.0, 0.0), {1: (1.0, 0.0, 0.0)})

    assert (
        "error[vector-dimension]: the query's vector has 2 numbers, those of the store have 3\n\n"
        "hint: ask the model that the store's vectors come from, or make these anew"
    ) == str(caught.value)


@pytest.fixture
def project(tmp_path, make_world, world_text):
    """A project whose drawer states what to embed."""
    corpus = 'settings: {corpus: {table: things, text: "{name}!", prefix: "passage: ", model: e5}}'
    make_world(tmp_path, world_text.replace("settings: {size: 3}", corpus))
    return tmp_path


def config(root, **model) -> Config:
    declared = {"answered_by": "local", "sha256": "0" * 64, "server": "fake 1", **model}
    return Config(
        root=root, goldensets=root / "goldensets", cassettes=root / "c", agents=root / "a", reports=root / "r",
        models={"e5": ModelConfig(**declared)},
    )  # fmt: skip


def test_command_writes_vectors_with_their_provenance(project):
    """Each row's text is asked with its prefix; model, digest, server and date stand beside the rounded vectors."""
    with EmbeddingServer() as server:
        path, _ = embed.embed_world(config(project, base_url=server.base_url), "drawer")
    read = load_vectors(path.parent)

    assert [["passage: pen!", "passage: cup!"]] == server.asked
    assert ("e5", "0" * 64, "fake 1", "passage: ", 384) == (
        read.model,
        read.model_sha256,
        read.server,
        read.prefix,
        read.dimension,
    )
    assert tuple(round(x, 6) for x in hash_vector("passage: cup!")) == read.vectors["2"]
    assert 20 == len(read.recorded)
    assert msgspec.json.decode(embed.encoded(read), type=Vectors) == read


def test_command_says_what_it_lacks(project):
    """A world without a corpus, a model that is not declared and a server that is down are told, each with a way on."""
    cases = [
        ("drawer", {"base_url": None}, "nothing would prove that vectors came from `e5`"),
        ("drawer", {"base_url": "http://127.0.0.1:9/v1"}, "`e5` does not answer"),
    ]
    for world, model, said in cases:
        with pytest.raises((UsageError, CouldNotCheckError), match=said):
            embed.embed_world(config(project, **model), world)
    yaml = project / "goldensets" / "worlds" / "drawer" / "world.yaml"
    yaml.write_text(yaml.read_text().replace("{name}!", "{nome}"))

    with pytest.raises(BadFileError, match=r"`settings\.corpus` does not say what to embed: 'nome'"):
        embed.embed_world(config(project, base_url="http://127.0.0.1:9/v1"), "drawer")


def test_command_at_the_keyboard(project, monkeypatch, capsys):
    """It says what it wrote and where; a mistake is an error with its exit code, on the other stream."""
    monkeypatch.chdir(project)
    declared = 'answered_by = "local"\nbase_url = "http://127.0.0.1:9/v1"\nsha256 = "ab"\nserver = "fake 1"\n'
    (project / "pyproject.toml").write_text(f"[tool.harness.models.e5]\n{declared}", encoding="utf-8")
    with EmbeddingServer() as server:
        done = embed.main(["drawer", "--base-url", server.base_url])
    down, unknown = embed.main(["drawer"]), embed.main(["attic"])
    said = capsys.readouterr()

    assert (0, 3, 2) == (done, down, unknown)
    assert f"2 vectors of 384 numbers: {project / 'goldensets/worlds/drawer' / FILE}\n" == said.out
    assert "error[no-answer]: `e5` does not answer: " in said.err
    assert "error[unknown-world]: no world named `attic`\n\nhint: there are: drawer\n" in said.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "no file of vectors: "),
        ("[]", "no file of vectors: Expected `object`, got `array`"),
        ('{"1": [1.0]}', "the vector of 1 has not 2 numbers"),
    ],
)
def test_file_that_cannot_be_used_is_told(tmp_path, content, said):
    """Missing, damaged or of mixed lengths: the message names the command that makes it."""
    if content is not None:
        whole = (
            '{"format": 1, "model": "e5", "model_sha256": "", "server": "", "prefix": "", "recorded": "",'
            f' "dimension": 2, "texts": {{}}, "vectors": {content}}}'
        )
        (tmp_path / FILE).write_text(whole if content.startswith('{"') else content)

    with pytest.raises(BadFileError) as caught:
        load_vectors(tmp_path)

    assert f"error[bad-vectors]: {tmp_path / FILE}: {said}" in str(caught.value)
    assert f"hint: make it with `python -m harness.worlds.embed {tmp_path.name}`" in str(caught.value)
