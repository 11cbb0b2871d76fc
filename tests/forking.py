"""What happens in a process of its own, which may be killed on the way: a fork, since a new one takes seconds to begin.

No database that it opens may be open here: SQLite would take the locks of this process for its own.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

KILLED = -signal.SIGKILL


def start(act: Callable[[], object]) -> int:
    """Do something in another process; its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return child


def end(child: int) -> int:
    """Wait for the end of a process: its exit code, or the signal that killed it, below 0."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(act: Callable[[], object]) -> int:
    """Do something in another process and wait for its end; how it ended."""
    return end(start(act))


def die(*_: object, **__: object) -> None:
    """Be killed, as by `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(place: Any, name: str, count: int = 1) -> None:
    """Let this process be killed at a call of a function, before it does anything."""
    really, calls = getattr(place, name), []

    def called(*args: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == count:
            die()
        return really(*args, **more)

    setattr(place, name, called)
