"""Who answers a recording: a script, a server of one's own or a provider, and what proves it afterwards."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import urlsplit

from harness.cassettes.file import AnsweredBy, ModelProof, Provenance
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.config import ModelConfig
from harness.errors import HarnessError, UsageError
from harness.matrix import PlannedCell
from harness.models.route import Embedder
from harness.models.scripted.script import load_script
from harness.models.scripted.server import ScriptedServer
from harness.models.scripted.session import RECORDED_ORIGIN, ScriptSession
from harness.records.messages import Json
from harness.trials import SCRIPTED, Project, script_path

CONNECT_SECONDS = 5.0
PACKAGES = ("tapegate", "litellm", "openai", "httpx")


@dataclass(slots=True)
class Source:
    """Who answers a recording: where, as what, and under which address it is written down."""

    base_url: str | None
    answered_by: AnsweredBy
    model: ModelConfig | None = None
    session: ScriptSession | None = None
    embedders: Mapping[str, Embedder] = field(default_factory=dict)
    """Embedding models with a server of their own, whoever answers the chats."""

    @property
    def rewrite(self) -> dict[str, str]:
        """Real addresses to recorded ones."""
        return {self.session.origin: RECORDED_ORIGIN} if self.session else {}

    def close(self) -> None:
        """
        Hold a scripted run against its script.

        Raises:
            HarnessError: An expectation was not met, a call was not in the script, or a step was not used.
        """
        if self.session is not None:
            self.session.close()


def answered_by(project: Project, model: str) -> AnsweredBy:
    declared = project.model(model)
    return "scripted" if model == SCRIPTED else declared.answered_by if declared else "live"


def check_source(project: Project, planned: PlannedCell, base_url: str | None, *, asks: bool = True) -> None:
    """
    Find mistakes before anything is asked; where nobody *asks*, the model's server need not be there.

    Raises:
        UsageError: The model is not declared, or the script is missing or wrong.
    """
    name = planned.cell.model
    declared = project.model(name)
    if name == SCRIPTED:
        if base_url is not None:
            raise UsageError(
                "bad-arguments",
                f"--base-url does not go with the model `{SCRIPTED}`",
                hint="leave it out: a script is served by the command itself",
            )
        load_script(script_path(project, planned.cell))
    elif declared is None and base_url is not None:
        raise UsageError(
            "undeclared-model",
            f"`{name}` at {base_url} is not declared, so nothing would prove who answered",
            hint=f'declare it in pyproject.toml: [tool.harness.models."{name}"] with answered_by, sha256 and server',
        )
    else:
        if declared is not None and declared.answered_by == "local":
            _check_proof(name, declared)
        where = base_url or (declared.base_url if declared else None)
        if where and asks:
            check_server(where)


def _check_proof(name: str, declared: ModelConfig) -> None:
    """
    Make sure that a local recording will prove who answered.

    Raises:
        UsageError: The declaration lacks something of the proof.
    """
    there = {"sha256": declared.sha256, "server": declared.server, "sampling.seed": declared.sampling.get("seed")}
    lacking = [key for key, value in there.items() if value in (None, "")]
    if lacking:
        raise UsageError(
            "unproven-model",
            f"the declaration of `{name}` lacks {', '.join(lacking)}, so its recordings would not prove who answered",
            hint=f'complete [tool.harness.models."{name}"] in pyproject.toml',
        )


@cache
def check_server(base_url: str) -> None:
    """
    Make sure that somebody listens: else each trial would record that nobody answered.

    Raises:
        UsageError: Nobody does.
    """
    address = urlsplit(base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise UsageError(
            "no-server",
            f"nothing answers at {base_url}: {error.strerror or error}",
            hint="start the model's server, or give its address with --base-url",
        ) from None


@contextmanager
def open_source(
    project: Project, planned: PlannedCell, base_url: str | None, server: ScriptedServer
) -> Iterator[Source]:
    name = planned.cell.model
    if name == SCRIPTED:
        session = server.open(load_script(script_path(project, planned.cell)))
        try:
            yield Source(session.openai_base_url, "scripted", session=session, embedders=embedders(project))
        finally:
            with suppress(HarnessError):  # a run that was cut off is refused for that
                session.close()
        return
    declared = project.model(name)
    where = base_url or (declared.base_url if declared else None)
    yield Source(where, answered_by(project, name), model=declared, embedders=embedders(project))


def embedders(project: Project) -> dict[str, Embedder]:
    """Where embedding calls go that name a model with an address of its own; they never go to a script."""
    return {
        name: Embedder(base_url=model.base_url, answered_by=model.answered_by, ask_for=model.ask_for or name)
        for name, model in project.config.models.items()
        if model.base_url
    }


def provenance_of(project: Project, planned: PlannedCell, source: Source) -> Provenance:
    """What a recording of *planned* says of who answers."""
    code = project.agent(planned.cell.agent).digest
    return provenance_for(project, source, code=code, sampling=project.sampling(planned))


def provenance_for(project: Project, source: Source, *, code: str, sampling: Mapping[str, Json]) -> Provenance:
    """What a recording says of who answers; *code* is the digest of what asks, *sampling* how the model draws."""
    declared = source.model
    return Provenance(
        answered_by=source.answered_by,
        recorded=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        code=code,
        versions=_versions(),
        server=(declared.server or "") if declared else "",
        model_sha256=(declared.sha256 or "") if declared else "",
        sampling={name: value for name, value in sampling.items() if name != "seed"},
        seed=sampling.get("seed"),
        embedders={
            embedder.ask_for: ModelProof(
                model_sha256=project.config.models[name].sha256 or "", server=project.config.models[name].server or ""
            )
            for name, embedder in source.embedders.items()
        },
    )


def old_player(project: Project, source: Source, recorder: Recorder) -> Player | None:
    """The old cassette, whose matching calls are kept; a script is free and must be followed to its end, so not there."""
    if source.session is not None:
        return None
    with suppress(HarnessError):
        cassette = project.cassette(recorder.path)
        same_embedders = cassette.provenance.embedders.items() <= recorder.provenance.embedders.items()
        if cassette.provenance.answered_by == source.answered_by and same_embedders:
            return Player(cassette)
    return None


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
