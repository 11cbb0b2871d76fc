"""How facts are believed, fade, rise and fall: pure formulas and verdicts, with their numbers.

Confidence belongs to a moment (``applied``): fading is taken off over the time since then and no other, so it may be
applied as often as one likes and never compounds. Half-lives are true ones, ``2^(-dt / h)``, where ``h`` grows with
evidence by ``max(1, ln(episode_count))``.

Rules: confidence stays in [0, 1]; anti-knowledge does not fade below its floor; what is pinned or was said by the owner
does not fade. What a fact's source may make it believed has a ceiling, so that repeating a thing does not make it true:
only evidence of another source lifts it higher. Time that runs backwards changes nothing.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from metnos.core.decay import HalfLife, clamp01, days_between
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing

ACTING = frozenset({Kind.HEURISTIC, Kind.PROCEDURAL})  # kinds that later plans are steered by
OURS = frozenset({"owner", "agent"})  # senders whose word is no stranger's
INHERITED = frozenset(
    {Provenance.CLADE, Provenance.TESTAMENT, Provenance.ARCHIVE, Provenance.DEATH}
    | {Provenance.QUERY, Provenance.LETHE, Provenance.MARKET}
)
# Never steer a plan, however they are believed: nobody of this house has seen that they hold.
NEVER_ACTS = frozenset({Provenance.DREAM, Provenance.QUERY, Provenance.LETHE, Provenance.MARKET})


@dataclass(frozen=True, slots=True)
class FactRules:
    """Numbers of the memory's source document (its chapters on decay, weighting and dreams) and of the design.

    The source says that structural knowledge persists, tactical knowledge fades, and half-lives fit their domain; it
    gives no days. Those below are chosen for one owner's machine and habits.
    """

    structural_days: float = 365.0  # how things are built: machines and folders are rearranged about once a year
    strategic_days: float = (
        90.0  # what works: a season; as long as an executor may be dormant before it is proposed away
    )
    tactical_days: float = 14.0  # how things are just now: what was not seen for two weeks is half forgotten
    ephemeral_days: float = 3.0  # a dream, a mood: nearly nothing is left when a dream expires
    anti_floor: float = 0.3  # consolidation: what did harm is never wholly forgotten
    bloodstain: float = 3.0  # so many times slower fades what something ended badly by
    unproven: float = 0.5  # half-life of inherited knowledge that never helped: unretrieved knowledge fades faster
    labile: float = 1.5  # inherited knowledge that was retrieved changes so much more easily
    generation: float = 0.85  # a generation, once, on top of the provenance's base
    reinforcement: float = 0.15  # of the distance to the ceiling, for one more proof: as a mnest's
    weakening: float = 0.30  # of what is believed: negative feedback outweighs positive, by two as everywhere
    insight: float = 0.6
    heuristic: float = 0.7  # from here on it may stand in the playbook
    demote: float = 0.4  # below it, it leaves
    prune: float = 0.1  # below it, for so many consolidations in a row, it goes
    prune_cycles: int = 3
    dream: float = 0.3
    confirm_days: float = 7.0
    expire_days: float = 14.0
    noticed: float = 0.002  # a smaller change is left for later: nothing is lost by it, and it spares most writes


RULES = FactRules()

# How far a source is believed at first; for self and owner this is the most.
BASE = {
    Provenance.SELF: 1.0,
    Provenance.OWNER: 1.0,
    Provenance.DREAM: 0.3,
    Provenance.CLADE: 0.4,
    Provenance.TESTAMENT: 0.4,
    Provenance.DEATH: 0.4,
    Provenance.ARCHIVE: 0.3,
    Provenance.QUERY: 0.25,
    Provenance.LETHE: 0.2,
    Provenance.MARKET: 0.2,
}
# How high repetition by the same source may lift it. No source says; all but our own stay below an insight (0.6), so
# that nothing from outside is promoted by being repeated, and a stranger's word or a dream stays below the middle.
_CEILING_INHERITED = 0.55
_CEILING_STRANGER = 0.45
# Who is right when two facts differ, before confidence is looked at.
_RANK = {Provenance.OWNER: 4, Provenance.SELF: 3, Provenance.CLADE: 2, Provenance.TESTAMENT: 2, Provenance.DEATH: 2}


# -- belief


def first_confidence(level: float, provenance: Provenance, generation: int, rules: FactRules = RULES) -> float:
    """How far something admitted at ``level`` is believed: the provenance's base once, then 0.85 per generation."""
    return clamp01(min(level, BASE[provenance]) * rules.generation ** max(0, generation))


def is_strangers(fact: Fact) -> bool:
    return fact.sender not in OURS


def ceiling(fact: Fact) -> float:
    """As far as the fact's own source can make it believed."""
    if is_strangers(fact) or fact.provenance is Provenance.DREAM:
        return _CEILING_STRANGER
    return _CEILING_INHERITED if fact.provenance in INHERITED else 1.0


def may_act(fact: Fact) -> bool:
    """Whether it may ever steer a plan: not a dream, nothing from a stranger."""
    return fact.provenance not in NEVER_ACTS and not is_strangers(fact)


def rank(fact: Fact) -> int:
    """How much the word of its source weighs: the owner's, our own experience, our kin's, what others say, dreams."""
    if fact.provenance is Provenance.DREAM:
        return 0
    return 1 if is_strangers(fact) else _RANK.get(fact.provenance, 1)


def gives_way(newer: Fact, older: Fact) -> Fact:
    """Which of two contradicting facts is set aside: the less believed by source, then by evidence; else the newer."""
    if older.pinned != newer.pinned:
        return newer if older.pinned else older
    return older if _weight(newer) > _weight(older) else newer


def _weight(fact: Fact) -> tuple[int, float]:
    return rank(fact), fact.confidence * math.log1p(max(1, fact.episode_count))


# -- change


def half_life(fact: Fact, rules: FactRules = RULES) -> HalfLife | None:
    """How fast it fades; nothing if it does not."""
    days = {
        Decay.STRUCTURAL: rules.structural_days,
        Decay.STRATEGIC: rules.strategic_days,
        Decay.TACTICAL: rules.tactical_days,
        Decay.EPHEMERAL: rules.ephemeral_days,
    }.get(fact.decay)
    if days is None or fact.pinned:
        return None
    days *= rules.bloodstain if fact.bloodstain else 1.0
    days *= rules.unproven if fact.provenance in INHERITED and not fact.helped else 1.0
    return HalfLife(days).supported_by(fact.episode_count)


def floor(fact: Fact, rules: FactRules = RULES) -> float:
    return rules.anti_floor if fact.kind is Kind.ANTI else 0.0


def faded(fact: Fact, now: datetime, rules: FactRules = RULES) -> Fact:
    """The fact as it is believed now: fading since ``applied`` taken off, and noted as taken off."""
    if now <= fact.applied:
        return fact
    curve = half_life(fact, rules)
    if curve is None:
        return replace(fact, applied=now)
    days = days_between(fact.applied, now)
    left = curve.apply(fact.confidence, days, floor=floor(fact, rules))
    return replace(fact, confidence=clamp01(left), applied=now)


def reinforced(fact: Fact, by: float, now: datetime, rules: FactRules = RULES, *, most: float | None = None) -> Fact:
    """After a proof: a share ``by`` of what is missing to the ceiling is added, more for inherited knowledge in use.

    ``most`` is the ceiling of whoever proved it, if that is another source than the fact's own.
    """
    before = faded(fact, now, rules)
    room = max(0.0, (ceiling(fact) if most is None else most) - before.confidence)
    share = clamp01(max(0.0, by) * (rules.labile if _is_labile(fact) else 1.0))
    return replace(
        before,
        confidence=clamp01(before.confidence + share * room),
        reinforced=max(now, fact.reinforced),
        low_cycles=0,
    )


def weakened(fact: Fact, by: float, now: datetime, rules: FactRules = RULES) -> Fact:
    """After a failure: a share ``by`` of what is believed is lost, never below the floor."""
    before = faded(fact, now, rules)
    share = clamp01(max(0.0, by) * (rules.labile if _is_labile(fact) else 1.0))
    least = min(before.confidence, floor(fact, rules))
    return replace(before, confidence=clamp01(max(least, before.confidence * (1.0 - share))))


def _is_labile(fact: Fact) -> bool:
    """Recalled knowledge can be changed; our own has been proved by ourselves and stands firmer."""
    return fact.provenance in INHERITED and fact.shown > 0


# -- standing


def settled(fact: Fact, now: datetime, rules: FactRules = RULES) -> Fact:
    """One consolidation: fade, count cycles below the least, end what is over. What is pinned only ends by its time."""
    after = faded(fact, now, rules)
    if fact.standing not in (Standing.ACTIVE, Standing.QUARANTINED):
        return after
    if is_over(fact, now, rules):
        return replace(after, standing=Standing.EXPIRED)
    low = after.low_cycles + 1 if after.confidence < rules.prune and not fact.pinned else 0
    gone = low >= rules.prune_cycles
    return replace(after, low_cycles=low, standing=Standing.PRUNED if gone else after.standing)


def is_over(fact: Fact, now: datetime, rules: FactRules = RULES) -> bool:
    """Its validity ended, or it is a dream that nothing confirmed in time."""
    if fact.valid_until is not None and fact.valid_until <= now:
        return True
    grace = timedelta(days=rules.expire_days - rules.confirm_days)
    return fact.confirm_by is not None and not fact.pinned and now >= fact.confirm_by + grace


def is_confirmable(fact: Fact, now: datetime) -> bool:
    """A dream may be confirmed until its time; anything else always."""
    return fact.confirm_by is None or now <= fact.confirm_by


def closed(older: Fact, at: datetime, now: datetime) -> Fact:
    """The older of two values, whose time ended when the newer began."""
    until = max(at, older.valid_from) if older.valid_from else at
    ended = Standing.EXPIRED if until <= now else older.standing
    return replace(older, valid_until=until, standing=ended)


# -- promotion


def is_insight(fact: Fact, rules: FactRules = RULES) -> bool:
    return fact.standing is Standing.ACTIVE and fact.confidence >= rules.insight


def may_enter_playbook(fact: Fact, rules: FactRules = RULES) -> bool:
    """A heuristic that may stand in the playbook, as far as belief goes."""
    return (
        fact.kind is Kind.HEURISTIC
        and fact.standing is Standing.ACTIVE
        and fact.confidence >= rules.heuristic
        and may_act(fact)
    )


def must_leave_playbook(fact: Fact, rules: FactRules = RULES) -> bool:
    return fact.standing is not Standing.ACTIVE or fact.confidence < rules.demote or not may_act(fact)
