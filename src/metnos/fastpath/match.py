"""Which path a request means, and how likely that is right.

Rules: the same canonical form, seen for one path only, is an exact match and needs no embedder; otherwise the nearest
path by meaning and words is the match. A match is a claim with a probability: `may_answer` decides. Built once for a
set of forms; the order of the forms changes nothing. May be used by several threads.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from metnos.fastpath.neighbours import Near, Neighbours
from metnos.fastpath.records import Form, Match
from metnos.fastpath.rules import Calibration, Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Matcher:
    """Forms, ready to be matched. ``vectors`` are those of what was said, one row for each form, each of length one."""

    def __init__(
        self,
        forms: Sequence[Form],
        vectors: "Vectors | None" = None,
        calibration: Calibration | None = None,
        rules: Rules | None = None,
    ) -> None:
        paths: dict[str, set[str]] = {}
        for form in forms:
            paths.setdefault(form.canonical, set()).add(form.path)
        self._exact = {form: next(iter(of)) for form, of in paths.items() if form and len(of) == 1}
        self._near = None if vectors is None else Neighbours(forms, vectors, rules)
        self.calibration = calibration or Calibration()

    def match(self, canonical: str, said: str, vector: "NDArray[Any] | None" = None) -> Match | None:
        """The path that a request seems to mean; nothing if there is nothing to compare it with."""
        near = None if self._near is None or vector is None else self._near.nearest(said, vector)
        path = self._exact.get(canonical)
        if path is None:
            return None if near is None else self._match(near, near.path, near.form.canonical, exact=False)
        return self._match(near, path, canonical, exact=True)

    def _match(self, near: Near | None, path: str, form: str, *, exact: bool) -> Match:
        agrees = near is not None and near.path == path
        score = near.margin if near is not None and agrees else 0.0
        probability = self.calibration.probability(score, exact=exact)
        if near is None:
            return Match(path, form, probability, exact, score)
        return Match(
            path=path,
            form=form,
            probability=probability,
            exact=exact,
            score=score,
            cosine=near.cosine if agrees else 0.0,
            margin=score,
            runner_up=near.runner_up if agrees else near.path,
            parts={"support": near.support, "words": near.words} if agrees else {},
        )
