"""Redaction: complete, idempotent, and found again by the scanner."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.redact import Scrubber, SecretFound, scan
from harness.errors import SecretError

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def letters(low: int, high: int | None = None):
    return st.text(LETTERS, min_size=low, max_size=high or low + 10)


shaped = st.one_of(
    st.tuples(st.sampled_from(["sk-", "sk-proj-", "sk-ant-api03-"]), letters(24)),
    st.tuples(st.just("AIza"), letters(35, 35)),
    st.tuples(st.sampled_from(["ghp_", "gho_", "ghs_"]), letters(36)),
    st.tuples(st.just("AKIA"), st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16)),
    st.tuples(st.just("xoxb-"), letters(12)),
    st.tuples(st.just("hf_"), letters(34)),
    st.tuples(st.just("glpat-"), letters(20)),
).map("".join)
values = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=8, max_size=30).filter(
    lambda value: "secret" not in value and value.strip() == value
)
around = st.text(" .,\n\"'{}[]äé中😀", max_size=20)


@given(around, shaped, around, shaped, around)
def test_no_shape_survives_and_scrubbing_twice_changes_nothing(a, one, b, two, c):
    """Whatever looks like a key is gone, is found by the scanner before and not after, and once is enough."""
    text = f"{a} {one} {b} {two} {c}"
    scrubbed = Scrubber().scrub(text)

    assert len(scan(text)) == 2
    assert one not in scrubbed
    assert two not in scrubbed
    assert [] == scan(scrubbed)
    assert scrubbed == Scrubber().scrub(scrubbed)


@given(around, values, around)
def test_known_values_go_in_every_spelling(a, value, b):
    """A value from the environment is removed as it is and as JSON spells it; a second time changes nothing more."""
    scrubber = Scrubber({"SERVICE_TOKEN": value})
    for spelling in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        scrubbed = scrubber.scrub(f"{a}{spelling}{b}")

        assert "<secret:SERVICE_TOKEN>" in scrubbed
        assert spelling not in scrubbed.replace("<secret:SERVICE_TOKEN>", "")
        assert scrubbed == scrubber.scrub(scrubbed)


@given(shaped)
def test_json_stays_json(secret):
    """A scrubbed body still decodes, and only the secret is different."""
    body = json.dumps({"messages": [{"content": f"my key is {secret}, ok?"}]})
    content = json.loads(Scrubber().scrub(body))["messages"][0]["content"]

    assert content.startswith("my key is <secret:")
    assert content.endswith(">, ok?")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----\\nMIIEow\\n-----END RSA PRIVATE KEY-----", "private-key"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow\n", "private-key"),
        ("Authorization: Bearer abcdef0123456789abcdef", "bearer-token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz", "jwt"),
        ("postgres://vera:hunter2@db/news", "url-password"),
        ("in organization org-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8 on tokens", "organisation"),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "stripe-key"),
    ],
)
def test_shapes_are_told_by_name(text, kind):
    """The scanner names what it found, and scrubbing leaves nothing of it to find."""
    assert [kind] == [found.kind for found in scan(text)]
    assert [] == scan(Scrubber().scrub(text))


@pytest.mark.parametrize(
    "text",
    [
        "Ask-the-expert: a task-force on risk-management-and-control-systems",
        "the organisation org-wide-rollout-of-the-new-system",
        "see https://example.org:8080/path and mail@example.org",
        "call_abcdefghijklmnopqrstuvwx, chatcmpl-BrcdhKo7IMjYhRfDcHurosl9rvS2Q, toolu_01A2b3C4d5E6f7G8h9",
        "Bearer of good news from the capital",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_plain_prose_and_ids_are_left_alone(text):
    """Nothing is taken for a secret that people and providers write every day."""
    assert text == Scrubber().scrub(text)


def test_places_are_given_by_line():
    """The line is where an editor goes to."""
    assert [SecretFound("model-key", 3)] == scan("a\nb\nkey sk-abcdefghijklmnopqrstuvwx\n")


def test_environment_variables_are_chosen_by_name():
    """Keys, tokens and passwords count; paths, short values and other variables do not."""
    environ = {
        "OPENAI_API_KEY": "value-of-the-key", "GITHUB_TOKEN": "value-of-the-token", "DB_PASSWORD": "value-of-the-pass",
        "SSH_KEY": "/home/vera/.ssh/id", "PIN_TOKEN": "1234", "KEYBOARD": "value-of-the-layout", "HOME": "/home/vera",
    }  # fmt: skip
    text = " ".join(environ.values())

    assert (
        "<secret:OPENAI_API_KEY> <secret:GITHUB_TOKEN> <secret:DB_PASSWORD> /home/vera/.ssh/id 1234"
        " value-of-the-layout /home/vera"
    ) == Scrubber.from_env(environ).scrub(text)


def test_a_made_up_placeholder_hides_nothing():
    """A model that writes `<secret:…>` around a known value cannot keep it from being removed."""
    scrubbed = Scrubber({"MY_KEY": "TopSecretValue1"}).scrub("<secret:TopSecretValue1>")

    assert "<secret:<secret:MY_KEY>>" == scrubbed


def test_a_secret_that_is_streamed_in_pieces_is_refused():
    """No single line of the stream holds the key, yet nothing is written."""
    stream = 'data: {"delta":{"content":"sk-abcdefgh"}}\n\ndata: {"delta":{"content":"ijklmnopqrstuvwx"}}\n\n'

    with pytest.raises(SecretError) as refused:
        Scrubber().refuse(stream, what="the response of call 1")

    assert (
        "error[secret-refused]: the response of call 1 holds a secret (model-key) that could not be removed, so nothing"
        " was written\n\nhint: keep the secret out of the prompt; a streamed reply that repeats it must be recorded"
        " unstreamed"
    ) == str(refused.value)
