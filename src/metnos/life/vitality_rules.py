"""How alive an agent is: three clocks, their product, five phases, and what a phase changes. Pure.

- The *economic* clock is the share of the money that is left to live on; the reserve for its end is not part of that.
- The *epistemic* clock is predictive fitness: of what was foretold about steps, the share that came true. Newer ones
  count more, surer ones count more, and a newborn is taken to be right until shown otherwise.
- The *stochastic* clock is the chance of having lived this long. Mortality rises with age (Gompertz), and ends every
  life at its limit of ticks; at each tick the dice are thrown against the hazard of that tick.

Rules (property-tested): each clock lies in [0, 1], and so does their product; any clock at zero is the end. Less money,
more that went otherwise than foretold, and more age never make an agent more alive. A clock that is off stands at one
and ends nothing. A phase is left downward at its bound and upward only a margin above it, so that a value that trembles
around a bound changes nothing. A later phase never gets more context, waits longer to learn, or shares less.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from metnos.context.budgets import FACTORS, Phase
from metnos.core.canon import sha256_hex
from metnos.core.decay import clamp01
from metnos.life.cause import Cause

ORDER = tuple(Phase)  # from the most to the least alive
PURPOSE = "life roll"  # what the signature behind a throw is made for


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers. Bounds, senescence, the two thresholds of sharing and the hayflick ratio are seed 003's."""

    bounds: tuple[float, float, float, float] = (0.7, 0.5, 0.3, 0.1)  # below which the next phase begins
    margin: float = 0.05  # above a bound, to go back up: a quarter of a phase
    senescence: float = 0.35
    # Chosen: like eight sure foretellings that came true. Fourteen sure ones in a row that did not are the end.
    newborn: float = 8.0
    half_life: float = 64.0  # scores until one counts half: some cycles of the curator, so that it can still mend
    # Chosen: of a hundred agents ten live to the limit, and fifty to 0.85 of it, where sharing begins to hurry.
    growth: float = 8.0
    oldest: float = 0.1
    hurry: float = 0.85  # hayflick ratio
    share: float = 0.6  # confidence that what is shared must have
    share_late: float = 0.4
    # Chosen: ticks between two consolidations. What is not distilled when a life ends is lost, so the less of it is
    # left, the sooner; the first is seed 003's.
    curator: tuple[int, int, int, int, int] = (50, 50, 40, 25, 10)


RULES = Rules()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a life is lived on: which clocks run, with how much money, up to which age. Zero: without a bound."""

    economic: bool = True
    epistemic: bool = True
    stochastic: bool = False
    balance_usd: float = 0.0
    hayflick: int = 0  # ticks

    @property
    def ages(self) -> bool:
        return self.stochastic and self.hayflick > 0


@dataclass(frozen=True, slots=True)
class Clocks:
    """The three clocks at one tick."""

    economic: float = 1.0
    epistemic: float = 1.0
    stochastic: float = 1.0

    @property
    def vitality(self) -> float:
        return self.economic * self.epistemic * self.stochastic


@dataclass(frozen=True, slots=True)
class Score:
    """One fact that had a say in one step: how sure it was, and whether what it foretold came true."""

    confidence: float
    hit: bool


@dataclass(frozen=True, slots=True)
class Effects:
    """What a phase and an age change."""

    context: float  # times the tokens that a language model is shown
    curator_every: int  # ticks between two consolidations
    share: float  # the least confidence of what is shared


# -- the clocks


def economic(balance: float, reserve: float, spent: float) -> float:
    """The share of the money to live on that is left; one without a bound."""
    if balance <= 0:
        return 1.0
    living = balance - reserve
    return clamp01((living - max(0.0, spent)) / living) if living > 0 else 0.0


def fitness(scores: Iterable[Score], rules: Rules = RULES) -> float:
    """Predictive fitness of what was scored, the oldest first."""
    fade = 0.5 ** (1 / rules.half_life)
    hits = weight = rules.newborn
    for score in scores:
        sure = clamp01(score.confidence)
        hits = hits * fade + sure * score.hit
        weight = weight * fade + sure
    return clamp01(hits / weight) if weight > 0 else 1.0


def hayflick_ratio(tick: int, limit: int) -> float:
    """How much of the greatest age is behind an agent; zero without a limit."""
    return clamp01(tick / limit) if limit > 0 else 0.0


def survival(tick: int, limit: int, rules: Rules = RULES) -> float:
    """The chance of living to this tick."""
    ratio = hayflick_ratio(max(tick, 0), limit)
    if ratio >= 1.0:
        return 0.0
    grown = math.expm1(rules.growth * ratio) / math.expm1(rules.growth)
    return float(rules.oldest**grown)


def hazard(tick: int, limit: int, rules: Rules = RULES) -> float:
    """The chance that a life which came to the tick before ends at this one."""
    before = survival(tick - 1, limit, rules)
    return clamp01(1 - survival(tick, limit, rules) / before) if before > 0 else 1.0


def throw_of(proof: str) -> float:
    """The throw that a signature stands for, in [0, 1): nobody without the key can know it beforehand."""
    return (int(sha256_hex(proof.encode())[:16], 16) >> 11) / (1 << 53)  # as many bits as a float has


def throw_message(tick: int) -> bytes:
    """What is signed for the throw of a tick: the tick alone, so that nobody can choose among throws."""
    return f"tick {tick}".encode()


# -- phases


def phase_of(vitality: float, before: Phase | None = None, rules: Rules = RULES) -> Phase:
    """The phase at this vitality, coming from the one ``before``."""
    bare = sum(vitality < bound for bound in rules.bounds)
    if before is None or bare >= ORDER.index(before):
        return ORDER[bare]
    # On the way up a bound counts as crossed a margin above it.
    risen = sum(vitality < bound + rules.margin for bound in rules.bounds)
    return ORDER[min(risen, ORDER.index(before))]


def cause_of(clocks: Clocks, rules: Rules = RULES) -> Cause | None:
    """Why a life with these clocks is over; nothing if it is not."""
    if clocks.stochastic <= 0:
        return Cause.STOCHASTIC
    if clocks.economic <= 0:
        return Cause.ECONOMIC
    return Cause.EPISTEMIC if clocks.epistemic < rules.senescence else None


def effects(phase: Phase, ratio: float = 0.0, rules: Rules = RULES) -> Effects:
    """What changes in a phase, at a hayflick ratio."""
    late = ratio > rules.hurry or phase is Phase.TERMINAL
    return Effects(FACTORS[phase], rules.curator[ORDER.index(phase)], rules.share_late if late else rules.share)
