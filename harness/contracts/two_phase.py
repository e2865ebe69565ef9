"""CG1–CG13: what holds a design that thinks and acts first, and speaks afterwards."""
