"""The gate before knowledge: what a candidate is worth, and whether it may become a fact. Pure.

Five factors, each from 0 to 1, and their weights make one score, the chance that the fact will prove right and useful:
``score = 1 / (1 + exp(-(bias + sum(weight * factor))))``. Above 0.55 it is admitted at 0.6, between 0.45 and 0.55 at
0.3, below it is rejected. Warnings pass with a look at novelty only: missing a risk costs more than looking into none.

- *utility*: half how far it can be acted on, half how often facts of its domain and kind have helped (a Beta mean).
- *grounding*: ``1 - 2^(-n/2)`` of ``n`` episodes, times how far the source is trusted. The owner's word needs none.
- *novelty*: one minus the likeness of what is most alike and known already.
- *recency*: ``2^(-days/30)`` since it was last seen to hold.
- *kind*: how often facts of that kind are worth keeping, before anything is known.

Quality is the mean of specificity, actionability, novelty, verifiability and consistency; see each function below.

Rules: no factor is a constant; weights are settings, and `fit` learns them from what became of admitted facts. Fitting
is deterministic, pulled towards the settings, and bounded: no stream of outcomes can open the gate or shut it. Whatever
was fitted, what no episode speaks for is rejected, and what ten fresh ones show of something new is admitted. Does not
guarantee that fitted weights are better: nobody ever sees what became of what was rejected.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import datetime
from typing import Any

from metnos.core.decay import HalfLife, clamp01, days_between
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.fact_likeness import LIKENESS, Likeness


@dataclass(frozen=True, slots=True)
class Factors:
    """What is known of a candidate, each from 0 to 1."""

    utility: float
    grounding: float
    novelty: float
    recency: float
    kind: float


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each factor counts.

    Defaults are chosen so that three fresh, verified episodes of something new pass, one is at most doubted, and
    nothing passes without evidence, however new, fresh or useful it looks.
    """

    utility: float = 1.5  # the reason to keep it at all
    grounding: float = 4.5  # most of all: incorrect memories are worse than none
    novelty: float = 0.8  # what is known merges anyway
    recency: float = 0.5  # fading does this job later
    kind: float = 1.0
    bias: float = -4.7  # so that what is middling in everything is not enough


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """The gate's numbers: the design's, and weights that are settings."""

    weights: Weights = Weights()
    admit: float = 0.55
    doubt: float = 0.45
    admitted_at: float = 0.6
    doubted_at: float = 0.3
    warning_novelty: float = 0.05  # a warning that is not news is a repetition
    contradictions: int = 8  # kept of one fact; more of them are a flood and no doubt
    likeness: Likeness = LIKENESS


RULES = AdmissionRules()

_RECENT = HalfLife(30.0)  # days: a month, the longest habit of a household
TRUST = {  # how far a source's own evidence counts: the retrieval discounts, and less for what nobody vouches for
    Provenance.SELF: 1.0,
    Provenance.OWNER: 1.0,
    Provenance.CLADE: 0.8,
    Provenance.TESTAMENT: 0.8,
    Provenance.DEATH: 0.8,
    Provenance.ARCHIVE: 0.6,
    Provenance.MARKET: 0.6,
    Provenance.QUERY: 0.5,
    Provenance.LETHE: 0.5,
    Provenance.DREAM: 1.0,  # what it is made of was lived; whether it holds is what its low confidence is for
}
_PRIOR = {
    Kind.WARNING: 1.0,
    Kind.ANTI: 0.9,  # what did harm is the most valuable to know
    Kind.PROCEDURAL: 0.7,
    Kind.HEURISTIC: 0.7,
    Kind.CAUSAL: 0.6,
    Kind.BASELINE: 0.6,  # measured
    Kind.PATTERN: 0.6,
    Kind.INSIGHT: 0.5,  # somebody's conclusion
    Kind.LINK: 0.4,  # written down, not seen
}
_CAN_ACT = {
    Kind.PROCEDURAL: 0.5,
    Kind.HEURISTIC: 0.5,
    Kind.ANTI: 0.4,
    Kind.WARNING: 0.4,
    Kind.CAUSAL: 0.3,
    Kind.LINK: 0.2,
}

_CONCRETE = re.compile(r"\d|[/\\_@%]|\w\.\w|[\"'`].+[\"'`]|(?<=\s)[A-Z][a-z]")
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|could|sometimes|somehow|probably|seems?|various|things?|stuff|forse|magari|talvolta"
    r"|a volte|sembra|pare|probabilmente|cose|qualcosa|vari[eo])\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:when|if|before|after|unless|whenever|quando|se|prima|dopo|qualora)\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"\b(?:use|prefer|avoid|try|ask|check|wait|instead|rather|never|always|needs?|requires?|fails?|works?|takes?|costs?|slower"
    r"|faster|usa|preferi\w+|evita\w*|prova|chiedi|controlla|invece|mai|sempre|serve|richiede|fallisce|funziona|costa)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is around a candidate: how alike the nearest is, what agrees, what contradicts, how its like have done."""

    likest: float = 0.0
    agreeing: int = 0
    contradicting: int = 0
    helped: int = 0  # by facts of its domain and kind, altogether
    harmed: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    score: float
    factors: Factors
    quality: float
    level: float | None  # of confidence to admit at; nothing: rejected


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an admitted fact: whether it proved right and useful."""

    factors: Factors
    good: bool


CAME_BY = "in"  # in a fact's data, its factors when it came in; too short a word to be asked to be forgotten


def came_by(data: Mapping[str, Any]) -> Factors | None:
    """The factors that a fact was admitted by, if they are kept; an import may have brought anything."""
    kept = data.get(CAME_BY)
    if not isinstance(kept, Sequence) or len(kept) != len(fields(Factors)):
        return None
    numbers = [each for each in kept if isinstance(each, int | float) and 0 <= each <= 1]
    return Factors(*map(float, numbers)) if len(numbers) == len(kept) else None


def became(helped: int, harmed: int, standing: Standing, contradicted: bool, ended: bool) -> bool | None:
    """Whether an admitted fact was worth it: it helped more often than it did harm. One that never did either was not
    if something that contradicts it won, or if it is gone, unless its own time just ``ended``. Else nobody can know."""
    if helped != harmed:
        return helped > harmed
    if standing is Standing.ACTIVE or ended:
        return None
    return False if contradicted or standing in (Standing.PRUNED, Standing.EXPIRED) else None


def judge(candidate: Fact, known: Known, now: datetime, rules: AdmissionRules = RULES) -> Judged:
    """What a candidate is worth."""
    factors = factors_of(candidate, known, now)
    score = score_of(factors, rules.weights)
    quality = quality_of(candidate, known)
    if candidate.kind is Kind.WARNING:
        level = candidate.confidence if factors.novelty >= rules.warning_novelty else None
    else:
        level = rules.admitted_at if score > rules.admit else rules.doubted_at if score >= rules.doubt else None
    return Judged(score, factors, quality, level)


def factors_of(candidate: Fact, known: Known, now: datetime) -> Factors:
    helpful = (known.helped + 1.0) / (known.helped + known.harmed + 2.0)
    return Factors(
        utility=0.5 * actionability(candidate) + 0.5 * helpful,
        grounding=grounding(candidate),
        novelty=clamp01(1.0 - known.likest),
        recency=_RECENT.factor(days_between(candidate.reinforced, now)),
        kind=_PRIOR[candidate.kind],
    )


def score_of(factors: Factors, weights: Weights) -> float:
    return _logistic(_summed(factors, weights))


def passes(factors: Factors, weights: Weights) -> bool:
    """Whether something of this score is let in, were it only in doubt."""
    return score_of(factors, weights) >= RULES.doubt


def _summed(factors: Factors, weights: Weights) -> float:
    w, f = weights, factors
    summed = w.utility * f.utility + w.grounding * f.grounding + w.novelty * f.novelty + w.recency * f.recency
    return w.bias + summed + w.kind * f.kind


def grounding(candidate: Fact) -> float:
    """Half of what is missing with every second episode, as far as the source is trusted."""
    if candidate.provenance is Provenance.OWNER:
        return 1.0
    seen = max(len(set(candidate.sources)), candidate.episode_count)
    return TRUST[candidate.provenance] * (1.0 - math.pow(2.0, -seen / 2.0))


# -- quality


def quality_of(candidate: Fact, known: Known) -> float:
    parts = (
        specificity(candidate),
        actionability(candidate),
        clamp01(1.0 - known.likest),
        verifiability(candidate),
        consistency(known),
    )
    return sum(parts) / len(parts)


def specificity(fact: Fact) -> float:
    """How concrete: numbers, names, paths and quoted words among its words; hedging takes off."""
    words = fact.text.split()
    if not words:
        return 0.0
    concrete = sum(bool(_CONCRETE.search(f" {word}")) for word in words[1:]) + bool(re.search(r"[\d/_]", words[0]))
    named = 0.5 * bool(fact.subject) + 0.5 * bool(fact.value)
    hedged = len(_HEDGE.findall(fact.text))
    return clamp01(0.5 * (1.0 - 2.0**-concrete) + 0.3 * named + 0.2 * min(1.0, len(words) / 8.0) - 0.2 * hedged)


def actionability(fact: Fact) -> float:
    """Whether one could act on it: its kind, a condition, an advice, and structured data that says what."""
    said = 0.25 * bool(_CONDITION.search(fact.text)) + 0.25 * bool(_ADVICE.search(fact.text))
    structured = 0.25 * any(
        key in fact.data for key in ("strategy", "do", "cause", "effect", "warning", "pattern", "mean")
    )
    return clamp01(_CAN_ACT.get(fact.kind, 0.1) + said + structured)


def verifiability(fact: Fact) -> float:
    """Whether it can be checked: sources to look at, a value to compare, something that can be counted."""
    sources = 1.0 - 2.0 ** -len(set(fact.sources))
    countable = bool(re.search(r"\d", fact.text)) or any(isinstance(each, int | float) for each in fact.data.values())
    return 0.5 * sources + 0.25 * bool(fact.subject and fact.value) + 0.25 * countable


def consistency(known: Known) -> float:
    """The share of what is known about it that agrees, from even odds."""
    return (known.agreeing + 1.0) / (known.agreeing + known.contradicting + 1.0 + (known.contradicting > 0))


# -- weights from outcomes

_STEPS = 200
_PULL = 4.0  # as many outcomes of each kind weigh as much as the settings
MOST = 6.0  # of a weight; and of the bias either way
_LATEST = 5000  # outcomes that are looked at
_MARGIN = 1e-3  # more than rounding can take
_UNFOUNDED = Factors(utility=1.0, grounding=0.0, novelty=1.0, recency=1.0, kind=1.0)  # as good as it looks without any
_FOUNDED = Factors(utility=0.5, grounding=1.0 - 2.0**-5, novelty=1.0, recency=1.0, kind=min(_PRIOR.values()))  # by ten


def fit(outcomes: Sequence[Outcome], start: Weights | None = None, fixed: Collection[str] = ()) -> Weights:
    """Weights under which good outcomes score high: logistic regression, pulled towards ``start``, each within bounds.

    Weights never fall below nothing: more evidence must not count against a fact. Those that are ``fixed`` stay.
    """
    import numpy as np

    at = start or Weights()
    first = np.array(astuple(at), dtype=np.float64)
    latest = outcomes[-_LATEST:]
    if not latest:
        return at
    rows = np.array([(*astuple(each.factors), 1.0) for each in latest], dtype=np.float64)
    good = np.array([each.good for each in latest], dtype=np.float64)
    free = np.array([each.name not in fixed for each in fields(Weights)], dtype=np.float64)
    least = np.array([0.0] * (len(first) - 1) + [-MOST])
    weights = first.copy()
    # No longer than the loss is curved at its most: a quarter of the largest eigenvalue, and the pull.
    step = 1.0 / (0.25 * float(np.linalg.eigvalsh(rows.T @ rows)[-1]) + _PULL)
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(rows @ weights, -50.0, 50.0)))
        slope = rows.T @ (chance - good) + _PULL * (weights - first)
        weights = np.clip(weights - step * free * slope, least, MOST)
    way = _way(at, Weights(*map(float, weights)))
    return Weights(*(round(float(each), 6) for each in first + way * (weights - first)))


def _way(start: Weights, fitted: Weights) -> float:
    """How far one may go from the one to the other before the gate would open to what nothing speaks for, or shut."""
    ways = [1.0]
    for factors, bound, sign in ((_UNFOUNDED, RULES.doubt, 1.0), (_FOUNDED, RULES.admit, -1.0)):
        most = sign * math.log(bound / (1.0 - bound)) - _MARGIN
        before, after = (sign * _summed(factors, each) for each in (start, fitted))
        if after > most:
            ways.append(max(0.0, most - before) / (after - before) if after > before else 0.0)
    return min(ways)


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, value))))
