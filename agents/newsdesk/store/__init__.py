"""
The news desk's store: clusters of news and their articles on PostgreSQL, searched by meaning with pgvector.

    with embedded.serve() as url, connection.connect(url) as opened:
        schema.migrate(opened, vectors.E5_SMALL.dimension)
        filler = pipeline.Pipeline(opened, vectors.E5_SMALL, embed)
        filler.ingest(clusters, articles)
        filler.fill()
        news.NewsStore(opened).nearest(vector, "2026-03-10", 5)

`serve` starts an embedded PostgreSQL, or takes the server that NEWSDESK_DATABASE_URL names. `tools.NewsTools` is the tool
belt on a store, `trials.NewsBackend` the same store for trials that must not see each other.
"""
