"""The journal of what was changed: its records, its tables, and the only code that writes them.

Rules: an *action* is one call of an executor, or one undo or redo of such a call; it consists of *effects*, in order.
The calls that another executor made are one family: the first that changed something is its root, and undo takes all.
An effect is `begun` before anything is prepared for it, `acting` once everything that is needed to reverse it is on the
disk, and then `done` or `void` (it did not happen). What an effect keeps lies in the store under the effect's own id,
and that id is in the journal before the file is in the store; so whatever the journal does not know there is rubbish.
Paths are bytes: a name on a disk need not be text. Order is by ``seq``, since a clock may be set back. Does not
guarantee that what it says is still so: others change files too.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, to_text
from metnos.core.errors import UndoError
from metnos.store.db import Database, Row, Transaction
from metnos.store.migrations import Migration

OPEN, CLOSED, INTERRUPTED = "open", "closed", "interrupted"
BEGUN, ACTING, DONE, VOID = "begun", "acting", "done", "void"
PLACE, TAKE, MOVE, MAKE, UNMAKE, TRASH, RESTORE = "place", "take", "move", "make", "unmake", "trash", "restore"

MIGRATIONS = (
    Migration(
        "0001_undo",
        (
            """CREATE TABLE actions (
                seq INTEGER PRIMARY KEY AUTOINCREMENT,
                id TEXT NOT NULL UNIQUE,
                root TEXT NOT NULL REFERENCES actions (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
                ts TEXT NOT NULL,
                executor TEXT NOT NULL,
                digest TEXT NOT NULL,
                permit TEXT NOT NULL,
                turn TEXT NOT NULL,
                title TEXT NOT NULL,
                inverse INTEGER NOT NULL CHECK (inverse IN (0, 1)),
                inverse_of TEXT,
                state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'interrupted'))
            ) STRICT""",
            "CREATE INDEX actions_root ON actions (root)",
            """CREATE TABLE effects (
                seq INTEGER PRIMARY KEY AUTOINCREMENT,
                id TEXT NOT NULL UNIQUE,
                action TEXT NOT NULL REFERENCES actions (id) ON DELETE CASCADE,
                op TEXT NOT NULL,
                how TEXT NOT NULL
                    CHECK (how IN ('place', 'take', 'move', 'make', 'unmake', 'trash', 'restore')),
                path BLOB NOT NULL,
                target BLOB,
                state TEXT NOT NULL CHECK (state IN ('begun', 'acting', 'done', 'void')),
                stage BLOB,
                keeps INTEGER NOT NULL CHECK (keeps IN (0, 1)),
                from_key TEXT,
                trashed BLOB,
                before TEXT,
                after TEXT,
                bytes INTEGER NOT NULL,
                inverse_of TEXT
            ) STRICT""",
            "CREATE INDEX effects_action ON effects (action)",
        ),
    ),
)

_ACTION = "id, root, ts, executor, digest, permit, turn, title, inverse, inverse_of, state"
_EFFECT = "id, action, op, how, path, target, state, stage, keeps, from_key, trashed, before, after, bytes, inverse_of"


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a file or folder is known again. ``sha256`` is of its content, of all that a folder holds, or empty."""

    kind: str
    ino: int
    size: int
    mtime_ns: int
    mode: int
    sha256: str = ""

    def text(self) -> str:
        return canonical_json([self.kind, self.ino, self.size, self.mtime_ns, self.mode, self.sha256]).decode()


@dataclass(frozen=True, slots=True)
class ActionRow:
    """One action as the journal has it. ``root`` is the first of its kind: what undo and redo are about."""

    id: str
    root: str
    ts: str
    executor: str
    digest: str
    permit: str
    turn: str
    title: str
    inverse: bool = False
    inverse_of: str | None = None
    state: str = OPEN


@dataclass(frozen=True, slots=True)
class Effect:
    """One change of one path. ``op`` is its word for the owner, ``how`` what was done to the disk."""

    id: str
    action: str
    op: str
    how: str
    path: Path
    target: Path | None = None
    state: str = BEGUN
    stage: Path | None = None  # what will be renamed to `path`; in the way of `place` and of moves between disks
    keeps: bool = False  # the store holds something under this effect's id
    from_key: str | None = None  # the effect under whose id the store held what this one brings back
    trashed: Path | None = None
    before: Mark | None = None
    after: Mark | None = None
    bytes: int = 0
    inverse_of: str | None = None

    @property
    def where(self) -> Path:
        """Where something appears: the target of a copy or a move."""
        return self.path if self.target is None else self.target

    @property
    def named(self) -> tuple[str, ...]:
        """The effect as permits and previews name it."""
        return (self.op, str(self.path)) if self.target is None else (self.op, str(self.path), str(self.target))


class Journal:
    """The one writer of undo.db."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def now(self) -> str:
        return to_text(self._clock.now())

    # -- writing

    def begin_action(self, action: ActionRow) -> None:
        with self._db.write() as tx:
            values = (
                action.id, action.root, action.ts, _plain(action.executor), _plain(action.digest),
                _plain(action.permit), _plain(action.turn), _plain(action.title), int(action.inverse),
                action.inverse_of, action.state,
            )  # fmt: skip
            tx.execute(f"INSERT INTO actions ({_ACTION}) VALUES ({_marks(values)})", values)  # noqa: S608 -- constants

    def end_action(self, action: str, state: str) -> None:
        """Close an action. One that changed nothing is forgotten; one with an unsettled effect waits for `settle`."""
        with self._db.write() as tx:
            tx.execute("DELETE FROM effects WHERE action = ? AND state = 'void'", (action,))
            if tx.first("SELECT 1 FROM effects WHERE action = ? AND state != 'done' LIMIT 1", (action,)):
                return
            if tx.first("SELECT 1 FROM effects WHERE action = ? LIMIT 1", (action,)):
                tx.execute("UPDATE actions SET state = ? WHERE id = ?", (state, action))
            else:
                tx.execute("DELETE FROM actions WHERE id = ?", (action,))

    def write(self, effect: Effect) -> Effect:
        """Record an effect as it stands now; on the disk when this returns."""
        with self._db.write() as tx:
            _put(tx, effect)
        return effect

    def forget(self, roots: list[str]) -> None:
        """Remove actions with everything that was undone and redone of them."""
        with self._db.write() as tx:
            for root in roots:
                tx.execute("DELETE FROM actions WHERE root = ?", (root,))

    # -- reading

    def roots(self, limit: int, offset: int = 0) -> list[ActionRow]:
        """What executors did, the newest first."""
        sql = f"SELECT {_ACTION} FROM actions WHERE id = root ORDER BY seq DESC LIMIT ? OFFSET ?"  # noqa: S608
        return [_action(row) for row in self._db.query(sql, (limit, offset))]

    def find(self, prefix: str) -> ActionRow:
        """The root of the one action whose id begins so."""
        sql = "SELECT DISTINCT root FROM actions WHERE substr(id, 1, ?) = ? LIMIT 2"
        found = self._db.query(sql, (len(prefix), prefix.upper())) if prefix else []
        if len(found) != 1:
            wrong = f"several actions begin with {prefix!r}" if found else f"there is no action {prefix!r}"
            raise UndoError(wrong, fix="metnos undo --list   shows them all.")
        return self.family(found[0][0])[0]

    def turned(self) -> list[str]:
        """The roots of actions that were undone at some time, the one most lately undone first."""
        sql = "SELECT root FROM actions WHERE inverse = 1 GROUP BY root ORDER BY max(seq) DESC"
        return [root for (root,) in self._db.query(sql)]

    def undone_turns(self) -> list[str]:
        """The turns of actions that were undone, and not redone since."""
        sql = (
            "SELECT DISTINCT a.turn FROM actions a JOIN (SELECT root, inverse, max(seq) FROM actions"
            " WHERE state = 'closed' GROUP BY root) last ON last.root = a.root WHERE last.inverse = 1 AND a.turn <> ''"
        )
        return [turn for (turn,) in self._db.query(sql)]

    def family(self, root: str) -> list[ActionRow]:
        """An action, what else was done under its root, and every undo and redo of it, in order."""
        sql = f"SELECT {_ACTION} FROM actions WHERE root = ? ORDER BY seq"  # noqa: S608
        return [_action(row) for row in self._db.query(sql, (root,))]

    def effects(self, root: str) -> list[Effect]:
        """All effects of an action and of every undo and redo of it, in the order in which they happened."""
        columns = ", ".join(f"e.{name}" for name in _EFFECT.split(", "))
        sql = f"SELECT {columns} FROM effects e JOIN actions a ON a.id = e.action WHERE a.root = ? ORDER BY e.seq"  # noqa: S608
        return [_effect(row) for row in self._db.query(sql, (root,))]

    def open_actions(self) -> list[ActionRow]:
        sql = f"SELECT {_ACTION} FROM actions WHERE state = 'open' ORDER BY seq"  # noqa: S608
        return [_action(row) for row in self._db.query(sql)]

    def effects_of(self, action: str) -> list[Effect]:
        sql = f"SELECT {_EFFECT} FROM effects WHERE action = ? ORDER BY seq"  # noqa: S608
        return [_effect(row) for row in self._db.query(sql, (action,))]

    def keys(self) -> set[str]:
        """Every id under which the store may hold something."""
        return {key for (key,) in self._db.query("SELECT id FROM effects")}

    def untouched_since(self, moment: str) -> list[str]:
        """The roots of actions of which nothing happened at or after this moment."""
        sql = "SELECT root FROM actions GROUP BY root HAVING max(ts) < ? AND sum(state = 'open') = 0"
        return [root for (root,) in self._db.query(sql, (moment,))]


def _put(tx: Transaction, effect: Effect) -> None:
    values = (
        effect.id, effect.action, effect.op, effect.how, os.fsencode(effect.path), _bytes(effect.target), effect.state,
        _bytes(effect.stage), int(effect.keeps), effect.from_key, _bytes(effect.trashed),
        effect.before.text() if effect.before else None, effect.after.text() if effect.after else None, effect.bytes,
        effect.inverse_of,
    )  # fmt: skip
    fresh = ", ".join(f"{name} = excluded.{name}" for name in _EFFECT.split(", ")[1:])
    sql = f"INSERT INTO effects ({_EFFECT}) VALUES ({_marks(values)}) ON CONFLICT (id) DO UPDATE SET {fresh}"  # noqa: S608
    tx.execute(sql, values)


def _marks(values: tuple[object, ...]) -> str:
    return ", ".join("?" * len(values))


def _action(row: Row) -> ActionRow:
    values = list(row)
    values[8] = bool(values[8])
    return ActionRow(*values)


def _effect(row: Row) -> Effect:
    values = list(row)
    for index, read in _READ.items():
        values[index] = read(values[index])
    return Effect(*values)


def _bytes(path: Path | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


def _path(raw: bytes | None) -> Path | None:
    return None if raw is None else Path(os.fsdecode(raw))


def _mark(text: str | None) -> Mark | None:
    return None if text is None else Mark(*json.loads(text))


_READ: dict[int, Callable[[Any], Any]] = {
    4: _path,
    5: _path,
    7: _path,
    8: bool,
    10: _path,
    11: _mark,
    12: _mark,
}  # fmt: skip  -- the columns of `_EFFECT` that are more than text and numbers


def _plain(text: str) -> str:
    """Text that a database can hold: what came from a file's name may not be."""
    return text.encode("utf-8", "backslashreplace").decode()
