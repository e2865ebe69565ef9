"""Cassettes of other tools: read where they are recorded HTTP, refused in one sentence where they are not."""

from __future__ import annotations

import base64
import gzip
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
import yaml

from harness.cassettes.bodies import readable, recorded_headers
from harness.cassettes.drift import explain
from harness.cassettes.file import Provenance, dump, make_cassette, parse
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.foreign import load_foreign
from harness.cassettes.player import decoded_request
from harness.cassettes.redact import Scrubber
from harness.errors import CassetteError

URI = "https://api.example.org/v1/chat/completions"
ASKED, ANSWERED = '{"model": "m"}', '{"text": "hä"}'


def vcrpy(body=ANSWERED, **headers):
    return {
        "interactions": [
            {
                "request": {"body": ASKED, "headers": {"Accept": ["*/*"]}, "method": "POST", "uri": URI},
                "response": {"body": {"string": body}, "headers": headers, "status": {"code": 201, "message": "Made"}},
            }
        ],
        "version": 1,
    }


def packed(text=ANSWERED):
    return gzip.compress(text.encode())


def only(tmp_path, content, name="c.yaml"):
    path = tmp_path / name
    text = content if isinstance(content, (str, bytes)) else yaml.safe_dump(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (item,) = load_foreign(path)
    return item


RUBY = {
    "http_interactions": [
        {
            "request": {"method": "post", "uri": URI, "body": {"encoding": "UTF-8", "string": ASKED}, "headers": {}},
            "response": {
                "status": {"code": 201, "message": "Made"},
                "headers": {},
                "body": {"encoding": "ASCII-8BIT", "base64_string": base64.b64encode(ANSWERED.encode()).decode()},
            },
        }
    ],
}
PAIRED = {key + "s": [vcrpy()["interactions"][0][key]] for key in ("request", "response")}
SINGLE = {"request": {"method": "POST", "url": URI, "headers": {"A": "b"}, "body": ASKED}, "response": vcrpy()["interactions"][0]["response"]}  # fmt: skip
PARSED = {
    "interactions": [
        {
            "request": {"method": "POST", "uri": URI, "parsed_body": json.loads(ASKED), "headers": {}},
            "response": {
                "status": {"code": 201, "message": "Made"},
                "parsed_body": json.loads(ANSWERED),
                "headers": {},
            },
        }
    ]
}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (vcrpy(), "c.yaml"),
        (vcrpy(**{"Content-Encoding": ["gzip"]}), "c.yaml"),
        (vcrpy(packed(), **{"Content-Encoding": ["gzip"]}), "c.yaml"),
        (json.dumps(vcrpy(), indent=1), "c.json"),
        (gzip.compress(yaml.safe_dump(PAIRED).encode()), "c.yaml.gz"),
        (json.dumps(SINGLE), "c.json"),
        (RUBY, "c.yml"),
        (PARSED, "c.yaml"),
    ],
    ids=["vcrpy", "header only", "gzip body", "json", "gzip file", "single", "ruby", "parsed"],
)
def test_the_same_exchange_comes_out_of_every_form(tmp_path, content, name):
    """Method, address, status and bodies are those that went over the wire, whatever the tool made of them."""
    item = only(tmp_path, content, name)

    assert ("POST", URI, 201, "Made") == (item.method, item.uri, item.status, item.status_message)
    assert (json.loads(ASKED), json.loads(ANSWERED)) == (json.loads(item.request_body), json.loads(item.response_body))
    assert not any("encoding" in header for header in item.response_headers)


def test_headers_are_lower_case_lists_of_text(tmp_path):
    """Single values and bytes become lists of text."""
    item = only(tmp_path, vcrpy(**{"Content-Type": b"text/plain", "X-Two": ["a", "b"], "X-One": 1}))

    assert {"content-type": ["text/plain"], "x-two": ["a", "b"], "x-one": ["1"]} == item.response_headers


def test_pythons_own_tags_are_taken_for_their_text(tmp_path):
    """A header key that was pickled is its text; whatever the tag names is neither imported nor made."""
    text = yaml.safe_dump(vcrpy()).replace(
        "Accept:\n", "? !!python/object/new:multidict._multidict.istr\n      - Accept\n      :\n"
    )

    assert {"accept": ["*/*"]} == only(tmp_path, text).request_headers


def test_binary_requests_are_kept_as_base64(tmp_path):
    """An uploaded file is no text, and does not keep the answer from being read."""
    content = vcrpy()
    content["interactions"][0]["request"]["body"] = b"\xff\xd8\xff"

    assert base64.b64encode(b"\xff\xd8\xff").decode() == only(tmp_path, content).request_body


def test_an_empty_cassette_is_empty(tmp_path):
    """No interactions, no error."""
    path = tmp_path / "c.yaml"
    path.write_text("interactions: []\nversion: 1\n")

    assert () == load_foreign(path)


@pytest.mark.parametrize(
    ("content", "because"),
    [
        ("interactions:\n  abc: [1]\n", "its interactions are not a list of requests and responses"),
        ("interactions:\n- kind: message\n", "interaction 1 is no HTTP request with its response"),
        ('{"messages": []}', "it has no list of interactions"),
        ("requests: [{}]\nresponses: []\n", "it does not hold one response for each request"),
        ("just text", "its interactions are not a list of requests and responses"),
        (vcrpy(b"\xff\xfe\xfd", **{"Content-Type": ["application/vnd.amazon.eventstream"]}),
         "the response of interaction 1 is no text (application/vnd.amazon.eventstream)"),
        ("interactions:\n- request: {}\n  response: {}\n", "interaction 1 does not say where the request went"),
        (b"\x1f\x8bnot gzip", "not readable as gzip: Error -3 while decompressing data: unknown compression method"),
        (b"\xff\xfe", "not UTF-8"),
        ("a: !!python/object/apply:os.system ['true', 1]", "not valid YAML: a Python object (object/apply:os.system) is not read"),
    ],
)  # fmt: skip
def test_what_is_no_recorded_http_is_refused(tmp_path, content, because):
    """One sentence says why, and the file is named."""
    path = tmp_path / "c.yaml"
    path.write_bytes(
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else yaml.safe_dump(content)).encode()
    )
    with pytest.raises(CassetteError) as refused:
        load_foreign(path)

    assert because == refused.value.message
    assert refused.value.at.startswith(str(path))


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    """A gzip file may not grow beyond the limit."""
    from harness.cassettes import foreign

    monkeypatch.setattr(foreign, "MOST_BYTES", 1000)
    path = tmp_path / "c.yaml.gz"
    path.write_bytes(gzip.compress(b"x" * 100_000))
    with pytest.raises(CassetteError, match="more than 1,000 bytes"):
        load_foreign(path)


@pytest.mark.realdata
def test_recordings_of_others_are_read():
    """Every file that stock vcrpy loads and that has text for answers is read: addresses and statuses as expected."""
    root = Path(os.environ["HARNESS_REALDATA"])
    wrong, refused = [], []
    for entry in json.loads((root / "cassettes" / "expected.json").read_text()):
        try:
            items = load_foreign(root / entry["file"])
        except CassetteError as error:
            refused.append((entry["category"], error.message))
            continue
        expected = [(one["method"], one["path"], one["status"]) for one in entry["interactions"]]
        got = [(item.method, urlsplit(item.uri).path, item.status) for item in items]
        for (method, path, status), found in zip(expected, got, strict=True):
            if (
                method.upper() != found[0]
                or not found[1].endswith(path.partition("?")[0])
                or (status or found[2]) != found[2]
            ):
                wrong.append((entry["file"], found))

    assert [] == wrong
    assert len(refused) <= 6
    print(*refused, sep="\n")  # noqa: T201 - the list of what is not read belongs into the log


@pytest.mark.realdata
def test_recordings_of_others_survive_our_form():
    """Scrubbed, indented and written as our own file, each logical call is still the same, and nearest to itself."""
    root = Path(os.environ["HARNESS_REALDATA"])
    compared = 0
    for entry in json.loads((root / "cassettes" / "expected.json").read_text()):
        try:
            items = [_as_recorded(item) for item in load_foreign(root / entry["file"])]
        except CassetteError:
            continue
        cassette = make_cassette(Provenance(answered_by="live"), items)

        assert cassette == parse(dump(cassette), "")
        for item, read in zip(load_foreign(root / entry["file"]), items, strict=True):
            asked = decoded_request(item.uri, item.request_body.encode())
            if asked is not None:
                again = decoded_request(read.uri, read.request_body.encode())
                compared += 1

                assert Fingerprinter().ask(asked) == Fingerprinter().ask(again)
                assert "100% of the request is the same" in explain(asked, cassette).text
    assert compared > 50


def _as_recorded(item):
    """What the recorder would have kept of a foreign interaction."""
    scrub = Scrubber().scrub
    content_type = ", ".join(item.response_headers.get("content-type", ()))
    return msgspec.structs.replace(
        item,
        request_headers=recorded_headers([(k, v) for k, values in item.request_headers.items() for v in values]),
        request_body=scrub(readable(item.request_body.encode(), "application/json")),
        response_headers=recorded_headers([(k, v) for k, values in item.response_headers.items() for v in values]),
        response_body=scrub(readable(item.response_body.encode(), content_type)),
    )
