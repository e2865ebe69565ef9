"""The model client and its three ports: live, fast and wire."""
