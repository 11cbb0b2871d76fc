"""The vaglio's scoring: whether something that Metnos thought of is worth a question to the owner. Pure formulas.

    score = worth * support * (1 - bother)          all of them, and so the score, between 0 and 1

- *worth*: the most that any end gets out of it, ``max(weight * relevance)``. An end of weight 0 gives nothing.
- *relevance* of a need to an end: the best of three. What it does, by the words of its name, counts whole; what its
  text says counts `Rules.said`, because those may be anybody's words; what it brings (time and repetition saved, money,
  reliability) follows from its evidence and never from its text. With an embedder, nearness of meaning may take the
  place of shared words.
- *support*: how strong its evidence is, ``1 - (1 - uses)(1 - time)(1 - money)(1 - mnest)``, each part growing toward 1
  and never reaching it. A strong mnest toward an action that is taken already is evidence too.
- *bother*: what asking costs, ``1 - (1 - same)(1 - lately)(1 - waiting)``: refusals of the same thing, refusals of
  anything lately, and questions that wait. A refusal is forgotten by half in so many days, so what was refused can be
  asked again when time or evidence has made up for it.

A verdict: *ask* if the score reaches `Rules.ask`; *never* if the owner refused the same `Rules.refusals` times, or as
often it was agreed to and could not be made; else *not now*, with the reason. Rules (property-tested): the score grows
with evidence and with weights, bother with refusals and waiting questions; words can raise the score at most to
``weight * support``, and the same words twice count once. Does not guarantee that the owner agrees.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from metnos.core.decay import HalfLife, clamp01
from metnos.executors import vocabulary
from metnos.grimoire.stem import stem
from metnos.synt.need import Evidence, Need, Way

_WORD = re.compile(r"[^\W_]+")
# Words of sentences that say nothing about what is wanted, in the languages of the vocabulary.
_FILLER = frozenset(
    _WORD.findall(
        """a an and any are as at be by can do does done each for from get give has have how i if in into is it its let
        make me more my of on one or our own so some that the their them then there these they this to up us use used
        want we what when where which who will with without you your e il lo la i gli le un una di a da in con su per
        tra fra che chi cui come del della dei delle al alla ai alle mi mia mio miei mie si non è sono più"""
    )
)
# What evidence can show that a need brings; words of ends in both languages.
_TIME = "save saves time again repeat repeated often routine every daily faster quick quickly hours minutes"
_TEMPO = "risparmiare risparmia tempo sempre ripetere ripetuto spesso ogni ore minuti veloce velocemente volte"
_MONEY = "save money cost costs cheap cheaper spend spending pay risparmiare soldi denaro costo costi spesa spese"
_TRUST = "safe safely reliable reliably work works working fail fails break breaks sicuro sicuri affidabile funziona"


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers. No source gives them: each says why it is what it is."""

    ask: float = 0.25  # a thing wished for three times that fully serves an end of weight 0.5 just reaches it
    said: float = 0.5  # of what a need's text says: anybody's words are worth half of what it does
    stems: int = 24  # words of a text that are looked at: a sentence or two
    uses: float = 3.0  # as many uses are half of all support: three make a wish recur
    time_ms: float = 600_000.0  # so much time saved is half of all support: ten minutes
    money_usd: float = 1.0  # and so much money
    mnest: float = 0.5  # the most that a mnest supports: that something is done often does not say that more is wanted
    refusal: float = 0.8  # the bother of asking again right after a no: only overwhelming evidence outweighs it
    refusal_days: float = 60.0  # after which half of that is forgotten: two months
    lately: float = 0.1  # the bother of each refusal of something else
    lately_days: float = 14.0
    waiting: float = 0.06  # the bother of each question that waits: five make everything a quarter less welcome
    most_waiting: int = 6  # as many as one night may ask: whoever has not answered those is not asked more
    tolerable: float = 0.5  # the most bother at which something is asked that serves no end, such as what to put away
    refusals: int = 3  # of the same thing: then never again (as drafts: DESIGN 7)
    recurs: int = 3  # uses from which on something is done again and again
    near: float = 0.5  # how far above unrelated texts a meaning lies that is fully relevant: half of what is left


class Verdict(StrEnum):
    """What becomes of a spontaneous need."""

    ASK = "ask"
    NOT_NOW = "not now"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the owner said before, in days ago: to the same thing, and to anything else; and how much waits."""

    refused: tuple[float, ...] = ()
    lately: tuple[float, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """A judgement with its parts."""

    verdict: Verdict
    reason: str
    score: float = 0.0
    worth: float = 0.0
    support: float = 0.0
    bother: float = 0.0
    end: str = ""  # the end that it serves best


# -- words


def stems(text: str, most: int) -> frozenset[str]:
    """The first so many different words of a text that say something, as stems; synonyms are one word."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text.casefold()):
        if len(found) >= most:
            break
        if word not in _FILLER and len(word) > 1:
            known = vocabulary.canonical_object(word) or vocabulary.canonical_verb(word) or word
            found[stem(known)] = None
    return frozenset(found)


def alike(one: Collection[str], other: Collection[str]) -> float:
    """How much two sets of words share: 1 if they are the same. More words that are not shared make it less."""
    shared = len(set(one) & set(other))
    return shared / math.sqrt(len(one) * len(other)) if shared else 0.0


def brings(need: Need, rules: Rules) -> frozenset[str]:
    """What a need brings, in words of ends; from its evidence alone."""
    shown: list[str] = []
    if need.evidence.uses >= rules.recurs:
        shown += (_TIME, _TEMPO)  # what is asked for again and again and not done costs its owner time
    if need.evidence.saved_usd > 0:
        shown.append(_MONEY)
    if need.way is Way.REPAIR:
        shown.append(_TRUST)
    said = " ".join(shown)
    return stems(said, len(said))


def covered(end: Collection[str], brought: Collection[str]) -> float:
    """How much of an end's words are what a need brings."""
    return len(set(end) & set(brought)) / len(end) if end else 0.0


def relevance(end: str, name: str, text: str, need: Need, rules: Rules) -> float:
    """By words: of what it does, of what its text says, of what it brings. ``name`` is in words."""
    wanted = stems(end, rules.stems)
    does, says = stems(name, rules.stems), stems(text, rules.stems)
    return max(alike(wanted, does), rules.said * alike(wanted, says), covered(wanted, brings(need, rules)))


def meant(cosine: float, floor: float, rules: Rules) -> float:
    """A nearness of meaning as relevance; ``floor`` is how near unrelated texts are in the same space."""
    room = (1.0 - floor) * rules.near
    return clamp01((cosine - floor) / room) if room > 0 else 0.0


# -- the parts of the score


def worth(ends: Iterable[tuple[float, float]]) -> float:
    """The most of weight times relevance."""
    return max((clamp01(weight) * clamp01(relevant) for weight, relevant in ends), default=0.0)


def support(evidence: Evidence, strength: float, rules: Rules) -> float:
    """How strong evidence is."""
    parts = (
        _toward_one(evidence.uses, rules.uses),
        _toward_one(evidence.saved_ms, rules.time_ms),
        _toward_one(evidence.saved_usd, rules.money_usd),
        rules.mnest * clamp01(strength),
    )
    return clamp01(1.0 - math.prod(1.0 - part for part in parts))


def bother(standing: Standing, rules: Rules) -> float:
    """What asking costs the owner."""
    same = [rules.refusal * HalfLife(rules.refusal_days).factor(days) for days in standing.refused]
    others = [rules.lately * HalfLife(rules.lately_days).factor(days) for days in standing.lately]
    kept = math.prod(1.0 - each for each in (*same, *others)) * (1.0 - rules.waiting) ** max(0, standing.waiting)
    return clamp01(1.0 - kept)


def judge(
    need: Need, served: Sequence[tuple[float, float, str]], strength: float, standing: Standing, rules: Rules
) -> Score:
    """The verdict on a need. ``served`` are weight, relevance and words of each end."""
    value = worth((weight, relevant) for weight, relevant, _ in served)
    evidence, cost = support(need.evidence, strength, rules), bother(standing, rules)
    score = clamp01(value * evidence * (1.0 - cost))
    best = max(served, key=lambda each: each[0] * each[1], default=(0.0, 0.0, ""))[2] if value else ""
    verdict, reason = _verdict(value, value * evidence, score, standing, rules)
    return Score(verdict, reason, score, value, evidence, cost, best)


def _verdict(value: float, welcome: float, score: float, standing: Standing, rules: Rules) -> tuple[Verdict, str]:
    if len(standing.refused) >= rules.refusals:
        return Verdict.NEVER, f"it was refused or given up {len(standing.refused)} times"
    if value <= 0:
        return Verdict.NOT_NOW, "it serves none of your ends"
    if standing.waiting >= rules.most_waiting:
        return Verdict.NOT_NOW, f"{standing.waiting} questions wait for you already"
    if score >= rules.ask:
        return Verdict.ASK, "it serves your ends well enough to ask"
    if welcome >= rules.ask:
        why = "you refused it not long ago" if standing.refused else "asking would bother more than it is worth"
        return Verdict.NOT_NOW, why
    return Verdict.NOT_NOW, "there is too little evidence, or it serves your ends too little"


def _toward_one(value: float, half: float) -> float:
    """0 at nothing, a half at ``half``, and never quite 1."""
    return max(0.0, value) / (max(0.0, value) + half)
