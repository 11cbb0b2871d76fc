"""A life: how alive an agent is, what it leaves, and what a successor takes."""
