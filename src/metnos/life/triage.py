"""Triage: how curious each event makes, and which are kept when there are more than can be. Pure rules, no I/O.

Curiosity is made of three parts: how much an event of this kind matters before anything is known of it (the pack says),
how rare it is where it happened, and how far its numbers are from what is usual there. The strongest part counts half
by itself, so that one great surprise is not averaged away.

Capture must be faithful: as long as there is room everything is kept. Only what is beyond the room is chosen, most of
it by curiosity and the rest by lot, because a memory that sees only what is unusual no longer knows what is usual. The
lot is the digest of the event's source, so that the same events are chosen again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from metnos.core.canon import sha256_hex
from metnos.core.decay import clamp01
from metnos.grimoire import appraisal
from metnos.grimoire.domain import Domain, EventKind
from metnos.grimoire.evidence import Baseline
from metnos.life.event import Event, measures_of


@dataclass(frozen=True, slots=True)
class TriageRules:
    """The numbers. The seeds ask for a curiosity score and give none; each says why beside it."""

    prior: float = 0.35  # what the pack says, as much as what the numbers say
    rarity: float = 0.30
    deviation: float = 0.35
    strongest: float = 0.5  # as in `appraisal`: half for the strongest part alone
    room: int = 200  # events of one capture: a full block of a busy chain, every ten seconds, is all a house can keep
    curious: float = 0.7  # of the room: seed 003 replays seven new for three old; the rest is by lot


RULES = TriageRules()


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where an event happened: how many of each kind were seen lately, and what is usual."""

    kinds: Mapping[str, int] = field(default_factory=dict)
    baselines: Mapping[str, Baseline] = field(default_factory=dict)

    def after(self, kind: str) -> "Known":
        """The same, with one more event of a kind."""
        return replace(self, kinds={**self.kinds, kind: self.kinds.get(kind, 0) + 1})


@dataclass(frozen=True, slots=True)
class Triaged:
    """An event with how curious it makes, and why."""

    event: Event
    curiosity: float
    prior: float
    rarity: float
    deviation: float | None  # None: nothing is known to be usual yet


def judge(event: Event, known: Known, pack: Domain, rules: TriageRules = RULES) -> Triaged:
    """How curious one event makes, from 0 to 1."""
    prior = clamp01(pack.events.get(event.kind, EventKind()).weight)
    rare = appraisal.rarity(known.kinds.get(event.kind, 0), sum(known.kinds.values()))
    odd = appraisal.deviation(measures_of(event, pack).items(), known.baselines)
    parts = [(rules.prior, prior), (rules.rarity, rare)] + ([(rules.deviation, odd)] if odd is not None else [])
    mean = sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)
    score = (1 - rules.strongest) * mean + rules.strongest * max(value for _, value in parts)
    return Triaged(event, clamp01(score), prior, rare, odd)


def triage(
    events: Sequence[Event], known: Mapping[str, Known], pack: Domain, rules: TriageRules = RULES
) -> list[Triaged]:
    """All events, in their order, each judged by what the ones before it made known."""
    seen = dict(known)
    judged = []
    for event in events:
        here = seen.get(event.about, Known())
        judged.append(judge(event, here, pack, rules))
        seen[event.about] = here.after(event.kind)
    return judged


def keep(judged: Sequence[Triaged], rules: TriageRules = RULES) -> list[Triaged]:
    """What is remembered of them, in their order: all if there is room."""
    if len(judged) <= rules.room:
        return list(judged)
    by_curiosity = sorted(judged, key=lambda each: (-each.curiosity, _lot(each)))
    first = int(rules.room * rules.curious)
    by_lot = sorted(by_curiosity[first:], key=_lot)[: rules.room - first]
    chosen = {each.event.source for each in (*by_curiosity[:first], *by_lot)}
    return [each for each in judged if each.event.source in chosen]


def _lot(judged: Triaged) -> str:
    return sha256_hex(judged.event.source.encode())
