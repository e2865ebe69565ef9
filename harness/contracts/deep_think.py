"""CD1–CD14: what holds the loop that verifies and corrects."""
