"""Which updates were taken up already, so that each is taken up once: the table behind the bot's offset.

Rules: an update is marked before anything is done with it, on the disk. A process that dies in between has lost that
one message, and never does it twice. Marks are kept longer than Telegram keeps updates (a day). The numbers of updates
go up, but after a week without any the next one may be anything: after a long silence no offset is named, and the marks
alone tell old from new.
"""

from datetime import timedelta

from metnos.app.tables import TELEGRAM as MIGRATIONS
from metnos.core.clock import Clock, to_text
from metnos.store.db import Database

__all__ = ["MIGRATIONS", "Seen"]

_KEPT = timedelta(days=14)
_SILENCE = timedelta(days=5)  # well within the week


class Seen:
    """The updates of every bot that this workspace had."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def take(self, bot: int, update: int) -> bool:
        """Mark an update; says whether it was not marked before."""
        now = self._clock.now()
        with self._db.write() as tx:
            fresh = tx.execute(
                "INSERT OR IGNORE INTO updates (bot, id, ts) VALUES (?, ?, ?)", (bot, update, to_text(now))
            )
            tx.execute("DELETE FROM updates WHERE ts < ?", (to_text(now - _KEPT),))
        return fresh == 1

    def offset(self, bot: int) -> int | None:
        """The first update that is wanted; nothing if that cannot be said."""
        since = to_text(self._clock.now() - _SILENCE)
        row = self._db.first("SELECT max(id) FROM updates WHERE bot = ? AND ts > ?", (bot, since))
        return None if row is None or row[0] is None else int(row[0]) + 1
