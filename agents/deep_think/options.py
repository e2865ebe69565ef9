"""The options of the design: their defaults, and what a run makes of what it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.records.messages import Json

from .asking import PARAMETERS
from .graph import STAGES

OPTIONS: dict[str, tuple[Json, str]] = {
    "max_iterations": (30, "most rounds of verification"),
    "required_verifications": (3, "passes in a row that a solution needs"),
    "enable_planning": (False, "make a plan first, and show it to every solving stage"),
    "enable_parallel_check": (False, "ask for all required checks at once; all must pass"),
    "enable_self_improvement": (True, "let the first solution be improved before it is verified"),
    "max_errors": (10, "failed rounds in a row that end a run"),
    "max_parallel": (3, "most checks at once"),
    "verify_timeout_s": (60, "seconds until a check has failed"),
    "model_stages": ({}, f"the model of a stage in place of the default one; stages: {', '.join(STAGES)}"),
    "llm_params": ({}, "parameters of every call that the workflow's nodes leave open"),
    "adaptive": (False, "give easy questions fewer rounds"),
    "cache": (True, "reuse plan, first solution and improvement when the same is asked again in a session"),
    "max_tool_steps": (5, "most turns with tools in one stage"),
}
_LEAST = {
    "max_iterations": 1, "required_verifications": 1, "max_errors": 1, "max_parallel": 1, "max_tool_steps": 0,
    "verify_timeout_s": 0.001,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run, checked."""

    max_iterations: int
    required_verifications: int
    enable_planning: bool
    enable_parallel_check: bool
    enable_self_improvement: bool
    max_errors: int
    max_parallel: int
    verify_timeout_s: float
    model_stages: dict[str, str]
    llm_params: dict[str, Json]
    adaptive: bool
    cache: bool
    max_tool_steps: int

    @classmethod
    def of(cls, given: Mapping[str, Json]) -> Options:
        """
        Read *given* over the defaults.

        Raises:
            UsageError: A value is out of range, or names a stage or a parameter that does not exist (`bad-option`).
        """
        options: dict[str, Any] = {name: given.get(name, default) for name, (default, _) in OPTIONS.items()}
        for name, least in _LEAST.items():
            value = options[name]
            kind = (int, float) if name == "verify_timeout_s" else int
            if not isinstance(value, kind) or isinstance(value, bool) or value < least:
                raise _bad(f"`{name}` must be a number from {least:g} on, not {value!r}")
        _check_names("model_stages", options["model_stages"], STAGES)
        _check_names("llm_params", options["llm_params"], PARAMETERS)
        return cls(**options)


def _check_names(option: str, given: Mapping[str, Json], known: tuple[str, ...]) -> None:
    if not isinstance(given, Mapping):
        raise _bad(f"`{option}` must be a mapping, not {given!r}")
    for name in given:
        if name not in known:
            raise _bad(f"`{option}` knows no `{name}`; it knows: {', '.join(known)}")


def _bad(message: str) -> UsageError:
    return UsageError("bad-option", f"deep_think: {message}", hint="`harness explain deep_think` lists the options")
