"""Protocols: ways in for other processes and programs."""
