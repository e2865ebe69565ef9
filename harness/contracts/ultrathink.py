"""CU1–CU12: what holds the layer that switches native thinking on, or stands in for it."""
