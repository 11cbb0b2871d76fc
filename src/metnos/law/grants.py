"""Grants: standing answers that the owner gave in advance, each for one capability on one target, and for a time.

Rules: a grant turns *ask* into *allow* for the needs that it covers, and nothing else: it never spares a second yes,
lifts a refusal, or reaches a forbidden path. It ends after a year at most, and can be revoked at any moment. A grant
for a folder does not reach the hidden names in it; one for a hidden name does, for reading where it is. A grant for a
host covers fetching from it; sending to it is said extra, because what is sent is gone, and a request that can hold
what was read counts as sending. Only the owner in person gives grants. A grant whose beginning lies in the future is
not active: then the clock was set back. A grant is for an executor as it was: whoever puts another version in its
place ends what was granted to it by name (`end_of`). Does not guarantee that for ``*``, which is for whatever there
is.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from metnos.core.canon import canonical_path, sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import Refused, UsageError
from metnos.core.ids import UlidMaker
from metnos.law import levels
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.capability import Capability
from metnos.law.forbidden import Access, refuse_forbidden
from metnos.law.need import CARRIED, PATHS, Need, Place, host_name, lies_within, place_of_host
from metnos.law.principal import Principal
from metnos.store.db import Database, Row
from metnos.store.migrations import Migration

ANY = "*"
MAX_DAYS = 365
GRANTED = "grant given"
REVOKED = "grant revoked"

MIGRATIONS = (
    Migration(
        "0002_grants",
        (
            """CREATE TABLE grants (
                id TEXT PRIMARY KEY,
                executor TEXT NOT NULL,
                capability TEXT NOT NULL,
                target TEXT NOT NULL,
                sending INTEGER NOT NULL CHECK (sending IN (0, 1)),
                created TEXT NOT NULL,
                expires TEXT NOT NULL CHECK (expires > created),
                revoked TEXT,
                reason TEXT NOT NULL,
                granted_by TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)

_COLUMNS = "id, executor, capability, target, sending, created, expires, revoked, reason, granted_by"
_EXECUTOR = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Grant:
    """One standing answer. ``executor`` is a name, or ``*`` for all."""

    id: str
    executor: str
    capability: Capability
    target: str
    sending: bool
    created: datetime
    expires: datetime
    revoked: datetime | None
    reason: str
    granted_by: str

    def is_active(self, now: datetime) -> bool:
        return self.revoked is None and self.created <= now < self.expires

    def covers(self, need: Need, executor: str) -> bool:
        """Whether it speaks of this need, whatever the time."""
        if self.executor not in (ANY, executor) or not lies_within(need, self.capability, self.target):
            return False
        if need.verb == CARRIED:
            return False  # leave to read it where it is, is none to let it go elsewhere
        hidden = levels.Use.HIDDEN_READING
        if hidden in levels.uses_of(need) and hidden not in levels.uses_of(Need(need.capability, self.target)):
            return False  # a grant for a folder does not speak of what is hidden in it
        return self.sending or need.capability is not Capability.NET_HTTP or not need.sends


class Grants:
    """All grants of one workspace."""

    def __init__(self, db: Database, audit: Audit, clock: Clock) -> None:
        self._db = db
        self._audit = audit
        self._clock = clock
        self._ids = UlidMaker(clock)

    def grant(
        self,
        executor: str,
        capability: Capability,
        target: str,
        *,
        days: float,
        by: Principal,
        reason: str = "",
        sending: bool = False,
    ) -> Grant:
        """Give a grant and return it."""
        _refuse_stranger(by)
        if executor != ANY and not _EXECUTOR.fullmatch(executor):
            raise UsageError(f"{executor!r} is no name of an executor", fix=f"Name one, or use {ANY!r} for all.")
        if not 0 < days <= MAX_DAYS:
            raise UsageError(f"a grant lasts more than 0 and at most {MAX_DAYS} days", fix="Choose a shorter time.")
        now = self._clock.now()
        made = Grant(
            id=self._ids(),
            executor=executor,
            capability=capability,
            target=_checked_target(capability, target),
            sending=sending and capability is Capability.NET_HTTP,
            created=from_text(to_text(now)),
            expires=from_text(to_text(now + timedelta(days=days))),
            revoked=None,
            reason=reason,
            granted_by=str(by),
        )
        with self._db.write() as tx:
            self._audit.append(_entry(GRANTED, made, by))
            tx.execute(f"INSERT INTO grants ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(made))  # noqa: S608 -- constants
        return made

    def revoke(self, grant_id: str, by: Principal) -> Grant:
        """End a grant now; an unambiguous beginning of its id is enough."""
        if not by.is_owner:
            raise Refused(f"{by} may not revoke a grant", fix="Do it at the terminal or on the web page.")
        with self._db.write() as tx:
            found = tx.query(
                f"SELECT {_COLUMNS} FROM grants WHERE substr(id, 1, ?) = ? AND revoked IS NULL",  # noqa: S608 -- constants
                (len(grant_id), grant_id.upper()),
            )
            if not grant_id or len(found) != 1:
                how_many = "no" if not found else "more than one"
                raise UsageError(f"{how_many} grant begins with {grant_id!r}", fix="See them all: metnos policy grants")
            grant = _grant(found[0])
            self._audit.append(_entry(REVOKED, grant, by))
            tx.execute("UPDATE grants SET revoked = ? WHERE id = ?", (to_text(self._clock.now()), grant.id))
        return grant

    def end_of(self, executor: str, by: Principal) -> list[Grant]:
        """End every grant that an executor has by its name: what it was given to is not there any more.

        Whoever may answer nothing may do this: it takes, and never gives.
        """
        with self._db.write() as tx:
            found = [grant for grant in self.active() if grant.executor == executor]
            for grant in found:
                self._audit.append(_entry(REVOKED, grant, by))
                tx.execute("UPDATE grants SET revoked = ? WHERE id = ?", (to_text(self._clock.now()), grant.id))
        return found

    def active(self, now: datetime | None = None) -> list[Grant]:
        """Every grant that holds now, the oldest first."""
        now = now or self._clock.now()
        rows = self._db.query(f"SELECT {_COLUMNS} FROM grants WHERE revoked IS NULL ORDER BY id")  # noqa: S608 -- constants
        return [grant for grant in map(_grant, rows) if grant.is_active(now)]

    def covers(self, need: Need, executor: str, now: datetime) -> Grant | None:
        """A grant that holds at this moment and covers this need of this executor."""
        return next((grant for grant in self.active(now) if grant.covers(need, executor)), None)


def _refuse_stranger(by: Principal) -> None:
    if not by.may_answer:
        raise Refused(f"{by} may not give a grant: a person has to", fix="Do it at a terminal where you can type.")


def _checked_target(capability: Capability, target: str) -> str:
    """The target in its one spelling. What could never be covered, or covers everyone, is refused at once."""
    if capability in PATHS or capability is Capability.SHELL_EXEC:
        if not target.startswith("/"):
            raise UsageError(f"{target!r} is no whole path", fix="Name it from / on.")
        path = canonical_path(_folder(target) if capability in PATHS else target, cwd=Path("/"), home=Path("/"))
        refuse_forbidden(path, Access.WRITE if capability is Capability.FS_WRITE else Access.READ)
        return str(path)
    if capability is Capability.NET_HTTP:
        host = host_name(target)
        bare = host.removeprefix("*.")
        if place_of_host(bare) is Place.NEVER or (bare != host and "." not in bare):
            raise UsageError(
                f"{target!r} is no host that a grant can be for", fix="Name a host, or *.example.org for all below it."
            )
        return host
    if not target.strip():
        raise UsageError("a grant needs a target", fix="Say what it is for.")
    return target


def _folder(target: str) -> str:
    """A path without the stars that people put behind a folder: a grant is for all below it anyway."""
    bare = next((target.removesuffix(end) for end in ("/**", "/*") if target.endswith(end)), target) or "/"
    if "*" in bare:
        raise UsageError(
            f"{target!r} is a pattern, and a grant is for one file, or for a folder and all below it",
            fix="Name the folder itself, such as /home/me/Downloads.",
        )
    return bare


def _entry(kind: str, grant: Grant, by: Principal) -> Entry:
    names = {
        "grant": grant.id,
        "executor": "any" if grant.executor == ANY else grant.executor,
        "capability": grant.capability,
        "channel": by.channel,
        "sender": by.sender,
    }
    return Entry(kind, names, {"target": sha256_hex(grant.target.encode())}, {"sending": int(grant.sending)})


def _row(grant: Grant) -> tuple[str | int | None, ...]:
    return (
        grant.id,
        grant.executor,
        grant.capability,
        grant.target,
        int(grant.sending),
        to_text(grant.created),
        to_text(grant.expires),
        None,
        grant.reason,
        grant.granted_by,
    )


def _grant(row: Row) -> Grant:
    key, executor, capability, target, sending, created, expires, revoked, reason, by = row
    return Grant(
        id=key,
        executor=executor,
        capability=Capability(capability),
        target=target,
        sending=bool(sending),
        created=from_text(created),
        expires=from_text(expires),
        revoked=from_text(revoked) if revoked else None,
        reason=reason,
        granted_by=by,
    )
