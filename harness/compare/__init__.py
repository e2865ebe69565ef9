"""The arena: designs held against each other on the same questions in the same recorded world."""
