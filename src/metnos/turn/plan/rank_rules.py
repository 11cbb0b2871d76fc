"""The weights and thresholds of the ranking.

They were fitted by ``python -m bench.router_fit``, which says how, on which half of the data, and prints them; what
they are worth on the other half is measured by `bench.router`. A signal that is not named has no weight; ``bias`` is
what a sum begins with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SIGNALS = (
    "purpose",  # the request against the purpose, by meaning
    "title",  # against the name as words
    "example",  # against the nearest example
    "examples",  # against all examples, the mean
    "affinity",  # against the words of affinity, by meaning
    "phrases",  # phrases of affinity that the request holds
    "name",  # how much of the name is said, word by word, in these or in other words
    "exact",  # how much of the purpose is said, in the same words or concepts
    "cover",  # how much of the request the tool speaks of, in these or in other words
    "lexical",  # BM25F over all fields
    "verb",  # whether what is to be done is what it does
    "numbers",  # how many of the numbers that it needs are there
    "values",  # how many of the other values that it needs are there
    "stray",  # values in the request that it has no place for
    "kind",  # it is for the kind of file that is named
    "conflict",  # it is for another kind
    "told",  # it has examples: sums of tools with and without them begin elsewhere
)

_ORDER = {
    "purpose": 10.7,
    "title": 2.8,
    "example": 14.2,
    "affinity": 2.3,
    "name": 3.3,
    "exact": 4.3,
    "cover": 2.0,
    "lexical": 4.5,
    "verb": 1.7,
    "numbers": 0.9,
    "stray": -2.5,
    "conflict": -2.4,
}
_ORDER_OF_WORDS = {
    "phrases": 1.2,
    "name": 2.9,
    "exact": 9.3,
    "cover": 0.8,
    "lexical": 6.6,
    "verb": 0.6,
    "numbers": 1.7,
    "stray": -2.9,
    "kind": 2.3,
    "conflict": -2.4,
    "bias": 7.0,  # not fitted: it brings these sums to where those with an embedder lie, so that scores mean the same
}
_FIT = {
    "purpose": 2.1,
    "title": 0.1,
    "example": 8.1,
    "examples": 9.4,
    "phrases": 3.3,
    "name": 4.0,
    "exact": 2.5,
    "lexical": 2.6,
    "verb": 0.4,
    "numbers": 1.7,
    "values": 0.6,
    "kind": 3.2,
    "told": -3.5,
    "bias": -5.7,
}
_FIT_OF_WORDS = {
    "phrases": 2.1,
    "name": 2.7,
    "exact": 4.2,
    "cover": 1.6,
    "lexical": 1.8,
    "verb": 0.2,
    "numbers": 2.0,
    "values": 0.9,
    "stray": -0.7,
    "kind": 4.4,
    "told": -1.1,
    "bias": -5.0,
}


@dataclass(frozen=True, slots=True)
class Rules:
    """What orders the tools (``order``), and what says whether the best one is meant at all (``fit``, ``abstain``)."""

    order: Mapping[str, float] = field(default_factory=lambda: dict(_ORDER))
    order_of_words: Mapping[str, float] = field(default_factory=lambda: dict(_ORDER_OF_WORDS))  # without an embedder
    fit: Mapping[str, float] = field(default_factory=lambda: dict(_FIT))
    fit_of_words: Mapping[str, float] = field(default_factory=lambda: dict(_FIT_OF_WORDS))
    # Below it nothing is meant. On the requests that the fit was made on it refuses 4 % of those that a built-in covers
    # and all that none covers; on the others 4 % too, and 9 of 13 (bench/results/router.json).
    abstain: float = 0.4
    # The sum of a right tool is 16 to 17 with a spread of 5, that of any tool 4: scores then use the whole of 0 to 1.
    # The order is the same for any two numbers here.
    centre: float = 14.0
    spread: float = 5.0
