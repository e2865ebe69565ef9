"""
The one place that imports litellm, with everything switched off that would reach the network or rewrite a request.

litellm fetches its price map, a list of beta headers and blog posts from GitHub, and tokenizers from Hugging Face; each
has its own switch, and each is read at import. Nothing on the replay path comes here.
"""

from __future__ import annotations

import logging
import os
import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

from harness.errors import UsageError

SWITCHES = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_RUST": "0",
    "HF_HUB_OFFLINE": "1",
}
"""Set before the import, whatever the environment says: prices of the day would change reports."""


@cache
def load_litellm() -> Any:
    """
    Import litellm once, quiet and without side traffic.

    Raises:
        UsageError: It is not installed, or lacks `mcp`, without which its calls with tools fail (code `no-litellm`).
    """
    for name, why in (("litellm", "talks to models"), ("mcp", "is needed by litellm for calls with tools")):
        if find_spec(name) is None:
            raise UsageError(
                "no-litellm",
                f"the package `{name}`, which {why}, is not installed",
                hint='install it with `pip install "tapegate[record]"`',
            )
    os.environ.update(SWITCHES)
    litellm = _import_quietly()
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.num_retries = None
    litellm.cache = None
    # else it estimates what the provider did not report, and numbers nobody sent would enter the trace
    litellm.disable_token_counter = True
    return litellm


def _import_quietly() -> Any:
    """
    Import litellm and have it build the classes of its answers, without the warnings of pydantic about them.

    They are built when first used; where warnings are errors, that would break the first answer.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
        from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

        piece = ModelResponseStream(choices=[StreamingChoices(delta=Delta(content="."))])
        litellm.stream_chunk_builder([piece])
        litellm.EmbeddingResponse()
    return litellm


def litellm_version() -> str:
    """The version of the installed litellm, without importing it; empty where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("litellm")
    except PackageNotFoundError:
        return ""
