"""The cassette file: ordinary to vcrpy, exact on the way there and back, and refused with a reason."""

from __future__ import annotations

import json
import os
import re

import httpx
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes import file as cassette_file
from harness.cassettes.file import (
    Cassette,
    Interaction,
    Provenance,
    UsageTotals,
    dump,
    load,
    make_cassette,
    parse,
    responses_digest,
)
from harness.errors import CassetteError, ExitCode

texts = st.text(st.characters(exclude_categories=["Cs"]))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
who = st.sampled_from(["live", "local", "scripted"])
counts = st.integers(0, 10**6)
headers = st.dictionaries(words, st.lists(words, min_size=1, max_size=2), max_size=3)
interactions = st.builds(
    Interaction,
    call=counts, ask=words, wire=words, slot=words, kind=st.sampled_from(["chat", "embedding", "tool"]),
    answered_by=who, latency_ms=counts, first_byte_ms=counts, chunk_ms=st.lists(counts, max_size=5).map(tuple),
    complete=st.booleans(), error=st.none() | words, method=words, uri=texts, request_headers=headers,
    request_body=texts, status=st.integers(100, 599), status_message=words, response_headers=headers,
    response_body=texts,
)  # fmt: skip
provenances = st.builds(
    Provenance,
    answered_by=who, embeddings_by=st.none() | who, models=st.lists(words, max_size=2).map(tuple), recorded=words,
    code=words, versions=st.dictionaries(words, words, max_size=3), seed=st.none() | counts, server=words,
    usage=st.none() | st.builds(UsageTotals, input=counts, cost_usd=st.none() | st.floats(0, 100)),
    sampling=st.dictionaries(words, st.none() | st.floats(-1e9, 1e9) | counts | st.booleans() | words, max_size=3),
)  # fmt: skip


def cassette(**changes) -> Cassette:
    item = Interaction(
        call=1, ask="a" * 16, wire="b" * 16, answered_by="scripted",
        uri="http://scripted.invalid/v1/chat/completions", request_headers={"content-type": ["application/json"]},
        request_body='{\n  "model": "m"\n}\n', response_headers={"content-type": ["application/json"]},
        response_body='{\n  "ok": "ja 😀"\n}\n',
    )  # fmt: skip
    provenance = Provenance(answered_by="scripted", recorded="2026-11-20T10:00:00Z", **changes)
    return make_cassette(provenance, [item])


def refusal(content: str | bytes) -> CassetteError:
    with pytest.raises(CassetteError) as refused:
        parse(content if isinstance(content, bytes) else content.encode(), "c.yaml")
    return refused.value


@given(provenances, st.lists(interactions, max_size=3))
def test_nothing_is_lost_between_dump_and_load(provenance, items):
    """Every field comes back, and a file that was loaded is written to the same bytes."""
    made = make_cassette(provenance, items)
    written = dump(made)
    read = parse(written, "", secrets=True)

    assert made == read
    assert written == dump(read)


def test_a_file_reads_like_this():
    """The form that people review: one member of a body a line, provenance on top."""
    assert (
        "version: 1\n"
        "provenance:\n"
        "  format: 1\n"
        "  answered_by: scripted\n"
        '  recorded: "2026-11-20T10:00:00Z"\n'
        "interactions:\n"
        "- meta:\n"
        "    call: 1\n"
        "    answered_by: scripted\n"
        '    ask: "aaaaaaaaaaaaaaaa"\n'
        '    wire: "bbbbbbbbbbbbbbbb"\n'
        "    complete: true\n"
        "  request:\n"
        "    method: POST\n"
        "    uri: http://scripted.invalid/v1/chat/completions\n"
        "    headers:\n"
        "      content-type: [application/json]\n"
        "    body: |\n"
        "      {\n"
        '        "model": "m"\n'
        "      }\n"
        "  response:\n"
        "    status:\n"
        "      code: 200\n"
        "      message: OK\n"
        "    headers:\n"
        "      content-type: [application/json]\n"
        "    body:\n"
        "      string: |\n"
        "        {\n"
        '          "ok": "ja 😀"\n'
        "        }\n"
    ) == dump(cassette()).decode()


def test_stock_vcrpy_plays_the_file(tmp_path):
    """A cassette is good for anybody who has vcrpy, and for nobody who asks something else."""
    import vcr

    path = tmp_path / "c.yaml"
    path.write_bytes(dump(cassette()))
    match_on = ("method", "uri", "body")
    with vcr.use_cassette(str(path), record_mode="none", match_on=match_on) as tape, httpx.Client() as client:
        answer = client.post("http://scripted.invalid/v1/chat/completions", json={"model": "m"})
        with pytest.raises(vcr.errors.CannotOverwriteExistingCassetteException):
            client.post("http://scripted.invalid/v1/chat/completions", json={"model": "other"})

    assert {"ok": "ja 😀"} == answer.json()
    assert 1 == tape.play_count


def test_the_digest_names_the_responses():
    """Another answer is another sample; how long it took is not."""
    one = cassette()
    slower = [cassette_file.msgspec.structs.replace(one.interactions[0], latency_ms=900, ask="c")]
    other = [cassette_file.msgspec.structs.replace(one.interactions[0], response_body="{}")]

    assert one.digest == responses_digest(slower)
    assert one.digest != responses_digest(other)


def test_calls_stand_in_start_order():
    """Parallel calls end in any order; the file does not show it."""
    items = [Interaction(call=n, answered_by="live", uri="x") for n in (3, 1, 2)]

    assert [1, 2, 3] == [item.call for item in make_cassette(Provenance(answered_by="live"), items).interactions]


def test_a_missing_file_says_what_to_do(tmp_path):
    """The hint is the next command."""
    with pytest.raises(CassetteError) as refused:
        load(tmp_path / "gone.yaml")

    assert (
        f"error[cassette-missing]: {tmp_path}/gone.yaml: there is no such cassette\n\n"
        "hint: record it with `harness record`"
    ) == str(refused.value)
    assert ExitCode.COULD_NOT_CHECK == refused.value.exit_code


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("format: 1", "format: 2", "cassette format 2 is not known to this version, which reads 1"),
        ("  format: 1\n", "", "no `provenance.format`: this is not a cassette of tapegate"),
        ("call: 1", "call: one", "not a cassette: Expected `int`, got `str` - at `$.interactions[0].meta.call`"),
        ("    method: POST\n", "", "not a cassette: Object missing required field `method` - at"),
        ("complete: true", "complet: true", "not a cassette: Object contains unknown field `complet` - at"),
        ("answered_by: scripted", "answered_by: nobody", "not a cassette: Invalid enum value 'nobody'"),
        ("  format: 1", "  format: 1\n  complete: false", "the recording was interrupted, so it cannot be replayed"),
        ("- meta:", "<<<<<<< ours\n- meta:", "a merge left its markers in the file"),
        ('"model": "m"', '"model": "sk-abcdefghijklmnopqrstuvwx"', "the cassette holds a secret (model-key)"),
    ],
)
def test_damage_is_refused_with_a_reason(old, new, text):
    """A file that is not what it should be is never half used."""
    written = dump(cassette()).decode()

    assert old in written
    assert refusal(written.replace(old, new)).message.startswith(text)


def test_reasons_name_the_line_and_the_way_out():
    """Merge markers, other encodings and secrets are told with `file:line`."""
    written = dump(cassette()).decode()
    merged = refusal(written.replace("- meta:", "<<<<<<< ours\n- meta:"))
    secret = refusal(written.replace('"model": "m"', '"model": "sk-abcdefghijklmnopqrstuvwx"'))

    assert ("c.yaml:7", "restore the file from git, or record the case again") == (merged.at, merged.hint)
    assert ("c.yaml:20", "revoke the key, then run `harness cassettes scrub c.yaml`") == (secret.at, secret.hint)
    assert "c.yaml:2" == refusal(b"version: 1\nx: \xff").at


@pytest.mark.parametrize(
    "content",
    [
        "!!python/object/apply:os.system ['true']",
        "a: &a [*a]",
        "[" * 5000,
        "[" * 200_000,
        "a: " + "{a: " * 100_000,
        "- " * 100_000 + "x",
        "? " * 100_000 + "x",
        "\n".join(" " * level + "a:" for level in range(3000)),
        "- just\n- a list",
        "",
    ],
    ids=["tag", "loop", "depth", "sequences", "mappings", "lists", "keys", "indents", "list", "empty"],
)  # fmt: skip
def test_hostile_files_do_no_harm(content):
    """Tags run nothing, aliases unfold to nothing, and each file is refused in one sentence."""
    refused = refusal(content)

    assert refused.code in ("cassette-unreadable", "cassette-format")
    assert re.fullmatch(r"[^\n]+", refused.message)


def test_aliases_do_not_explode():
    """Six short lines that stand for sixteen thousand million values are refused, and take no time."""
    lines = ["a: &a [" + "x," * 50 + "]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{one}'] * 50)}]" for name, one in zip("bcdef", "abcde", strict=True)]

    assert "more than 1,000,000 values" == refusal("\n".join(lines)).message


def test_merge_keys_do_not_explode():
    """Each line of merge keys copies the one before nine times: refused before anything is copied."""
    lines = ["a: &a {x: 1}"]
    lines += [
        f"{name}: &{name} {{<<: [{', '.join([f'*{one}'] * 9)}]}}"
        for name, one in zip("bcdefghij", "abcdefghi", strict=True)
    ]

    assert "not valid YAML: merge keys are not read" == refusal("\n".join(lines)).message


def test_a_key_that_stands_twice_is_refused():
    """A merge of two branches can leave both; which one counts is nobody's guess."""
    written = dump(cassette()).decode().replace("interactions:\n", "interactions: []\ninteractions:\n")

    assert "not valid YAML: key `interactions` stands twice" == refusal(written).message


def test_an_answer_that_nobody_gave_is_not_replayed():
    """A response that was edited, and calls that another kind of model answered, are told from what was recorded."""
    written = dump(cassette(responses=cassette().digest)).decode()
    assert parse(written.encode(), "c.yaml") == msgspec.structs.replace(
        cassette(responses=cassette().digest), path="c.yaml"
    )

    edited = refusal(written.replace("code: 200", "code: 201"))
    mixed = refusal(written.replace("answered_by: scripted", "answered_by: local", 1))
    assert ("cassette-edited", "a response was changed after it was recorded") == (edited.code, edited.message)
    assert ("mixed-provenance", "call 1 was answered by scripted, the file says local") == (mixed.code, mixed.message)


def test_a_pipe_does_not_hold_anybody_up(tmp_path):
    """Opening one would wait for a writer that never comes."""
    os.mkfifo(tmp_path / "c.yaml")

    with pytest.raises(CassetteError, match="not a regular file"):
        load(tmp_path / "c.yaml")


def test_a_huge_file_is_refused_unread(tmp_path, monkeypatch):
    """The limit is checked before the content is read."""
    monkeypatch.setattr(cassette_file, "MOST_BYTES", 1000)
    path = tmp_path / "big.yaml"
    path.write_bytes(b"x" * 1001)
    with pytest.raises(CassetteError, match="1,001 bytes are more than the 1,000 that are read"):
        load(path)


def test_a_partial_recording_can_be_looked_at():
    """What an interruption left is read on request only."""
    written = dump(cassette(complete=False))

    assert not parse(written, "c.yaml", partial=True).provenance.complete


def test_a_changed_word_is_a_changed_line():
    """The diff of a prompt edit is as long as the edit."""
    body = json.dumps({"messages": [{"role": "system", "content": "Be brief."}]}, indent=2) + "\n"
    old = make_cassette(
        Provenance(answered_by="live"), [Interaction(call=1, answered_by="live", uri="u", request_body=body)]
    )
    before = dump(old).decode().splitlines()
    after = dump(old).decode().replace("brief", "short").splitlines()

    assert 1 == sum(one != two for one, two in zip(before, after, strict=True))
    assert yaml.safe_load("\n".join(before))["interactions"][0]["request"]["body"] == body
