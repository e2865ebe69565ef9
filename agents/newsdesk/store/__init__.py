"""
The news desk's store: clusters of news and their articles on PostgreSQL, searched by meaning with pgvector.

    with serve() as url, connect(url) as connection:
        migrate(connection, E5_SMALL.dimension)
        pipeline = Pipeline(connection, E5_SMALL, embed)
        pipeline.ingest(clusters, articles)
        pipeline.fill()
        NewsStore(connection).nearest(vector, "2026-03-10", 5)

`serve` starts an embedded PostgreSQL, or takes the server that NEWSDESK_DATABASE_URL names. `tools.NewsTools` is the tool
belt on a store, `trials.NewsBackend` the same store for trials that must not see each other.
"""
