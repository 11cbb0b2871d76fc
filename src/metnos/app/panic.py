"""Panic at the terminal: it stops everything also where the workspace cannot be opened."""

import contextlib
from dataclasses import dataclass

from metnos.app.house import App
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import WorkspaceError
from metnos.core.ids import UlidMaker
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.halt import Halts, make_note
from metnos.law.halt_file import HaltFile, HaltNote
from metnos.law.running import RunningList
from metnos.sandbox.stop import attempt, stop

_UNRECORDED = "the halt was not recorded"


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
    was_there = file.exists()
    ended, problems = stop(file, RunningList(workspace.running_list), note)
    opened: list[App] = []
    problems += attempt("the workspace cannot be opened", lambda: opened.append(App.open(workspace, clock)))
    disabled: list[str] = []
    with contextlib.ExitStack() as stack:
        if opened:
            app = stack.enter_context(contextlib.closing(opened[0]))
            unrecorded = attempt(_UNRECORDED, lambda: app.halts.record(note))
            problems += unrecorded
            problems += attempt("executors were not disabled", lambda: disabled.extend(app.catalog.panic(note.reason)))
        else:
            unrecorded = attempt(_UNRECORDED, lambda: _record_alone(workspace, note, clock))
            problems += unrecorded
    # One that could not be overwritten was removed, and halts by that; one that never was says nothing.
    if unrecorded and not ((was_there or file.exists()) and file.read().halted):
        raise WorkspaceError(
            f"what ran was ended, but the halt could not be stored: {'; '.join(problems)}",
            fix="End every process of Metnos; free some space; then try again.",
        )
    return Stopped(ended, tuple(disabled), tuple(problems))


def _record_alone(workspace: Workspace, note: HaltNote, clock: Clock) -> None:
    """Where the settings, the Laws or anything but the records is broken."""
    seat = founding.take_seat(workspace, Settings.model_construct(), clock)
    try:
        Halts(workspace, seat.db, seat.audit, clock).record(note)
    finally:
        seat.audit.close()
        seat.db.close()
