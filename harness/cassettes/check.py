"""
Holds every cassette of a project to what it claims: who answered, that it is whole, that it belongs to a case.

A provenance is a claim that must be proven by the file itself: `local` names the model's file and the server, `live`
the model that the provider says answered, and neither may have been talking to a scripted address.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from harness.cassettes.file import AnsweredBy, Cassette, Interaction, ModelProof, dump, parse, read_bytes
from harness.cassettes.paths import cassette_path
from harness.cassettes.recorder import asked_model, models_of
from harness.errors import CassetteError
from harness.records.run import Cell

LARGEST_BYTES = 2 * 1024 * 1024
"""A larger file is no longer reviewed by anybody; twenty calls of one growing conversation come to half of it."""
SCRIPTED_HOST = "scripted.invalid"
UNSENT_HOST = "unsent.invalid"
"""Where calls went that the client library refused before sending."""
SCRIPTED_MODEL = "scripted"
_LEFT_ALONE = (".partial", ".journal")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PROVIDERS = (
    "openai.com", "anthropic.com", "googleapis.com", "azure.com", "amazonaws.com", "mistral.ai", "groq.com", "x.ai",
    "deepseek.com", "openrouter.ai", "together.xyz", "together.ai", "fireworks.ai", "cohere.com", "cohere.ai",
    "huggingface.co", "perplexity.ai", "cerebras.ai",
)  # fmt: skip
"""Domains of which it is known that no local model answers there."""
_SHA256 = re.compile(r"(sha256:)?[0-9a-f]{64}")
_RECORD = "record the case again with `harness record --mode all`"


class Problem(msgspec.Struct, frozen=True):
    """Something that must be mended: *path* relative to the project, *fix* what to do about it."""

    path: str
    code: str
    because: str
    fix: str


class Checked(msgspec.Struct, frozen=True):
    """The outcome of a check: how many files were read, and what is wrong."""

    files: int
    problems: tuple[Problem, ...]


def check(root: Path, *, cells: Collection[Cell] | None = None) -> Checked:
    """
    Check all cassettes below *root*, the project's cassettes folder.

    Args:
        root: The folder; its parent is what paths are shown relative to.
        cells: Every cell of the matrix. Where given, files of no cell and cells without a file are problems.
    """
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.name.endswith(_LEFT_ALONE))
    problems = [problem for path in files for problem in _check_file(path, root)]
    if cells is not None:
        problems += _check_cells(files, root, cells)
    return Checked(len(files), tuple(sorted(problems, key=lambda problem: (problem.path, problem.code))))


def proof_problems(cassette: Cassette) -> Iterator[tuple[str, str, str]]:
    """What *cassette* fails to prove of its provenance, as code, because and fix."""
    provenance = cassette.provenance
    proofs = {"local": _prove_local, "live": _prove_live, "scripted": _prove_scripted}[provenance.answered_by]
    for missing in proofs(cassette):
        yield "provenance-unproven", f"says `{provenance.answered_by}`, {missing}", _RECORD
    for missing in _prove_embedders(cassette):
        yield "provenance-unproven", missing, _RECORD
    for item in cassette.interactions:
        if item.kind == "embedding" and item.answered_by != provenance.embeddings_by:
            kinds = f"call {item.call} was answered by {item.answered_by}, the file says {provenance.embeddings_by}"
            yield "mixed-provenance", kinds, _RECORD
        yield from _wrong_address(item)


def _check_file(path: Path, root: Path) -> Iterator[Problem]:
    shown = path.relative_to(root.parent).as_posix()
    if path.suffix != ".yaml":
        if path.name not in ("README.md", ".gitattributes", ".gitignore"):
            yield Problem(shown, "cassette-stray", "this file is no cassette", "remove it from the cassettes folder")
        return
    try:
        content = read_bytes(path)
        cassette = parse(content, str(path))
    except CassetteError as error:
        yield Problem(shown, error.code, error.message, error.hint)
        return
    if len(content) > LARGEST_BYTES:
        size = f"{len(content):,} bytes, more than {LARGEST_BYTES:,}"
        yield Problem(shown, "cassette-large", size, "ask for less in one trial, or split the case")
    checks = (proof_problems(cassette), _form(cassette, content), _whole(cassette), _model_folder(cassette, path, root))
    for code, because, fix in chain.from_iterable(checks):
        yield Problem(shown, code, because, fix)


def _form(cassette: Cassette, content: bytes) -> Iterator[tuple[str, str, str]]:
    if dump(cassette) != content:
        yield "cassette-form", "was written by something else than the recorder, or edited", "restore the file from git"


def _whole(cassette: Cassette) -> Iterator[tuple[str, str, str]]:
    if not cassette.provenance.responses:
        yield "provenance-unproven", "does not give the digest of its responses", _RECORD
    if not cassette.provenance.recorded:
        yield "provenance-unproven", "does not say when it was recorded", _RECORD
    for item in cassette.interactions:
        if not item.complete and item.error is None:
            yield "cassette-incomplete", f"the response of call {item.call} was not seen to its end", _RECORD


def _model_folder(cassette: Cassette, path: Path, root: Path) -> Iterator[tuple[str, str, str]]:
    """A path `<agent>/scripted/…` promises a scripted model, and only that path does."""
    parts = path.relative_to(root).parts
    if len(parts) == 4 and (parts[1] == SCRIPTED_MODEL) != (cassette.provenance.answered_by == "scripted"):
        answered = cassette.provenance.answered_by
        yield "provenance-mislaid", f"lies under model `{parts[1]}`, and was answered by {answered}", _RECORD


def _prove_local(cassette: Cassette) -> Iterator[str]:
    provenance = cassette.provenance
    if not _SHA256.fullmatch(provenance.model_sha256):
        yield "and does not give the sha256 of the model's file"
    if not provenance.server:
        yield "and names no server"
    if cassette.interactions and all(item.kind == "embedding" for item in cassette.interactions):
        return  # an embedding model draws nothing
    if not provenance.sampling:
        yield "and gives no sampling parameters"
    if provenance.seed is None:
        yield "and gives no seed"


def _prove_live(cassette: Cassette) -> Iterator[str]:
    answered = [item for item in cassette.interactions if item.kind == "chat" and item.status < 400]
    if any(not models_of([item]) for item in answered):
        yield "and a response does not name the model that answered"
    elif not set(models_of(answered)) <= set(cassette.provenance.models):
        yield "and its `models` are not those that the responses name"


def _prove_scripted(cassette: Cassette) -> Iterator[str]:
    for item in cassette.interactions:
        by_script = item.kind == "chat" or (item.kind == "embedding" and item.answered_by == "scripted")
        if by_script and _host(item) not in (SCRIPTED_HOST, UNSENT_HOST):
            yield f"and call {item.call} went to {_host(item)}"


def _prove_embedders(cassette: Cassette) -> Iterator[str]:
    """A local embedding model proves itself as a chat model does; it draws nothing, so it needs no sampling and no seed."""
    asked = {
        asked_model(item.request_body)
        for item in cassette.interactions
        if item.kind == "embedding" and item.answered_by == "local"
    }
    for name in sorted(asked):
        proof = cassette.provenance.embedders.get(name, ModelProof())
        if not _SHA256.fullmatch(proof.model_sha256):
            yield f"embeds with `{name}`, and does not give the sha256 of the model's file"
        if not proof.server:
            yield f"embeds with `{name}`, and names no server"


def _wrong_address(item: Interaction) -> Iterator[tuple[str, str, str]]:
    """An address that cannot belong to who is said to have answered."""
    host = _host(item)
    wrong: dict[AnsweredBy, bool] = {
        "live": host in {SCRIPTED_HOST, *_LOOPBACK}, "local": host == SCRIPTED_HOST or _is_public(host),
    }  # fmt: skip
    if item.kind != "tool" and wrong.get(item.answered_by, False):
        because = f"call {item.call} is said to be {item.answered_by}, and went to {_host(item)}"
        yield "provenance-false", because, _RECORD


def _host(item: Interaction) -> str:
    return urlsplit(item.uri).hostname or ""


def _is_public(host: str) -> bool:
    """Whether *host* is on the internet, where no model is a local one: by its address, or as a provider's."""
    try:
        return ip_address(host).is_global
    except ValueError:
        return any(f".{host}".endswith(f".{domain}") for domain in _PROVIDERS)


def _check_cells(files: Collection[Path], root: Path, cells: Collection[Cell]) -> Iterator[Problem]:
    wanted = {cassette_path(root, cell) for cell in cells}
    found = {path for path in files if path.suffix == ".yaml"}
    for path in found - wanted:
        shown = path.relative_to(root.parent).as_posix()
        yield Problem(shown, "cassette-orphan", "no case of the matrix needs this cassette", "delete the file")
    for path in wanted - found:
        shown = path.relative_to(root.parent).as_posix()
        yield Problem(shown, "cassette-missing", "a case of the matrix has no cassette", "run `harness record`")
