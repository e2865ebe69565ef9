"""What models take for thinking, by name."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.models.capability import TABLE, capability_of, is_anthropic, short_name
from harness.records.capability import NO_THINKING

_DIFFERENCES = {
    "claude-3-7-sonnet": ("budget", "absent"),
    "claude-opus-4": ("budget", "absent"),
    "claude-opus-4-1": ("budget", "absent"),
    "claude-sonnet-4": ("budget", "absent"),
    "claude-sonnet-5-5": ("adaptive", "always_on"),
    "claude-mythos-preview": ("none", "always_on"),
}


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("claude-3-7-sonnet-20250219", "budget"),
        ("claude-3-5-sonnet-20241022", "none"),
        ("claude-sonnet-4-20250514", "budget"),
        ("anthropic/claude-sonnet-4-5-20250929", "budget"),
        ("bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0", "budget"),
        ("vertex_ai/claude-opus-4-6@20260205", "adaptive"),
        ("claude-opus-4-7", "adaptive"),
        ("github_copilot/claude-opus-5.5", "always_on"),
        ("us-gov.anthropic.claude-fable-5-1", "always_on"),
        ("claude-opus-4-5-latest", "budget"),
        ("CLAUDE-HAIKU-5-5", "adaptive"),
        ("openai/gpt-5", "none"),
        ("gpt-4.1-mini", "none"),
        ("xai/grok-4", "none"),
        ("claude-opus-9", "none"),
        ("", "none"),
    ],
)
def test_a_model_is_known_under_each_of_its_names(model: str, kind: str) -> None:
    """Routes, regions, dates and dotted versions lead to the same row; what is not in the table is `none`."""
    assert kind == capability_of(model).kind


def test_a_version_is_not_taken_for_a_longer_one() -> None:
    """`claude-opus-4` and `claude-opus-4-5` are two rows, whatever a prefix match would say."""
    assert (
        short_name("claude-opus-4-20250514"),
        short_name("claude-opus-4-5-20251101"),
    ) == ("claude-opus-4", "claude-opus-4-5")


def test_only_manual_and_legacy_models_take_a_budget() -> None:
    """A budget is legal on the 3.7 and 4 to 4.5 models, works on 4.6, and is refused from 4.7 on."""
    takers = {name for name, capability in TABLE.items() if capability.takes_budget}

    assert takers == {
        "claude-3-7-sonnet", "claude-sonnet-4", "claude-opus-4", "claude-opus-4-1", "claude-sonnet-4-5",
        "claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6",
    }  # fmt: skip


def test_what_cannot_be_switched_off() -> None:
    """Always-on models refuse `disabled` and so does Sonnet 5.5, whose least is `between_tools`."""
    fixed = {name: row.lowest for name, row in TABLE.items() if not row.can_disable}

    assert fixed == {
        "claude-fable-5": "low_effort",
        "claude-mythos-5": "low_effort",
        "claude-fable-5-1": "low_effort",
        "claude-mythos-5-1": "low_effort",
        "claude-opus-5-5": "low_effort",
        "claude-sonnet-5-5": "between_tools",
    }


def test_every_difference_from_the_map_of_litellm_is_known() -> None:
    """Our table and the installed litellm's map agree on every Claude but those listed here."""
    found = {}
    theirs = _kinds_of_litellm()
    for name in sorted(set(theirs) | set(TABLE)):
        pair = (capability_of(name).kind, theirs.get(name, "absent"))
        if pair[0] != pair[1]:
            found[name] = pair

    assert found == _DIFFERENCES


def test_flags_agree_with_the_map_of_litellm() -> None:
    """Refused sampling and refused forced tools are the same facts in the installed litellm's map."""
    rows = _map_of_litellm()
    wrong = [
        name
        for name, row in TABLE.items()
        if name in rows
        and (
            (row.sampling == "refused") != (rows[name].get("supports_sampling_params") is False)
            or (row.forced_tool == "refused") != (rows[name].get("supports_forced_tool_use") is False)
        )
    ]

    assert wrong == []


def test_who_is_asked_over_the_messages_api() -> None:
    """Bare Claude names and `anthropic/…` are; a Claude behind another provider is not."""
    asked = [name for name in ("claude-opus-5", "anthropic/x", "openai/claude-opus-5", "gpt-5") if is_anthropic(name)]

    assert asked == ["claude-opus-5", "anthropic/x"]


def test_the_unknown_takes_nothing() -> None:
    """No parameter for thinking is offered where nothing is known."""
    assert capability_of("some-model-of-tomorrow") == NO_THINKING


def _map_of_litellm() -> dict[str, dict[str, object]]:
    """The cost map as the installed package ships it, read without importing litellm."""
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _kinds_of_litellm() -> dict[str, str]:
    kinds = {}
    for name, row in _map_of_litellm().items():
        if row.get("litellm_provider") != "anthropic" or not row.get("supports_reasoning"):
            continue
        kind = "adaptive" if row.get("supports_adaptive_thinking") else "budget"
        kinds[short_name(name)] = "always_on" if row.get("thinking_always_on") else kind
    return kinds
