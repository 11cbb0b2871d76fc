"""On which days the owner was there, as the recorded turns tell.

Rules: only turns of the owner's own channels count, not what came from programs or by night; a day is a local day, as
it was where the turn was asked. What a turn was stays recorded when its content is forgotten, so forgetting changes
nothing here. A turn that a wrong clock put into the future counts when its time has come.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import to_text
from metnos.law.principal import OWNER_CHANNELS
from metnos.store.db import Database

_CHANNELS = ", ".join(f"'{channel}'" for channel in sorted(OWNER_CHANNELS))
_LAST = (
    f"SELECT max(asked) FROM turns WHERE channel IN ({_CHANNELS}) AND asked <= ?"  # noqa: S608 -- our own words
    " GROUP BY date(asked, zone || ' seconds')"
)


@dataclass(frozen=True, slots=True)
class Activity:
    """The owner's days up to a moment: the last turn of each, in order."""

    last: tuple[str, ...]

    @classmethod
    def until(cls, db: Database, now: datetime) -> "Activity":
        return cls(tuple(sorted(asked for (asked,) in db.query(_LAST, (to_text(now),)))))

    def days_after(self, since: datetime) -> int:
        """On how many days the owner asked for something after ``since``."""
        return len(self.last) - bisect_right(self.last, to_text(since))
