"""The player: each answer once, to the call that it was recorded for, from any number of tasks and threads."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.cassettes.file import Interaction, Provenance, UsageTotals, make_cassette
from harness.cassettes.fingerprint import Fingerprinter, wire_fingerprint
from harness.cassettes.player import Player
from harness.errors import ReplayMissError
from harness.records.messages import Message, ModelRequest

PATH = "/home/x/cassettes/lean_react/scripted/shared/S1 de.0.yaml"
URI = "http://scripted.invalid/v1/chat/completions"


def body(text, **more):
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()


def request(text):
    return ModelRequest(model="m", messages=(Message("user", text),))


def ask(text):
    return Fingerprinter().ask(request(text))


def recorded(call, text, *, slot="", answer=None):
    return Interaction(
        call=call, ask=ask(text), wire=wire_fingerprint(body(text)), slot=slot, answered_by="scripted", uri=URI,
        request_body=body(text).decode(), response_body=answer or f"answer {call}",
    )  # fmt: skip


def player(*items, cost=None, **options):
    usage = UsageTotals(cost_usd=cost)
    cassette = make_cassette(Provenance(answered_by="scripted", usage=usage), items, path=PATH)
    return Player(cassette, **options)


def missed(playing, text, slot=""):
    with pytest.raises(ReplayMissError):
        playing.play(ask(text), slot, request(text))
    return playing.misses[-1]


def test_answers_come_by_fingerprint_whatever_the_order():
    """Parallel calls may start in another order than they were recorded in."""
    playing = player(recorded(1, "a"), recorded(2, "b"))

    assert ["answer 2", "answer 1"] == [playing.play(ask(text)).response_body for text in "ba"]
    assert [] == playing.unused()


def test_equal_calls_get_their_answers_first_recorded_first():
    """Three votes on one question keep their order."""
    playing = player(*(recorded(n, "vote") for n in (1, 2, 3)))

    assert ["answer 1", "answer 2", "answer 3"] == [playing.play(ask("vote")).response_body for _ in range(3)]


def test_a_slot_tells_equal_calls_apart():
    """Parallel verifications ask the same and keep their own answers."""
    playing = player(*(recorded(n, "verify", slot=f"verify/1/{n}") for n in (1, 2, 3)))

    assert ["answer 3", "answer 1"] == [playing.play(ask("verify"), f"verify/1/{n}").response_body for n in (3, 1)]
    assert [2] == [item.call for item in playing.unused()]


def test_asking_more_often_than_recorded_is_a_miss():
    """An endless loop is seen at its first turn too many, and told as such."""
    playing = player(recorded(1, "a"), recorded(2, "b"), cost=0.5)
    playing.play(ask("a"))
    playing.play(ask("b"))
    miss = missed(playing, "b")

    assert (
        "model call 3 is not in `cassettes/lean_react/scripted/shared/S1 de.0.yaml`\n"
        "call 3 asks again what call 2 asked, and 1 answer was recorded"
    ) == miss.explanation
    assert ("extra_call", 0.5, ask("b")) == (miss.cause, miss.cost_usd, miss.key)
    assert "harness record shared --agent lean_react --model scripted --case 'S1 de' --mode stale" == miss.command


def test_a_new_question_is_a_miss_with_the_nearest_recording():
    """The explanation says what differs; later misses of a trial follow from the first and are not explained."""
    playing = player(recorded(1, "Where is order 1182?"))
    first, second = missed(playing, "Where is order 1128?"), missed(playing, "And now?")

    assert (
        "model call 1 is not in `cassettes/lean_react/scripted/shared/S1 de.0.yaml`\n"
        "nearest recording: call 1 of 1, 88% of the request is the same\n"
        "  message 0 (user).content: 'Where is order 1182?' -> 'Where is order 1128?'"
    ) == first.explanation
    assert "message" == first.cause
    assert ("unknown", "an earlier call of this trial was missed already") == (
        second.cause,
        second.explanation.splitlines()[1],
    )


def test_a_wrong_slot_is_told():
    """The call is known, the place of the answer is not."""
    miss = missed(player(recorded(1, "a", slot="x")), "a", "y")

    assert "it was recorded in slot `x`, and is asked for in slot `y`" == miss.explanation.splitlines()[1]
    assert "order" == miss.cause


def test_strict_order_wants_the_recorded_sequence():
    """A case that says `order: strict` holds its calls to their order."""
    items = (recorded(1, "a"), recorded(2, "b"), recorded(3, "a"))
    kept = player(*items, order="strict")
    miss = missed(player(*items, order="strict"), "b")

    assert ["answer 1", "answer 2", "answer 3"] == [kept.play(ask(text)).response_body for text in "aba"]
    assert "it was recorded as call 2; in strict order, call 1 comes next" == miss.explanation.splitlines()[1]
    assert "order" == miss.cause


def test_a_miss_cannot_be_hidden():
    """`except Exception` does not catch it, and what `gather` turns it into does not matter: the player remembers."""
    playing = player(recorded(1, "a"))

    async def agent() -> None:
        async def swallow() -> None:
            try:
                playing.play(ask("b"))
            except Exception:  # noqa: BLE001
                pytest.fail("an agent swallowed the miss")

        await asyncio.gather(swallow(), return_exceptions=True)

    asyncio.run(agent())

    assert [ask("b")] == [miss.key for miss in playing.misses]


def test_threads_never_share_an_answer():
    """Eight threads that ask the same two hundred times get each answer once."""
    playing = player(*(recorded(n, "same") for n in range(1, 201)))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: playing.play(ask("same")).response_body, range(200)))

    assert {f"answer {n}" for n in range(1, 201)} == set(answers)
    assert 200 == len(answers)


def test_the_wire_finds_answers_without_the_logical_call():
    """A client that does not come through our ports is answered by its body."""
    playing = player(recorded(1, "a"))
    spelled = json.dumps(json.loads(body("a")), indent=2, sort_keys=True).encode()

    assert "answer 1" == playing.play_wire("POST", URI, spelled).response_body
    assert [] == playing.drifts


def test_an_answer_that_was_played_by_its_call_is_not_played_by_its_wire_form():
    """There are two ways to an answer, and only one answer."""
    playing = player(recorded(1, "a"), recorded(2, "a"))
    playing.play(ask("a"))

    assert "answer 2" == playing.play_wire("POST", URI, body("a")).response_body
    assert [] == playing.unused()


def test_another_wire_form_of_the_same_call_is_a_drift_and_no_miss():
    """A new client library adds a default: the case passes, and the difference is told once."""
    playing = player(recorded(1, "a"), recorded(2, "a"))
    for _ in range(2):
        playing.play_wire("POST", URI, body("a", max_tokens=64000), ask("a"))

    assert ["POST /v1/chat/completions: max_tokens: absent -> 64000"] == playing.drifts


def test_a_miss_on_the_wire_is_explained_as_well():
    """The body is read back into the logical request and compared with the recordings."""
    playing = player(recorded(1, "Where is it?"))
    with pytest.raises(ReplayMissError) as miss:
        playing.play_wire("POST", URI, body("Where is she?"))

    assert "message 0 (user).content: 'Where is it?' -> 'Where is she?'" in miss.value.explanation


def test_an_unknown_interface_is_a_plain_miss():
    """What cannot be compared is not compared."""
    with pytest.raises(ReplayMissError) as miss:
        player(recorded(1, "a")).play_wire("POST", "http://x.invalid/v1/rerank", b"{}")

    assert "no recorded call can be compared with it" == miss.value.explanation.splitlines()[1]


def test_replay_imports_nothing_heavy():
    """What plays a cassette knows no HTTP client, no YAML and no model library until something goes wrong."""
    script = (
        "import sys, harness.cassettes.player, harness.cassettes.pack, harness.cassettes.clock\n"
        "heavy = {'httpx', 'yaml', 'pydantic', 'litellm', 'vcr', 'jsonschema', 'asyncio', 'difflib', 'ssl'}\n"
        "sys.exit(' '.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    outcome = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert "" == outcome.stderr
