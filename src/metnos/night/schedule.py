"""When what is done by itself is due: pure rules, no clock, no disk.

Rules: a *night* is a local date, and is due when its hour strikes. The night in question is always the last one whose
hour has struck, so one run makes up for all that were slept through. A night that has a successful run never gets
another one by itself; one that fails is tried again, later each time and only so often. A night is compared with itself
alone and never with a later one: a clock that was wrong by years must not silence the house until then.
Does not guarantee the hour: a machine that sleeps or is off does its night when it wakes.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum

MOST_TRIES = 5  # for one job in one night: what failed so often needs a person
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_SLEEP = timedelta(seconds=30)  # nobody tells a sleeper that the clock was set
_DAY = timedelta(days=1)


class Verdict(StrEnum):
    """What is to be done about one job in one night."""

    DUE = "due"
    DONE = "done"
    PAUSED = "paused"  # it failed a moment ago
    GIVEN_UP = "given up"  # it failed too often this night
    QUIET = "quiet"  # it waits for a night before which the owner was there


@dataclass(frozen=True, slots=True)
class Past:
    """What is recorded of one job: of this night, and when it last began a run that went well, of whatever night."""

    done: bool = False
    tries: int = 0
    last_failed: datetime | None = None
    last_done: datetime | None = None


def hour_of(night: date, at: time, zone: tzinfo | None = None) -> datetime:
    """When a night is due. Without a zone: the machine's own.

    An hour that a change of the clocks leaves out comes as much later as they jump; one that comes twice counts once.
    """
    return datetime.fromtimestamp(datetime.combine(night, at, zone).timestamp(), UTC)


def night_of(now: datetime, at: time, zone: tzinfo | None = None) -> date:
    """The last night whose hour has struck."""
    night = now.astimezone(zone).date() + _DAY
    while hour_of(night, at, zone) > now:
        night -= _DAY
    return night


def judge(past: Past, now: datetime, *, active: bool = True) -> Verdict:
    """Whether a job is due. ``active`` says whether the owner was there, for those jobs that ask for it."""
    if past.done:
        return Verdict.DONE
    if not active:
        return Verdict.QUIET
    if past.tries >= MOST_TRIES:
        return Verdict.GIVEN_UP
    until = paused_until(past)
    # A failure in the future was recorded by a clock that was wrong: it holds nothing up.
    if until is not None and past.last_failed is not None and past.last_failed <= now < until:
        return Verdict.PAUSED
    return Verdict.DUE


def paused_until(past: Past) -> datetime | None:
    """When a job that failed is tried again: after a minute, two, four and so on."""
    if past.last_failed is None or not past.tries:
        return None
    return past.last_failed + FIRST_PAUSE * (1 << (min(past.tries, MOST_TRIES) - 1))


def next_hour(now: datetime, at: time, zone: tzinfo | None = None) -> datetime:
    """When the next night is due."""
    night = night_of(now, at, zone)
    while hour_of(night, at, zone) <= now:
        night += _DAY
    return hour_of(night, at, zone)


def nap(now: datetime, wake: datetime) -> float:
    """How long to sleep until ``wake``, in seconds, and never so long that a change of the clock would go unnoticed."""
    return min(max(wake - now, timedelta(0)), LONGEST_SLEEP).total_seconds()


def read_hour(text: str) -> time:
    """``04:00`` as the settings write it."""
    hour, _, minute = text.partition(":")
    return time(int(hour), int(minute))
