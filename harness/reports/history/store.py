"""
The results store: runs that outlive their folders, in SQLite or PostgreSQL, by SQLAlchemy Core.

A run is put in whole or not at all. Putting it in again changes nothing, and in whatever order the states of a run are
put in (begun, cut off, finished), the furthest one stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from harness.errors import BadFileError, CouldNotCheckError
from harness.reports.history.address import Address, missing
from harness.reports.history.past import PastRun, PastTrial, State, past_trial

if TYPE_CHECKING:
    from sqlalchemy import Connection

FORMAT = 1
"""Of the tables; a store of another format is refused."""
_RANKS: dict[State, int] = {"unfinished": 0, "partial": 1, "whole": 1}
_COLUMNS = {"set": "golden_set", "case": "case_id"}
"""Columns that are not named as the field is, because SQL has those words."""
_CONNECT_S = 10
_BUSY_S = 30
_OTHERS = 4
"""Times that others may be ahead of us while all make the same tables."""
_encoder = msgspec.json.Encoder()


class HistoryStore:
    """
    An open store; a context manager that closes it.

    Raises:
        UsageError: SQLAlchemy, or the driver for PostgreSQL, is not installed.
        CouldNotCheckError: The store cannot be opened, read or written.
        BadFileError: It has a format that this version does not know.
    """

    def __init__(self, where: Address) -> None:
        self._where = where
        try:
            from harness.reports.history import tables
        except ModuleNotFoundError as error:
            raise missing(error.name or "sqlalchemy") from None
        self._tables = tables
        if where.file is not None:
            _make_room(where)
        with self._told():
            self._engine = tables.engine(where.url, connect_seconds=_CONNECT_S, busy_seconds=_BUSY_S)
            found = self._format()
        if found != FORMAT:
            self.close()
            raise BadFileError(
                "unknown-format",
                f"the results store has format {found}, and this version knows {FORMAT}",
                hint="update tapegate, or name another store; run folders can be taken into it again",
                at=where.shown,
            )

    def known(self) -> dict[str, tuple[State, int]]:
        """Each run that is in the store, with its state and how many trials it has."""
        runs = self._tables.runs
        with self._told(), self._engine.connect() as connection:
            rows = connection.execute(self._tables.select(runs.c.run, runs.c.state, runs.c.trials))
            return {run: (state, trials) for run, state, trials in rows}

    def put(self, run: PastRun) -> bool:
        """Put *run* into the store, unless it has it as far or further; whether it did."""
        with self._told():
            try:
                with self._engine.begin() as connection:
                    return self._put(connection, run)
            except self._tables.IntegrityError:  # another process has just put it in
                return False

    def load(self, *, states: Sequence[State] = ("whole",), last: int | None = None) -> tuple[PastRun, ...]:
        """
        The runs that are in one of *states*, oldest first, with their trials.

        Args:
            states: Which runs.
            last: Only so many, the newest.
        """
        runs, trials = self._tables.runs, self._tables.trials
        chosen = (
            self._tables.select(runs).where(runs.c.state.in_(states)).order_by(runs.c.began.desc(), runs.c.run.desc())
        )
        with self._told(), self._engine.connect() as connection:
            rows = list(connection.execute(chosen.limit(last)).mappings())
            names = [row["run"] for row in rows]
            found: dict[str, list[PastTrial]] = {name: [] for name in names}
            for row in connection.execute(self._tables.select(trials).where(trials.c.run.in_(names))).mappings():
                found[row["run"]].append(_trial(row, self._where.shown))
        return tuple(_run(row, found[row["run"]]) for row in reversed(rows))

    def close(self) -> None:
        """Close every connection; a second time does nothing."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _format(self) -> int:
        with self._engine.connect() as connection:
            for _ in range(_OTHERS):
                try:
                    with connection.begin():
                        return self._tables.prepare(connection, FORMAT)
                except (
                    self._tables.SQLAlchemyError
                ):  # another process may just have made the same table, or the same row
                    continue
            with connection.begin():
                return self._tables.prepare(connection, FORMAT)

    def _put(self, connection: Connection, run: PastRun) -> bool:
        runs, trials = self._tables.runs, self._tables.trials
        there = connection.execute(
            self._tables.select(runs.c.state, runs.c.trials).where(runs.c.run == run.run)
        ).first()
        if there is not None:
            if (_RANKS[there.state], there.trials) >= (_RANKS[run.state], len(run.trials)):
                return False
            connection.execute(self._tables.delete(trials).where(trials.c.run == run.run))
            connection.execute(self._tables.delete(runs).where(runs.c.run == run.run))
        connection.execute(
            self._tables.insert(runs).values(
                run=run.run, began=run.began, state=run.state, exit_code=run.exit_code, version=run.version,
                trials=len(run.trials),
            )
        )  # fmt: skip
        if run.trials:
            connection.execute(self._tables.insert(trials), [_row(run.run, trial) for trial in run.trials])
        return True

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the database as ours: with its own words, but never the address, which may hold a password."""
        try:
            yield
        except ModuleNotFoundError as error:
            raise missing(error.name or "psycopg") from None
        except self._tables.SQLAlchemyError as error:
            said = " ".join(str(getattr(error, "orig", None) or type(error).__name__).split())
            raise CouldNotCheckError(
                "history-store",
                f"the results store {self._where.shown} cannot be used: {_without_secret(said, self._where)}",
                hint=f"look at the {'file' if self._where.file else 'server'} and its rights; `harness history --no-store` "
                "reads the run folders alone",
            ) from None


def _make_room(where: Address) -> None:
    if where.file is None:
        return
    try:
        where.file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CouldNotCheckError(
            "history-store", f"the results store {where.shown} cannot be made: {error.strerror or error}",
            hint="name another with --store, or read the run folders alone with --no-store",
        ) from None  # fmt: skip


def _without_secret(said: str, where: Address) -> str:
    secret = str(getattr(where.url, "password", None) or "")
    return said.replace(secret, "***") if secret else said


def _row(run: str, trial: PastTrial) -> dict[str, Any]:
    told = {name: getattr(trial, name) for name in trial.__struct_fields__}
    return {_COLUMNS.get(name, name): value for name, value in told.items()} | {
        "run": run, "broken": _encoder.encode(trial.broken).decode(), "lock": _encoder.encode(trial.lock).decode(),
    }  # fmt: skip


def _trial(row: Any, where: str) -> PastTrial:
    told = {name: row[_COLUMNS.get(name, name)] for name in PastTrial.__struct_fields__}
    try:
        told["broken"], told["lock"] = msgspec.json.decode(told["broken"]), msgspec.json.decode(told["lock"])
    except msgspec.DecodeError as error:
        raise BadFileError("bad-run", f"a trial that cannot be: {error}", at=where) from None
    return past_trial(told, at=where)


def _run(row: Any, trials: Sequence[PastTrial]) -> PastRun:
    return PastRun(
        run=row["run"], began=row["began"], state=row["state"], exit_code=row["exit_code"], version=row["version"],
        trials=tuple(sorted(trials, key=lambda trial: trial.place)),
    )  # fmt: skip
