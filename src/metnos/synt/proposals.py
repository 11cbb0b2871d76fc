"""Proposals: every need that was taken up, how far it came, and why it is where it is.

The states go one way, but for a refusal that is to be heeded in another draft::

    weighed ── direction ── commissioned ── drafted ── active
       └──────────┴──────────────┴─────────────┴────── refused, abandoned

What Metnos thought of by itself begins as weighed, and is commissioned only with a question of the inbox that the owner
said yes to; what the owner asked for begins as commissioned. Rules: one open proposal about one thing; each change is
one transaction with an event that says why; nothing here signs or runs anything. What a need says is the owner's
content: `forget` takes it out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import ExecutorError
from metnos.core.ids import UlidMaker
from metnos.store.db import Database, Row, Transaction
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Evidence, Example, Need, Way

_COLUMNS = (
    "id, way, state, subject, name, need, direction, activation, digest, draft, checks, usage, refusals, reason,"
    " ts_first, ts_last"
)
_SELECT = f"SELECT {_COLUMNS} FROM proposals"  # noqa: S608 -- constants
_FORGOTTEN = "(forgotten)"


class State(StrEnum):
    """How far a proposal came."""

    WEIGHED = "weighed"
    DIRECTION = "direction"
    COMMISSIONED = "commissioned"
    DRAFTED = "drafted"
    ACTIVE = "active"
    REFUSED = "refused"
    ABANDONED = "abandoned"


OPEN = (State.WEIGHED, State.DIRECTION, State.COMMISSIONED, State.DRAFTED)
_NEXT = {
    State.WEIGHED: (State.WEIGHED, State.DIRECTION, State.REFUSED, State.ABANDONED),
    State.DIRECTION: (State.COMMISSIONED, State.REFUSED, State.ABANDONED),
    State.COMMISSIONED: (State.DRAFTED, State.REFUSED, State.ABANDONED),
    State.DRAFTED: (State.ACTIVE, State.COMMISSIONED, State.DRAFTED, State.REFUSED, State.ABANDONED),
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """One need on its way."""

    id: str
    state: State
    subject: str  # what it is about, as a digest: the same need is the same proposal
    need: Need
    name: str = ""
    direction: str = ""
    activation: str = ""
    digest: str = ""
    draft: Draft | None = None
    checks: tuple[Check, ...] = ()
    usage: Mapping[str, float] | None = None
    refusals: int = 0
    reason: str = ""
    first: datetime | None = None
    last: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a proposal."""

    ts: datetime
    state: State
    reason: str


@dataclass(frozen=True, slots=True)
class Birth:
    """A version that lives or has lived, to the bit."""

    digest: str
    version: str
    draft: Draft
    since: datetime


def subject_of(need: Need) -> str:
    """What makes two needs the same: what they would mend, the wish or the sequence behind them, else what they say."""
    key = need.replaces or need.mnest or need.path or " ".join(need.text.lower().split())
    return sha256_hex(canonical_json([str(need.way), key]))


class Proposals:
    """All proposals of a workspace."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._ids = UlidMaker(clock)

    @property
    def db(self) -> Database:
        return self._db

    # -- writing

    def take_up(self, need: Need, reason: str) -> tuple[Proposal, bool]:
        """A proposal for a need, and whether it is new: one that is open about the same thing stays as it is."""
        subject, now = subject_of(need), to_text(self._clock.now())
        state = State.WEIGHED if need.way.is_internal else State.COMMISSIONED
        with self._db.write() as tx:
            row = tx.first(f"{_SELECT} WHERE subject = ? AND state IN (?, ?, ?, ?)", (subject, *OPEN))
            if row is not None:
                return _proposal(row), False
            key = self._ids()
            tx.execute(
                "INSERT INTO proposals (id, way, state, subject, name, need, reason, ts_first, ts_last)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (key, need.way, state, subject, need.replaces or need.name, _need_text(need), reason, now, now),
            )
            self._event(tx, key, state, reason)
            return self._require(tx, key), True

    def weigh(self, proposal: Proposal, need: Need, reason: str) -> Proposal:
        """What speaks for it has grown before anybody was asked."""
        return self._move(proposal.id, State.WEIGHED, reason, need=_need_text(need))

    def ask_direction(self, proposal: Proposal, item: str) -> Proposal:
        """The owner was asked whether this is a direction to go."""
        return self._move(proposal.id, State.DIRECTION, "asked about the direction", direction=item)

    def commission(self, proposal: Proposal, reason: str) -> Proposal:
        """It may be made. Of what Metnos thought of by itself only after the question about its direction."""
        if proposal.need.way.is_internal and not proposal.direction:
            raise ExecutorError("a direction that nobody agreed to is not taken")
        return self._move(proposal.id, State.COMMISSIONED, reason)

    def drafted(self, proposal: Proposal, made: Made, item: str) -> Proposal:
        """There is a draft that passed every gate, and the owner was asked about it."""
        if made.draft is None or not made.green:
            raise ExecutorError("only a draft that passed every gate is put before the owner")
        return self._move(
            proposal.id,
            State.DRAFTED,
            "a draft passed every gate",
            activation=item,
            name=made.draft.name,
            digest=made.draft.digest,
            draft=_draft_text(made.draft),
            checks=json.dumps([asdict(each) for each in made.checks]),
            usage=json.dumps(dict(made.usage)),
        )

    def refused(self, proposal: Proposal, reason: str, *, again: bool = False) -> Proposal:
        """The owner said no. ``again``: to this draft, and another one that heeds the reason is to be made."""
        need = replace(proposal.need, refused=(*proposal.need.refused, reason)) if reason else proposal.need
        said = f"refused by the owner: {reason}" if reason else "refused by the owner"
        state = State.COMMISSIONED if again else State.REFUSED
        return self._move(proposal.id, state, said, need=_need_text(need), refusals=proposal.refusals + 1)

    def abandon(self, proposal: Proposal, reason: str, checks: Sequence[Check] = ()) -> Proposal:
        found = json.dumps([asdict(each) for each in checks])
        return self._move(proposal.id, State.ABANDONED, reason, checks=found)

    def born(self, proposal: Proposal, version: str) -> Proposal:
        """It lives. What was signed is kept, so that it can be put back."""
        if proposal.draft is None:
            raise ExecutorError("nothing was drafted that could live")
        with self._db.write():
            self.keep(proposal, Birth(proposal.digest, version, proposal.draft, self._clock.now()))
            return self._move(proposal.id, State.ACTIVE, "signed and active")

    def keep(self, proposal: Proposal, birth: Birth) -> None:
        """Keep a version that lives, or whose place a proposal takes; once."""
        with self._db.write() as tx:
            tx.execute(
                "INSERT INTO births (digest, name, version, draft, proposal, ts) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (digest) DO NOTHING",
                (birth.digest, birth.draft.name, birth.version, _draft_text(birth.draft), proposal.id,
                 to_text(birth.since)),
            )  # fmt: skip

    def returned(self, digest: str, reason: str) -> None:
        """Note that a version was put back, with the proposal that it came of."""
        with self._db.write() as tx:
            row = tx.first("SELECT proposal FROM births WHERE digest = ?", (digest,))
            if row is not None:
                self._event(tx, row[0], State.ACTIVE, reason)

    def forget(self, key: str) -> None:
        """Take out the words of a proposal; that there was one stays. What lives or has lived keeps its files."""
        with self._db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            found = self._require(tx, key)
            bare = _need_text(Need(_FORGOTTEN, found.need.way, found.need.name, path=found.need.path))
            files = found.state is not State.ACTIVE  # a draft may hold what was observed, as its tests
            tx.execute("UPDATE proposals SET need = ?, reason = '' WHERE id = ?", (bare, key))
            tx.execute("UPDATE proposals SET draft = '', checks = '[]' WHERE id = ? AND ?", (key, int(files)))
            tx.execute("UPDATE proposal_events SET reason = '' WHERE proposal = ?", (key,))

    # -- reading

    def get(self, key: str) -> Proposal:
        return self._require(self._db, key)

    def find(self, part: str) -> Proposal:
        """The proposal whose id begins or ends so, or the newest of that name. Raises `ExecutorError`."""
        wanted = part.strip().upper()
        rows = self._db.query(f"{_SELECT} ORDER BY id DESC")
        named = [row for row in rows if row[4] == part]
        found = named[:1] or [row for row in rows if wanted and (row[0].startswith(wanted) or row[0].endswith(wanted))]
        if len(found) != 1:
            how_many = "more than one" if found else "no"
            raise ExecutorError(f"{how_many} proposal is called {part!r}", fix="See them: metnos synt list")
        return _proposal(found[0])

    def of_question(self, item: str) -> Proposal | None:
        """The proposal that a question in the inbox is about."""
        row = self._db.first(f"{_SELECT} WHERE direction = ? OR activation = ?", (item, item))
        return None if row is None else _proposal(row)

    def all(self, states: Sequence[State] = tuple(State)) -> list[Proposal]:
        """The newest first."""
        wanted = set(states)
        return [each for each in map(_proposal, self._db.query(f"{_SELECT} ORDER BY id DESC")) if each.state in wanted]

    def events(self, key: str) -> list[Event]:
        rows = self._db.query("SELECT ts, state, reason FROM proposal_events WHERE proposal = ? ORDER BY id", (key,))
        return [Event(from_text(ts), State(state), reason) for ts, state, reason in rows]

    def refusals(self, subject: str) -> int:
        """How often the owner said no to this, in all proposals about it."""
        row = self._db.first("SELECT coalesce(sum(refusals), 0) FROM proposals WHERE subject = ?", (subject,))
        return int(row[0]) if row else 0

    def versions(self, name: str) -> list[Birth]:
        """What lived under a name, the newest first."""
        rows = self._db.query(
            "SELECT digest, version, draft, ts FROM births WHERE name = ? ORDER BY ts DESC, rowid DESC", (name,)
        )
        return [Birth(digest, version, _draft(text), from_text(ts)) for digest, version, text, ts in rows]

    # -- inside

    def _move(self, key: str, state: State, reason: str, **columns: Any) -> Proposal:
        with self._db.write() as tx:
            found = self._require(tx, key)
            if state not in _NEXT.get(found.state, ()):
                raise ExecutorError(f"a proposal that is {found.state} does not become {state}")
            values = {**columns, "state": str(state), "reason": reason, "ts_last": to_text(self._clock.now())}
            assigned = ", ".join(f"{name} = ?" for name in values)
            tx.execute(f"UPDATE proposals SET {assigned} WHERE id = ?", (*values.values(), key))  # noqa: S608 -- ours
            self._event(tx, key, state, reason)
            return self._require(tx, key)

    def _event(self, tx: Transaction, key: str, state: State, reason: str) -> None:
        tx.execute(
            "INSERT INTO proposal_events (proposal, ts, state, reason) VALUES (?, ?, ?, ?)",
            (key, to_text(self._clock.now()), state, reason),
        )

    @staticmethod
    def _require(store: Database | Transaction, key: str) -> Proposal:
        row = store.first(f"{_SELECT} WHERE id = ?", (key,))
        if row is None:
            raise ExecutorError(f"there is no proposal {key!r}", fix="See them: metnos synt list")
        return _proposal(row)


# -- records as text


def _need_text(need: Need) -> str:
    return canonical_json(asdict(need)).decode()


def need_of(text: str) -> Need:
    """A need as it was written down."""
    data = json.loads(text)
    for name in ("inputs", "outputs", "errors", "refused", "instead"):
        data[name] = tuple(data.get(name, ()))
    data["way"] = Way(data["way"])
    data["examples"] = tuple(Example(**{**each, "entries": tuple(each["entries"])}) for each in data["examples"])
    listed = {name: tuple(data["evidence"].get(name, ())) for name in ("turns", "failures")}
    data["evidence"] = Evidence(**{**data["evidence"], **listed})
    return Need(**data)


def _draft_text(draft: Draft) -> str:
    return canonical_json(asdict(draft)).decode()


def _draft(text: str) -> Draft:
    return Draft(**json.loads(text))


def _proposal(row: Row) -> Proposal:
    key, _, state, subject, name, need, direction, activation, digest, draft, checks, usage, refusals, reason, *ts = row
    return Proposal(
        id=key,
        state=State(state),
        subject=subject,
        need=need_of(need),
        name=name,
        direction=direction,
        activation=activation,
        digest=digest,
        draft=_draft(draft) if draft else None,
        checks=tuple(Check(**each) for each in json.loads(checks)),
        usage=json.loads(usage),
        refusals=refusals,
        reason=reason,
        first=from_text(ts[0]),
        last=from_text(ts[1]),
    )
