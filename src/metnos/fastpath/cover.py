"""The form has priority over the shortcut: where one executor does what a sequence does, the sequence is no fast path.

Rules: an executor's manifest says which sequences it covers. A path with such a sequence is demoted at once and is not
recorded again. Does not guess: an executor that says nothing covers nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from metnos.fastpath.log import Log
from metnos.fastpath.records import State

Covers = Mapping[str, Sequence[Sequence[str]]]  # by executor


def covered(tools: Sequence[str], covers: Covers) -> str:
    """The executor that does all of a sequence by itself; none is empty."""
    if len(tools) < 2:
        return ""
    names = (name for name in sorted(covers) if any(tuple(each) == tuple(tools) for each in covers[name]))
    return next(names, "")


def demote_covered(log: Log, covers: Covers, ts: datetime) -> list[str]:
    """Demote every path that an executor covers; says which."""
    found: list[str] = []
    for path in log.paths():
        name = covered(path.tools, covers)
        if name and log.move(path.id, State.DEMOTED, f"{name} does all of it in one step", ts):
            found.append(path.id)
    return found
