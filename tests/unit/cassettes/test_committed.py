"""The cassettes of this repository: in order, and good for anybody who has vcrpy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness.cassettes.check import check
from harness.cassettes.file import load

ROOT = Path(__file__).parents[3] / "cassettes"
PATHS = sorted(ROOT.rglob("*.yaml"))


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """One client for all files: making one reads every root certificate."""
    with httpx.Client() as made:
        yield made


def test_every_cassette_proves_what_it_claims():
    """Provenance, form, completeness, secrets and place of each file."""
    checked = check(ROOT)

    assert [] == [f"{problem.path}: {problem.because}" for problem in checked.problems]
    assert len(PATHS) == checked.files > 0


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_stock_vcrpy_plays_every_http_interaction(path, client):
    """Each recorded request, sent by a plain client, gets its recorded answer from vcrpy."""
    import vcr

    sent = [item for item in load(path).interactions if item.kind != "tool"]
    match_on = ("method", "uri", "body")
    with vcr.use_cassette(str(path), record_mode="none", match_on=match_on) as tape:
        for item in sent:
            headers = {"content-type": "application/json"}
            body = json.dumps(json.loads(item.request_body)) if item.request_body else ""
            answer = client.request(item.method, item.uri, content=body, headers=headers)

            assert (item.status, item.response_body) == (answer.status_code, answer.text)
        assert len(sent) == tape.play_count
