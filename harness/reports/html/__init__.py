"""The HTML report: one file that opens anywhere, loads nothing, and runs nothing of what an agent wrote."""
