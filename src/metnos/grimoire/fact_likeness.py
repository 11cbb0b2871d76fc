"""When two facts say the same, and when they contradict each other: pure.

The same: one subject and one value; or the same words and numbers, by cosine where both have a vector of one space, by
words where not. Contradicting: one subject and another value; or nearly the same words, one of them negated.

Rules: the same thing said with another number or a negation is never a duplicate. Baselines of one metric agree while
their means lie within a few deviations. Does not guarantee to see a contradiction between different words without a
common subject: that takes understanding, and this takes none.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metnos.grimoire.fact import Fact, Kind

_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,:]\d+)*")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS = _set(
    "not no never none cannot cant can't don't doesn't didn't isn't aren't wasn't won't shouldn't mustn't nothing"
    " without non mai nessuno nessuna niente nulla senza ne"
)
# Words that turn a sentence round without a negation.
_OPPOSITES = _set(
    "fails failed fail avoid unsafe disabled absent false wrong impossible forbidden slower fallisce evita evitare"
    " falso sbagliato impossibile vietato disattivato assente"
)
_EMPTY = _set(
    "the a an of to in on at is are was were be been it its this that and or for with by as il lo la i gli le un una"
    " does do did di da con su per e sono era del della dei delle al alla o che si ha"
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two facts must be. Chosen; see the reasons."""

    cosine: float = 0.92  # of short sentences about one domain: below it other things are meant, chosen, not measured
    words: float = 0.80  # shared share of content words: one word in five or so may differ
    opposed: float = 0.60  # of the same without negations: a negation changes words around it too
    deviations: float = 3.0  # of a mean: beyond it the metric is not the same as it was
    least_spread: float = 0.05  # of the mean, for baselines that hardly vary


LIKENESS = Likeness()


def words(text: str) -> frozenset[str]:
    """Content words, in one case, without accents and without the *s* of many and of who does it."""
    return frozenset(_bare(word) for word in _said(text) if word not in _EMPTY)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two have in common, from 0 to 1."""
    return len(one & other) / len(one | other) if one or other else 1.0


def numbers(text: str) -> tuple[str, ...]:
    return tuple(sorted(_NUMBER.findall(text)))


def is_negated(text: str) -> bool:
    """Whether an odd number of words turns the sentence round."""
    return sum(word in _NEGATIONS or word in _OPPOSITES for word in _said(text)) % 2 == 1


def similarity(one: Fact, other: Fact, cosine: float | None) -> float:
    """From 0 to 1: the cosine if there is one, else shared words; a common subject and value is sameness."""
    if one.subject and one.subject == other.subject and one.value == other.value:
        return 1.0
    by_words = overlap(words(one.text), words(other.text))
    return max(by_words, min(1.0, cosine)) if cosine is not None else by_words


def is_same(one: Fact, other: Fact, cosine: float | None, likeness: Likeness = LIKENESS) -> bool:
    """Whether both say one thing, so that one is enough."""
    if one.kind is not other.kind or one.domain != other.domain or not one.scope.hears(other.scope):
        return False
    if one.sender != other.sender:
        return False  # what two people say is twice said, and not once with more weight
    if one.subject != other.subject:
        return False
    agreeing = _values_agree(one, other, likeness)
    if agreeing is not None:
        return agreeing
    if numbers(one.text) != numbers(other.text) or is_negated(one.text) != is_negated(other.text):
        return False
    if cosine is not None and cosine >= likeness.cosine:
        return True
    return overlap(words(one.text), words(other.text)) >= likeness.words


def contradicts(one: Fact, other: Fact, likeness: Likeness = LIKENESS) -> bool:
    """Whether both cannot be true at once."""
    if one.domain != other.domain or _apart_in_time(one, other):
        return False
    if one.subject and other.subject and one.subject != other.subject:
        return False  # of different things
    if one.subject == other.subject:
        agreeing = _values_agree(one, other, likeness)
        if agreeing is not None:
            return not agreeing
    turned = is_negated(one.text) != is_negated(other.text)
    return turned and overlap(_turned(one.text), _turned(other.text)) >= likeness.opposed


def _values_agree(one: Fact, other: Fact, likeness: Likeness) -> bool | None:
    """Of two with one subject; nothing if their values do not tell."""
    if not one.subject:
        return None
    if one.kind is Kind.BASELINE and other.kind is Kind.BASELINE:
        near = _means_agree(one.data, other.data, likeness)
        if near is not None:
            return near
    return _flat(one.value) == _flat(other.value) if one.value and other.value else None


def _means_agree(one: Mapping[str, Any], other: Mapping[str, Any], likeness: Likeness) -> bool | None:
    figures = [each.get(key) for each in (one, other) for key in ("mean", "stddev")]
    if not all(isinstance(figure, int | float) for figure in figures):
        return None
    mean, spread, other_mean, other_spread = (float(figure or 0) for figure in figures)
    allowed = likeness.deviations * max(spread, other_spread, likeness.least_spread * abs(mean))
    return abs(mean - other_mean) <= allowed


def _apart_in_time(one: Fact, other: Fact) -> bool:
    """Values of different times do not contradict each other."""
    for earlier, later in ((one, other), (other, one)):
        if earlier.valid_until and later.valid_from and earlier.valid_until <= later.valid_from:
            return True
    return False


def _said(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))


def _bare(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _turned(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word not in _NEGATIONS and word not in _OPPOSITES)


def _flat(value: str) -> str:
    return " ".join(value.casefold().split())
