"""Why a reply ended."""

from __future__ import annotations

import pytest

from harness.dialects.finish import ANTHROPIC_WORD, OPENAI_WORD, finish_reason
from harness.records.messages import FinishReason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"), ("end_turn", "stop"), ("stop_sequence", "stop"), ("eos", "stop"), (None, "stop"), ("", "stop"),
        ("tool_calls", "tool_calls"), ("tool_use", "tool_calls"), ("function_call", "tool_calls"),
        ("length", "length"), ("max_tokens", "length"), ("content_filter", "content_filter"),
        ("refusal", "content_filter"), ("pause_turn", "stop"), ("never heard of", "stop"), ([], "stop"),
    ],
)  # fmt: skip
def test_words_fold_into_reasons(word: object, reason: FinishReason) -> None:
    """Each provider's word means one of ours, and unknown words mean a stop."""
    assert reason == finish_reason(word)


def test_a_stop_after_tool_calls_means_tool_calls() -> None:
    """OpenAI says `stop` after a tool that was forced."""
    assert "tool_calls" == finish_reason("stop", called_tools=True)
    assert "length" == finish_reason("length", called_tools=True)


@pytest.mark.parametrize("words", [OPENAI_WORD, ANTHROPIC_WORD], ids=["openai", "anthropic"])
@pytest.mark.parametrize("reason", ["stop", "tool_calls", "length", "content_filter"])
def test_written_words_are_read_back(words: dict[FinishReason, str], reason: FinishReason) -> None:
    """The word that is written for a reason means that reason."""
    assert reason == finish_reason(words[reason])
