"""Whether a context was any good: what was in it and how its turn ended, and what that changes the next time.

For each task and kind of block, turns that had the block are compared with turns that had not; for each factor of
retrieval, memories that proved useful are compared with those that were shown beside them. Both move a number a little.

Rules (property-tested): a budget's factor stays in [0.5, 1.5] and a retrieval weight within 0.1 of where it began, the
weights still sum to one; little evidence moves little (`Rules.doubt`); old evidence fades, so that a wrong lesson is
unlearnt. A turn that ended without any verdict teaches nothing, and being shown is no proof of use. State is plain data
(`as_dict`), kept by the caller. Does not prove a cause: a block may only have been there in easy turns; hence the
bounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metnos.context.blocks import ESSENTIAL, Kind
from metnos.context.budgets import Task


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers; the seed gives none."""

    keep: float = 0.98  # of old evidence at each new turn: fifty turns are remembered in the main
    doubt: float = 10.0  # turns that count for nothing either way, so that one good turn proves little
    gain: float = 1.0  # how far a difference of one (always good against never) moves a budget
    most_budget: float = 0.5
    most_weight: float = 0.1
    weight_gain: float = 0.5


DEFAULT = Rules()


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory that was in the context: the factors it was chosen by, and whether it proved useful (None: unknown)."""

    ref: str
    factors: Mapping[str, float]
    useful: bool | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """One turn: what was in its context, and how it ended, from -1 (bad) to 1 (good); None if nobody can say."""

    turn: str
    task: Task
    kinds: frozenset[Kind]
    memories: tuple[Shown, ...]
    outcome: float | None


@dataclass(frozen=True, slots=True)
class Tally:
    """How often, faded, and what it came to."""

    n: float = 0.0
    total: float = 0.0

    def add(self, value: float, keep: float) -> "Tally":
        return Tally(self.n * keep + 1, self.total * keep + value)

    def mean(self, doubt: float) -> float:
        """The mean as if so many turns had come to nothing."""
        return self.total / (self.n + doubt)


@dataclass(frozen=True, slots=True)
class Quality:
    """What was learnt: with and without each block of each task, and each factor of useful and of useless memories."""

    blocks: Mapping[str, tuple[Tally, Tally]] = field(default_factory=dict)
    factors: Mapping[str, tuple[Tally, Tally]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            name: {key: [one.n, one.total, other.n, other.total] for key, (one, other) in sorted(table.items())}
            for name, table in (("blocks", self.blocks), ("factors", self.factors))
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Quality":
        def read(table: Mapping[str, Sequence[float]]) -> dict[str, tuple[Tally, Tally]]:
            return {key: (Tally(row[0], row[1]), Tally(row[2], row[3])) for key, row in table.items()}

        return cls(read(data.get("blocks", {})), read(data.get("factors", {})))


def learn(known: Quality, signal: Signal, rules: Rules = DEFAULT) -> Quality:
    """What is known after one more turn."""
    if signal.outcome is not None:
        known = replace(known, blocks=_blocks(known, signal, min(max(signal.outcome, -1.0), 1.0), rules))
    told = [shown for shown in signal.memories if shown.useful is not None]
    if told:
        known = replace(known, factors=_factors(known, told, rules))
    return known


def budget_factors(known: Quality, task: Task, rules: Rules = DEFAULT) -> dict[Kind, float]:
    """What each block's budget is to be multiplied by."""
    found = {}
    for kind in Kind:
        having, lacking = known.blocks.get(f"{task}/{kind}", (Tally(), Tally()))
        if having.n and lacking.n and kind not in ESSENTIAL:  # with nothing to compare it to there is no lesson
            lift = rules.gain * (having.mean(rules.doubt) - lacking.mean(rules.doubt))
            found[kind] = 1 + min(max(lift, -rules.most_budget), rules.most_budget)
    return found


def retrieval_weights(known: Quality, base: Mapping[str, float], rules: Rules = DEFAULT) -> dict[str, float]:
    """The weights of retrieval, moved towards the factors that useful memories had more of; same sum as before."""
    moves = {}
    for name in base:
        useful, useless = known.factors.get(name, (Tally(), Tally()))
        enough = min(useful.n, useless.n) / (min(useful.n, useless.n) + rules.doubt)
        moves[name] = rules.weight_gain * enough * (useful.mean(0.01) - useless.mean(0.01))
    middle = sum(moves.values()) / max(len(moves), 1)
    apart = {name: move - middle for name, move in moves.items()}  # what one gains the others give
    least = min((base[name] for name in base), default=0.0)
    bound = min(rules.most_weight, least)  # none falls below nothing
    widest = max((abs(move) for move in apart.values()), default=0.0)
    scale = min(1.0, bound / widest) if widest else 0.0
    return {name: base[name] + scale * apart[name] for name in base}


def _blocks(known: Quality, signal: Signal, outcome: float, rules: Rules) -> dict[str, tuple[Tally, Tally]]:
    table = dict(known.blocks)
    for kind in Kind:
        key = f"{signal.task}/{kind}"
        having, lacking = table.get(key, (Tally(), Tally()))
        if kind in signal.kinds:
            table[key] = (having.add(outcome, rules.keep), lacking)
        else:
            table[key] = (having, lacking.add(outcome, rules.keep))
    return table


def _factors(known: Quality, told: Sequence[Shown], rules: Rules) -> dict[str, tuple[Tally, Tally]]:
    table = dict(known.factors)
    for shown in told:
        for name, value in shown.factors.items():
            useful, useless = table.get(name, (Tally(), Tally()))
            value = min(max(value, 0.0), 1.0)
            if shown.useful:
                table[name] = (useful.add(value, rules.keep), useless)
            else:
                table[name] = (useful, useless.add(value, rules.keep))
    return table
