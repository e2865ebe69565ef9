"""The results store keeps what it is given, once, in SQLite and in PostgreSQL alike."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError, CouldNotCheckError, UsageError
from harness.modules import load_module
from harness.reports import history
from harness.reports.history.address import Address, address
from harness.reports.history.past import PastRun
from harness.reports.history.store import HistoryStore

from .made import local, run, series_of, states_of_runs, trial

STORE = Path(__file__).parents[4] / "agents" / "newsdesk" / "store"
STATES = ("whole", "partial", "unfinished")
numbers = count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The embedded PostgreSQL, by the URL that a team would write."""
    package = load_module(STORE / "__init__.py", kind="newsdesk", code="bad-agent", package=True)
    from importlib import import_module

    running = import_module(".embedded", package.__name__).EmbeddedPostgres()
    folder = running.url.split()[0].removeprefix("host=")
    yield f"postgresql://postgres@/postgres?host={quote(folder, safe='')}"
    running.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Address]:
    """Makes the address of an empty store, a new one each time."""

    def make() -> Address:
        if request.param == "sqlite":
            return address(str(tmp_path_factory.mktemp("store") / "history.sqlite"), root=Path("/"))
        url = request.getfixturevalue("server")
        schema = f"history_{next(numbers)}"
        execute(address(url, root=Path("/")), f"CREATE SCHEMA {schema}")
        return address(f"{url}&options=-csearch_path%3D{schema}", root=Path("/"))

    return make


def execute(where: Address, statement: str) -> None:
    """Do in a database what no store does."""
    engine = sqlalchemy.create_engine(where.url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(statement))
    engine.dispose()


def everything(where: Address) -> tuple[PastRun, ...]:
    """All that a store has."""
    with HistoryStore(where) as store:
        return store.load(states=STATES)


def test_a_run_comes_back_as_it_was_put_in(fresh):
    """Every field, in both databases."""
    whole = run(
        1, trial("S1", "broken"), local("S2", cost_usd=0.1, lock={"prompt": "p", "judge": "j"}), state="partial"
    )
    where = fresh()
    with HistoryStore(where) as store:
        assert store.put(whole)
        assert {whole.run: ("partial", 2)} == store.known()

    assert (whole,) == everything(where)


@given(states_of_runs(), st.randoms(use_true_random=False))
def test_putting_runs_in_twice_or_in_another_order_gives_the_same_store(states, chance):
    """The furthest state of each run stays, whoever comes first."""
    shuffled = states * 2
    chance.shuffle(shuffled)
    one, other = map(_stored, (states, shuffled))

    assert one == other
    assert {past.run for past in states} == set(series_of(one))
    assert not {past.run for past in states if past.state != "unfinished"} & {
        past.run for past in one if past.state == "unfinished"
    }


def _stored(order: list[PastRun]) -> tuple[PastRun, ...]:
    """What a store in memory has once the runs were put in in this *order*."""
    with HistoryStore(Address(url=sqlalchemy.URL.create("sqlite"), shown="memory", file=None)) as store:
        for one in order:
            store.put(one)
        return store.load(states=STATES)


def test_a_run_that_is_there_is_not_put_in_again(fresh):
    """And one that has gone on since takes the place of what it was."""
    begun = run(1, trial("S1"), state="unfinished", exit_code=None)
    further = run(1, trial("S1"), trial("S2"), state="unfinished", exit_code=None)
    whole = run(1, trial("S1"), trial("S2"))
    with HistoryStore(fresh()) as store:
        assert [True, False, True, False, True, False, False] == [
            store.put(one) for one in (begun, begun, further, begun, whole, further, whole)
        ]
        assert (whole,) == store.load(states=STATES)


def test_the_newest_are_loaded_oldest_first(fresh):
    """Only so many, and only in the states that are asked for."""
    runs = [run(number, trial("S1"), state="partial" if number == 3 else "whole") for number in range(5)]
    with HistoryStore(fresh()) as store:
        for one in runs[::-1]:
            store.put(one)

        assert series_of([runs[2], runs[4]]) == series_of(store.load(last=2))
        assert series_of([runs[3], runs[4]]) == series_of(store.load(states=STATES, last=2))
        assert () == store.load(states=("unfinished",))


def test_two_processes_may_put_the_same_run_in_at_once(fresh):
    """One of them does, the other finds it there, and nobody fails."""
    where = fresh()
    runs = [run(number, *(trial(f"S{case}") for case in range(20))) for number in range(6)]
    failures: list[BaseException] = []

    def put_all() -> None:
        try:
            with HistoryStore(where) as store:
                for one in runs:
                    store.put(one)
        except BaseException as error:  # noqa: BLE001 – told below
            failures.append(error)

    threads = [threading.Thread(target=put_all) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failures
    assert tuple(runs) == everything(where)


def test_a_store_of_another_format_is_refused(fresh):
    """Nothing is read or written that this version does not understand."""
    where = fresh()
    HistoryStore(where).close()
    execute(where, "UPDATE tapegate_history SET format = 2")

    with pytest.raises(BadFileError, match="the results store has format 2, and this version knows 1") as caught:
        HistoryStore(where)
    assert ("unknown-format", where.shown) == (caught.value.code, caught.value.at)


def test_a_row_that_no_run_wrote_is_refused(tmp_path):
    """A store is data of others too."""
    where = address(str(tmp_path / "h.sqlite"), root=tmp_path)
    with HistoryStore(where) as store:
        store.put(run(1, trial("S1")))
        for column, value in (("verdict", "'fine'"), ("llm_calls", "-1"), ("lock", "'{'"), ("broken", "'3'")):
            execute(where, f"UPDATE tapegate_trials SET {column} = {value}")
            with pytest.raises(BadFileError, match="a trial that cannot be"):
                store.load()
            execute(where, "DELETE FROM tapegate_trials")
            execute(where, "DELETE FROM tapegate_runs")
            store.put(run(1, trial("S1")))


def test_a_file_that_is_no_store_is_no_crash(tmp_path):
    """The database says why, and the hint says how to go on."""
    (tmp_path / "h.sqlite").write_text("hello, I am no database at all " * 100)

    with pytest.raises(CouldNotCheckError, match="cannot be used: file is not a database") as caught:
        HistoryStore(address("h.sqlite", root=tmp_path))
    assert "history-store" == caught.value.code
    assert "`harness history --no-store` reads the run folders alone" in caught.value.hint


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    """The store's folder is made on use, where it can be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNotCheckError, match=r"cannot be made: (Not a directory|File exists)"):
        HistoryStore(address("file/h.sqlite", root=tmp_path))
    HistoryStore(address("new/folder/h.sqlite", root=tmp_path)).close()

    assert (tmp_path / "new" / "folder" / "h.sqlite").is_file()


def test_no_error_of_a_server_tells_its_password(tmp_path):
    """The address is shown without user, password and options, whatever went wrong."""
    where = address("postgresql://ada:s3cret-word@127.0.0.1:1/runs?application_name=s3cret-word", root=tmp_path)
    with pytest.raises(CouldNotCheckError) as caught:
        HistoryStore(where)

    assert "the results store postgresql://127.0.0.1:1/runs cannot be used: " in caught.value.message
    assert "s3cret" not in str(caught.value) + repr(caught.value.__dict__)


@pytest.mark.parametrize("package", ["sqlalchemy", "psycopg"])
def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch, tmp_path, package):
    """Exit 2, with the command that installs it."""
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return real(name, *rest)

    where = address("postgresql://localhost/runs" if package == "psycopg" else "h.sqlite", root=tmp_path)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "harness.reports.history.tables", raising=False)
    monkeypatch.delattr(history, "tables", raising=False)

    with pytest.raises(UsageError, match=f"a results store needs {package}, which is not installed") as caught:
        HistoryStore(where)
    assert 'pip install "tapegate[reports]"' in caught.value.hint
