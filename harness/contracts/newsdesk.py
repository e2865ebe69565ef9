"""CE1–CE13: what holds the news desk: JSON actions, single updates, fallback, search by meaning."""
