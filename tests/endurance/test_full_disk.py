"""A disk that is full at any one write of a turn: nothing is lost, nothing half-done, and the next turn works."""

import errno
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import forking
from metnos.app import App, turning, verify_audit
from metnos.core.errors import MetnosError, StoreFull
from metnos.law.principal import at_terminal
from metnos.store.db import Database
from suite import Repeat
from turn.turning import take

SEAMS: dict[str, tuple[Any, str, Callable[[], Exception]]] = {
    "a database": (Database, "write", lambda: StoreFull("the disk is full", fix="Free some space.")),
    "a file": (os, "write", lambda: OSError(errno.ENOSPC, "No space left on device")),
    "a new name": (os, "link", lambda: OSError(errno.ENOSPC, "No space left on device")),
    "what is kept": (os, "fsync", lambda: OSError(errno.EIO, "Input/output error")),
}


def fail_from(place: Any, name: str, count: int, fault: Callable[[], Exception], times: int) -> None:
    """Let a function fail ``times`` times, from its call number ``count`` on."""
    really, calls = getattr(place, name), itertools.count(1)

    def called(*args: Any, **more: Any) -> Any:
        if count <= next(calls) < count + times:
            raise fault()
        return really(*args, **more)

    setattr(place, name, called)


def refill(home: Path) -> None:
    for name in ("inbox", "done"):
        shutil.rmtree(home / name, ignore_errors=True)
    (home / "inbox").mkdir(parents=True)
    for number in range(3):
        (home / "inbox" / f"{number}.txt").write_text(f"{number}")


def move(app: App, home: Path) -> str:
    return take(app, f"move the txt files in {home}/inbox to {home}/done", cwd=home).ended.state


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seam", SEAMS)
def test_nothing_is_lost_whichever_write_fails(equipped: App, tmp_path: Path, seam: str, repeat: Repeat) -> None:
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    app, home = App.open(equipped.workspace), tmp_path / "home"
    app.__dict__["embedder"] = None
    app.turns.warm()
    place, name, fault = SEAMS[seam]

    def work(number: int, times: int) -> None:
        fail_from(place, name, number, fault, times)
        try:
            move(app, home)
        except (MetnosError, OSError):
            os._exit(7)

    for number in repeat(f"writes of a turn to {seam} that failed", suite=2, soak=60):
        refill(home)
        ended = forking.run(lambda number=number: work(3 * number + 1, 1 + number % 3 * 50))
        assert ended in (0, 7), number
        app.undo.settle()
        turning.settle(app)
        here = sorted(path.name for folder in ("inbox", "done") for path in (home / folder).glob("*.txt"))
        assert here == ["0.txt", "1.txt", "2.txt"], number
        assert app.medium.interrupted() == []
        lines = {line.entry.names.get("turn") for line in itertools.islice(app.audit.newest(), 200)}
        assert {action.turn for action in app.undo.actions(1)} <= lines
    assert verify_audit(app.workspace).faults == ()
    refill(home)
    assert move(app, home) == "done"
    app.close()
