"""Thanatopsis: how an agent dies, as a list of steps in four phases. The one writer of ``death`` and ``death_steps``.

Acceptance fixes what must not change any more (when, why, what the owner wished); settling ends what is open and takes
back what was granted; reflecting gathers what was learnt; legacy makes the testament, leaves it and tells who wants to
be told. What a step came to is stored in one transaction with the fact that it was done, and later steps are made of
that and of nothing else: so a process that is killed anywhere is gone on with, and comes to the same testament.

Rules: an agent dies once, and what was accepted cannot be taken back. One process at a time, also for moving what is
left. Each step is in the audit before it is begun and after it ended. Only what a testament cannot be made without may
stop a death, and what passes: a busy store, a full disk. Then it can be resumed; everything else that fails is noted
with its reason, and the death goes on: nothing dies silent. A step may be begun again after a kill, so each does
nothing the second time that it did the first.
"""

import errno
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from metnos.core import files
from metnos.core.canon import Json, canonical_json
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import MetnosError, StoreBusy, StoreFull, TestamentError
from metnos.core.ids import UlidMaker
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.life.cause import Cause
from metnos.store.db import Database

ACCEPTED, STEP, ENDED = "death accepted", "death step", "death ended"


class Phase(StrEnum):
    """The four phases, in order."""

    ACCEPTANCE = "acceptance"
    SETTLE = "settle"
    REFLECT = "reflect"
    LEGACY = "legacy"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever ended this life wished, fixed when the death was accepted."""

    to: str  # the whole path of the testament's file
    release: tuple[str, ...] = ()  # episodes and facts that may cross though they are private


@dataclass(frozen=True, slots=True)
class Death:
    """One death: what was fixed, and what its steps came to so far. ``failed`` are steps that were given up."""

    id: str
    cause: Cause
    died: datetime
    wishes: Wishes
    done: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``vital``: without it there is no testament, so it stops the death when it fails."""

    name: str
    phase: Phase
    says: str  # to the owner, while it happens
    act: Callable[[Death], Json]
    vital: bool = False


Progress = Callable[[Step, int, int], None]
First = Callable[[Death], None]


def quiet(_step: Step, _done: int, _of: int) -> None:
    """For whoever does not watch."""


def given_up(error: Exception) -> str:
    """Why something is left out of a death, for the owner. Raises what is not to be given up for: it passes, or is
    mended by making room, and what is skipped meanwhile would be missing for ever."""
    no_room = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if no_room or isinstance(error, StoreBusy | StoreFull | MemoryError):
        raise error
    if isinstance(error, MetnosError):
        return error.what
    # No more than its kind: its words may be somebody's own.
    return f"something that was to be read is not what it can be ({type(error).__name__})"


class Thanatopsis:
    """The death of one agent."""

    def __init__(self, db: Database, audit: Audit, clock: Clock, lock: Path) -> None:
        self._db = db
        self._audit = audit
        self._clock = clock
        self._lock = lock

    def death(self) -> Death | None:
        """How far it is; nothing for who lives."""
        with self._db.read() as tx:
            row = tx.first("SELECT id, cause, died, wishes, ended FROM death")
            if row is None:
                return None
            steps = tx.query("SELECT name, result, failed FROM death_steps ORDER BY rowid")
        key, cause, died, wishes, ended = row
        given = json.loads(wishes)
        return Death(
            key,
            Cause(cause),
            from_text(died),
            Wishes(given["to"], tuple(given["release"])),
            {name: json.loads(result) for name, result, _ in steps},
            {name: failed for name, _, failed in steps if failed},
            from_text(ended) if ended else None,
        )

    def accept(self, cause: Cause, wishes: Wishes) -> Death:
        """Begin a death, or find the one that was begun: what was accepted first holds."""
        with self._db.write() as tx:
            if tx.first("SELECT 1 FROM death") is None:
                now, key = to_text(self._clock.now()), UlidMaker(self._clock)()
                counts = {"released": len(wishes.release)}
                self._audit.append(Entry(ACCEPTED, {"death": key, "cause": cause}, counts=counts))
                given = canonical_json({"to": wishes.to, "release": list(wishes.release)}).decode()
                values = (key, cause, now, given)
                tx.execute("INSERT INTO death (one, id, cause, died, wishes) VALUES (1, ?, ?, ?, ?)", values)
        found = self.death()
        assert found is not None  # noqa: S101 -- it has just been written, or was there
        return found

    def move(self, to: str) -> None:
        """Leave the testament elsewhere: the first place may be full by now. Whoever moves one that was left already
        has put it there, and whoever moves one while others may take steps does so as `go_on`'s ``first``."""
        with self._db.write() as tx:
            row = tx.first("SELECT wishes FROM death")
            if row is not None:
                given = canonical_json({**json.loads(row[0]), "to": to}).decode()
                tx.execute("UPDATE death SET wishes = ? WHERE one = 1", (given,))

    def go_on(self, steps: Sequence[Step], progress: Progress = quiet, first: First | None = None) -> Death:
        """Take every step that was not taken yet, after ``first``, which nobody else's steps can cross. Raises what
        stopped a vital one: then it can be resumed."""
        with files.held(self._lock) as mine:
            if not mine:
                raise TestamentError(
                    "another process is retiring this agent just now", fix="Wait for it: metnos life retire --resume"
                )
            if first is not None:
                first(self._begun())
            for number, step in enumerate(steps):
                death = self._begun()
                if step.name not in death.done:
                    progress(step, number, len(steps))
                    self._take(step, death)
            return self._ended()

    def _begun(self) -> Death:
        found = self.death()
        if found is None:
            raise TestamentError("nobody has accepted a death", fix="Begin with: metnos life retire")
        return found

    def _take(self, step: Step, death: Death) -> None:
        result, failed = "{}", ""
        with self._audit.act(Entry(STEP, {"death": death.id, "step": step.name, "of": step.phase})):
            try:
                result = canonical_json(step.act(death)).decode()
            except Exception as error:
                # A border: steps go through all that was ever remembered, and a damaged memory raises anything.
                if step.vital:
                    raise
                failed = given_up(error)
            with self._db.write() as tx:
                tx.execute(
                    "INSERT INTO death_steps (name, ts, result, failed) VALUES (?, ?, ?, ?)",
                    (step.name, to_text(self._clock.now()), result, failed),
                )

    def _ended(self) -> Death:
        found = self._begun()
        if found.ended is None:
            self._audit.append(Entry(ENDED, {"death": found.id}, counts={"given_up": len(found.failed)}))
            with self._db.write() as tx:
                tx.execute("UPDATE death SET ended = ? WHERE ended IS NULL", (to_text(self._clock.now()),))
        return self.death() or found
