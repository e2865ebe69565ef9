"""Whether the environment holds the key that a provider wants: asked before anything is sent, so that nobody waits for a refusal."""

from __future__ import annotations

from harness.errors import UsageError
from harness.models.litellm_setup import load_litellm
from harness.models.route import route_of


def check_key(model: str) -> None:
    """
    Make sure that *model*'s provider can be asked.

    Raises:
        UsageError: A variable with its key is not set; the hint names it. Providers that sign in by other means, and
            models that litellm does not know, are let through.
    """
    missing = load_litellm().validate_environment(model=route_of(model).model)["missing_keys"]
    keys = [name for name in missing if name.endswith("_API_KEY")]
    if keys:
        raise UsageError(
            "no-key",
            f"the provider of `{model}` wants a key, and {' or '.join(keys)} is not set",
            hint=f"export {keys[-1]}=…, or name a server of your own with --base-url",
        )
