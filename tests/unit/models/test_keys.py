"""Whether a provider's key is there, before anything is asked."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.models.keys import check_key

VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("gpt-4.1-mini", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named(model: str, named: str) -> None:
    """The message names model and variable, the hint what to do."""
    with pytest.raises(UsageError) as caught:
        check_key(model)

    assert "no-key" == caught.value.code
    assert model in caught.value.message
    assert named in caught.value.message
    assert f"export {named}=…, or name a server of your own with --base-url" == caught.value.hint


def test_a_key_that_is_set_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is the provider's business."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")

    check_key("gpt-4.1-mini")


def test_models_that_sign_in_otherwise_are_let_through() -> None:
    """Cloud credentials have other sources than variables, and an unknown model is nobody's."""
    check_key("bedrock/anthropic.claude-sonnet-4-5")
    check_key("some-model-of-mine/x")
