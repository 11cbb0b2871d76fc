"""Executors: small signed programs that run in the sandbox, and the one door through which they run."""
