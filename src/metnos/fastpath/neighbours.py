"""Which path a request is nearest to: the nearest forms vote, and each is heard less the more others say the same.

The nearest forms by cosine are weighed by kernel ridge regression: likeness is ``exp(sharpness (cosine - 1))`` of the
meanings plus a share of the likeness of the words; a path's score is the sum of the weights of its forms, and the
*margin* is how far the best path is above the next. One small system of equations for each request, nothing to train,
so that a new form counts at once; its cost does not grow with the number of forms, but for the cosines.

Rules: the order in which forms are given changes nothing; whatever is given, every number is finite. A form can be
asked about as if it had not been seen, alone or with its whole path.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metnos.fastpath.records import Form
from metnos.fastpath.rules import Rules
from metnos.fastpath.words import Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metnos.fastpath.words import Features

    Vectors = NDArray[np.float32]
    Numbers = NDArray[Any]

_MANY = 5000  # forms; from here on reading all vectors whole takes longer than all the rest
_SKETCHED = 128  # dimensions
_LIKELY = 1024  # forms that are then looked at with all dimensions


@dataclass(frozen=True, slots=True)
class Near:
    """The nearest path, its nearest form, and how far ahead of the next path it is."""

    path: str
    form: Form
    margin: float
    cosine: float
    words: float  # the likeness of the words
    runner_up: str
    support: float  # the score of the path itself


class Neighbours:
    """Forms with their vectors, ready to be asked. May be used by several threads."""

    def __init__(self, forms: Sequence[Form], vectors: "Vectors", rules: Rules | None = None) -> None:
        import numpy as np

        if len(forms) != len(vectors):
            raise ValueError("every form needs its vector")
        order = sorted(range(len(forms)), key=lambda at: (forms[at].path, forms[at].canonical, forms[at].said))
        self.forms = tuple(forms[at] for at in order)
        self._rules = rules or Rules()
        self._vectors = np.ascontiguousarray(np.asarray(vectors, dtype=np.float32)[order])
        names = sorted({form.path for form in forms})
        number = {name: at for at, name in enumerate(names)}
        self._names = names
        self._path = np.array([number[form.path] for form in self.forms], dtype=np.int64)
        self._words = Words([form.said for form in self.forms])
        self._sketch = _Sketch(self._vectors) if len(forms) > _MANY else None

    def nearest(self, said: str, vector: "Numbers") -> Near | None:
        """The path that a request is nearest to; nothing if there are no forms."""
        import numpy as np

        if not self.forms:
            return None
        asked = np.asarray(vector, dtype=np.float32)
        rows = np.arange(len(self.forms)) if self._sketch is None else self._sketch.likely(asked)
        cosines = (self._vectors if self._sketch is None else self._vectors[rows]) @ asked
        return self._weigh(rows, cosines, self._words.read(said))

    def left_out(self, row: int) -> tuple[Near | None, Near | None]:
        """What the other forms say of one of them, and what the forms of other paths say: a new kind of request."""
        import numpy as np

        cosines = self._vectors @ self._vectors[row]
        words = self._words.of(row)
        others = np.delete(np.arange(len(cosines)), row)
        strangers = np.flatnonzero(self._path != self._path[row])
        return self._weigh(others, cosines[others], words), self._weigh(strangers, cosines[strangers], words)

    def _weigh(self, rows: "Numbers", cosines: "Numbers", words: "Features") -> Near | None:
        """What the nearest of some forms say together; ``rows`` are in order."""
        import numpy as np

        if not len(rows):
            return None
        rules = self._rules
        rest = max(0, len(rows) - rules.neighbours)
        nearest = np.sort(np.argpartition(cosines, rest)[rest:])
        rows, cosines = rows[nearest], cosines[nearest]
        alike = self._words.likeness(words, rows)
        near = self._vectors[rows]
        table = np.exp(rules.sharpness * (near @ near.T - 1)) + rules.words * alike[1:, 1:]
        table[np.diag_indices(len(rows))] = 1 + rules.words + rules.ridge
        asked = np.exp(rules.sharpness * (cosines - 1)) + rules.words * alike[0, 1:]
        heard = np.linalg.solve(table, asked)
        present, place = np.unique(self._path[rows], return_inverse=True)
        support = np.bincount(place, heard)
        order = np.argsort(-support, kind="stable")
        best, after = order[0], order[1:2]
        own = np.flatnonzero(place == best)
        first = own[np.argmax(asked[own])]
        second = float(max(0.0, support[after[0]])) if len(after) else 0.0
        return Near(
            path=self._names[present[best]],
            form=self.forms[rows[first]],
            margin=max(0.0, float(support[best]) - second),
            cosine=float(cosines[own].max()),
            words=float(alike[0, 1:][own].max()),
            runner_up=self._names[present[after[0]]] if len(after) else "",
            support=float(support[best]),
        )


class _Sketch:
    """Vectors in the few directions in which they differ most: a quarter of the numbers to find the likely ones."""

    def __init__(self, vectors: "Vectors") -> None:
        import numpy as np

        turned = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))[1][:, -_SKETCHED:]
        self._turned = np.ascontiguousarray(turned, dtype=np.float32)
        self._short = np.ascontiguousarray(vectors @ self._turned)

    def likely(self, vector: "Vectors") -> "Numbers":
        """The rows that are nearest as far as the sketch shows."""
        import numpy as np

        rest = max(0, len(self._short) - _LIKELY)
        return np.sort(np.argpartition(self._short @ (vector @ self._turned), rest)[rest:])
