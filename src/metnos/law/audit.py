"""The audit: append-only, hash-chained, signed at intervals.

Rules: a line is on the disk before `append` returns, and whoever cannot append does not act. Writers of any number of
processes take turns by the write lock of the audit's database, which also holds the head and length of the log, signed,
so that a lost tail and a rewritten log are noticed. What a killed process left behind the head is settled and said in a
line of its own, "audit recovered": whole lines that follow are taken up, half a line is cut off. Anything else found
behind the head, or missing before it, is left for `verify` to name and recorded as "audit damaged".

That, and a log that is not the one which the witness outside the workspace remembers, is a doubt: recording goes on,
nothing acts (`metnos.law.halt`), and the witness keeps what it knows until the owner accepts the log as it is. Does not
guarantee anything against whoever can read the agent's key.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from metnos.core import files
from metnos.core.clock import Clock, to_text
from metnos.core.errors import AuditError, Refused, StoreBusy, StoreCorrupt, StoreError
from metnos.core.sign import Signer
from metnos.core.workspace import Workspace
from metnos.law import audit_log
from metnos.law.audit_line import (
    ACCEPTED,
    CHECKPOINT,
    DAMAGED,
    DOUBTED,
    GENESIS,
    HEAD_REBUILT,
    RECOVERED,
    AuditLine,
    Entry,
    checkpoint_message,
)
from metnos.law.audit_log import Head, Look
from metnos.law.principal import Principal
from metnos.law.witness import HEAD_PURPOSE, Witness, judge
from metnos.store.db import Database, Durability, Transaction
from metnos.store.migrations import Migration

PURPOSE = "audit checkpoint"

MIGRATIONS = (
    Migration(
        "0001_head",
        (
            """CREATE TABLE audit_head (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                seq INTEGER NOT NULL CHECK (seq >= 1),
                hash TEXT NOT NULL,
                month TEXT NOT NULL,
                size INTEGER NOT NULL CHECK (size >= 0),
                signature TEXT NOT NULL
            ) STRICT""",
        ),
    ),
    Migration("0002_doubts", ("CREATE TABLE audit_doubts (why TEXT PRIMARY KEY, ts TEXT NOT NULL) STRICT",)),
)
_HEAD = "seq, hash, month, size, signature"
_CUT = "the log is shorter than it was: lines are missing from its end"
_FOREIGN = "something stands behind the log's last line that Metnos did not write"
_FORGED = "the witness outside the workspace was not signed by this agent"
_UNVOUCHED = "what the store remembers of the log was lost, and nothing else vouches for it"


class Audit:
    """The log of one workspace."""

    def __init__(
        self, workspace: Workspace, signer: Signer, clock: Clock, *, every: int, busy_timeout_s: float
    ) -> None:
        self.folder = workspace.audit
        self._signer = signer
        self._clock = clock
        self._every = every
        self.witness = Witness.of(workspace.root, signer.public)
        self._vouched: Head | None = None  # what the witness said when the log was last compared with it
        files.private_folder(workspace.law)
        files.private_folder(self.folder)
        # NORMAL is enough: after a power cut the log may be longer than the head, and then the head follows the log.
        self._db = Database(
            workspace.audit_db, MIGRATIONS, busy_timeout_s=busy_timeout_s, durability=Durability.NORMAL, clock=clock
        )

    def append(self, entry: Entry) -> AuditLine:
        """Record one entry. When this raises the act must not happen, whether or not its line is found later."""
        try:
            with self._db.write() as tx:
                head = self._settle(tx)
                return self._put(tx, head, entry)
        except (StoreError, OSError) as error:
            known = error if isinstance(error, StoreError) else None
            reason = known.what if known else f"{getattr(error, 'strerror', error)}: {self.folder}"
            fix = (known and known.fix) or "Free some space, or check who owns the folder."
            raise AuditError(f"the audit cannot be written: {reason}", fix=f"{fix} Nothing was done.") from error

    @contextlib.contextmanager
    def act(self, entry: Entry) -> Iterator[AuditLine]:
        """Record that something is about to happen, let it happen, and record how it ended."""
        intent = self.append(_phase(entry, "intent"))
        try:
            yield intent
        except BaseException:
            # What went wrong matters more than that its end cannot be recorded: the intent stands, without an end.
            with contextlib.suppress(AuditError):
                self.append(_phase(entry, "failed", intent.seq))
            raise
        try:
            self.append(_phase(entry, "done", intent.seq))
        except AuditError as error:
            what = f"{entry.kind!r} was done, but its end could not be recorded: {error.what}"
            raise AuditError(what, fix=f"Mend that; `metnos audit show {intent.seq}` shows what was begun.") from error

    @contextlib.contextmanager
    def still(self) -> Iterator[Look]:
        """Hold the log still, settled, for as long as it takes to copy it; gives a look at it."""
        with self._db.write() as tx:
            self._settle(tx)
            yield audit_log.look(self.folder, read_head(tx))

    def doubt(self) -> str | None:
        """Why this log may not be the whole one; nothing if all that remember it agree. Nothing may act on a doubt."""
        record = self.witness.read()
        row = self._db.first(f"SELECT {_HEAD}, (SELECT why FROM audit_doubts ORDER BY ts LIMIT 1) FROM audit_head")  # noqa: S608 -- constants
        if row is not None and row[-1] is not None:
            return str(row[-1])
        head = Head(*row[:-1]) if row is not None else None
        if head is not None and self._agrees(record, head) and audit_log.ends_with(self.folder, head):
            return None
        with self._db.write() as tx:  # another process may be in the middle of a line
            self._settle(tx)
            return next(iter(_doubts(tx)), None)

    def raise_doubt(self, why: str) -> None:
        """Doubt what the log vouches for; a new doubt is said in the log."""
        with self._db.write() as tx:
            head = self._settle(tx)
            if why not in _doubts(tx):
                self._doubt(tx, why)
                self._put(tx, head, Entry(DOUBTED))

    def doubts(self) -> list[str]:
        """All that makes this log doubtful, the oldest first."""
        with self._db.write() as tx:
            self._settle(tx)
            return _doubts(tx)

    def accept(self, by: Principal) -> list[str]:
        """Take the log as it is for the whole one, and say so in it; returns what was doubted. Only a person may, and
        a restore that a person asked for."""
        if not by.may_answer:
            raise Refused(
                f"{by} may not accept the audit: a person has to", fix="Type at a terminal: metnos audit accept"
            )
        with self._db.write() as tx:
            head = self._settle(tx)
            doubted = _doubts(tx)
            if doubted:
                tx.execute("DELETE FROM audit_doubts")
                self._put(
                    tx,
                    head,
                    Entry(ACCEPTED, {"channel": by.channel, "sender": by.sender}, counts={"doubts": len(doubted)}),
                )
        return doubted

    def head(self) -> Head | None:
        """The last line that was acknowledged."""
        return read_head(self._db)

    def newest(self) -> Iterator[AuditLine]:
        """Every readable line, the newest first."""
        return audit_log.backwards(self.folder)

    def unfinished(self) -> list[AuditLine]:
        """Acts that were begun and have no end: interrupted, or still going on."""
        ended: set[int] = set()
        begun: list[AuditLine] = []
        for line in self.newest():
            phase = line.entry.names.get("phase")
            if phase == "intent" and line.seq not in ended:
                begun.append(line)
            elif phase in ("done", "failed"):
                ended.add(line.entry.counts.get("intent", 0))
        return begun

    def close(self) -> None:
        self._db.close()

    # -- inside the lock

    def _put(self, tx: Transaction, head: Head | None, entry: Entry) -> AuditLine:
        """Write one line, and a signed checkpoint behind it when one is due, with one sync for both."""
        now = self._clock.now()
        month = now.strftime("%Y-%m")
        if head is not None:
            month = max(month, head.month)  # a clock set back must not put a line into an older file
        seq, prev = (head.seq, head.hash) if head else (0, GENESIS)
        line = AuditLine(seq + 1, to_text(now), entry, prev, month)
        lines = [line]
        if (line.seq + 1) % self._every == 0 or (head is not None and month != head.month):
            lines.append(self._checkpoint(line))
        size = _append_synced(audit_log.path_of(self.folder, month), b"".join(each.encode() for each in lines))
        last = lines[-1]
        written = self._write_head(tx, Head(last.seq, last.hash, month, size))
        if not _doubts(tx) and self.witness.write(written):
            self._vouched = written
        return line

    def _checkpoint(self, after: AuditLine) -> AuditLine:
        signature = self._signer.sign(PURPOSE, checkpoint_message(after.seq + 1, after.hash))
        entry = Entry(CHECKPOINT, {"public_key": self._signer.public})
        return AuditLine(after.seq + 1, after.ts, entry, after.hash, after.month, signature)

    def _settle(self, tx: Transaction) -> Head | None:
        """Make head and log agree, compare them with the witness, and return the head to write behind."""
        remembered = read_head(tx)
        head = remembered or audit_log.beginning(self.folder)
        if head is None:
            return self._rebuild(tx)
        tail = audit_log.after_head(self.folder, head)
        if tail.lines:
            last = tail.lines[-1]
            head = self._write_head(tx, Head(last.seq, last.hash, last.month, tail.size))
        if tail.torn:
            os.truncate(audit_log.path_of(self.folder, tail.month), tail.size)
        if tail.lost or tail.foreign:
            self._doubt(tx, _CUT if tail.lost else _FOREIGN)
        head = self._compare(tx, head if head.seq else None) or head
        if tail.lost or tail.foreign:
            return self._note(tx, head, Entry(DAMAGED, counts={"known": head.seq}))
        if tail.lines or tail.torn:
            return self._note(tx, head, Entry(RECOVERED, counts={"taken": len(tail.lines), "cut": tail.torn}))
        return head if head.seq else None

    def _rebuild(self, tx: Transaction) -> Head | None:
        """The store knows of no line: either there is none, or the store's own file was lost."""
        newest = next(self.newest(), None)
        if newest is None:
            return self._compare(tx, None)
        head = Head(newest.seq, newest.hash, audit_log.months(self.folder)[-1], 0)
        if self.witness.read() is None:
            self._doubt(tx, _UNVOUCHED)
        compared = self._compare(tx, head)
        return self._note(tx, compared or head, Entry(HEAD_REBUILT, counts={"known": newest.seq}))

    def _compare(self, tx: Transaction, head: Head | None) -> Head | None:
        """Compare the log with the witness; a first doubt is said in the log. Returns the head to write behind."""
        record = self.witness.read()
        if record is None or self._agrees(record, head) or _doubts(tx):
            return head
        why = judge(record, head, self._hash_of)
        if why is None and not self.witness.is_signed(record):
            why = _FORGED
        if why is None:
            self._vouched = record
            return head
        self._doubt(tx, why)
        found = head or Head(0, GENESIS, "", 0)
        return self._note(tx, found, Entry(DOUBTED, counts={"witness": record.seq, "log": found.seq}))

    def _agrees(self, record: Head | None, head: Head | None) -> bool:
        """Whether witness and head are known to belong together, without a look into the log's files."""
        if record is None or head is None:
            return record is None
        if record.seq == head.seq:
            return record == head
        return record == self._vouched and record.seq < head.seq

    def _hash_of(self, seq: int) -> str | None:
        line = next(audit_log.backwards(self.folder, seq + 1), None)
        return line.hash if line is not None and line.seq == seq else None

    def _doubt(self, tx: Transaction, why: str) -> None:
        tx.execute("INSERT OR IGNORE INTO audit_doubts (why, ts) VALUES (?, ?)", (why, to_text(self._clock.now())))

    def _note(self, tx: Transaction, head: Head, entry: Entry) -> Head:
        """Write a line about the log itself, behind everything that is there, in the newest file."""
        month = max(head.month, *audit_log.months(self.folder), self._clock.now().strftime("%Y-%m"))
        self._put(tx, Head(head.seq, head.hash, month, head.size), entry)
        noted = read_head(tx)
        assert noted is not None  # noqa: S101 -- `_put` has just written it
        return noted

    def _write_head(self, tx: Transaction, head: Head) -> Head:
        signed = replace(head, signature=self._signer.sign(HEAD_PURPOSE, head.message()))
        tx.execute(
            "INSERT INTO audit_head (id, seq, hash, month, size, signature) VALUES (1, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, month = excluded.month,"
            " size = excluded.size, signature = excluded.signature",
            (signed.seq, signed.hash, signed.month, signed.size, signed.signature),
        )
        return signed


def _append_synced(path: Path, content: bytes) -> int:
    """Append and sync; returns the file's new length. A write that fails half-way is taken back."""
    fresh = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, files.PRIVATE_FILE)
    try:
        before = os.fstat(descriptor).st_size
        if before and os.pread(descriptor, 1, before - 1) != b"\n":
            content = b"\n" + content  # the end of a damaged line must not swallow ours
        try:
            written = os.write(descriptor, content)
            if written != len(content):
                raise OSError(28, os.strerror(28))  # a short write to a file means that the disk is full
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
    if fresh:
        files.sync_folder(path.parent)
    return before + len(content)


def _phase(entry: Entry, phase: str, intent: int | None = None) -> Entry:
    counts = dict(entry.counts) if intent is None else {**entry.counts, "intent": intent}
    return Entry(entry.kind, {**entry.names, "phase": phase}, entry.digests, counts)


def look_at(workspace: Workspace) -> Look:
    """A look at a log that others may be writing to. Changes nothing, and waits for whoever is writing a line."""
    if not workspace.audit_db.exists():
        return audit_log.look(workspace.audit, None)
    try:
        database = Database(workspace.audit_db, MIGRATIONS)
        with database.write() as tx:  # only for the lock: nobody is in the middle of a line while we look
            seen = audit_log.look(workspace.audit, read_head(tx))
    except (StoreBusy, StoreCorrupt):
        raise
    except StoreError:
        # It cannot be locked, as on a disk that is mounted read-only; then nobody writes to it either.
        database = Database(workspace.audit_db, read_only=True)
        seen = audit_log.look(workspace.audit, read_head(database))
    database.close()
    return seen


def read_head(store: Database | Transaction) -> Head | None:
    """The head as the store remembers it."""
    row = store.first(f"SELECT {_HEAD} FROM audit_head")  # noqa: S608 -- constants
    return Head(*row) if row is not None else None


def _doubts(tx: Transaction) -> list[str]:
    return [why for (why,) in tx.query("SELECT why FROM audit_doubts ORDER BY ts, rowid")]
