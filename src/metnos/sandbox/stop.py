"""Stop what runs in a workspace now, without a database, free space or the workspace's settings.

Rules: nothing that fails keeps the next step from being tried; what failed is told at the end.
"""

from collections.abc import Callable, Iterator

from metnos.core.errors import MetnosError
from metnos.law.halt_file import HaltFile, HaltNote
from metnos.law.running import Running, RunningList
from metnos.sandbox import process


def stop(file: HaltFile, running: RunningList, note: HaltNote) -> tuple[int, list[str]]:
    """End every listed process, halt, and end what was started meanwhile; returns how many were ended, and what failed.

    A process that lists itself after the second look finds the halt by itself.
    """
    ended: set[Running] = set()
    problems: list[str] = []
    for failed, step in (
        ("what runs could not be ended", lambda: ended.update(_end_all(running))),
        ("the halt file could not be changed", lambda: file.halt(note)),
        ("what was started meanwhile could not be ended", lambda: ended.update(_end_all(running))),
    ):
        problems += attempt(failed, step)
    return len(ended), problems


def attempt(failed: str, step: Callable[[], object]) -> list[str]:
    """Try one step of stopping; returns what to say of it if it failed."""
    try:
        step()
    except (MetnosError, OSError) as error:
        return [f"{failed}: {describe(error)}"]
    return []


def describe(error: MetnosError | OSError) -> str:
    return error.what if isinstance(error, MetnosError) else str(error.strerror or error)


def _end_all(running: RunningList) -> Iterator[Running]:
    return (each for each in running.all() if process.end(each.pid, each.started))
