"""What becomes of a dream: whether what happened since confirms it, refutes it, or lets it expire. Pure rules.

An episode decides about a dream only if it is an own, verified one that happened after the dream and in time. More for
it than against it confirm it, and it becomes own knowledge; more against it, or its time, end it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from metnos.grimoire.dream_rules import Question, Scene, Shape, shown
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.fact_rules import RULES as FACT_RULES
from metnos.grimoire.fact_rules import FactRules, is_over

AS = "as"  # in a dream's data: the kind that it would be if it were seen
DREAMT = "dreamt"  # the tag of what was a dream before it was confirmed
# What a confirmed dream is believed at: the lower end of what was learnt by oneself; from there on it may be shared.
CONFIRMED = 0.5
_SLACK = 2.0  # a chain of causes may take so many times as long as its links usually do


class Fate(StrEnum):
    OPEN = "open"
    CONFIRMED = "confirmed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Heard:
    """The episodes that speak for a dream and against it."""

    confirming: tuple[str, ...] = ()
    refuting: tuple[str, ...] = ()


def heard(dream: Fact, scenes: Sequence[Scene]) -> Heard:
    """What these episodes, in order of time, say about a dream."""
    counting = [seen for seen in scenes if _counts_for(dream, seen)]
    if dream.data.get("shape") == Shape.CHAIN:
        said = _chained(dream.data, counting)
    else:
        said = [(seen.id, shows(dream.data, dream.domain, seen)) for seen in counting]
    return Heard(tuple(x for x, verdict in said if verdict), tuple(x for x, verdict in said if verdict is False))


def shows(data: Mapping[str, Any], domain: str, seen: Scene) -> bool | None:
    """Whether an episode confirms or refutes what might have been; nothing if it says nothing about it."""
    question = Question.of(data, domain)
    found = None if question is None else shown(question, seen)
    if question is None or found is None:
        return None
    so, good = found
    if question.shape is Shape.STEP:
        return None if so else not good  # it failed: did the request?
    return good if so else None


def fate(dream: Fact, now: datetime, said: Heard, rules: FactRules = FACT_RULES) -> Fate:
    """What becomes of a dream after this testimony."""
    confirming, refuting = len(said.confirming), len(said.refuting)
    if confirming > refuting:
        return Fate.CONFIRMED
    return Fate.EXPIRED if refuting > confirming or is_over(dream, now, rules) else Fate.OPEN


def confirmed(dream: Fact, by: Sequence[str], now: datetime) -> Fact:
    """What was only dreamt and then seen: own knowledge from now on, which fades as such."""
    kind = dream.data.get(AS)
    return replace(
        dream,
        kind=Kind(kind) if kind in set(Kind) else dream.kind,
        provenance=Provenance.SELF,
        decay=Decay.TACTICAL,
        confidence=max(dream.confidence, CONFIRMED),
        # Dreams that could steer are held back; now it may, unless something else speaks against it.
        standing=Standing.QUARANTINED if dream.contradicts else Standing.ACTIVE,
        confirm_by=None,
        reinforced=now,
        applied=now,
        low_cycles=0,
        sources=tuple(dict.fromkeys((*dream.sources, *by))),
        episode_count=dream.episode_count + len(by),
        tags=tuple(dict.fromkeys((*dream.tags, DREAMT))),
    )


def _counts_for(dream: Fact, seen: Scene) -> bool:
    """It came after the dream, and in time; its verdict may come later."""
    return dream.created < seen.ts and (dream.confirm_by is None or seen.ts <= dream.confirm_by)


def _chained(data: Mapping[str, Any], scenes: Sequence[Scene]) -> list[tuple[str, bool | None]]:
    """Each cause, and whether its effect followed in time; a cause whose time is not over yet says nothing."""
    lag = data.get("lag")
    window = timedelta(seconds=_SLACK * lag if isinstance(lag, int | float) else 0)
    said: list[tuple[str, bool | None]] = []
    for place, seen in enumerate(scenes):
        if data.get("cause") in seen.names:
            later = scenes[place + 1 :]
            follows = any(data.get("effect") in each.names for each in later if each.ts - seen.ts <= window)
            over = any(each.ts - seen.ts > window for each in later)
            said.append((seen.id, True if follows else False if over else None))
    return said
