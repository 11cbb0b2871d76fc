"""A house with a mnestome and little else, and a way to type at it."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from metnos.app import tables
from metnos.cli import Choice, mnestome, mnestome_months, mnestome_one
from metnos.core.clock import MovableClock
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.grimoire.trace import Desired, Passing
from metnos.mnestome import record
from metnos.mnestome.past import Past
from metnos.store.db import Database

# The executors that there are, and which others each may call.
CALLS: dict[str, tuple[str, ...]] = {"find_files": (), "read_files": ("count_text", "search_text"), "show_time": ()}


def _look(name: str) -> SimpleNamespace:
    may = SimpleNamespace(executor=SimpleNamespace(call=CALLS[name]))
    return SimpleNamespace(executor=SimpleNamespace(manifest=SimpleNamespace(capabilities=may)))


@dataclass(frozen=True)
class Closed:
    """A turn that closed."""

    turn: str
    closed: datetime
    passings: Sequence[Passing] = ()
    desired: Sequence[Desired] = ()
    tags: Sequence[str] = field(default=())


@dataclass(frozen=True)
class House:
    db: Database
    clock: MovableClock
    workspace: Workspace
    settings: Settings
    counted: list[int]

    def turn(self, *names: str, tags: Sequence[str] = (), wishes: Sequence[Desired] = ()) -> None:
        """One turn in which each of these fed the next."""
        self.counted.append(0)
        pairs = enumerate(itertools.pairwise(names), start=1)
        fed = [Passing(src, "1.0.0", dst, "1.0.0", "reference", step, step + 1) for step, (src, dst) in pairs]
        record.record_turn(self.db, Closed(f"T{len(self.counted)}", self.clock.now(), fed, wishes, tags))

    def type_in(self, *line: str) -> Result:
        return CliRunner().invoke(mnestome.mnestome, line, obj=Choice(None), help_option_names=["-h", "--help"])


def open_house(
    tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> Iterator[House]:
    workspace = Workspace(tmp_path / "workspace")
    db = Database(workspace.mnest_db, tables.of_mnestome())
    chosen = Settings(**settings)
    catalog = SimpleNamespace(db=db, names=lambda: [*CALLS], look=_look)
    past = Past(workspace.events_db, clock=clock)
    app = SimpleNamespace(clock=clock, catalog=catalog, workspace=workspace, settings=chosen, past=past)
    for module in (mnestome, mnestome_one, mnestome_months):
        monkeypatch.setattr(module, "open_app", lambda _: app)
    yield House(db, clock, workspace, chosen, [])
    db.close()
