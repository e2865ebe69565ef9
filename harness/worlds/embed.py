"""
Ask a real embedding model for the vectors of a world's texts and write them beside it, with what proves who answered.

    python -m harness.worlds.embed newsroom [--base-url http://127.0.0.1:8556/v1]

The model is the one that `settings.corpus` of `world.yaml` names and `[tool.harness.models]` of pyproject.toml declares.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from harness.config import Config, ModelConfig, load_config
from harness.errors import BadFileError, CouldNotCheckError, HarnessError, UsageError
from harness.models.litellm_client import close_clients
from harness.models.live import LivePort
from harness.models.port import CallInfo
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest
from harness.worlds.vectors import DECIMALS, FILE, VECTORS_FORMAT, Corpus, Vectors
from harness.worlds.world import WorldTemplate, find_world

BATCH = 16
"""Texts of one request."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m harness.worlds.embed", description="embed the texts of a world")
    parser.add_argument("world")
    parser.add_argument("--base-url", help="the embedding server, in place of the declared one")
    asked = parser.parse_args(arguments)
    try:
        path, vectors = embed_world(load_config(Path.cwd()), asked.world, base_url=asked.base_url)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{len(vectors.vectors)} vectors of {vectors.dimension} numbers: {path}\n")
    return 0


def embed_world(config: Config, name: str, *, base_url: str | None = None) -> tuple[Path, Vectors]:
    """
    Write `embeddings.json` of the world *name*.

    Raises:
        UsageError: The world states no corpus, or its model is not declared with all that proves who answers.
        CouldNotCheckError: The model does not answer.
    """
    template = find_world(config.goldensets, name)
    corpus, texts = texts_of(template)
    declared = _declared(config, corpus.model)
    found = asyncio.run(_asked(LivePort(base_url or declared.base_url), declared.ask_for or corpus.model, texts))
    vectors = Vectors(
        format=VECTORS_FORMAT, model=corpus.model, model_sha256=declared.sha256 or "", server=declared.server or "",
        prefix=corpus.prefix, recorded=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), dimension=len(found[0]),
        texts={key: digest(text) for key, text in texts.items()},
        vectors={key: tuple(round(x, DECIMALS) for x in vector) for key, vector in zip(texts, found, strict=True)},
    )  # fmt: skip
    path = _folder(template) / FILE
    path.write_bytes(encoded(vectors))
    return path, vectors


async def _asked(port: LivePort, model: str, texts: Mapping[str, str]) -> list[tuple[float, ...]]:
    found: list[tuple[float, ...]] = []
    ordered = list(texts.values())
    try:
        for start in range(0, len(ordered), BATCH):
            request = EmbeddingRequest(model, tuple(ordered[start : start + BATCH]))
            found += (await port.embed(request, CallInfo(number=1, ask="", purpose="embed"))).reply.vectors
    except ModelError as error:
        raise CouldNotCheckError(
            "no-answer", f"`{model}` does not answer: {error}", hint="start the model's server"
        ) from None
    finally:
        await close_clients()
    return found


def texts_of(template: WorldTemplate) -> tuple[Corpus, dict[str, str]]:
    """
    The corpus that *template* states, and the text of each of its rows with its prefix, by the row's key.

    Raises:
        BadFileError: It states none, or not as one should.
    """
    at = str(_folder(template) / "world.yaml")
    try:
        corpus = msgspec.convert(template.settings.get("corpus"), Corpus)
        rows: Mapping[object, dict[str, object]] = template.dump[corpus.table]
        texts = {str(key): corpus.prefix + corpus.text.format_map(row) for key, row in rows.items()}
    except (msgspec.ValidationError, KeyError, ValueError) as error:
        raise BadFileError(
            "bad-world",
            f"`settings.corpus` does not say what to embed: {error}",
            hint='such as {table: articles, text: "{title}. {text}", prefix: "passage: ", model: NAME}',
            at=at,
        ) from None
    return corpus, texts


def encoded(vectors: Vectors) -> bytes:
    """*vectors* as JSON with one vector a line, so that a changed text is a changed line."""
    head = {name: getattr(vectors, name) for name in Vectors.__struct_fields__ if name not in {"texts", "vectors"}}
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in head.items()]
    for name in ("texts", "vectors"):
        rows = [f"    {_json(key)}: {_json(value)}" for key, value in getattr(vectors, name).items()]
        lines.append(f'  "{name}": {{\n' + ",\n".join(rows) + "\n  }")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _folder(template: WorldTemplate) -> Path:
    if template.folder is None:
        raise UsageError("bad-world", "the empty world has no texts")
    return template.folder


def _declared(config: Config, model: str) -> ModelConfig:
    declared = config.models.get(model)
    if declared is None or not (declared.sha256 and declared.server and declared.base_url):
        raise UsageError(
            "unproven-model",
            f"nothing would prove that vectors came from `{model}`",
            hint=f'declare it in pyproject.toml: [tool.harness.models."{model}"] with base_url, sha256 and server',
        )
    return declared


if __name__ == "__main__":
    sys.exit(main())
