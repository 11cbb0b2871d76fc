"""Which episodes a consolidation replays: pure selection.

``surprise = |importance - curiosity|``: how wrong the first impression was. ``priority = w * surprise + (1 - w) *
importance`` orders what is new. What is old competes by ``utility = gain * need``: what replaying it could still teach,
times how much it is about what happens now. New and old are mixed 70 to 30, so that what is learnt today does not
overwrite what was learnt before; with little new there is little old, so the cost follows what is new.

Rules: only verified episodes are chosen, whatever is offered; the same offer gives the same choice.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metnos.core.decay import clamp01
from metnos.grimoire.episode import Episode, Verdict


@dataclass(frozen=True, slots=True)
class ReplayRules:
    """The share is seed 003's. It gives no other number."""

    batch: int = 256  # episodes of one cycle: five times what 50 ticks bring, so nothing waits on an ordinary day
    recent_share: float = 0.7
    surprise_weight: float = 0.5  # what was misjudged and what matters count alike
    unjudged: float = 0.5  # the importance of what has none


RULES = ReplayRules()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is replayed, and what is new but has to wait for the next cycle; each the best first."""

    recent: tuple[Episode, ...]
    old: tuple[Episode, ...]
    waiting: tuple[Episode, ...]


def surprise(episode: Episode, rules: ReplayRules = RULES) -> float:
    """How far the first impression was off."""
    return abs(_importance(episode, rules) - clamp01(episode.curiosity))


def priority(episode: Episode, rules: ReplayRules = RULES) -> float:
    """How soon something new is replayed, from 0 to 1."""
    weight = rules.surprise_weight
    return clamp01(weight * surprise(episode, rules) + (1 - weight) * _importance(episode, rules))


def gain(episode: Episode, rules: ReplayRules = RULES) -> float:
    """What replaying it can still teach: less with each time that it was replayed, but never nothing."""
    return priority(episode, rules) / (1 + math.log1p(max(0, episode.replays)))


def need(share: float, nearness: float) -> float:
    """How much something old is about now: the share of what is new in its domain, and how near it is to that."""
    return clamp01(0.5 * clamp01(share) + 0.5 * clamp01(nearness))


def utility(episode: Episode, share: float, nearness: float, rules: ReplayRules = RULES) -> float:
    """What replaying an old episode is worth now."""
    return gain(episode, rules) * need(share, nearness)


def choose(
    new: Sequence[Episode],
    old: Sequence[Episode],
    nearness: Mapping[str, float],
    key: Mapping[str, str],
    rules: ReplayRules = RULES,
) -> Chosen:
    """Choose from what is offered. ``nearness`` is the cosine of an old episode to what is new, ``key`` its domain."""
    fresh = _verified(new)
    known = {episode.id for episode in fresh}
    past = [episode for episode in _verified(old) if episode.id not in known]
    ordered = sorted(fresh, key=lambda each: (-priority(each, rules), each.seq, each.id))
    room_for_old = rules.batch - round(rules.batch * rules.recent_share)
    # Old ones go with new ones at 30 to 70, and leave their room to new ones when there are too few of them.
    most_old = min(room_for_old, len(past), round(len(fresh) * (1 - rules.recent_share) / rules.recent_share))
    recent = ordered[: rules.batch - most_old]
    domains = Counter(key.get(each.id, "") for each in recent)
    worth = {
        each.id: utility(each, domains[key.get(each.id, "")] / len(recent), nearness.get(each.id, 0.0), rules)
        for each in past
        if recent
    }
    best = sorted(past, key=lambda each: (-worth.get(each.id, 0.0), -each.seq, each.id))[:most_old]
    return Chosen(tuple(recent), tuple(best), tuple(ordered[len(recent) :]))


def _verified(episodes: Sequence[Episode]) -> list[Episode]:
    once = {episode.id: episode for episode in episodes if episode.verdict is Verdict.VERIFIED}
    return list(once.values())


def _importance(episode: Episode, rules: ReplayRules) -> float:
    return rules.unjudged if episode.importance is None else clamp01(episode.importance)
