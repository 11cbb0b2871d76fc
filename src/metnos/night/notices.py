"""What Metnos has to tell the owner until they have seen it. The one writer of ``notices``.

Rules: a notice with a ``once`` is told one single time, whichever process tells it and however often; one without is
not told again while the same words still wait to be seen. Nothing is ever forgotten here, because what was told once
must not be told again. Does not show anything: a face does, and then says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import Clock, from_text, to_text
from metnos.store.db import Database, Row

LONGEST = 500  # characters of a text; more is cut
_MOST = 200  # that one look brings

_TELL_ONCE = "INSERT INTO notices (ts, kind, text, once) VALUES (?, ?, ?, ?) ON CONFLICT (once) DO NOTHING RETURNING id"
_TELL = (
    "INSERT INTO notices (ts, kind, text) SELECT ?, ?, ? WHERE NOT EXISTS"
    " (SELECT 1 FROM notices WHERE kind = ? AND text = ? AND shown_at IS NULL) RETURNING id"
)


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell."""

    id: int
    ts: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class News:
    """Something that wants to be told. ``once`` names what must not be told twice."""

    kind: str
    text: str
    once: str = ""


class Notices:
    """The notices of one workspace."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def tell(self, news: Sequence[News]) -> list[Notice]:
        """Note what is to be told; returns what is really new, in order."""
        now, told = self._clock.now(), []
        with self._db.write() as tx:
            for each in news:
                text = shortened(each.text)
                values = (to_text(now), each.kind, text)
                new = (
                    tx.first(_TELL_ONCE, (*values, each.once))
                    if each.once
                    else tx.first(_TELL, (*values, each.kind, text))
                )
                if new:
                    told.append(Notice(int(new[0]), now, each.kind, text))
        return told

    def unseen(self) -> list[Notice]:
        """What nobody has seen yet, the oldest first."""
        rows = self._db.query(
            "SELECT id, ts, kind, text FROM notices WHERE shown_at IS NULL ORDER BY id LIMIT ?", (_MOST,)
        )
        return [_notice(row) for row in rows]

    def seen(self, idents: Sequence[int]) -> int:
        """Note that the owner has seen these; how many of them nobody had."""
        now = to_text(self._clock.now())
        with self._db.write() as tx:
            sql = "UPDATE notices SET shown_at = ? WHERE id = ? AND shown_at IS NULL"
            return sum(tx.execute(sql, (now, ident)) for ident in idents)


def shortened(text: str, most: int = LONGEST) -> str:
    """A text that a notice can hold: cut if it is long, and without half pairs of code units, which no store takes."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def _notice(row: Row) -> Notice:
    ident, ts, kind, text = row
    return Notice(ident, from_text(ts), kind, text)
