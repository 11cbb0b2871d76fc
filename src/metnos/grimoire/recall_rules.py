"""How memories are ordered for a question: four factors, with relevance as the gate. Pure rules, without I/O.

Every factor lies in [0, 1]:

- relevance: a convex mix of how well the words match and how near the meaning is, each from 0 for the least to 1 for
  the best candidate, seen together with its neighbours in the conversation; who is named and which time is spoken of
  count too (`recall_pool` reckons it);
- recency: what is left after the time since it happened or last proved useful, counted from the newest candidate that
  passed, so that a question about long ago is still answered with the latest of that time;
- importance: as judged; for a fact its quality;
- affect: how well its feeling fits the mood, one half where either is neutral. Every so many places the opposite
  counts, so that a bad mood does not only remember bad things.

Rules: the three other factors never bring in what is not relevant. Place by place, only those are compared whose
relevance is within `Rules.band` of the best one left, or that supersede it: later, alike, and about what was asked.
Among them the four factors, less likeness to what was chosen already, decide. What does not pass the floor is not
there: a question that nothing answers gets nothing, and one that may have no answer gets only a few memories. Where a
memory comes from discounts it, and what ended badly counts a fifth more.

Does not guarantee that what passes the floor answers the question: words and meaning are all it sees.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from metnos.core.decay import HalfLife, clamp01, days_between
from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.episode import Provenance

# Seed 003: vault 1.0, clade 0.80, lethe 0.50, market 0.60. Of what it does not name: an heir's memories are as near as
# the clade's; what came by a query of the hub has a source that one can name, as what was bought has; a dream is no
# experience; what a death taught is the dearest signal there is.
DISCOUNTS: Mapping[Provenance, float] = {
    Provenance.SELF: 1.0,
    Provenance.OWNER: 1.0,
    Provenance.DEATH: 1.0,
    Provenance.CLADE: 0.80,
    Provenance.TESTAMENT: 0.80,
    Provenance.ARCHIVE: 0.80,
    Provenance.QUERY: 0.60,
    Provenance.MARKET: 0.60,
    Provenance.LETHE: 0.50,
    Provenance.DREAM: 0.50,
}

_FAINT = 1e-6  # a feeling weaker than this has no direction


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of recall; seed 003 where it names one, else chosen, with the reason beside it."""

    # -- the four factors (seed 003)
    relevance: float = 0.40
    recency: float = 0.20
    importance: float = 0.25
    affect: float = 0.15
    bloodstain: float = 1.2
    half_life_days: float = 30.0  # a month: this week stands out from last season, and today from last week a little
    contrarian: int = 5  # every fifth place is chosen against the mood
    band: float = 0.05  # relevance nearer than this is the same: the two arms seldom agree more exactly
    # A later memory may overtake an earlier one that is clearly more relevant, if both speak of what was asked in the
    # same words and are this alike: it supersedes it.
    same: float = 0.5
    same_words: float = 0.5  # of the question's, by weight, that both have at least
    same_share: float = 0.7  # of the words that the earlier one has: who tells news says less of what is known
    same_band: float = 0.35
    likeness: float = 0.05  # what complete likeness to a chosen memory costs: as much as the band

    # -- candidates: a few hundred, so that the cost does not grow with what is stored
    by_words: int = 80
    by_meaning: int = 40
    by_time: int = 40
    seeds: int = 12  # of the best, the neighbours in the conversation are looked at too

    # -- words, seen with their neighbours: nearer turns count more, and an answer follows its question
    before: tuple[float, ...] = (0.6, 0.3)
    after: tuple[float, ...] = (0.4, 0.2)
    saturation: float = 1.2  # k1 and b of BM25, as the full text has them
    length: float = 0.75

    # -- the mix
    meaning_least: float = 0.30  # the share of meaning when the nearest stands out no more than chance would have it
    meaning_most: float = 0.70
    meaning_gain: float = 0.15  # for each standard deviation beyond
    named: float = 0.10  # for being said by somebody whom the question names
    timed: float = 0.25  # for lying in the time that the question names
    told_days: float = 7.0  # things are told after they happened: after so long, or the time's own length, half counts

    # -- the floor: how much must speak for there being an answer (see `evidence`), and what each candidate must have
    # Where nothing stands out, so much of the question's words, by weight, must be in one place. Of the questions that
    # five conversations answer it silences two in a hundred; raised any further, it silences ever more of them.
    answers: float = 0.40
    # By chance the best of N memories has words that weigh ln N together, and the tenth best ln 10 = 2.3 less. What is
    # further ahead is no chance, however much is remembered: the units are those in which words are weighed.
    stands_out: float = 0.05  # for each unit by which the best is ahead of the tenth: chance is worth a tenth in all
    among: int = 10
    unknown: float = 0.40  # against it, where something is named and none of it was ever heard of: as much again
    answers_nearness: float = 4.5  # deviations nearer than usual at which meaning alone is enough,
    nearness: float = 3.0  # and from which on it counts: about what the nearest of a hundred has by chance
    coverage: float = 0.05  # a candidate must have so much of the words, or be that near
    unsure: float = 0.50  # up to here it may well be no answer: only the best few are given
    few_answers: int = 5
    # Of fewer than twenty nothing usual can be told; sentence encoders give unrelated texts about this cosine.
    few: int = 20
    usual_cosine: float = 0.2
    usual_spread: float = 0.1


# These are tuples because hundreds of each are made for a question, five times as fast as frozen dataclasses.


class Candidate(NamedTuple):
    """What may be recalled, as far as the order depends on it; an episode or a fact."""

    id: str
    text: str
    ts: datetime  # when it happened, or was last found true
    seq: int = 0
    session: str = ""
    sender: str = ""
    importance: float = 0.0
    pad: Pad = NEUTRAL
    provenance: Provenance = Provenance.SELF
    bloodstain: bool = False
    belief: float = 1.0  # how far a fact is believed


class Signals(NamedTuple):
    """What speaks for the relevance of a candidate."""

    relevance: float
    words: float  # from 0 to 1, of the best
    meaning: float  # from 0 to 1, of the nearest
    named: float
    timed: float
    coverage: float  # which share of the question's words, by weight, is in it or beside it
    own: float  # which share is in it alone
    nearness: float  # by how many standard deviations it is nearer than the rest; 0 without an embedder
    passed: str  # why it passed the floor; empty if it did not


class Factors(NamedTuple):
    """The four factors, what multiplied them, and what they make together."""

    relevance: float
    recency: float
    importance: float
    affect: float
    discount: float
    boost: float
    score: float


# -- one factor each


def recency(ts: datetime, newest: datetime, rules: Rules) -> float:
    return HalfLife(rules.half_life_days).factor(days_between(ts, newest))


def congruence(pad: Pad, mood: Pad) -> float:
    """How well a feeling fits a mood: the cosine between them, from 0 to 1; weak feelings and moods say little."""
    if pad is NEUTRAL or mood is NEUTRAL:
        return 0.5
    one = (pad.pleasure, pad.arousal, pad.dominance)
    other = (mood.pleasure, mood.arousal, mood.dominance)
    lengths = math.hypot(*one), math.hypot(*other)
    if min(lengths) < _FAINT:
        return 0.5
    cosine = sum(a * b for a, b in zip(one, other, strict=True)) / (lengths[0] * lengths[1])
    return clamp01(0.5 + 0.5 * cosine * min(1.0, lengths[0]) * min(1.0, lengths[1]))


def discount(candidate: Candidate) -> float:
    return DISCOUNTS[candidate.provenance] * clamp01(candidate.belief)


def factors(
    candidate: Candidate, relevance: float, newest: datetime, mood: Pad, rules: Rules, *, contrarian: bool
) -> Factors:
    """All four, and the score that they make."""
    fits = congruence(candidate.pad, mood)
    values = (
        clamp01(relevance),
        recency(candidate.ts, newest, rules),
        clamp01(candidate.importance),
        1 - fits if contrarian else fits,
    )
    weights = (rules.relevance, rules.recency, rules.importance, rules.affect)
    less, more = discount(candidate), rules.bloodstain if candidate.bloodstain else 1.0
    score = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return Factors(*values, discount=less, boost=more, score=less * more * score)


# -- whether anything is an answer


def evidence(coverage: float, ahead: float, nearness: float, rules: Rules, *, unknown: bool) -> float:
    """How much speaks for there being an answer at all.

    ``coverage`` is the greatest share of the question's words, by weight, that is found in one place; ``ahead`` by how
    much weight the best place is ahead of the tenth; ``nearness`` that of the nearest; ``unknown`` says that the
    question names somebody or something, and nothing that is named is known.
    """
    near = (nearness - rules.nearness) / max(rules.answers_nearness - rules.nearness, 1e-9)
    found = coverage + rules.stands_out * max(0.0, ahead) + rules.answers * max(0.0, near)
    return found - rules.unknown * unknown


def most_given(found: float, rules: Rules) -> int | None:
    """How many memories may be given for so much evidence: none, a few, or as many as are asked for."""
    if found < rules.answers:
        return 0
    return rules.few_answers if found < rules.unsure else None


# -- the order


def order(
    candidates: Sequence[Candidate],
    signals: Sequence[Signals],
    alike: Sequence[Sequence[float]],
    mood: Pad,
    count: int,
    rules: Rules,
) -> list[tuple[int, Factors]]:
    """Which of the candidates, the first one first, and their factors. ``alike`` says how alike any two are."""
    gates = {place: _gate(candidates[place], each, rules) for place, each in enumerate(signals) if each.passed}
    left = sorted(gates, key=lambda place: -gates[place])
    newest = max((candidates[place].ts for place in left), default=None)
    chosen: list[tuple[int, Factors]] = []
    known: dict[tuple[int, bool], Factors] = {}
    twins = [0.0] * len(candidates)  # how alike each is to the most alike one of those chosen
    while newest is not None and left and len(chosen) < count:
        against = rules.contrarian > 0 and len(chosen) % rules.contrarian == rules.contrarian - 1
        worth: dict[int, float] = {}
        for place in _contenders(left, gates, candidates, signals, alike, rules):
            key = place, against
            if key not in known:
                relevance = signals[place].relevance
                known[key] = factors(candidates[place], relevance, newest, mood, rules, contrarian=against)
            worth[place] = known[key].score - rules.likeness * twins[place]
        best = max(worth, key=lambda place: worth[place])  # of equals the most relevant: it came first
        chosen.append((best, known[best, against]))
        left.remove(best)
        twins = list(map(max, twins, alike[best]))
    return chosen


def _contenders(
    left: Sequence[int],
    gates: Mapping[int, float],
    candidates: Sequence[Candidate],
    signals: Sequence[Signals],
    alike: Sequence[Sequence[float]],
    rules: Rules,
) -> list[int]:
    """Who may take the next place: those about as relevant as the best one left, and those that supersede it."""
    first, found = left[0], []
    likeness, least = alike[first], gates[first] - max(rules.band, rules.same_band)
    own = max(rules.same_words, rules.same_share * signals[first].own)
    for place in left:
        if gates[place] < least:
            break
        if gates[first] - gates[place] <= rules.band or (
            likeness[place] >= rules.same and candidates[place].ts > candidates[first].ts and signals[place].own >= own
        ):
            found.append(place)
    return found


def _gate(candidate: Candidate, signals: Signals, rules: Rules) -> float:
    """Relevance as the gate sees it: discounted by where it comes from, and raised where something ended badly."""
    return signals.relevance * discount(candidate) * (rules.bloodstain if candidate.bloodstain else 1.0)
