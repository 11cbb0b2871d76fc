"""The one inbox: every question that waits for the owner, whoever asks it.

Rules: a question is bound to the digest of exactly what it is about, and an answer is worth nothing for anything else.
Only the owner in person answers, but for acts that `Principal.may_answer_to` names. What a yes would let live needs the
name of it, typed in full. Whatever needs two yeses gets them by two separate acts, each recorded. No answer in time is
*no*. An approval is used once: of any number of processes that take it, one gets it. The states go one way::

    waiting ── approved ── used
       │           ├────── refused     the owner thought better of it
       │           └────── expired
       ├────────── refused
       ├────────── expired
       └────────── edited              another question took its place

A question lives from the moment it was asked to its end: a clock set back before its beginning ends it too. The body is
the owner's business and stays here; the audit gets names and digests only.
"""

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from metnos.core.canon import Json, canonical_json
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import InboxError
from metnos.core.ids import UlidMaker
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.principal import Principal
from metnos.store.db import Database, Row, Transaction
from metnos.store.migrations import Migration

ACT, DIRECTION, ACTIVATION = "act", "direction", "activation"  # the last two: to make an executor, to let it live
ADOPTION, SKILL = "adoption", "skill"  # to sign an executor that the owner brought, to take in a skill
NAMED = {ACTIVATION: "name", ADOPTION: "name", SKILL: "skill"}  # a plain yes to these is none; where the name stands
ASKED = "question asked"
ANSWERS = {"approved": "question approved", "refused": "question refused", "edited": "question edited"}
EXPIRED, USED = "question expired", "approval used"

MIGRATIONS = (
    Migration(
        "0003_inbox",
        (
            """CREATE TABLE inbox (
                id TEXT PRIMARY KEY,
                kind TEXT NOT NULL,
                title TEXT NOT NULL,
                body TEXT NOT NULL,
                digest TEXT NOT NULL CHECK (length(digest) = 64),
                needs_yes INTEGER NOT NULL CHECK (needs_yes IN (1, 2)),
                yes_count INTEGER NOT NULL DEFAULT 0 CHECK (yes_count BETWEEN 0 AND needs_yes),
                state TEXT NOT NULL
                    CHECK (state IN ('waiting', 'approved', 'refused', 'expired', 'edited', 'used'))
                    CHECK (state NOT IN ('approved', 'used') OR yes_count = needs_yes),
                asked_by TEXT NOT NULL,
                asked_at TEXT NOT NULL,
                expires_at TEXT NOT NULL,
                answered_at TEXT,
                answered_by TEXT,
                reason TEXT NOT NULL DEFAULT ''
            ) STRICT""",
            """CREATE TABLE inbox_yes (
                item TEXT NOT NULL REFERENCES inbox (id),
                number INTEGER NOT NULL CHECK (number IN (1, 2)),
                ts TEXT NOT NULL,
                yes_by TEXT NOT NULL,
                PRIMARY KEY (item, number)
            ) STRICT""",
            # One question about one thing at a time.
            """CREATE UNIQUE INDEX inbox_open ON inbox (digest, needs_yes) WHERE state IN ('waiting', 'approved')""",
            """CREATE TRIGGER inbox_one_way BEFORE UPDATE OF state ON inbox
                WHEN NOT (OLD.state = NEW.state
                    OR OLD.state = 'waiting' AND NEW.state <> 'used'
                    OR OLD.state = 'approved' AND NEW.state IN ('used', 'refused', 'expired'))
                BEGIN SELECT RAISE(ABORT, 'a question does not go back'); END""",
        ),
    ),
)

_COLUMNS = (
    "id, kind, title, body, digest, needs_yes, yes_count, state, asked_by, asked_at, expires_at, answered_at,"
    " answered_by, reason"
)
_SELECT = f"SELECT {_COLUMNS} FROM inbox"  # noqa: S608 -- constants
_KIND = re.compile(r"[a-z]{1,24}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAX_BODY = 4_000_000  # bytes; whoever asks more than an owner can read is not asking
# A clock is corrected by moments now and then; only a longer way back ends what was asked.
_CORRECTION = timedelta(minutes=5)
_ERASED = "(forgotten)"


class State(StrEnum):
    """How a question stands."""

    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"
    EDITED = "edited"
    USED = "used"


_OPEN = (State.WAITING, State.APPROVED)


@dataclass(frozen=True, slots=True)
class Item:
    """One question."""

    id: str
    kind: str
    title: str
    body: Mapping[str, Any]
    digest: str
    needs_yes: int
    yes_count: int
    state: State
    asked_by: str
    asked_at: datetime
    expires_at: datetime
    answered_at: datetime | None
    answered_by: str | None
    reason: str

    @property
    def word(self) -> str:
        """What has to be typed to say yes; nothing where a plain yes is enough."""
        return str(self.body.get(NAMED[self.kind], "")) if self.kind in NAMED else ""

    def is_open(self, now: datetime) -> bool:
        return self.state in _OPEN and self.asked_at - _CORRECTION <= now < self.expires_at


@dataclass(frozen=True, slots=True)
class Yes:
    """One of the yeses that a question got."""

    number: int
    ts: datetime
    by: str


class Inbox:
    """All questions of one workspace."""

    def __init__(self, db: Database, audit: Audit, clock: Clock) -> None:
        self._db = db
        self._audit = audit
        self._clock = clock
        self._ids = UlidMaker(clock)

    # -- asking

    def ask(
        self,
        kind: str,
        title: str,
        body: Mapping[str, Json],
        digest: str,
        *,
        asked_by: Principal,
        hours: float,
        needs_yes: int = 1,
    ) -> Item:
        """Put a question, unless the same one is there already; returns it as it stands."""
        text = _checked(kind, body, digest, needs_yes)
        self._settle()
        now = self._clock.now()
        with self._db.write() as tx:
            row = tx.first(
                f"{_SELECT} WHERE digest = ? AND needs_yes = ? AND state IN (?, ?)", (digest, needs_yes, *_OPEN)
            )
            if row is not None:
                return _item(row)
            fields = (kind, title, text, digest, needs_yes, str(asked_by))
            return self._insert(tx, fields, now, now + timedelta(hours=hours))

    # -- answering

    def approve(self, item_id: str, by: Principal, *, seen: int | None = None, typed: str = "") -> Item:
        """Say yes, once; what needs two yeses waits for another call.

        ``seen`` is the number of yeses that the owner was shown. A face that passes it makes sure that one click which
        arrives twice stays one yes. ``typed`` is what the owner typed, for what a plain yes is not enough for.
        """
        with self._answer(item_id, by, (State.WAITING,)) as (tx, item):
            if item.kind in NAMED and (not item.word or typed != item.word):
                raise InboxError("not approved: the name you typed does not match", fix=f"Type in full: {item.word}")
            if seen is not None and seen != item.yes_count:
                raise InboxError(
                    "this question was answered in the meantime", fix=f"Look again: metnos inbox show {item.id}"
                )
            number = item.yes_count + 1
            state = State.APPROVED if number == item.needs_yes else State.WAITING
            self._record(ANSWERS["approved"], item, by, {"yes": number, "of": item.needs_yes})
            now = to_text(self._clock.now())
            tx.execute(
                "INSERT INTO inbox_yes (item, number, ts, yes_by) VALUES (?, ?, ?, ?)", (item.id, number, now, str(by))
            )
            tx.execute(
                "UPDATE inbox SET yes_count = ?, state = ?, answered_at = ?, answered_by = ? WHERE id = ?",
                (number, state, now, str(by), item.id),
            )
            return _require(tx, item.id)

    def refuse(self, item_id: str, by: Principal, reason: str = "") -> Item:
        """Say no; also to what was approved and not used yet."""
        with self._answer(item_id, by, _OPEN) as (tx, item):
            return self._close(tx, item, State.REFUSED, by, reason)

    def edit(
        self,
        item_id: str,
        by: Principal,
        body: Mapping[str, Json],
        digest: str,
        *,
        title: str | None = None,
        needs_yes: int | None = None,
    ) -> Item:
        """Close a question and put another in its place, which has as much time as the first had; returns that one."""
        with self._answer(item_id, by, (State.WAITING,)) as (tx, item):
            yeses = item.needs_yes if needs_yes is None else needs_yes
            text = _checked(item.kind, body, digest, yeses)
            self._close(tx, item, State.EDITED, by, "")
            row = tx.first(f"{_SELECT} WHERE digest = ? AND needs_yes = ? AND state IN (?, ?)", (digest, yeses, *_OPEN))
            if row is not None:
                return _item(row)
            now = self._clock.now()
            fields = (item.kind, item.title if title is None else title, text, digest, yeses, item.asked_by)
            return self._insert(tx, fields, now, now + (item.expires_at - item.asked_at))

    def erase(self, item_id: str, keep: Sequence[str] = ()) -> None:
        """Take the words out of a question, but for what ``keep`` names; it is closed, and that it was asked stays."""
        with self._db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            row = tx.first("SELECT body FROM inbox WHERE id = ?", (item_id,))
            body = json.loads(row[0]) if row is not None else {}
            left = canonical_json({name: body[name] for name in keep if name in body}).decode()
            tx.execute("UPDATE inbox SET title = ?, body = ?, reason = '' WHERE id = ?", (_ERASED, left, item_id))
            tx.execute("UPDATE inbox SET state = ? WHERE id = ? AND state IN (?, ?)", (State.EXPIRED, item_id, *_OPEN))

    # -- using

    def standing(self, digest: str, needs_yes: int = 1) -> Item | None:
        """The open question about exactly this: approved if there is one that is, else waiting."""
        self._settle()
        return self._standing(self._db.query, digest, needs_yes)

    def take(self, digest: str, needs_yes: int = 1) -> Item | None:
        """Use up an approval of exactly this; only one caller ever gets it."""
        self._settle()
        with self._db.write() as tx:
            item = self._standing(tx.query, digest, needs_yes)
            if item is None or item.state is not State.APPROVED:
                return None
            self._audit.append(Entry(USED, {"item": item.id, "about": item.kind}, {"digest": digest}))
            tx.execute("UPDATE inbox SET state = ? WHERE id = ? AND state = ?", (State.USED, item.id, State.APPROVED))
            return _require(tx, item.id)

    # -- reading

    def used(self, kind: str, digest: str) -> Item | None:
        """The question of that kind about exactly this to which the owner said yes, and whose yes was used."""
        row = self._db.first(
            f"{_SELECT} WHERE digest = ? AND kind = ? AND state = ? ORDER BY id DESC", (digest, kind, State.USED)
        )
        return None if row is None else _item(row)

    def was_refused(self, item: str) -> bool:
        """Whether somebody said no to this question; not if nobody answered, or it is not known any more."""
        return self._db.first("SELECT 1 FROM inbox WHERE id = ? AND state = ?", (item, State.REFUSED)) is not None

    def find(self, part: str) -> Item:
        """The question whose id begins or ends so: of several, the one that waits."""
        self._settle()
        wanted = part.upper()
        rows = self._db.query(
            f"{_SELECT} WHERE substr(id, 1, ?) = ? OR substr(id, -?) = ? ORDER BY id",
            (len(wanted), wanted, len(wanted), wanted),
        )
        found = [_item(row) for row in rows] if wanted else []
        waiting = [item for item in found if item.state is State.WAITING]
        for candidates in (found, waiting):
            if len(candidates) == 1:
                return candidates[0]
        how_many = "more than one" if found else "no"
        raise InboxError(f"{how_many} question has an id like {part!r}", fix="See them: metnos inbox list --all")

    def waiting(self) -> list[Item]:
        """What the owner has not answered, the oldest first."""
        self._settle()
        return [_item(row) for row in self._db.query(f"{_SELECT} WHERE state = ? ORDER BY id", (State.WAITING,))]

    def open(self, *kinds: str) -> list[Item]:
        """What is not answered, or agreed to and not done yet, of these kinds; the oldest first."""
        self._settle()
        found = map(_item, self._db.query(f"{_SELECT} WHERE state IN (?, ?) ORDER BY id", _OPEN))
        return [item for item in found if item.kind in kinds]

    def newest(self, count: int) -> list[Item]:
        """The newest questions, however they stand."""
        self._settle()
        return [_item(row) for row in self._db.query(f"{_SELECT} ORDER BY id DESC LIMIT ?", (count,))]

    def yeses(self, item_id: str) -> list[Yes]:
        """Every yes that a question got, in order."""
        rows = self._db.query("SELECT number, ts, yes_by FROM inbox_yes WHERE item = ? ORDER BY number", (item_id,))
        return [Yes(number, from_text(ts), by) for number, ts, by in rows]

    # -- inside

    @contextlib.contextmanager
    def _answer(self, item_id: str, by: Principal, states: tuple[State, ...]) -> Iterator[tuple[Transaction, Item]]:
        """A transaction around a question that may be answered, by someone who may answer it."""
        self._settle()
        with self._db.write() as tx:
            item = _require(tx, item_id)
            if not by.may_answer_to(item.asked_by, item.needs_yes, act=item.kind == ACT):
                raise InboxError(
                    f"{by} may not answer this: a person has to",
                    fix=f"Answer on the web page, or type at a terminal: metnos inbox approve {item.id}",
                )
            if item.state not in states or not item.is_open(self._clock.now()):
                raise InboxError(f"question {item.id} is {item.state} already", fix="Ask for the act again.")
            yield tx, item

    def _settle(self) -> None:
        """Turn into *no* what nobody answered or used in time; in a transaction of its own, so that it stays so."""
        now = self._clock.now()
        sql = f"{_SELECT} WHERE state IN (?, ?) AND (expires_at <= ? OR asked_at > ?)"
        values = (*_OPEN, to_text(now), to_text(now + _CORRECTION))
        if self._db.first(sql, values) is None:
            return
        with self._db.write() as tx:
            for row in tx.query(sql, values):
                item = _item(row)
                self._audit.append(Entry(EXPIRED, {"item": item.id, "about": item.kind}, {"digest": item.digest}))
                tx.execute("UPDATE inbox SET state = ? WHERE id = ?", (State.EXPIRED, item.id))

    def _standing(self, query: Callable[..., list[Row]], digest: str, needs_yes: int) -> Item | None:
        rows = query(
            f"{_SELECT} WHERE digest = ? AND needs_yes >= ? AND state IN (?, ?) ORDER BY state, id",
            (digest, needs_yes, *_OPEN),
        )
        now = self._clock.now()
        return next((item for item in map(_item, rows) if item.is_open(now)), None)

    def _insert(
        self, tx: Transaction, fields: tuple[str, str, str, str, int, str], now: datetime, until: datetime
    ) -> Item:
        kind, _, _, digest, needs_yes, _ = fields
        item_id = self._ids()
        self._audit.append(Entry(ASKED, {"item": item_id, "about": kind}, {"digest": digest}, {"needs_yes": needs_yes}))
        tx.execute(
            "INSERT INTO inbox (id, kind, title, body, digest, needs_yes, asked_by, state, asked_at, expires_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (item_id, *fields, State.WAITING, to_text(now), to_text(until)),
        )
        return _require(tx, item_id)

    def _close(self, tx: Transaction, item: Item, state: State, by: Principal, reason: str) -> Item:
        self._record(ANSWERS[state], item, by, {})
        tx.execute(
            "UPDATE inbox SET state = ?, answered_at = ?, answered_by = ?, reason = ? WHERE id = ?",
            (state, to_text(self._clock.now()), str(by), reason, item.id),
        )
        return _require(tx, item.id)

    def _record(self, kind: str, item: Item, by: Principal, counts: Mapping[str, int]) -> None:
        names = {"item": item.id, "about": item.kind, "channel": by.channel, "sender": by.sender}
        self._audit.append(Entry(kind, names, {"digest": item.digest}, counts))


def _checked(kind: str, body: Mapping[str, Json], digest: str, needs_yes: int) -> str:
    """The body as it is stored, if the question can be put at all."""
    if kind in NAMED and not body.get(NAMED[kind]):
        raise InboxError("a question about what is to live needs its name; this is a mistake in Metnos")
    if not _KIND.fullmatch(kind) or not _DIGEST.fullmatch(digest) or needs_yes not in (1, 2):
        raise InboxError("a question needs a kind, a digest, and one yes or two; this is a mistake in Metnos")
    text = canonical_json(body)
    if len(text) > _MAX_BODY:
        raise InboxError("this is more than an owner can read in one question", fix="Ask for less at a time.")
    return text.decode()


def _require(tx: Transaction, item_id: str) -> Item:
    row = tx.first(f"{_SELECT} WHERE id = ?", (item_id,))
    if row is None:
        raise InboxError(f"there is no question {item_id!r}", fix="See them: metnos inbox list --all")
    return _item(row)


def _item(row: Row) -> Item:
    key, kind, title, body, digest, needs, count, state, asker, asked, expires, answered, answerer, reason = row
    return Item(
        id=key,
        kind=kind,
        title=title,
        body=json.loads(body),
        digest=digest,
        needs_yes=needs,
        yes_count=count,
        state=State(state),
        asked_by=asker,
        asked_at=from_text(asked),
        expires_at=from_text(expires),
        answered_at=from_text(answered) if answered else None,
        answered_by=answerer,
        reason=reason,
    )
