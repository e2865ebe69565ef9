"""The judge: a rubric put to a model through a recorded client, and answers compared by their recorded embeddings."""
