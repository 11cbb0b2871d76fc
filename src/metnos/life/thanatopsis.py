"""Thanatopsis: how an agent dies, as a list of steps in four phases. The one writer of ``death`` and ``death_steps``.

Acceptance fixes what must not change any more (when, why, what the owner wished); settling ends what is open and takes
back what was granted; reflecting gathers what was learnt; legacy makes the testament, leaves it and tells who wants to
be told. What a step came to is stored in one transaction with the fact that it was done, and later steps are made of
that and of nothing else: so a process that is killed anywhere is gone on with, and comes to the same testament.

Rules: an agent dies once, and what was accepted cannot be taken back. One process at a time. Each step is in the audit
before it is begun and after it ended. Only what a testament cannot be made without may stop a death, and then it can be
resumed; everything else that fails is noted with its reason, and the death goes on: nothing dies silent. A step may be
begun again after a kill, so each does nothing the second time that it did the first.
"""

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
from metnos.core.errors import MetnosError, StoreError, TestamentError
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


def quiet(_step: Step, _done: int, _of: int) -> None:
    """For whoever does not watch."""


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
        has put it there."""
        with self._db.write() as tx:
            row = tx.first("SELECT wishes FROM death")
            if row is not None:
                given = canonical_json({**json.loads(row[0]), "to": to}).decode()
                tx.execute("UPDATE death SET wishes = ? WHERE one = 1", (given,))

    def go_on(self, steps: Sequence[Step], progress: Progress = quiet) -> Death:
        """Take every step that was not taken yet. Raises what stopped a vital one: then it can be resumed."""
        with files.held(self._lock) as mine:
            if not mine:
                raise TestamentError(
                    "another process is retiring this agent just now", fix="Wait for it: metnos life retire --resume"
                )
            for number, step in enumerate(steps):
                death = self.death()
                if death is None:
                    raise TestamentError("nobody has accepted a death", fix="Begin with: metnos life retire")
                if step.name not in death.done:
                    progress(step, number, len(steps))
                    self._take(step, death)
            return self._ended()

    def _take(self, step: Step, death: Death) -> None:
        failed = ""
        with self._audit.act(Entry(STEP, {"death": death.id, "step": step.name, "of": step.phase})):
            try:
                result = step.act(death)
            except StoreError:
                raise  # busy, or the disk is full: what is skipped now would be missing for ever
            except MetnosError as error:
                if step.vital:
                    raise
                result, failed = {}, error.what
            with self._db.write() as tx:
                tx.execute(
                    "INSERT INTO death_steps (name, ts, result, failed) VALUES (?, ?, ?, ?)",
                    (step.name, to_text(self._clock.now()), canonical_json(result).decode(), failed),
                )

    def _ended(self) -> Death:
        found = self.death()
        assert found is not None  # noqa: S101 -- its steps were just taken
        if found.ended is None:
            self._audit.append(Entry(ENDED, {"death": found.id}, counts={"given_up": len(found.failed)}))
            with self._db.write() as tx:
                tx.execute("UPDATE death SET ended = ? WHERE ended IS NULL", (to_text(self._clock.now()),))
        return self.death() or found
