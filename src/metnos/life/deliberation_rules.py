"""What an event is worth once what is known was held against it, and what knowledge foretold of it. Pure.

Importance is what curiosity is not: curiosity is how surprising an event was when it came, importance what hangs on it
in the light of all that is known. Seed 003 replays what shows the greatest gap between the two.

Rules (property-tested): importance lies in [0, 1], and nothing that speaks for an event makes it less important. What a
baseline foretells of a measure came true if it lies where nearly all did; only baselines of enough sightings foretell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from metnos.core.canon import sha256_hex
from metnos.core.decay import clamp01
from metnos.grimoire.domain import Domain
from metnos.grimoire.episode import Episode
from metnos.grimoire.evidence import Baseline, standing_off


@dataclass(frozen=True, slots=True)
class ThinkRules:
    """The numbers; each says why beside it."""

    thoughts: int = 5  # events of one deliberation: seed 003 shows a model the three to five nearest
    # Each the most that this alone can make of it, as in `appraisal`.
    weight: float = 0.7  # the pack's word on such events
    deviation: float = 0.6
    warned: float = 0.6  # by anti-knowledge or a warning about the same, as far as it is believed
    anomaly: float = 0.6  # from this curiosity on it is investigated, and below it monitored
    telling: float = 0.8  # from this importance on the owner is told
    foretold: int = 10  # events whose numbers are held against what was foretold, chosen by lot
    least: int = 20  # sightings of a baseline that foretells
    within: float = 2.5  # standard deviations: `extract` calls an event what is beyond


RULES = ThinkRules()


def importance(weight: float, deviation: float | None, warnings: Sequence[float], rules: ThinkRules = RULES) -> float:
    """What hangs on an event. ``warnings`` are how far each fact that warns of its like is believed."""
    signals = [
        rules.weight * clamp01(weight),
        rules.deviation * clamp01(deviation or 0.0),
        *(rules.warned * clamp01(each) for each in warnings),
    ]
    return clamp01(1 - math.prod(1 - signal for signal in signals))


def chosen(episodes: Sequence[Episode], rules: ThinkRules = RULES) -> list[Episode]:
    """What is thought about: the most curious, in the order in which they came."""
    first = sorted(episodes, key=lambda each: (-each.curiosity, each.seq))[: rules.thoughts]
    return sorted(first, key=lambda each: each.seq)


def sample(episodes: Sequence[Episode], rules: ThinkRules = RULES) -> list[Episode]:
    """By which foresight is measured: by lot, because the most curious are those that nobody foresaw."""
    return sorted(episodes, key=lambda each: sha256_hex(each.id.encode()))[: rules.foretold]


def came_true(value: float, usual: Baseline, rules: ThinkRules = RULES) -> bool | None:
    """Whether a measure is where its baseline foretold; None: too little was seen to foretell anything."""
    return None if usual.count < rules.least else standing_off(value, usual) <= rules.within


def task_of(curiosity: float, pack: Domain, rules: ThinkRules = RULES) -> str:
    """Which of the pack's tasks an event is: something to look into, or to keep an eye on."""
    stands_for = "answer" if curiosity >= rules.anomaly else "summarise"
    return next((name for name, each in pack.tasks.items() if each.stands_for == stands_for), stands_for)
