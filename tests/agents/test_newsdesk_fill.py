"""Filling an own database: rows come in, vectors are made once, and mistakes are told by file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from harness.modules import load_module
from harness.testing.embeddings import EmbeddingServer

FOLDER = Path(__file__).parents[2] / "agents" / "newsdesk"
fill = load_module(FOLDER / "fill.py", kind="newsdesk_fill", code="bad-agent")
embedded = load_module(FOLDER / "store" / "__init__.py", kind="newsdesk", code="bad-agent", package=True)
CLUSTER = {
    "id": 1, "data": "2026-03-10", "titulo": "Sanções", "resumo": "Novas sanções", "prioridade": "P1_CRITICO",
    "tag": "Internacional", "texto": "Texto",
}  # fmt: skip
ARTICLES = [{"id": n, "cluster_id": 1, "titulo": f"T{n}", "jornal": "Jornal", "texto": f"Texto {n}"} for n in (1, 2)]
ROWS = [{"cluster": CLUSTER}, *({"article": article} for article in ARTICLES)]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of an embedded server."""
    from importlib import import_module

    with import_module(".embedded", embedded.__name__).serve() as url:
        yield url


@pytest.fixture
def filling(database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on the database; exit code, stdout and stderr."""
    monkeypatch.setenv("NEWSDESK_DATABASE_URL", database)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = fill.main(list(arguments))
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def written(folder: Path, *rows: Any) -> str:
    """A file of rows."""
    path = folder / "news.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def test_rows_come_in_once_and_get_their_vectors(filling: Any, database: str, tmp_path: Path) -> None:
    """The first run migrates, takes in and embeds; the second finds nothing to do and asks for no vector."""
    with EmbeddingServer() as server:
        asked = ["--embeddings", server.base_url, "--rows", written(tmp_path, *ROWS)]
        first, second = filling(*asked), filling(*asked)

    taken = "1 clusters and 2 articles taken in"
    assert (0, f"3 migrations, {taken}, 2 articles embedded, 1 means brought up to date\n", "") == first
    assert (0, f"0 migrations, {taken}, 0 articles embedded, 0 means brought up to date\n", "") == second
    assert [["passage: T1. Texto 1", "passage: T2. Texto 2"]] == server.asked
    with psycopg.connect(database) as connection:
        counted = connection.execute("SELECT count(*) FROM clusters_eventos WHERE embedding_medio IS NOT NULL")
        assert (1,) == counted.fetchone()


@pytest.mark.parametrize(
    ("rows", "because"),
    [
        pytest.param(["cluster"], "news.jsonl:1: no row: Expected `object`, got `str`", id="no object"),
        pytest.param([{}], "news.jsonl:1: neither a cluster nor an article", id="nothing"),
        pytest.param([ROWS[0], {"article": {"id": 1}}], "news.jsonl:2: no row: Object missing", id="half a row"),
        pytest.param([{"cluster": {**CLUSTER, "data": "today"}}], "news.jsonl:1: no row: Expected", id="no day"),
        pytest.param([{"cluster": {**CLUSTER, "data": "2026-13-01"}}], "the store refuses a row", id="no such day"),
        pytest.param([{"article": {**ARTICLES[0], "cluster_id": 99}}], "the store refuses a row", id="no such cluster"),
    ],
)
def test_a_wrong_row_is_told_and_none_is_taken_in(filling: Any, tmp_path: Path, rows: Any, because: str) -> None:
    """The file and the line are named, and the command ends as after any wrong file."""
    with EmbeddingServer() as server:
        code, out, error = filling("--embeddings", server.base_url, "--rows", written(tmp_path, *rows))

    assert (2, "") == (code, out)
    assert because in error
    assert [] == server.asked


def test_a_missing_file_and_a_missing_database_are_told(
    filling: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is begun without them."""
    code, _, error = filling("--embeddings", "http://127.0.0.1:1/v1", "--rows", str(tmp_path / "none.jsonl"))
    monkeypatch.delenv("NEWSDESK_DATABASE_URL")
    nowhere = filling("--embeddings", "http://127.0.0.1:1/v1")

    assert 2 == code
    assert "none.jsonl: cannot be read: No such file or directory" in error
    assert 2 == nowhere[0]
    assert "NEWSDESK_DATABASE_URL names no database" in nowhere[2]


def test_a_server_that_is_down_could_not_be_asked(filling: Any, tmp_path: Path) -> None:
    """Articles stay without a vector, to be filled by the next run."""
    article = {"article": {**ARTICLES[0], "id": 7, "titulo": "new"}}
    asked = written(tmp_path, ROWS[0], article)
    code, _, error = filling("--embeddings", "http://127.0.0.1:1/v1", "--rows", asked)
    with EmbeddingServer() as server:
        later = filling("--embeddings", server.base_url)

    assert 3 == code
    assert "`multilingual-e5-small` does not answer" in error
    assert "1 articles embedded, 1 means" in later[1]
