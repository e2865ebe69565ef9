"""What our readers do not know in a recording is found once, and kept with the compiled cassette."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cassettes.file import Interaction, Provenance, dump, load, make_cassette
from harness.cassettes.pack import Pack
from harness.cassettes.readers import unknown_in

CHAT = "https://api.openai.com/v1/chat/completions"
KNOWN = '{"choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}'
STRANGE = KNOWN.replace('"content"', '"hologram": 1, "content"')


def answers(body: str, *, uri: str = CHAT, status: int = 200) -> Interaction:
    """A recorded call that was answered with *body*."""
    return Interaction(call=1, answered_by="live", uri=uri, status=status, response_body=body)


@pytest.mark.parametrize(
    ("interactions", "expected"),
    [
        ([answers(KNOWN)], 0),
        ([answers(STRANGE)], 1),
        ([answers(STRANGE), answers(STRANGE)], 1),
        ([answers(STRANGE, status=500)], 0),
        ([answers(STRANGE, uri="https://api.openai.com/v1/responses")], 0),
    ],
)
def test_unknown_fields_are_listed_once(interactions: list[Interaction], expected: int) -> None:
    """Errors and interfaces that are not ours to read have none."""
    assert expected == len(unknown_in(interactions))


def test_the_cache_keeps_what_was_found(tmp_path: Path) -> None:
    """The file's own load, the first load through the cache and the second one agree."""
    path = tmp_path / "a.yaml"
    path.write_bytes(dump(make_cassette(Provenance(answered_by="live"), [answers(STRANGE)])))
    loaded = [load(path).unknown]
    for _ in range(2):
        pack = Pack(tmp_path / "replay.sqlite")
        loaded.append(pack.load(path).unknown)
        pack.close()

    assert [unknown_in([answers(STRANGE)])] * 3 == loaded
