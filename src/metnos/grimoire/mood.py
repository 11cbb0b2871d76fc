"""The mood: a slow average of what was felt, kept in one row.

Two speeds, both documented here and nowhere else. Each feeling moves the mood by a share such that ten of them wash out
half of what was before (one bad turn is no bad mood). And with nothing felt the mood goes back to neutral with a
half-life of one day, so that yesterday evening still shows in the morning and last week does not.

Rules: every part stays in [-1, 1]; feelings are taken in the order given; a clock that was set back fades nothing. What
is felt inside somebody's transaction is kept or lost with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import Clock, from_text, to_text
from metnos.core.decay import HalfLife, days_between
from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.store.db import Database


@dataclass(frozen=True, slots=True)
class MoodRules:
    """How slow the average is."""

    half_life_days: float = 1.0
    half_after: int = 10  # feelings

    @property
    def share(self) -> float:
        """How far one feeling moves the mood towards itself."""
        return float(1 - 0.5 ** (1 / self.half_after))


@dataclass(frozen=True, slots=True)
class Felt:
    """A feeling, and when."""

    pad: Pad
    ts: datetime


def faded(mood: Pad, since: datetime, now: datetime, rules: MoodRules) -> Pad:
    """A mood that was right at ``since``, as it is at ``now`` when nothing was felt between."""
    factor = HalfLife(rules.half_life_days).factor(days_between(since, now))
    return Pad(mood.pleasure * factor, mood.arousal * factor, mood.dominance * factor)


def moved(mood: Pad, feeling: Pad, rules: MoodRules) -> Pad:
    """The mood after one feeling."""
    share = rules.share
    return Pad(
        _between(mood.pleasure, feeling.pleasure, share),
        _between(mood.arousal, feeling.arousal, share),
        _between(mood.dominance, feeling.dominance, share),
    )


class Mood:
    """The one row of the mood. Threads may share it."""

    def __init__(self, db: Database, clock: Clock, rules: MoodRules | None = None) -> None:
        self._db = db
        self._clock = clock
        self._rules = rules or MoodRules()

    def now(self) -> Pad:
        """The mood at this moment; neutral before anything was felt."""
        mood, since = self._kept()
        return mood if since is None else faded(mood, since, self._clock.now(), self._rules)

    def feel(self, feelings: Iterable[Felt]) -> None:
        """Let the mood follow what was felt."""
        with self._db.write() as tx:
            mood, since = self._kept()
            before = since
            for felt in feelings:
                mood = moved(mood if since is None else faded(mood, since, felt.ts, self._rules), felt.pad, self._rules)
                since = felt.ts if since is None else max(since, felt.ts)
            if since is None or (since == before and mood == self._kept()[0]):
                return
            tx.execute(
                "INSERT OR REPLACE INTO mood (one, pleasure, arousal, dominance, ts) VALUES (1, ?, ?, ?, ?)",
                (mood.pleasure, mood.arousal, mood.dominance, to_text(since)),
            )

    def _kept(self) -> tuple[Pad, datetime | None]:
        row = self._db.first("SELECT pleasure, arousal, dominance, ts FROM mood")
        return (NEUTRAL, None) if row is None else (Pad(*row[:3]), from_text(row[3]))


def _between(one: float, other: float, share: float) -> float:
    return min(1.0, max(-1.0, one + share * (other - one)))
