"""Panic: stopping everything at once, from any process, and what has to be ended then.

Rules: a halt holds from the moment that its file says so (`metnos.law.halt_file`), in every process, until the owner
lifts it. Stopping waits for nothing: the file needs no room and no database, and the store and the audit come behind
it; lifting waits for both. A store that was lost learns from the audit what was halted, and both learn from the file
what they could not be told at the time. Of a workspace whose audit knows of a halt file, a missing one halts. A doubt
about the audit halts as well, until the owner accepts the audit. Does not end any process: `metnos.sandbox.stop` does.
"""

import contextlib
from dataclasses import dataclass

from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.errors import MetnosError, Refused, StoreError
from metnos.core.ids import UlidMaker
from metnos.core.workspace import Workspace
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.halt_file import MAY_ACT, HaltFile, HaltNote
from metnos.law.law_store import OLDER, LawStore
from metnos.law.principal import Principal
from metnos.law.running import RunningList
from metnos.store.db import Transaction
from metnos.store.migrations import Migration

HALTED = "everything halted"
LIFTED = "halt lifted"
READY = "halt file made"
READY_COUNT = "halt_file"  # in the line of a founding that made one

MIGRATIONS = (
    Migration(
        "0004_halts",
        (
            """CREATE TABLE halts (
                id TEXT PRIMARY KEY,
                ts TEXT NOT NULL,
                reason TEXT NOT NULL,
                lifted TEXT
            ) STRICT""",
            """CREATE TABLE running (
                pid INTEGER PRIMARY KEY CHECK (pid > 1),
                started TEXT NOT NULL,
                ts TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)
FOR_GOOD = Migration(
    "0007_halts_for_good",  # of an agent that was retired: no owner's word brings it back
    ("ALTER TABLE halts ADD COLUMN for_good INTEGER NOT NULL DEFAULT 0 CHECK (for_good IN (0, 1))",),
)
RUNNING_LISTED = Migration(
    "0008_running_in_a_file",  # `metnos.law.running`, which a panic can read when this file cannot be
    ("DROP TABLE running",),
)
_WAY_BACK = "If all is well again: metnos executor panic --lift"
_NO_WAY_BACK = "See: metnos life status"
_DOUBTED = (
    "Look at it: metnos audit verify. To take it as it is, as after putting an older copy of the workspace back:"
    " metnos audit accept"
)
_INCOMPLETE = "the audit log may be incomplete. "
_FOR_GOOD = "SELECT reason FROM halts WHERE for_good = 1 LIMIT 1"
_FOR_GOOD_WHOLE = "SELECT id, ts, reason, for_good FROM halts WHERE for_good = 1 LIMIT 1"
_UNKNOWN = "the reason was lost with the store; the audit knows of the halt"
_LATEST = "SELECT id, ts, reason, for_good FROM halts WHERE lifted IS NULL ORDER BY id DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class Halt:
    """Why nothing may act, what the owner can do about it, and the rule that says so."""

    why: str
    fix: str
    rule: str = "panic"


class Halts:
    """The kill switch of one workspace, and what it has to reach."""

    def __init__(self, workspace: Workspace, db: LawStore, audit: Audit, clock: Clock) -> None:
        self.file = HaltFile(workspace.halt_file)
        self.running = RunningList(workspace.running_list)
        self._db = db
        self._audit = audit
        self._clock = clock
        self._ids = UlidMaker(clock)

    def settle(self, *, lost: bool) -> None:
        """Make file, store and audit agree on what is halted; ``lost``: the store remembers nothing of before.

        Comes before anything acts. Whatever they disagree on halts.
        """
        if lost:
            self._rebuild()
        if not self.file.exists() and not self._is_announced():
            self.file.create(self._standing() or MAY_ACT)
        if not self.file.read().announced:
            if not self._is_announced():
                self._audit.append(Entry(READY))
            self.file.announce()
        if self.file.read().halted or self._standing() is not None:
            self._agree()
        self._db.settle(lost=lost)
        self.running.create()

    def note(self, reason: str, *, for_good: bool = False) -> HaltNote:
        """What a halt that begins now is to say."""
        return make_note(self._clock, self._ids, reason, for_good=for_good)

    def halt(self, reason: str, *, for_good: bool = False) -> None:
        """Stop everything. From here on nothing gets a permit, in any process; ``for_good``: nobody lifts it."""
        note = self.note(reason, for_good=for_good)
        self.file.halt(note)
        self.record(note)

    def record(self, note: HaltNote) -> None:
        """Tell the store and the audit of a halt that holds already. Each is told, also if the other cannot be."""
        failed: MetnosError | None = None
        try:
            with self._db.write() as tx:
                _keep(tx, note)
                failed = self._tell_audit(note)  # before another process can lift it
        except StoreError as error:
            failed = self._tell_audit(note) or error
        if failed is not None:
            raise failed

    def lift(self, by: Principal) -> bool:
        """Let things happen again; says whether anything was halted. Only the owner may.

        What was halted while this goes on stays halted.
        """
        if not by.may_answer:
            raise Refused(f"{by} may not lift a halt: a person has to", fix="Lift it at a terminal where you can type.")
        self.file.refuse_unchangeable()
        lifted: HaltNote | None = None
        try:
            with self._db.write() as tx:  # whoever records a halt waits for this
                note = self.file.read()
                if note.for_good:
                    raise _forever(note.reason)
                if row := tx.first(_FOR_GOOD):
                    raise _forever(row[0])
                count = len(tx.query("SELECT 1 FROM halts WHERE lifted IS NULL"))
                if not count and not note.halted:
                    return False
                names = {"channel": by.channel, "sender": by.sender}
                self._audit.append(Entry(LIFTED, names, counts={"halts": count}))
                self._lift_all(tx)
                lifted = note if self.file.lift(note) else None
        except MetnosError:
            if lifted is not None:
                self.file.halt(lifted)  # the store could not be told
            raise
        if lifted is None:
            raise Refused("everything was halted again meanwhile", fix="See why: metnos doctor. Then lift it again.")
        return True

    def halted(self) -> Halt | None:
        """Why everything is halted; nothing if it is not."""
        note = self.file.read()
        try:
            standing = self._standing()
        except StoreError:
            if not note.halted:
                raise
            standing = None
        found = standing or (note if note.halted else None)
        if found is None:
            return self._doubted()
        since = f" at {found.ts}" if found.ts else ""
        why = f"everything was halted{since}: {found.reason or 'no reason was given'}"
        return Halt(why, _NO_WAY_BACK if self._is_final(note) else _WAY_BACK)

    def _doubted(self) -> Halt | None:
        """The halt that a doubt about audit and store is: whoever cut the record may have cut a halt out of it."""
        try:
            doubt = self._audit.doubt()
            if doubt is None and self._db.is_older():
                doubt = OLDER
                self._audit.raise_doubt(doubt)
        except (MetnosError, OSError) as error:
            why = error.what if isinstance(error, MetnosError) else str(error.strerror)
            return Halt(f"everything is stopped: the audit log cannot be read: {why}", "See: metnos doctor")
        if doubt is None:
            return None
        return Halt(f"everything is stopped: {'' if doubt == OLDER else _INCOMPLETE}{doubt}", _DOUBTED)

    def why(self) -> str | None:
        """The same, for whoever only shows it."""
        return halt.why if (halt := self.halted()) else None

    def known(self) -> HaltNote | None:
        """The halt that file, store or audit knows of, also if the others do not; one for good comes first."""
        note = self.file.read()
        found = [note] if note.halted else []
        if row := self._db.first(_FOR_GOOD_WHOLE) or self._db.first(_LATEST):
            found.append(HaltNote(True, row[0], row[1], row[2], bool(row[3])))
        found += self._recorded()
        if not found and (halt := self._doubted()) is not None:
            found = [self.note(halt.why)]
        return next((each for each in found if each.for_good), found[0] if found else None)

    def is_for_good(self) -> bool:
        """Whether nothing here will ever act again."""
        return self._is_final(self.file.read())

    # -- inside

    def _is_final(self, note: HaltNote) -> bool:
        if note.for_good:
            return True
        try:
            return self._db.first(_FOR_GOOD) is not None
        except StoreError:
            return False

    def _standing(self) -> HaltNote | None:
        """The newest halt in the store that was not lifted."""
        row = self._db.first(_LATEST)
        return None if row is None else HaltNote(True, row[0], row[1], row[2], bool(row[3]))

    def _lift_all(self, tx: Transaction) -> None:
        tx.execute("UPDATE halts SET lifted = ? WHERE lifted IS NULL", (to_text(self._clock.now()),))

    def _is_announced(self) -> bool:
        """Whether the audit says that a halt file was ever made here."""
        return any(line.kind == READY or READY_COUNT in line.entry.counts for line in self._audit.newest())

    def _agree(self) -> None:
        """Make file, store and audit know of every halt that one of them knows."""
        try:
            with self._db.write():  # no lift is between its steps now
                self._halt_what_stands()
                for note in (self.file.read(), self._standing()):
                    if note is not None and note.halted and note.id:
                        with contextlib.suppress(MetnosError):
                            self.record(note)
        except StoreError:
            self._halt_what_stands()  # the next start tries the rest again

    def _halt_what_stands(self) -> None:
        standing = self._standing()
        if standing is not None and not self.file.read().halted:
            self.file.halt(standing)

    def _tell_audit(self, note: HaltNote) -> MetnosError | None:
        """Record a halt unless the audit knows that it holds; returns why that could not be."""
        try:
            if not self._is_recorded(note):
                self._audit.append(_entry(note))
        except MetnosError as error:
            return error
        return None

    def _is_recorded(self, note: HaltNote) -> bool:
        """Whether the audit knows that this halt holds."""
        for line in self._audit.newest():
            if line.kind == HALTED and line.entry.names.get("halt") == note.id:
                return True
            if line.kind == LIFTED and not note.for_good:
                return False
        return False

    def _rebuild(self) -> None:
        """Learn from the audit what was halted and not lifted since."""
        with self._db.write() as tx:
            for note in self._recorded():
                _keep(tx, note)

    def _recorded(self) -> list[HaltNote]:
        """What was halted and not lifted since, as the audit has it."""
        standing: dict[str, HaltNote] = {}
        for line in reversed(list(self._audit.newest())):
            entry = line.entry
            if line.kind == HALTED and "halt" in entry.names:
                note = HaltNote(True, entry.names["halt"], line.ts, _UNKNOWN, bool(entry.counts.get("for_good")))
                standing[note.id] = note
            elif line.kind == LIFTED:
                standing = {key: note for key, note in standing.items() if note.for_good}
        return list(standing.values())


def make_note(clock: Clock, ids: UlidMaker, reason: str, *, for_good: bool = False) -> HaltNote:
    return HaltNote(halted=True, id=ids(), ts=to_text(clock.now()), reason=reason, for_good=for_good)


def _keep(tx: Transaction, note: HaltNote) -> None:
    """Store a halt that holds, also if it was lifted before."""
    tx.execute(
        "INSERT INTO halts (id, ts, reason, for_good) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET lifted = NULL",
        (note.id, note.ts, note.reason, note.for_good),
    )


def _entry(note: HaltNote) -> Entry:
    reason = sha256_hex(note.reason.encode("utf-8", "replace"))
    return Entry(HALTED, {"halt": note.id}, {"reason": reason}, {"for_good": int(note.for_good)})


def _forever(reason: str) -> Refused:
    return Refused(f"everything was halted for good: {reason}", fix=_NO_WAY_BACK)
