"""
Keep the news desk's own database filled: bring it to the newest form, take rows in, give every article its vector.

    export NEWSDESK_DATABASE_URL=postgresql://…
    python agents/newsdesk/fill.py --embeddings http://127.0.0.1:8556/v1 [--rows news.jsonl]

Each line of the rows is `{"cluster": {…}}` or `{"article": {…}}`. Running it again changes nothing that is there already;
without rows it gives vectors to what lacks them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import msgspec

from harness.errors import BadFileError, CouldNotCheckError, HarnessError, UsageError
from harness.modules import load_module

DATABASE = "NEWSDESK_DATABASE_URL"


class Cluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `clusters_eventos`, its vector apart; *data* is the day, `YYYY-MM-DD`."""

    id: int
    data: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    titulo: str
    resumo: str
    prioridade: str
    tag: str | None = None
    texto: str = ""


class Article(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `artigos_brutos`, its vector apart."""

    id: int
    cluster_id: int
    titulo: str
    jornal: str
    texto: str


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cluster: Cluster | None = None
    article: Article | None = None


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its exit code."""
    parser = argparse.ArgumentParser(prog="fill.py", description="fill the news desk's database")
    parser.add_argument("--embeddings", required=True, metavar="URL", help="a server of OpenAI's embeddings format")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="clusters and articles, one JSON object a line")
    asked = parser.parse_args(arguments)
    try:
        told = fill(os.environ.get(DATABASE, ""), asked.embeddings, asked.rows)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    sys.stdout.write(f"{told}\n")
    return 0


def fill(url: str, embeddings: str, rows: Path | None) -> str:
    """
    Migrate the store at *url*, take *rows* in, and fill its vectors; what was done, in a line.

    Raises:
        UsageError: No database is named.
        BadFileError: A line of *rows* is no cluster and no article; nothing is taken in.
        CouldNotCheckError: The database or the embedding server does not answer, or vectors have another dimension.
    """
    if not url:
        hint = f"export {DATABASE}=postgresql://… and run it again"
        raise UsageError("bad-arguments", f"{DATABASE} names no database", hint=hint)
    clusters, articles = read_rows(rows) if rows is not None else ([], [])
    connection, schema, vectors, pipeline = map(_store, ("connection", "schema", "vectors", "pipeline"))
    model = vectors.E5_SMALL
    with connection.connect(url) as opened:
        steps = schema.migrate(opened, model.dimension)
        filler = pipeline.Pipeline(opened, model, _embedder(embeddings, model.name))
        _ingest(filler, clusters, articles, at=str(rows))
        filled = filler.fill()
    taken = f"{len(clusters)} clusters and {len(articles)} articles taken in"
    return f"{len(steps)} migrations, {taken}, {filled.articles} articles embedded, {filled.clusters} means brought up to date"


def read_rows(path: Path) -> tuple[list[Cluster], list[Article]]:
    """
    The clusters and articles of a file.

    Raises:
        BadFileError: It cannot be read, or a line of it is neither; *at* names the line.
    """
    clusters, articles = [], []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadFileError("unreadable-file", f"cannot be read: {error.strerror}", at=str(path)) from None
    for number, line in enumerate(lines, start=1):
        try:
            row = msgspec.json.decode(line, type=_Line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadFileError("unreadable-file", f"no row: {error}", at=f"{path}:{number}") from None
        if (row.cluster is None) == (row.article is None):
            message = "neither a cluster nor an article"
            raise BadFileError("unreadable-file", message, hint='`{"cluster": {…}}`', at=f"{path}:{number}")
        clusters += [row.cluster] if row.cluster else []
        articles += [row.article] if row.article else []
    return clusters, articles


def _ingest(filler: Any, clusters: Sequence[Cluster], articles: Sequence[Article], *, at: str) -> None:
    import psycopg

    try:
        filler.ingest(map(msgspec.structs.asdict, clusters), map(msgspec.structs.asdict, articles))
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        because = str(error).partition("\n")[0]
        hint = "mend the row; none of the file was taken in"
        raise BadFileError("unreadable-file", f"the store refuses a row: {because}", hint=hint, at=at) from None


def _embedder(base_url: str, model: str) -> Any:
    """Asks the server at *base_url* for the vectors of texts."""
    from harness.models.live import LivePort  # brings litellm
    from harness.models.port import CallInfo
    from harness.records.faults import ModelError
    from harness.records.messages import EmbeddingRequest

    port = LivePort(base_url)

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            return port.embed_sync(EmbeddingRequest(model, tuple(texts)), CallInfo(number=1, ask="")).reply.vectors
        except ModelError as error:
            hint = "start the model's server, or give its address with --embeddings"
            raise CouldNotCheckError("no-answer", f"`{model}` does not answer: {error}", hint=hint) from None

    return embed


def _store(part: str) -> Any:
    """A module of the package beside this file."""
    path = Path(__file__).parent / "store" / "__init__.py"
    package = load_module(path, kind="newsdesk", code="bad-agent", package=True)
    return import_module(f".{part}", package.__name__)


if __name__ == "__main__":
    sys.exit(main())
