"""Metnos: a self-hosted agent that does, remembers, forgets and grows.

The names in ``__all__`` are the public Python API; everything else may change between releases.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
