"""A page on a workspace that has learnt something: made once for a module, and copied for each test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from api.http.served import Client, entered, serving
from copying import copy_folder
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from turn.fasting import fill


@contextlib.contextmanager
def remembering(made: Workspace, blank: Workspace, clock: MovableClock, home: Path) -> Iterator[Client]:
    fill(home)
    copy_folder(made.root, blank.root)
    with serving(blank, clock) as served:
        served.app.__dict__["embedder"] = None  # loading one takes longer than all the rest
        yield entered(served)
