"""Immune memory: what was rejected once is refused fast the next time.

Rules: a pattern is known by its digest only, never by its words, so that remembering it is no way for it to stay. Small
changes (case, blanks, punctuation, letters that look alike, unseen characters) do not make another pattern. What was
poison stays refused, and so does what the owner did not want known; what only lacked evidence is asked again after a
while, and with more evidence it is another pattern. The number of patterns is bounded: the least seen, longest ago,
goes first, and of what stays refused only when nothing else is left.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.grimoire import poison_views
from metnos.store.db import Database, Row

MOST = 20_000  # patterns: a few megabytes, and more attacks than one owner will see
RETRY = timedelta(days=7)  # so long a lack of evidence stays known: a week's work may have brought some
_REASON = 200
_SOURCE = re.compile(r"[^a-z0-9_.:-]+")
_APART = re.compile(r"\W+")
_STAYS = "('poison', 'consent')"  # stages whose patterns are never asked about again
_COLUMNS = "digest, stage, reason, source, count, first, last"


class Stage(StrEnum):
    """Where it was rejected."""

    POISON = "poison"
    GATE = "gate"
    FLOOD = "flood"  # one contradiction too many of one thing
    CONSENT = "consent"  # the owner did not want it known


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pattern that was rejected. ``source`` is a plain name: a provenance, never a sender's words."""

    digest: str
    stage: Stage
    reason: str
    source: str
    count: int
    first: datetime
    last: datetime


def pattern(text: str, evidence: str = "") -> str:
    """The digest of what it says. ``evidence`` makes the same words with other evidence another pattern."""
    words = _APART.sub(" ", poison_views.folded(text)).strip()
    return sha256_hex(f"{evidence}\n{words}".encode("utf-8", "backslashreplace"))


class Immune:
    """What is kept in the table ``immune``; its only writer."""

    def __init__(self, db: Database, clock: Clock, most: int = MOST) -> None:
        self._db = db
        self._clock = clock
        self._most = most

    def refuses(self, digest: str) -> Rejected | None:
        """Whether a pattern is known to be bad; it is counted then."""
        now = self._clock.now()
        found = self.find(digest)
        if found is None or (found.stage is Stage.GATE and now - found.last > RETRY):
            return None
        with self._db.write() as tx:
            tx.execute(
                "UPDATE immune SET count = count + 1, last = max(last, ?) WHERE digest = ?", (to_text(now), digest)
            )
        return found

    def find(self, digest: str) -> Rejected | None:
        row = self._db.first(f"SELECT {_COLUMNS} FROM immune WHERE digest = ?", (digest,))  # noqa: S608 -- our own words
        return None if row is None else _rejected(row)

    def remember(self, digest: str, stage: Stage, reason: str, source: str) -> None:
        """Note that it was rejected; again, it is counted. What stays refused keeps the reason why."""
        now = to_text(self._clock.now())
        name = _SOURCE.sub("_", source.casefold())[:64]
        with self._db.write() as tx:
            tx.execute(
                f"INSERT INTO immune ({_COLUMNS}) VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (digest) DO UPDATE SET"  # noqa: S608 -- as above
                " count = count + 1, last = excluded.last, reason = excluded.reason,"
                f" stage = CASE WHEN stage IN {_STAYS} THEN stage ELSE excluded.stage END",
                (digest, stage, reason[:_REASON], name, now, now),
            )
            row = tx.first("SELECT count(*) FROM immune")
            over = (row[0] if row else 0) - self._most
            if over > 0:
                tx.execute(
                    "DELETE FROM immune WHERE digest IN (SELECT digest FROM immune WHERE digest <> ?"  # noqa: S608 -- as above
                    f" ORDER BY stage IN {_STAYS}, count, last, digest LIMIT ?)",
                    (digest, over),
                )

    def newest(self, count: int) -> list[Rejected]:
        """The patterns that were seen last."""
        sql = f"SELECT {_COLUMNS} FROM immune ORDER BY last DESC, digest LIMIT ?"  # noqa: S608 -- as above
        return [_rejected(row) for row in self._db.query(sql, (count,))]

    def count(self) -> int:
        row = self._db.first("SELECT count(*) FROM immune")
        return int(row[0]) if row else 0


def _rejected(row: Row) -> Rejected:
    digest, stage, reason, source, count, first, last = row
    return Rejected(digest, Stage(stage), reason, source, count, from_text(first), from_text(last))
