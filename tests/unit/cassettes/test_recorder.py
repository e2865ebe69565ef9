"""The recorder: a cassette appears whole or not at all, and never with a secret in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.file import Interaction, ModelProof, Provenance, UsageTotals, dump, load, make_cassette
from harness.cassettes.recorder import Recorder, models_of, read_journal
from harness.cassettes.redact import Scrubber
from harness.errors import CassetteError, SecretError

KEY = "sk-" + "a1" * 12


def interaction(call=1, **changes):
    fields = {"call": call, "answered_by": "scripted", "uri": "http://scripted.invalid/v1/chat/completions"}
    return Interaction(**{**fields, **changes})


@pytest.fixture
def path(tmp_path):
    """Where the cassette is to stand, in folders that are not there yet."""
    return tmp_path / "agent" / "model" / "set" / "case.0.yaml"


def recorder(path, scrub=None, **provenance):
    return Recorder(path, Provenance(**{"answered_by": "scripted", **provenance}), scrub=scrub or Scrubber())


def names(path):
    return sorted(entry.name for entry in path.parent.iterdir())


def test_a_finished_recording_is_a_cassette_and_nothing_else(path):
    """Provenance is completed from what was answered; the journal is gone."""
    recording = recorder(path)
    recording.add(interaction(2, response_body='{"model": "m-2", "ok": 1}'))
    recording.add(interaction(1, response_body='data: {"model":"m-1"}\n\n'))
    recording.add(interaction(3, kind="embedding", response_body='{"model": "e"}'))
    written = recording.finish(usage=UsageTotals(input=10, output=2))
    read = load(path)

    assert read == written
    assert ["case.0.yaml"] == names(path)
    assert [1, 2, 3] == [item.call for item in read.interactions]
    assert ("m-1", "m-2") == read.provenance.models
    assert ("scripted", 10, read.digest) == (
        read.provenance.embeddings_by,
        read.provenance.usage.input,
        read.provenance.responses,
    )


def test_only_embedding_models_that_were_asked_are_proven(path):
    """Of all declared embedding models the file names those that its requests name."""
    proofs = {name: ModelProof(model_sha256="ab" * 32, server=name) for name in ("e5", "other")}
    recording = recorder(path, embedders=proofs)
    recording.add(interaction(1))
    recording.add(interaction(2, kind="embedding", answered_by="local", request_body='{"model": "e5", "input": []}'))
    read = recording.finish()

    assert ("local", {"e5": proofs["e5"]}) == (read.provenance.embeddings_by, read.provenance.embedders)
    assert read == load(path)


def test_an_embedding_call_without_its_server_is_told(path):
    """The first that found nobody; a server's refusal, and a chat that found nobody, are something else."""
    recording = recorder(path)
    recording.add(interaction(1, status=599, error="ConnectError: refused"))
    recording.add(interaction(2, kind="embedding", status=500))
    before = recording.unreached()
    recording.add(interaction(3, kind="embedding", status=599, error="ConnectError: refused"))
    after = recording.unreached()
    recording.discard()

    assert ("", "ConnectError: refused") == (before, after)


def test_the_old_cassette_stands_until_the_new_one_is_whole(path):
    """While a recording runs, and when it is abandoned, replay goes on with the old file."""
    recorder(path).finish()
    old = path.read_bytes()
    recording = recorder(path)
    recording.add(interaction())

    assert old == path.read_bytes()
    assert ["case.0.yaml", "case.0.yaml.journal"] == names(path)
    assert path.with_name("case.0.yaml.partial") == recording.abandon()
    assert old == path.read_bytes()
    assert ["case.0.yaml", "case.0.yaml.partial"] == names(path)
    with pytest.raises(CassetteError, match="the recording was interrupted"):
        load(path.with_name("case.0.yaml.partial"))


def test_every_call_is_on_disk_before_the_next_one(path, monkeypatch):
    """The journal is flushed and synced once a call, so that a crash of the machine costs one call at most."""
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    recording = recorder(path)
    for call in (1, 2, 3):
        recording.add(interaction(call))
        lines = path.with_name("case.0.yaml.journal").read_bytes().count(b"\n")

        assert call + 1 == len(synced) == lines
    recording.discard()


def test_what_is_still_open_is_settled_at_the_end(path):
    """A response that nobody has read to its end is asked for what it has."""
    recording = recorder(path)
    recording.watch("a", lambda: recording.add(interaction(1)))
    recording.watch("b", lambda: recording.add(interaction(2)))
    recording.settled("b")

    assert [1] == [item.call for item in recording.finish().interactions]


def test_a_finished_recording_takes_the_partial_away(path):
    """What an earlier interruption left is of no use any more."""
    first = recorder(path)
    first.add(interaction())
    first.abandon()
    recorder(path).finish()

    assert ["case.0.yaml"] == names(path)


def test_killing_a_recording_leaves_a_journal_and_no_cassette(path):
    """After `kill -9` every finished call is in the journal; the next recording keeps it as a partial."""
    script = textwrap.dedent(f"""
        import pathlib, sys, time
        from harness.cassettes.file import Interaction, Provenance
        from harness.cassettes.recorder import Recorder
        from harness.cassettes.redact import Scrubber
        recording = Recorder(pathlib.Path({str(path)!r}), Provenance(answered_by="scripted"), scrub=Scrubber())
        for call in (1, 2, 3):
            recording.add(Interaction(call=call, answered_by="scripted", uri="u"))
        print("recorded", flush=True)
        time.sleep(60)
    """)
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)

    assert ["case.0.yaml.journal"] == names(path)
    assert 3 == len(read_journal(path.with_name("case.0.yaml.journal").read_bytes()).interactions)

    recorder(path).discard()

    assert ["case.0.yaml.partial"] == names(path)
    partial = load(path.with_name("case.0.yaml.partial"), partial=True)
    assert (3, False) == (len(partial.interactions), partial.provenance.complete)


@given(st.data())
def test_a_cut_journal_gives_what_was_whole(data):
    """A journal may end in the middle of a line, at any byte: the lines before it count, and none is made up."""
    import msgspec

    items = [interaction(n, response_body="x" * n) for n in range(1, 4)]
    lines = [msgspec.json.encode(Provenance(answered_by="scripted")), *map(msgspec.json.encode, items)]
    content = b"".join(line + b"\n" for line in lines)
    cut = data.draw(st.integers(0, len(content)))
    whole = content[:cut].count(b"\n")
    left = read_journal(content[:cut])

    assert (None if whole == 0 else items[: whole - 1]) == (left and list(left.interactions))


def test_two_recordings_of_one_cassette_are_refused(path):
    """The second one does not get to mix its calls into the first one's journal."""
    first = recorder(path)
    with pytest.raises(CassetteError) as refused:
        recorder(path)
    first.discard()

    assert "another process is recording this cassette" == refused.value.message
    assert "cassette-busy" == refused.value.code


def test_secrets_are_gone_before_anything_is_written(path):
    """Neither journal nor cassette ever holds the key that a user typed and a model echoed."""
    recording = recorder(path, Scrubber({"MY_TOKEN": "hunter2hunter2"}))
    body = f'{{"content": "{KEY} and hunter2hunter2"}}'
    recording.add(
        interaction(
            request_body=body, response_body=body, uri=f"http://scripted.invalid/{KEY}", error=KEY,
            request_headers={"a": [KEY]}, response_headers={"b": [KEY]},
        )
    )  # fmt: skip
    journal = path.with_name("case.0.yaml.journal").read_text()
    recording.finish()

    for text in (journal, path.read_text()):
        assert KEY not in text
        assert "hunter2hunter2" not in text
        assert "<secret:model-key> and <secret:MY_TOKEN>" in text


def test_a_secret_that_cannot_be_removed_spoils_the_recording(path):
    """The error is raised again at the end, whatever a client did with it in between; nothing is written."""
    recording = recorder(path)
    pieces = "".join(f'data: {{"delta":{{"content":"{part}"}}}}\n\n' for part in (KEY[:9], KEY[9:]))
    with pytest.raises(SecretError):
        recording.add(interaction(response_body=pieces))
    with pytest.raises(SecretError, match=r"the response of call 1 holds a secret \(model-key\)"):
        recording.finish()

    assert [] == names(path)
    assert recording.abandon() is None


def test_chat_calls_of_one_cassette_agree_on_who_answered(path):
    """A scripted answer never slips into a local recording; embeddings may come from elsewhere."""
    recording = recorder(path, answered_by="local")
    recording.add(interaction(1, answered_by="scripted", kind="embedding"))
    with pytest.raises(CassetteError, match="call 2 was answered by scripted, the cassette is local"):
        recording.add(interaction(2))
    recording.discard()


def test_a_call_that_outlives_its_trial_is_not_recorded(path):
    """The cassette is written; what comes later belongs to nobody."""
    recording = recorder(path)
    recording.finish()
    with pytest.raises(CassetteError, match="a model call ended after its trial"):
        recording.add(interaction())


def test_threads_may_record_side_by_side(path):
    """No call is lost or torn, and numbers are handed out once."""
    recording = recorder(path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: recording.add(interaction(recording.number())), range(40)))

    assert list(range(1, 41)) == [item.call for item in recording.finish().interactions]


def test_a_recording_that_adds_nothing_rewrites_the_same_bytes(path):
    """Re-recording what did not change makes no diff."""
    recording = recorder(path)
    recording.add(interaction(response_body="ä"))
    first = recording.finish()
    again = make_cassette(first.provenance, first.interactions, path=str(path))

    assert path.read_bytes() == dump(again)


def test_models_are_those_that_answered():
    """By the response, each once; errors and embeddings name none."""
    items = [
        interaction(1, response_body='{\n  "id": "x",\n  "model": "gpt-x-2026"\n}'),
        interaction(2, response_body='event: message_start\ndata: {"message":{"model":"claude-y"}}\n\n'),
        interaction(3, response_body='{"model": "gpt-x-2026"}'),
        interaction(4, response_body='{"error": {}}', status=500),
        interaction(5, response_body='{"model": "embedder"}', kind="embedding"),
    ]

    assert ("gpt-x-2026", "claude-y") == models_of(items)
