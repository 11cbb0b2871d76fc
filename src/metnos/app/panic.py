"""Panic at the terminal: it stops everything also where the workspace cannot be opened."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from metnos.app.house import App
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import MetnosError, WorkspaceError
from metnos.core.ids import UlidMaker
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.halt import Halts, make_note
from metnos.law.halt_file import HaltFile, HaltNote
from metnos.law.running import RunningList
from metnos.sandbox.stop import stop


@dataclass(frozen=True, slots=True)
class Stopped:
    """How many processes were ended, what was switched off, and what could not be done. The halt holds in any case."""

    ended: int
    disabled: tuple[str, ...]
    problems: tuple[str, ...]


def panic(workspace: Workspace, reason: str, clock: Clock | None = None) -> Stopped:
    """Stop everything at once; then record it, and switch off what is not built in, as far as the workspace allows."""
    clock = clock or SystemClock()
    if not workspace.law.is_dir():
        raise WorkspaceError(f"there is no workspace at {workspace.root}", fix="Name it: metnos --workspace FOLDER")
    note = make_note(clock, UlidMaker(clock), reason)
    file = HaltFile(workspace.halt_file)
    ended = stop(file, RunningList(workspace.running_list), note)
    with contextlib.suppress(OSError):
        file.create(note)  # a workspace of an older version has none
    disabled, problems = _record(workspace, note, clock)
    if not file.exists() and problems:
        raise WorkspaceError(
            f"what ran was ended, but the halt could not be stored: {problems[0]}",
            fix="End every process of Metnos; free some space; then try again.",
        )
    return Stopped(ended, tuple(disabled), tuple(problems))


def _record(workspace: Workspace, note: HaltNote, clock: Clock) -> tuple[list[str], list[str]]:
    """Tell store and audit, and switch off what is not built in; returns what was, and what went wrong."""
    problems: list[str] = []
    try:
        app = App.open(workspace, clock)
    except (MetnosError, OSError) as error:
        problems.append(f"the workspace cannot be opened: {_words(error)}")
        problems += _attempt("the halt was not recorded", lambda: _record_alone(workspace, note, clock))
        return [], problems
    with contextlib.closing(app):
        disabled: list[str] = []
        problems += _attempt("the halt was not recorded", lambda: app.halts.record(note))
        problems += _attempt("executors were not switched off", lambda: disabled.extend(app.catalog.panic(note.reason)))
    return disabled, problems


def _record_alone(workspace: Workspace, note: HaltNote, clock: Clock) -> None:
    """Where the settings, the Laws or anything but the records is broken."""
    seat = founding.take_seat(workspace, Settings.model_construct(), clock)
    try:
        Halts(workspace, seat.db, seat.audit, clock).record(note)
    finally:
        seat.audit.close()
        seat.db.close()


def _attempt(failed: str, act: Callable[[], object]) -> list[str]:
    try:
        act()
    except (MetnosError, OSError) as error:
        return [f"{failed}: {_words(error)}"]
    return []


def _words(error: MetnosError | OSError) -> str:
    return error.what if isinstance(error, MetnosError) else str(error.strerror or error)
