"""How many requests fast paths answer without a planner, and how many of those answers are wrong, on CLINC150.

So many requests of each of 150 intents were seen (10, then 3 and 30 with nothing changed); then come 3,000 others and
100 that belong to no intent. An answer with the wrong intent, or to one of the 100, is wrong. Weights and threshold are
learnt from what was seen alone; the scorer's constants were chosen on splits of the training part. Beside it, with the
same embedder in the same run: the nearest neighbour by cosine with one threshold, learnt in the same way, and matching
as GPTCache does it (the nearest past request as it was typed, above a fixed similarity; its default, a distance of at
most 0.8 of 4, is a cosine of 0.6 where distances are squared); both also with the best threshold in hindsight.

The bound is tried on twenty *streams* of the training part: some intents come often and some seldom, three in a hundred
requests are of no intent, and of what is asked later some is of a kind that was never seen. The promise is about such
streams. Beside it, twenty splits in which five intents come *unannounced*: what was seen gives no sign that new kinds
come at all, so nothing is promised there. Counts above the bound also have the luck of the few answers of one stream.
Every figure is of what should not happen. Writes docs/img/fastpath.svg.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.fastpath_data import NEW, Clinc, Draw, Vectors
from bench.fastpath_plot import Line, svg
from bench.runner import Measure
from metnos.fastpath.calibrate import calibrate, may_answer
from metnos.fastpath.match import Matcher
from metnos.fastpath.records import FastPath, Form, State
from metnos.fastpath.risk import Outcomes, least_margin
from metnos.fastpath.rules import Rules, novelty_share
from metnos.models.embed_builtin import Builtin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

PURPOSE = "requests that fast paths leave to the planner, and wrong answers, beside nearest neighbours with a threshold"

_DRAWS: dict[int, tuple[int | None, ...]] = {10: (None, 1, 2, 3, 4), 3: (None, 1, 2), 30: (None, 1)}
_TARGET = 10  # seen of each intent, where at least 40 % are to be answered
_MOST_LEFT = 60.0
_CACHED = (0.6, 0.7, 0.8, 0.9)  # cosines from which a cache answers
_SPLITS, _HELD_BACK, _ASKED = 20, 5, 20
_PLOT = Path(__file__).resolve().parent.parent / "docs" / "img" / "fastpath.svg"
_MANY_PATHS, _MANY_EACH, _DIM = 10_000, 2, 512
_MOST_MS, _MOST_S = 5.0, 60.0


@dataclass(frozen=True, slots=True)
class Told:
    """What a system said about the requests of a draw: how sure it is, whether it is right, and which it answers."""

    sure: "Numbers"
    right: "Numbers"
    answers: "Numbers"

    @property
    def left(self) -> float:
        """The share of requests that is not answered, in per cent."""
        return float(100 * (1 - self.answers.mean()))

    @property
    def wrong(self) -> float:
        """The share of answers that is wrong, in per cent."""
        return float(100 * (1 - self.right[self.answers].mean())) if self.answers.any() else 0.0

    def curve(self) -> tuple["Numbers", "Numbers"]:
        """Answered and wrong in per cent, threshold by threshold."""
        order = np.argsort(-self.sure, kind="stable")
        count = np.arange(1, len(order) + 1)
        return 100 * count / len(order), 100 * np.cumsum(~self.right[order]) / count

    def hindsight(self, delta: float) -> float:
        """The share not answered by whoever knew the best threshold for this share of wrong answers."""
        answered, wrong = self.curve()
        good = answered[wrong <= 100 * delta]
        return float(100 - good[-1]) if len(good) else 100.0


def run(data: Path) -> list[Measure]:
    clinc, vectors, delta = Clinc(data), Vectors(Builtin()), Rules().delta
    measures: list[Measure] = []
    for count, seeds in _DRAWS.items():
        draws = [clinc.draw(count, seed) for seed in seeds]
        told = [_ours(draw, vectors) for draw in draws]
        plain = [_nearest(draw, vectors, delta) for draw in draws]
        cached = [_cached(draw, vectors) for draw in draws]
        measures += _shares(count, draws, told, plain, cached, delta)
        if count == _TARGET:
            _PLOT.write_text(_drawn(told[0], plain[0], cached[0], delta), encoding="utf-8")
    return [*measures, *_held(clinc, vectors, delta), *_cost(clinc, vectors)]


# -- the systems


def _ours(draw: Draw, vectors: Vectors) -> Told:
    forms = [each.form for each in draw.seen]
    rows = vectors.of([form.said for form in forms])
    known = calibrate(forms, rows)
    matcher = Matcher(forms, rows, known)
    asked = vectors.of([each.said for each in draw.asked])
    sure, right, answers = [], [], []
    for each, vector in zip(draw.asked, asked, strict=True):
        match = matcher.match(each.canonical, each.said, vector)
        assert match is not None  # there are forms
        sure.append(match.score)
        right.append(match.path == each.path)
        answers.append(may_answer(match, known, FastPath(match.path, (), (), State.ACTIVE), known.delta).may)
    return Told(np.array(sure), np.array(right), np.array(answers))


def _nearest(draw: Draw, vectors: Vectors, delta: float) -> Told:
    """Nearest neighbour by cosine; its one threshold is learnt as ours is, from each form left out."""
    rows = vectors.of([each.said for each in draw.seen])
    paths = np.array([each.path for each in draw.seen])
    sure, named = _best(vectors.of([each.said for each in draw.asked]) @ rows.T, paths)
    alike = rows @ rows.T
    np.fill_diagonal(alike, -1)
    known, predicted = _best(alike, paths)
    alike[paths[:, None] == paths[None, :]] = -1
    new, _ = _best(alike, paths)
    share = novelty_share([each.form for each in draw.seen], Rules())
    outcomes = Outcomes(
        np.concatenate([known, new]),
        np.concatenate([predicted == paths, np.zeros(len(new), dtype=bool)]),
        np.concatenate([np.ones(len(known)), np.full(len(new), share / (1 - share))]),
        np.concatenate([paths, paths]),
    )
    bounded = least_margin(outcomes, delta, Rules().confidence)[1]
    right = named == np.array([each.path for each in draw.asked])
    return Told(sure, right, sure >= (np.inf if bounded is None else bounded.threshold))


def _cached(draw: Draw, vectors: Vectors) -> Told:
    """As a cache of past requests does it: the text as it was typed, no particulars masked."""
    paths = np.array([each.path for each in draw.seen])
    rows = vectors.of([each.text for each in draw.seen])
    sure, named = _best(vectors.of([each.text for each in draw.asked]) @ rows.T, paths)
    return Told(sure, named == np.array([each.path for each in draw.asked]), sure >= _CACHED[0])


def _best(alike: "Numbers", paths: "Numbers") -> tuple["Numbers", "Numbers"]:
    at = alike.argmax(axis=1)
    return alike[np.arange(len(alike)), at].astype(np.float64), paths[at]


# -- the measures


def _shares(
    count: int, draws: Sequence[Draw], told: Sequence[Told], plain: Sequence[Told], cached: Sequence[Told], delta: float
) -> list[Measure]:
    name = f"{count} seen"
    new = sum(each.path == NEW for each in draws[0].asked)
    note = f"{len(draws[0].asked)} requests, {new} of no intent; "
    table = "; ".join(
        f"{draw.name}: {100 - each.left:.1f} answered, {each.wrong:.2f} wrong"
        for draw, each in zip(draws, told, strict=True)
    )
    learnt = "; ".join(f"{100 - each.left:.1f} answered, {each.wrong:.2f} wrong" for each in plain)
    fixed = "; ".join(_at(cached, threshold) for threshold in _CACHED)
    hindsight = [tuple(each.hindsight(delta) for each in kind) for kind in (told, plain, cached)]
    return [
        Measure(
            f"{name}, left to the planner",
            "%",
            tuple(each.left for each in told),
            limit=_MOST_LEFT if count == _TARGET else None,
            note=f"{note}{table}",
        ),
        Measure(
            f"{name}, answers wrong",
            "%",
            tuple(each.wrong for each in told),
            limit=100 * delta,
            note=f"nearest neighbour, threshold learnt: {learnt}; GPTCache-style, median: {fixed}",
        ),
        Measure(
            f"{name}, left in hindsight",
            "%",
            hindsight[0],
            hindsight[1],
            1.0,
            f"best threshold for {100 * delta:g} % wrong, against nearest neighbour; "
            f"GPTCache-style {median(hindsight[2]):.1f}",
        ),
    ]


def _at(cached: Sequence[Told], threshold: float) -> str:
    at = [Told(each.sure, each.right, each.sure >= threshold) for each in cached]
    answered, wrong = median(100 - each.left for each in at), median(each.wrong for each in at)
    return f"from {threshold:g}: {answered:.1f} answered, {wrong:.1f} wrong"


def _drawn(told: Told, plain: Told, cached: Told, delta: float) -> str:
    points = []
    for threshold in (0.7, 0.8, 0.9):
        at = Told(cached.sure, cached.right, cached.sure >= threshold)
        points.append((100 - at.left, at.wrong, f"{threshold:g}"))
    return svg(
        f"CLINC150, {_TARGET} requests of each intent seen",
        [
            Line("fast paths, with the threshold that they learn", *told.curve(), [(100 - told.left, told.wrong, "")]),
            Line("nearest neighbour by cosine", *plain.curve()),
            Line("GPTCache-style, with usual thresholds", *cached.curve(), points),
        ],
        100 * delta,
    )


def _held(clinc: Clinc, vectors: Vectors, delta: float) -> list[Measure]:
    streams = [clinc.stream(_TARGET * 100, 1500, 100 + seed, 0.03) for seed in range(_SPLITS)]
    splits = [clinc.split(_TARGET, 100 + seed, _HELD_BACK, _ASKED) for seed in range(_SPLITS)]
    measures: list[Measure] = []
    for name, draws in (("streams", streams), (f"{_HELD_BACK} kinds unannounced", splits)):
        told = [_ours(draw, vectors) for draw in draws]
        above = sum(each.wrong > 100 * delta for each in told)
        answers = sum(int(each.answers.sum()) for each in told)
        wrong = sum(int((~each.right[each.answers]).sum()) for each in told)
        shares = ", ".join(f"{each.wrong:.2f}" for each in told)
        measures += [
            Measure(
                f"{name}, answers wrong",
                "%",
                (100 * wrong / max(1, answers),),
                limit=100 * delta,
                note=f"all together; above the bound in {above} of {_SPLITS}: {shares}",
            ),
            Measure(f"{name}, left to the planner", "%", tuple(each.left for each in told)),
        ]
    return measures


# -- the cost


def _cost(clinc: Clinc, vectors: Vectors) -> list[Measure]:
    seen = [each.form for each in clinc.draw(_TARGET, None).seen]
    rows = vectors.of([form.said for form in seen])
    _, some = _spent(lambda: calibrate(seen, rows))
    random = np.random.default_rng(0)
    centres = np.repeat(random.normal(size=(_MANY_PATHS, _DIM)), _MANY_EACH, axis=0)
    wide = centres + 0.7 * random.normal(size=centres.shape)
    many = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)
    forms = [Form(f"p{at // _MANY_EACH}", f"form {at}", f"{seen[at % len(seen)].said} {at}") for at in range(len(many))]
    known, all_of_them = _spent(lambda: calibrate(forms, many))
    matcher, built = _spent(lambda: Matcher(forms, many, known))
    ours, plain = [], []
    for at in range(200):
        ours.append(1e3 * _spent(lambda at=at: matcher.match("", forms[at].said, many[at]))[1])
        plain.append(1e3 * _spent(lambda at=at: int((many @ many[at]).argmax()))[1])
    note = f"CPU, {_MANY_PATHS:,} paths with {len(forms):,} forms, embedding apart"
    return [
        Measure("matching", "ms", tuple(ours), limit=_MOST_MS, note=note),
        Measure("matching, beside cosine", "ms", tuple(ours), tuple(plain), note="numpy's cosine over the same rows"),
        Measure("building a matcher", "s", (built,), note=note),
        Measure(f"calibration, {len(seen):,} forms", "s", (some,), limit=10.0, note="CPU"),
        Measure(f"calibration, {len(forms):,} forms", "s", (all_of_them,), limit=_MOST_S, note="CPU"),
    ]


def _spent(work: Any) -> tuple[Any, float]:
    start = time.process_time()
    done = work()
    return done, time.process_time() - start
