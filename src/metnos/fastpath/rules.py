"""When a fast path may answer: pure formulas and verdicts, and their numbers.

A request is matched in one of two ways. *Exact*: its canonical form was seen, and for one path only. *Semantic*: the
margin between the best path and the next is large. Each has its own evidence, pooled over all paths, and answers only
where that evidence shows with `Rules.confidence` that at most a share ``delta`` of its answers would be wrong. What a
single path has done shifts its own risk: `relative_risk`.

Rules: a higher score never has a lower probability; without evidence the answer is no, with a reason. Does not know
which path is active, or whether the executors still exist: that is for whoever keeps the paths.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from metnos.fastpath.records import FastPath, Form, Match

LOG_FROM = 0.01  # added to a margin before its logarithm is taken: below it all margins are nothing


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers. Those of the scorer were chosen on requests that no published figure is measured with."""

    delta: float = 0.01  # the share of wrong answers that the owner accepts
    confidence: float = 0.95
    neighbours: int = 128  # forms that are weighed for one request: more change nothing and cost time
    sharpness: float = 2.0  # how fast likeness falls with the cosine
    words: float = 0.5  # what the words weigh beside the meaning
    ridge: float = 0.2  # how little a single form is believed
    least_novelty: float = 0.01  # of a hundred requests one is new whatever was seen: an owner's life changes
    most_novelty: float = 0.9  # the share of new requests that is believed at most: with all of them, none is known
    least_paths: int = 10  # with fewer, what one path does is too much of what is known
    most_left_out: int = 3000  # forms that are predicted by the others: more only cost time
    path_prior: float = 1.0  # wrong answers, at the pooled rate, that a path's own record is mixed with
    least_sure: float = 0.5  # what is rather wrong than right is never answered, however rarely it is asked
    most_gain: float = 0.5  # a good record at best halves the risk of a path: the pool is the better known


@dataclass(frozen=True, slots=True)
class Factory:
    """What was measured about exact matches before delivery, so that a new owner need not prove it again."""

    count: float = 0.0
    wrong: float = 0.0


# bench/fastpath_exact.py: forms that were answered, and the sum of the shares of their answers that the router would
# not have given. What is bounded is the share of wrong answers, so a form with one wrong answer of five counts a fifth;
# that is at most 0.8 %, with 95 % confidence. Forms with any wrong answer were 4 of 895, at most 1.02 %.
FACTORY = Factory(count=895, wrong=2.67)


@dataclass(frozen=True, slots=True)
class Curve:
    """The probability of being right by the margin: ``1 / (1 + exp(-(offset + slope m + log_slope log m)))``."""

    offset: float
    slope: float
    log_slope: float

    def probability(self, margin: float) -> float:
        margin = max(0.0, margin)
        sure = self.offset + self.slope * margin + self.log_slope * math.log(margin + LOG_FROM)
        return 1 / (1 + math.exp(-min(50.0, max(-50.0, sure))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learnt from all that was seen. ``threshold`` is the least margin that may answer; none if none may."""

    delta: float = 0.01
    confidence: float = 0.95
    exact_count: float = 0.0
    exact_wrong: float = 0.0
    curve: Curve | None = None
    threshold: float | None = None
    risk: float = 1.0  # the estimated share of wrong answers at the threshold
    bound: float = 1.0  # the same, at most, with this confidence
    coverage: float = 0.0  # the share of known requests that is above the threshold
    known: float = 0.0  # requests that the margin was judged by, and how many of them it got wrong
    wrong: float = 0.0
    paths: int = 0
    novelty: float = 0.0  # the share of requests that was assumed to be new
    why: str = "nothing was measured yet"  # the reason for having no threshold

    @property
    def exact_bound(self) -> float:
        """The share of wrong exact matches, at most."""
        return upper(self.exact_wrong, self.exact_count, self.confidence)

    @property
    def exact_probability(self) -> float:
        return (self.exact_count - self.exact_wrong + 0.5) / (self.exact_count + 1)

    def probability(self, score: float, *, exact: bool = False) -> float:
        """How likely a match is right; of an exact one, by whichever evidence says more."""
        by_margin = self.curve.probability(score) if self.curve is not None else 0.0
        return max(by_margin, self.exact_probability) if exact else by_margin

    def to_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Calibration":
        """What `to_data` gave, also after JSON."""
        curve = data.get("curve")
        return cls(**{**data, "curve": Curve(**curve) if curve is not None else None})


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a match may answer, and why, in words for the owner."""

    may: bool
    why: str = field(compare=False)


def may_answer(
    match: Match, calibration: Calibration | None, path: FastPath, delta: float, rules: Rules | None = None
) -> Verdict:
    """Whether this path may answer this request, with at most a share ``delta`` of wrong answers over the stream."""
    known = calibration or Calibration(delta=delta)
    if known.delta > delta:
        return Verdict(False, f"not measured yet for as few as {_percent(delta)} of wrong answers: calibrate again")
    rules = rules or Rules()
    factor = relative_risk(path, delta, rules)
    if match.exact and known.exact_bound * factor <= delta:
        return Verdict(True, f"asked like this before; of such answers at most {_percent(known.exact_bound)} are wrong")
    if known.threshold is None:
        return Verdict(False, known.why)
    sure = known.probability(match.score)
    if sure < rules.least_sure:
        return Verdict(False, "not sure enough: it is rather wrong than right")
    risk, most = (1 - sure) * factor, 1 - known.probability(known.threshold)
    if risk <= most:
        return Verdict(True, f"like what was asked before; of such answers at most {_percent(known.bound)} are wrong")
    own = f"; it was wrong before, and is {factor:.1f} times as risky as others" if factor > 1 else ""
    return Verdict(False, f"not sure enough: the risk is {_percent(risk)} and may be {_percent(most)}{own}")


def relative_risk(path: FastPath, delta: float, rules: Rules) -> float:
    """How risky a path is beside all others: the mean of a Beta posterior whose prior is the pooled rate."""
    seen = path.agreed + path.disagreed + path.hits
    wrong = path.disagreed + path.wrong
    return max(rules.most_gain, (rules.path_prior + wrong) / (rules.path_prior + delta * seen))


def novelty_share(forms: Iterable[Form], rules: Rules) -> float:
    """The share of coming forms that belong to no known path, at most: Good and Turing's estimate with its bound.

    As many coming forms are of a new kind as known ones are the only one of their kind. Forms are counted and not their
    uses, since what is asked again in the same words is recognised by its form and never comes here.
    """
    paths = Counter(form.path for form in forms)
    alone = sum(count == 1 for count in paths.values())
    return min(rules.most_novelty, max(rules.least_novelty, upper(alone, paths.total(), rules.confidence)))


def upper(wrong: float, count: float, confidence: float) -> float:
    """Clopper and Pearson's upper bound of a share of which ``wrong`` among ``count`` were seen."""
    if count <= 0 or wrong >= count:
        return 1.0
    low, high = wrong / count, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_below(1 - middle, count - wrong, wrong + 1) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for i in range(1, 500):
        for step in (
            i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)),
            -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)),
        ):
            d = 1 / _away_from_zero(1 + step * d)
            c = _away_from_zero(1 + step / c)
            value *= d * c
        if abs(d * c - 1) < 1e-12:
            break
    return front * value / a


def _away_from_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
