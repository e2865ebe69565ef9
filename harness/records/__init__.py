"""The frozen records that stages hand to each other; nothing here does I/O."""
