"""litellm is imported once, quiet, and only where it is needed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.errors import UsageError
from harness.models import litellm_setup
from harness.models.litellm_setup import SWITCHES, litellm_version, load_litellm


def test_nothing_heavy_is_imported_on_the_replay_path() -> None:
    """The fast port comes without litellm, HTTP clients, pydantic and the YAML reader."""
    heavy = ("litellm", "openai", "httpx", "aiohttp", "pydantic", "vcr", "yaml", "jsonschema")
    code = f"import sys, harness.models.fast; print([m for m in {heavy!r} if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed == "[]\n"


def test_switches_are_set_and_requests_left_alone() -> None:
    """After the import no price map is fetched, no parameter dropped and nothing retried, whatever the environment said."""
    litellm = load_litellm()

    assert {name: os.environ.get(name) for name in SWITCHES} == SWITCHES
    assert (litellm.drop_params, litellm.modify_params, litellm.num_retries, litellm.cache) == (
        False,
        False,
        None,
        None,
    )


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `mcp`, calls with tools would fail deep inside litellm; it is asked for up front."""
    monkeypatch.setattr(litellm_setup, "find_spec", lambda name: None if name == "mcp" else object())

    with pytest.raises(UsageError) as refused:
        load_litellm.__wrapped__()

    assert str(refused.value) == (
        "error[no-litellm]: the package `mcp`, which is needed by litellm for calls with tools, is not installed\n\n"
        'hint: install it with `pip install "tapegate[record]"`'
    )


def test_the_version_is_known_without_the_import() -> None:
    """Provenance names the version that was installed."""
    assert litellm_version().count(".") == 2
