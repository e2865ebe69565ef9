"""Whether a stored run still speaks of the files that are there now."""

from __future__ import annotations

from collections.abc import Iterator

from harness.config import Config
from harness.errors import CassetteError, CouldNotCheckError, UsageError
from harness.records.run import RunRecord


def refuse_stale(config: Config, record: RunRecord) -> None:
    """
    Refuse a run whose golden sets, agents or cassettes have changed since, or that does not name them.

    Raises:
        CouldNotCheckError: One has, or nothing tells.
        BadFileError: A golden set that the run used cannot be read any more.
    """
    if not (isinstance(record.manifest.get("agents"), dict) and isinstance(record.manifest.get("golden_sets"), dict)):
        raise CouldNotCheckError(
            "stale-run",
            f"run `{record.run}` does not say which agents and golden sets it was made with",
            hint="`harness run` makes a new one",
        )
    changed = list(dict.fromkeys(_changed(config, record)))
    if changed:
        shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise CouldNotCheckError(
            "stale-run",
            f"run `{record.run}` was made before these changed: {shown}",
            hint="`harness run` makes a new one",
        )


def _changed(config: Config, record: RunRecord) -> Iterator[str]:
    from harness.agents.load import load_agent
    from harness.goldensets.load import load_set

    for name, digest in record.manifest.get("golden_sets", {}).items():
        path = config.goldensets / f"{name}.yaml"
        if not path.is_file() or load_set(path, root=config.root).digest != digest:
            yield f"golden set `{name}`"
    for name, digests in record.manifest.get("agents", {}).items():
        try:
            found = load_agent(config.agents, name).digest
        except UsageError:
            found = ""
        if found != digests["code"]:
            yield f"agent `{name}`"
    yield from _changed_locks(config, record)
    yield from _changed_cassettes(config, record)


def _changed_locks(config: Config, record: RunRecord) -> Iterator[str]:
    """
    Whatever verdicts follow from beyond the text of golden sets and agents: the matrix, images, worlds, declared models,
    own contracts, and every byte of what models and judges were recorded to say.
    """
    from harness.gate.cause import own_part
    from harness.locks import Locks
    from harness.matrix import matrix_digest
    from harness.trials import Project

    if record.manifest.get("matrix", matrix_digest(config)) != matrix_digest(config):
        yield "the matrix"
    project = Project(config)
    locks = Locks(project)
    for verdict in record.results:
        if not (config.goldensets / f"{verdict.set}.yaml").is_file():
            continue
        case = next((case for case in project.golden_set(verdict.set).cases if case.id == verdict.case), None)
        if case is None:
            continue
        try:
            now = locks.before(verdict.cell, case)
        except UsageError:
            continue  # the agent or the golden set is named as changed already
        # not `code`: an agent may write beside its own, and what of it is Python was compared already
        stated = {
            "golden": f"golden set `{verdict.set}`", "world": "a world", "model": f"model `{verdict.model}`",
            "contracts": "the contracts",
        }  # fmt: skip
        for name, what in stated.items():
            if getattr(verdict.lock, name) not in {"", getattr(now, name)}:
                yield what
        then = verdict.lock.cassette
        if then and own_part(then) != own_part(now.cassette):
            yield f"`{verdict.cassette}`"
        elif then and then != now.cassette:
            yield f"what judges said of {verdict.set}/{verdict.case}"


def _changed_cassettes(config: Config, record: RunRecord) -> Iterator[str]:
    from harness.cassettes.pack import Pack

    pack = Pack(config.root / ".cache" / "replay.sqlite")
    try:
        for verdict in record.results:
            if not verdict.cassette_digest:
                continue
            try:
                found = pack.load(config.root / verdict.cassette).digest
            except CassetteError:
                found = ""
            if found != verdict.cassette_digest:
                yield f"`{verdict.cassette}`"
    finally:
        pack.close()
