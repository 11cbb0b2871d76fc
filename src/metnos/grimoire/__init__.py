"""The memory: what happened, what it taught, how to act."""
