"""Metnos: a self-hosted agent that does, remembers, forgets and grows.

The names in ``__all__`` are the public Python API; everything else may change between releases. Each is loaded when it
is first asked for, so that ``import metnos`` costs nothing and the memory does not load what acts.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.app.library_agent import Agent, Approve, Turning
    from metnos.app.library_memory import Grimoire
    from metnos.app.library_mnestome import Aged, Mnestome
    from metnos.app.library_records import Answer, Forgotten, Learnt, Memory, Mnest, Step
    from metnos.core.errors import MetnosError

__version__ = "0.1.0"

__all__ = [
    "Aged",
    "Agent",
    "Answer",
    "Approve",
    "Forgotten",
    "Grimoire",
    "Learnt",
    "Memory",
    "MetnosError",
    "Mnest",
    "Mnestome",
    "Step",
    "Turning",
    "__version__",
]

_HOMES = {
    "Aged": "app.library_mnestome",
    "Agent": "app.library_agent",
    "Answer": "app.library_records",
    "Approve": "app.library_agent",
    "Forgotten": "app.library_records",
    "Grimoire": "app.library_memory",
    "Learnt": "app.library_records",
    "Memory": "app.library_records",
    "MetnosError": "core.errors",
    "Mnest": "app.library_records",
    "Mnestome": "app.library_mnestome",
    "Step": "app.library_records",
    "Turning": "app.library_agent",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"metnos.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
