"""The words of forms, weighed by how rare they are: single words and pairs of neighbours.

Rules: every text has the length one, words that no form has included, so that a product of two is a likeness between 0
and 1. Held as one list of features for each text: a product is taken among a few texts at a time, never among all.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from metnos.fastpath.slots_source import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]
    Features = tuple[Numbers, Numbers]  # which, and how heavy

_WORD = re.compile(r"[^\W_]+")


class Words:
    """The words of all forms."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [_features(text) for text in texts]
        holders = Counter(feature for each in counted for feature in each)
        self._number = {feature: number for number, feature in enumerate(sorted(holders))}
        self._texts = len(texts)
        self._rare = {feature: self._rarity(count) for feature, count in holders.items()}
        self._rows = [self._weighed(each) for each in counted]

    def read(self, text: str) -> "Features":
        """The features of any text; those that no form has only make it longer."""
        return self._weighed(_features(text))

    def of(self, row: int) -> "Features":
        return self._rows[row]

    def likeness(self, text: "Features", rows: Iterable[int]) -> "Numbers":
        """How alike a text and some forms are, each with each; the text comes first."""
        import numpy as np

        held = [text, *(self._rows[row] for row in rows)]
        which = np.concatenate([each[0] for each in held])
        heavy = np.concatenate([each[1] for each in held])
        owner = np.repeat(np.arange(len(held)), [len(each[0]) for each in held])
        _, place, count = np.unique(which, return_inverse=True, return_counts=True)
        shared = count > 1  # what one text alone has makes no two of them alike
        column = np.cumsum(shared) - 1
        kept = shared[place]
        table = np.zeros((len(held), int(shared.sum())), dtype=np.float32)
        table[owner[kept], column[place[kept]]] = heavy[kept]
        alike = table @ table.T
        np.fill_diagonal(alike, 1.0)
        return alike

    def _rarity(self, holders: int) -> float:
        return math.log((1 + self._texts) / (1 + holders)) + 1

    def _weighed(self, counted: Counter[str]) -> "Features":
        import numpy as np

        unknown = self._rarity(0)
        heavy = {each: (1 + math.log(n)) * self._rare.get(each, unknown) for each, n in counted.items()}
        length = math.sqrt(sum(each * each for each in heavy.values())) or 1.0
        known = [each for each in heavy if each in self._number]
        which = np.array([self._number[each] for each in known], dtype=np.int64)
        return which, np.array([heavy[each] / length for each in known], dtype=np.float32)


def _features(text: str) -> Counter[str]:
    words = _WORD.findall(fold(text))
    return Counter((*words, *(f"{one} {other}" for one, other in zip(("^", *words), (*words, "$"), strict=True))))
