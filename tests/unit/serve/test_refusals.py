"""Errors as HTTP answers."""

from __future__ import annotations

import json

import pytest

from harness.cassettes.redact import Scrubber
from harness.cli.codes import CODES
from harness.errors import BadFileError, CouldNotCheckError, UsageError
from harness.serve import refusals
from harness.serve.refusals import as_json, refusal, status_of

SCRUB = Scrubber({"EXAMPLE_KEY": "very-secret-value"}).scrub


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("no-such-agent", "…"), 404),
        (UsageError("bad-arguments", "…"), 400),
        (BadFileError("bad-agent", "…"), 500),
        (CouldNotCheckError("internal", "…"), 500),
        (CouldNotCheckError("too-many-runs", "…"), 503),
    ],
)
def test_the_status_says_whose_mistake_it_is(error, status):
    """The caller's is a 4xx; a broken file of the server's is not the caller's."""
    assert status == status_of(error)


def test_every_status_is_of_a_code_that_is_explained():
    """`harness explain CODE` knows each."""
    assert set() == set(refusals._STATUS) - set(CODES)


def test_a_refusal_tells_code_sentence_and_hint():
    """Secrets are taken out, and places in files are not told."""
    told = refusal(UsageError("bad-request", "no very-secret-value", hint="mend it", at="/srv/x.py:3"), SCRUB)

    assert {
        "ok": False,
        "error": {"code": "bad-request", "message": "no <secret:EXAMPLE_KEY>", "hint": "mend it"},
    } == json.loads(told.body)
    assert 400 == told.status_code


@pytest.mark.parametrize(
    ("code", "header", "value"),
    [("wrong-token", "www-authenticate", "Bearer"), ("too-many-runs", "retry-after", "2")],
)
def test_a_client_is_told_what_to_do_in_the_headers_too(code, header, value):
    """As HTTP has it."""
    assert value == refusal(UsageError(code, "…"), SCRUB).headers[header]


def test_half_a_character_is_no_crash():
    """What no JSON text can hold becomes a refusal."""
    told = as_json({"answer": "\ud800"}, SCRUB)

    assert (500, "bad-text") == (told.status_code, json.loads(told.body)["error"]["code"])
