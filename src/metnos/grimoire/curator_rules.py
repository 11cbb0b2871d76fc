"""The numbers of a consolidation, and which episodes go first when there is no room: pure."""

from dataclasses import dataclass
from datetime import datetime

from metnos.core.decay import HalfLife, clamp01, days_between
from metnos.grimoire.episode import Episode, Verdict


@dataclass(frozen=True, slots=True)
class CuratorRules:
    """How much one cycle does. The first is seed 003's; the others bound its cost and are chosen."""

    every: int = 50  # ticks: spaced learning lasts longer, and fewer episodes show no pattern
    cpu_s: float = 30.0  # of one run: a night has room for it; a day notices no more than that
    judged: int = 2000  # new episodes that one cycle takes in; an import is learnt from in several
    at_once: int = 200  # of these in one transaction, between which it can be stopped
    context: int = 300  # episodes before the new ones that order is looked for in: about six cycles
    waiting: int = 2000  # new ones that did not fit into the batch of a cycle wait, the most urgent of them
    watched: int = 500  # recent episodes on which a word may still come; the newest of them
    watched_days: float = 14.0  # whoever has not taken it back or complained by then will not
    notable: int = 200  # episodes that stood out and are offered again: about twenty cycles' worth
    pools: int = 16  # domains that old episodes are looked for in; the most frequent among the new
    capacity: int = 500_000  # episodes: half of what the store is measured for
    evicted: int = 20_000  # at most in one cycle


RULES = CuratorRules()
_RECENCY = HalfLife(90.0)  # a season, as what works


def worth(episode: Episode, now: datetime) -> float:
    """What keeping an episode is worth, from 0 to 1: what hung on it, how often it was of use, how recent it is."""
    importance = 0.0 if episode.importance is None else clamp01(episode.importance)
    of_use = 1 - 0.5 ** max(0, episode.used)
    seen = max(episode.ts, episode.used_at) if episode.used_at else episode.ts
    return clamp01(0.5 * importance + 0.3 * of_use + 0.2 * _RECENCY.factor(days_between(seen, now)))


def rank(episode: Episode) -> int:
    """Who goes first: what was learnt from, then what was rejected, then what nobody judged; marked ones at the end."""
    if episode.pinned:
        return 4
    if episode.bloodstain:
        return 3
    if episode.verdict is Verdict.VERIFIED and episode.replays > 0:
        return 0
    return 1 if episode.verdict is Verdict.REJECTED else 2


def is_protected(episode: Episode) -> bool:
    """Whether it goes only when nothing else is left."""
    return rank(episode) >= 3


def least_worth(offered: list[Episode], count: int, now: datetime, protected: bool = False) -> list[Episode]:
    """Which of these go."""
    fit = [episode for episode in offered if protected or not is_protected(episode)]
    return sorted(fit, key=lambda each: (rank(each), worth(each, now), each.seq))[:count]
