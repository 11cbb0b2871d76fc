"""What a successor makes of what its predecessor left: pure formulas and verdicts, with their numbers.

A successor is no clone. What it inherits it believes less (`discounted`), some of it it leaves out by a chance of its
own (`is_left_out`), and nothing of it is its own knowledge before its own experience has shown it (`is_earned`). What
generation after generation proved by itself is offered as a default (`is_innate`, `lasting`). How far a successor has
gone its own way can be measured (`divergence`, `Shares`).

Rules: a generation never makes anything believed more. The base of the source is taken once, then 0.85 for each
generation since somebody experienced it; belief that had sunk lower stays lower. Anti-knowledge is never left out and
does not sink below its floor. The same testament and the same heir give the same inheritance, so it can be checked.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from metnos.core.decay import clamp01
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind

OWN = frozenset({Provenance.SELF, Provenance.OWNER})
ALWAYS = frozenset({Kind.ANTI, Kind.WARNING})  # kinds that every successor gets


@dataclass(frozen=True, slots=True)
class InheritanceRules:
    """Numbers of seed 003 (its chapters on weighting and on the death moment) and of the design's sections 6 and 7."""

    generation: float = 0.85  # a generation: fades within three to five of them what nobody proves again
    anti_floor: float = 0.3  # what did harm is never wholly forgotten, by no generation either
    variation: float = 0.1  # of the rest is left out by chance. No seed says how much variation a lineage needs: a
    # tenth makes any two heirs differ, and costs less than one generation's discount (0.15)
    earned: int = 3  # own episodes, or times of having helped more than done harm: as many as a pattern needs
    harm: int = 2  # so many times more weighs a harm than a help, as everywhere
    innate: int = 3  # generations in a row: few enough to happen, too many for chance
    replayed: int = 3  # consolidations at the beginning of a life that go through inherited episodes again; the seed
    # says "early": with 50 ticks between two, the third is about a week of daily use
    bone: float = 0.3  # the most that an inherited passing weighs: what a newborn one does
    copy: float = 0.05  # a life that diverged less than this was its predecessor's over again


RULES = InheritanceRules()


# -- belief


def discounted(
    believed: float,
    generation: int,
    provenance: Provenance = Provenance.TESTAMENT,
    kind: Kind | None = None,
    rules: InheritanceRules = RULES,
) -> float:
    """How far an heir believes what its predecessor believed so far when it died.

    ``generation`` counts from whoever experienced it: that one's is 0, its direct heir's is 1. At most
    ``base * 0.85^generation``, and at most 0.85 of what the predecessor believed.
    """
    age = max(1, generation)
    most = fact_rules.BASE[provenance] * rules.generation**age
    carried = clamp01(believed) * rules.generation
    floor = min(clamp01(believed), rules.anti_floor) if kind is Kind.ANTI else 0.0
    return clamp01(max(floor, min(most, carried)))


def age(known_as: Provenance, generation: int) -> int:
    """Deaths that an entry will have crossed since somebody experienced it. ``generation`` is how many it had crossed
    in the life that ended, ``known_as`` how it was known there: what that life showed by itself is its own."""
    return 1 if known_as in OWN else max(0, generation) + 1


def heir_provenance(known_as: Provenance) -> Provenance:
    """How an heir knows it. A dream, and what strangers said, stay what they were: a death washes nothing."""
    if known_as in fact_rules.NEVER_ACTS or known_as in (Provenance.DEATH, Provenance.ARCHIVE):
        return known_as
    return Provenance.TESTAMENT


def bone_weight(weight: float, rules: InheritanceRules = RULES) -> float:
    """What an inherited passing weighs at first: a generation less than it did, and no more than a newborn one."""
    return min(rules.bone, clamp01(weight) * rules.generation)


# -- variation


def is_left_out(
    key: str, heir: str, kind: Kind, *, bloodstain: bool = False, held: int = 0, rules: InheritanceRules = RULES
) -> bool:
    """Whether this heir goes without this entry. ``heir`` is its public key and what it inherits from: another heir of
    the same testament leaves out others. What warns, and what is to be offered as a default, is for everybody."""
    if kind in ALWAYS or bloodstain or is_innate(held, rules):
        return False
    drawn = hashlib.sha256(f"variation\0{heir}\0{key}".encode()).digest()
    return int.from_bytes(drawn[:8]) < rules.variation * 2.0**64


# -- proof


class Proof(StrEnum):
    """What one life showed of something inherited."""

    EARNED = "earned"  # by its own experience
    UNTRIED = "untried"
    REFUTED = "refuted"


def proof(helped: int, harmed: int, own: int, contradicted: bool = False, rules: InheritanceRules = RULES) -> Proof:
    """What became of something inherited: how often it helped and did harm, and how many own episodes show it."""
    if is_earned(helped, harmed, own, rules):
        return Proof.REFUTED if contradicted else Proof.EARNED
    worse = rules.harm * harmed > helped + own
    return Proof.REFUTED if contradicted or worse else Proof.UNTRIED


def is_earned(helped: int, harmed: int, own: int, rules: InheritanceRules = RULES) -> bool:
    """Whether it is the successor's own knowledge by now: what one built oneself one may rely on (the IKEA effect)."""
    return helped + own - rules.harm * harmed >= rules.earned


def generation_after(generation: int, proved: Proof) -> int:
    """How many deaths it had crossed since somebody experienced it, as the testament of this life says it: none, if
    this life showed it by itself. ``generation`` is the number that it came here with (`Descent.generation`)."""
    return 0 if proved is Proof.EARNED else max(0, generation)


def held_after(held: int, proved: Proof) -> int:
    """In how many generations in a row it was shown to hold; one that did not try it takes nothing off."""
    if proved is Proof.REFUTED:
        return 0
    return max(0, held) + (proved is Proof.EARNED)


# -- what becomes innate (the Baldwin effect)


def is_innate(held: int, rules: InheritanceRules = RULES) -> bool:
    """Whether it held long enough to be offered as a default. Only the owner makes it one."""
    return held >= rules.innate


PLAIN = ("choice", "yes or no", "whole number", "number")  # types of settings that can be handed on: no words
# Settings that may be handed on, each by name: how the agent works. Never what it may do, what it may spend, whom it
# lets in, where anything goes (`memory.think` may send what is remembered out of the home), how long the owner's words
# are kept, whether there are backups, or how often a fast path may be wrong: those are the owner's to say for each
# agent, and a testament, which may be a stranger's, must not even ask for less of them.
_HERITABLE = frozenset(
    {
        *("context.scored", "context.surprisal", "fastpath.use", "memory.use", "memory.window"),
        *("memory.admission.bias", "memory.admission.grounding", "memory.admission.kind"),
        *("memory.admission.novelty", "memory.admission.recency", "memory.admission.utility"),
        *("selection.dormant_days", "selection.explore", "selection.extinct_days"),
        *("turn.planner", "turn.prompt_s", "turn.show", "turn.steps"),
    }
)


def is_heritable(setting: str) -> bool:
    return setting in _HERITABLE


def lasting(lives: Sequence[Mapping[str, str]], rules: InheritanceRules = RULES) -> dict[str, str]:
    """Settings that the last so many generations all had alike; ``lives`` are their changed settings, newest last."""
    last = lives[-rules.innate :]
    if len(last) < rules.innate:
        return {}
    newest = last[-1]
    return {name: value for name, value in sorted(newest.items()) if all(each.get(name) == value for each in last)}


# -- how far a life went its own way


def divergence(before: Mapping[str, float], now: Mapping[str, float]) -> float:
    """From 0 (believes the same as far) to 1 (has nothing in common): ``1 - sum(min) / sum(max)`` over all entries.

    A metric, so it never grows by a detour. Two that believe nothing do not differ.
    """
    keys = sorted(before.keys() | now.keys())
    pairs = [(max(0.0, before.get(key, 0.0)), max(0.0, now.get(key, 0.0))) for key in keys]
    most = sum(max(pair) for pair in pairs)
    return clamp01(1.0 - sum(min(pair) for pair in pairs) / most) if most > 0 else 0.0


def is_copy(diverged: float, rules: InheritanceRules = RULES) -> bool:
    """Whether a life was its predecessor's over again."""
    return diverged < rules.copy


@dataclass(frozen=True, slots=True)
class Shares:
    """What became of an inheritance, and what is a life's own; numbers of entries."""

    inherited: int = 0
    earned: int = 0
    refuted: int = 0
    faded: int = 0  # gone, without having been tried
    own: int = 0  # believed now and not inherited

    @property
    def own_share(self) -> float:
        """Of all that is believed now, what this life found or earned itself; all of it, if nothing is."""
        left = self.inherited - self.refuted - self.faded
        total = left + self.own
        return (self.earned + self.own) / total if total > 0 else 1.0
