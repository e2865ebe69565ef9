"""
Writes a cassette: each interaction goes to a journal at once, and the file appears whole at the end or not at all.

Until then the old cassette stays where it is. What an interrupted recording leaves is a `.partial`, which is never
replayed, or (when the process was killed) the journal, which the next recording turns into one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import IO

import msgspec

from harness.cassettes.file import Cassette, Interaction, Provenance, UsageTotals, dump, make_cassette
from harness.cassettes.redact import Scrubber
from harness.errors import CassetteError, HarnessError

_MODEL = re.compile(r'"model"\s*:\s*"((?:[^"\\]|\\.)*)"')
_struct = msgspec.structs


class Recorder:
    """
    Records one trial into the cassette at *path*; safe to use from several tasks and threads.

    Args:
        path: Where the cassette will stand.
        provenance: Who answers. Models, completeness and totals are filled in at the end.
        scrub: Removes secrets from everything before it is written.

    Raises:
        CassetteError: `cassette-busy`: another process records this cassette.
    """

    def __init__(self, path: Path, provenance: Provenance, *, scrub: Scrubber) -> None:
        self.path = path
        self.provenance = provenance
        self.scrubber = scrub
        self._interactions: list[Interaction] = []
        self._unsettled: dict[int, Callable[[], None]] = {}
        self._failure: HarnessError | None = None
        self._lock = Lock()
        self._numbers = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._journal_path = path.with_name(path.name + ".journal")
        self._journal = _open_journal(self._journal_path)
        _recover(self._journal, self._partial_path)
        self._append(provenance)

    def number(self) -> int:
        """The next call number, for a client that does not count its calls itself."""
        with self._lock:
            self._numbers += 1
            return self._numbers

    def latest(self) -> int:
        """The highest call number so far, at least 1: where a tool call belongs that happens now."""
        with self._lock:
            return max((item.call for item in self._interactions), default=1)

    def unanswered(self) -> str:
        """Why no response came to any call, if there were calls and none did; else empty."""
        with self._lock:
            asked = [item for item in self._interactions if item.kind != "tool"]
            return asked[0].error or "" if asked and all(item.error for item in asked) else ""

    def unreached(self) -> str:
        """Why an embedding call found no server, if one did; else empty."""
        with self._lock:
            tried = [item.error or "" for item in self._interactions if item.kind == "embedding"]
            return next((error for error in tried if error.startswith("ConnectError")), "")

    def add(self, interaction: Interaction) -> None:
        """
        Keep *interaction*, scrubbed, in the journal.

        Raises:
            SecretError: A secret could not be removed. The recording is spoilt; `finish` raises it again.
            CassetteError: `mixed-provenance`: a chat call was answered by another kind than the cassette says.
        """
        try:
            scrubbed = self._scrubbed(interaction)
            if interaction.kind == "chat" and interaction.answered_by != self.provenance.answered_by:
                raise CassetteError(
                    "mixed-provenance",
                    f"call {interaction.call} was answered by {interaction.answered_by},"
                    f" the cassette is {self.provenance.answered_by}",
                    hint="record the whole trial again with `--mode all`",
                    at=str(self.path),
                )
        except HarnessError as failure:
            self.fail(failure)
            raise
        with self._lock:
            if self._journal.closed:
                raise CassetteError("recording-ended", "a model call ended after its trial", at=str(self.path))
            self._interactions.append(scrubbed)
            self._append(scrubbed)

    def fail(self, failure: HarnessError) -> None:
        """Remember why nothing may be written; a client's own error handling cannot hide it."""
        self._failure = self._failure or failure

    def watch(self, key: object, settle: Callable[[], None]) -> None:
        """Remember a response that is still being read; `finish` and `abandon` settle it."""
        self._unsettled[id(key)] = settle

    def settled(self, key: object) -> None:
        """Forget a response that was watched."""
        self._unsettled.pop(id(key), None)

    def finish(self, *, complete: bool = True, usage: UsageTotals | None = None) -> Cassette:
        """
        Write the cassette in place of the old one and remove the journal; *usage* are its totals.

        Raises:
            HarnessError: Something made the recording unfit; nothing was written, the old cassette stands.
        """
        self._settle()
        if self._failure is not None:
            self.discard()
            raise self._failure
        cassette = self._whole(complete=complete, usage=usage)
        content = dump(cassette)
        try:
            self.scrubber.refuse(content.decode(), what=str(self.path))
        except HarnessError:
            self.discard()
            raise
        write_whole(self.path if complete else self._partial_path, content)
        self.discard()
        if complete:
            self._partial_path.unlink(missing_ok=True)
        return cassette

    def abandon(self) -> Path | None:
        """Stop for good: keep what there is as `.partial` (None where it may not be written), the old cassette as it is."""
        try:
            self.finish(complete=False)
        except HarnessError:
            return None
        return self._partial_path

    def discard(self) -> None:
        """Drop the journal; idempotent."""
        if not self._journal.closed:
            self._journal_path.unlink(missing_ok=True)
            self._journal.close()

    @property
    def _partial_path(self) -> Path:
        return self.path.with_name(self.path.name + ".partial")

    def _settle(self) -> None:
        for settle in list(self._unsettled.values()):
            settle()

    def _append(self, record: Interaction | Provenance) -> None:
        self._journal.write(msgspec.json.encode(record) + b"\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())

    def _whole(self, *, complete: bool, usage: UsageTotals | None) -> Cassette:
        """What was recorded, with the provenance that follows from it."""
        made = make_cassette(self.provenance, self._interactions, path=str(self.path))
        embeddings = {item.answered_by for item in made.interactions if item.kind == "embedding"}
        embedders = {asked_model(item.request_body) for item in made.interactions if item.kind == "embedding"}
        provenance = _struct.replace(
            self.provenance,
            complete=complete,
            responses=made.digest,
            models=models_of(made.interactions) or self.provenance.models,
            embeddings_by=min(embeddings) if embeddings else self.provenance.embeddings_by,
            embedders={name: proof for name, proof in self.provenance.embedders.items() if name in embedders},
            usage=usage or self.provenance.usage,
        )
        return _struct.replace(made, provenance=provenance)

    def _scrubbed(self, item: Interaction) -> Interaction:
        scrub = self.scrubber.scrub
        clean = _struct.replace(
            item,
            uri=scrub(item.uri),
            error=scrub(item.error) if item.error else item.error,
            request_headers=_scrubbed_headers(item.request_headers, scrub),
            request_body=scrub(item.request_body),
            response_headers=_scrubbed_headers(item.response_headers, scrub),
            response_body=scrub(item.response_body),
        )
        self.scrubber.refuse(clean.response_body, what=f"the response of call {item.call}")
        return clean


def asked_model(request_body: str) -> str:
    """The model that a request names; empty where it names none."""
    match = _MODEL.search(request_body)
    return match.group(1) if match else ""


def models_of(interactions: Iterable[Interaction]) -> tuple[str, ...]:
    """The models that chat responses name, each once, in order."""
    found: dict[str, None] = {}
    for item in interactions:
        match = _MODEL.search(item.response_body) if item.kind == "chat" else None
        if match:
            found[match.group(1)] = None
    return tuple(found)


def read_journal(content: bytes) -> Cassette | None:
    """What a journal holds, up to the first line that was cut; None where not even its provenance is whole."""
    lines = content.split(b"\n")[:-1]
    try:
        provenance = msgspec.json.decode(lines[0], type=Provenance)
    except (IndexError, msgspec.MsgspecError):
        return None
    interactions = []
    for line in lines[1:]:
        try:
            interactions.append(msgspec.json.decode(line, type=Interaction))
        except msgspec.MsgspecError:
            break
    return make_cassette(_struct.replace(provenance, complete=False), interactions)


def _recover(journal: IO[bytes], partial: Path) -> None:
    """Turn the journal of a killed recording into a `.partial`, and empty it."""
    journal.seek(0)
    left = read_journal(journal.read())
    if left is not None and left.interactions:
        write_whole(partial, dump(left))
    journal.seek(0)
    journal.truncate()


def _open_journal(path: Path) -> IO[bytes]:
    journal = path.open("a+b")
    try:
        import fcntl

        fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows: two recordings of one cassette are then the user's to avoid
        pass
    except OSError:
        journal.close()
        raise CassetteError(
            "cassette-busy", "another process is recording this cassette", hint="wait for it to end", at=str(path)
        ) from None
    return journal


def write_whole(path: Path, content: bytes) -> None:
    """Put *content* at *path* in one step, on disk before the name changes."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _scrubbed_headers(headers: dict[str, list[str]], scrub: Callable[[str], str]) -> dict[str, list[str]]:
    return {name: [scrub(value) for value in values] for name, values in headers.items()}
