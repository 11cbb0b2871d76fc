"""From predictions whose outcome is known to the least margin that may answer: the statistics of calibration.

A count alone would need about 300 answers without a mistake to show one per cent, and says nothing about the next
threshold. So a curve is fitted to all outcomes, also those below the threshold (logistic, in the margin and its
logarithm, neither with a negative weight), and the share of wrong answers above a threshold is bounded by the curve's
mean there plus its error (delta method; outcomes of one path count as one cluster, since they err together). A count is
still asked: the share seen wrong, taken at its median, must not exceed what is allowed either, so that no curve speaks
for a region in which hardly anything was seen.

Does not guarantee the bound where coming requests are unlike those seen, or where the truth is far from such a curve.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from metnos.fastpath.rules import LOG_FROM, Curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

_MEDIAN = 0.7  # added to what was seen wrong: the median of a share of which nothing was seen is not nothing
_WEAK = 1e-4  # the penalty that keeps the fit finite where the margin separates right from wrong entirely
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Predictions: margin, whether right, how much each counts, and which belong together."""

    margins: "Numbers"
    right: "Numbers"
    weights: "Numbers"
    groups: "Numbers"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A threshold with what is expected above it."""

    threshold: float
    risk: float
    bound: float


def least_margin(outcomes: Outcomes, delta: float, confidence: float) -> tuple[Curve, Bounded | None]:
    """The curve, and the least margin above which the share of wrong answers is at most ``delta``; none if none is."""
    import numpy as np

    curve, basis, chance = _fitted(outcomes)
    spread = _covariance(basis, chance, outcomes)
    order = np.lexsort((outcomes.right, -outcomes.margins))  # among equals the wrong ones first
    weights = outcomes.weights[order]
    total = np.cumsum(weights)
    risk = np.cumsum(weights * (1 - chance[order])) / total
    slopes = np.cumsum((basis * (outcomes.weights * chance * (1 - chance))[:, None])[order], axis=0) / total[:, None]
    error = np.sqrt(np.maximum(0, np.einsum("ij,jk,ik->i", slopes, spread, slopes)))
    bound = risk + NormalDist().inv_cdf(confidence) * error
    seen = (np.cumsum(weights * ~outcomes.right[order]) + _MEDIAN) / total
    margins = outcomes.margins[order]
    last_of_equals = np.append(margins[1:] < margins[:-1], True)
    good = np.flatnonzero((bound <= delta) & (seen <= delta) & last_of_equals & (margins > 0))
    if not len(good):
        return curve, None
    at = good[-1]
    return curve, Bounded(float(margins[at]), float(max(risk[at], seen[at])), float(bound[at]))


def _fitted(outcomes: Outcomes) -> tuple[Curve, "Numbers", "Numbers"]:
    """The curve, its basis (only the terms that count, scaled) and the probability that it gives each outcome."""
    import numpy as np

    margins = np.maximum(0.0, outcomes.margins)
    terms = np.stack([margins, np.log(margins + LOG_FROM)], axis=1)
    middle, scale = terms.mean(axis=0), np.maximum(1e-9, terms.std(axis=0))
    scaled = np.append((terms - middle) / scale, np.ones((len(margins), 1)), axis=1)
    kept = [0, 1, 2]
    found = _newton(scaled, outcomes)
    while len(kept) > 1 and min(found[:-1]) < 0:  # a term that would make more margin mean less is left out
        del kept[int(np.argmin(found[:-1]))]
        found = _newton(scaled[:, kept], outcomes)
    slopes = np.zeros(2)
    slopes[kept[:-1]] = found[:-1]
    slopes /= scale
    curve = Curve(float(found[-1] - slopes @ middle), float(slopes[0]), float(slopes[1]))
    return curve, scaled[:, kept], _chance(scaled[:, kept] @ found)


def _newton(basis: "Numbers", outcomes: Outcomes) -> "Numbers":
    """Penalised logistic regression; the last term, which is constant, is free of the penalty."""
    import numpy as np

    found = np.zeros(basis.shape[1])
    penalty = np.eye(len(found)) * _WEAK * outcomes.weights.sum()
    penalty[-1, -1] = 1e-6
    for _ in range(_STEPS):
        chance = _chance(basis @ found)
        pull = basis.T @ (outcomes.weights * (outcomes.right - chance)) - penalty @ found
        bend = (basis * (outcomes.weights * chance * (1 - chance))[:, None]).T @ basis + penalty
        step = np.linalg.solve(bend, pull)
        step *= min(1.0, 5.0 / max(1e-12, float(np.abs(step).max())))  # a long step may throw it out of reach
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return found


def _covariance(basis: "Numbers", chance: "Numbers", outcomes: Outcomes) -> "Numbers":
    """How uncertain the curve is: the sandwich estimate over clusters."""
    import numpy as np

    bend = (basis * (outcomes.weights * chance * (1 - chance))[:, None]).T @ basis
    inverse = np.linalg.inv(bend + 1e-6 * np.eye(len(bend)))
    pulls = basis * (outcomes.weights * (outcomes.right - chance))[:, None]
    _, group = np.unique(outcomes.groups, return_inverse=True)
    summed = np.stack([np.bincount(group, column) for column in pulls.T], axis=1)
    count = len(summed)
    spread: Numbers = inverse @ (summed.T @ summed) @ inverse * (count / max(1, count - 1))
    return spread


def _chance(sure: "Numbers") -> "Numbers":
    import numpy as np

    chance: Numbers = 1 / (1 + np.exp(-np.clip(sure, -50, 50)))
    return chance
